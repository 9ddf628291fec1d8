// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a task leaves the queue of its CPU, at the tick, for the shared queue of the domain,
 * where every CPU sees it at each pick.
 */
#include "counters.h"
#include "domain.h"
#include "entity.h"
#include "expire.h"
#include "hot.h"
#include "place.h"
#include "queue.h"

/* After this long any task may leave the queue of its CPU, ns */
#define QUEUE_LIMIT_NS		NSEC_PER_SEC
/* How many tasks of a level to look at in a tick */
#define EXPIRE_TRIES		8
/* How many other CPUs to look at in a tick for a task that should rather wait */
#define SAMPLES			4
/* sample.latest before other CPUs were looked at */
#define NO_SAMPLE		(-1)

/**
 * struct sample - what a few other CPUs run
 * @cpu: which
 * @key: vrq_key() of what each runs
 * @latest: the latest of these, NO_SAMPLE before it was taken
 */
struct sample {
	int	cpu[SAMPLES];
	s64	key[SAMPLES];
	s64	latest;
};

#ifdef CONFIG_SMP
/* Look at the next few CPUs of the machine, once in a tick */
static void take_sample(struct rq *rq, struct sample *sample)
{
	int cpu = rq->vrq.next_sampled, i;

	if (sample->latest != NO_SAMPLE)
		return;

	sample->latest = 0;
	for (i = 0; i < SAMPLES; i++) {
		cpu = cpumask_next(cpu, &vrq_machine.cpus);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(&vrq_machine.cpus);
		sample->cpu[i] = cpu;
		sample->key[i] = cpu < nr_cpu_ids && cpu != cpu_of(rq) ?
				 atomic64_read(&cpu_rq(cpu)->vrq.priodl) : 0;
		sample->latest = max(sample->latest, sample->key[i]);
	}
	rq->vrq.next_sampled = cpu;
}

/*
 * Does another CPU run a task that @p should run before, by half a turn, or by a whole turn if
 * the data of @p is hot here? Only then does @p gain from waiting for that CPU too.
 */
static bool sooner_elsewhere(struct rq *rq, const struct task_struct *p, bool hot,
			     struct sample *sample)
{
	s64 turn = vrq_turn_of(p);
	s64 limit = vrq_key(p) + (hot ? turn : turn / 2);
	int i;

	take_sample(rq, sample);
	if (sample->latest <= limit)
		return false;

	for (i = 0; i < SAMPLES; i++) {
		if (sample->key[i] > limit &&
		    cpumask_test_cpu(sample->cpu[i], p->cpus_ptr))
			return true;
	}

	return false;
}
#else
static bool sooner_elsewhere(struct rq *rq, const struct task_struct *p, bool hot,
			     struct sample *sample)
{
	return false;
}
#endif

static bool expired(struct rq *rq, const struct task_struct *p,
		    struct sample *sample)
{
	u64 waited = rq_clock(rq) - p->vrq.since;
	bool hot = vrq_cache_hot(rq, p, waited);

	if (waited > QUEUE_LIMIT_NS && !hot)
		return true;
	/* Time-outs may be long: a queue that is too long has to get shorter all the same */
	if (!READ_ONCE(vrq_interactive) || (hot && waited < VRQ_HOT_MS * NSEC_PER_MSEC))
		return false;

	return sooner_elsewhere(rq, p, hot, sample);
}

/**
 * vrq_expire - move tasks that wait too long for this CPU to the shared queue
 * @rq: the run queue of this CPU, locked, its clock updated
 *
 * A task leaves the queue of its CPU for the shared queue when
 *
 *  - its deadline has passed, its data is no longer hot here, see hot.c, and another
 *    CPU runs a task with a deadline later by half a turn: it would get less than
 *    its share of the machine; not with the tunable interactive at 0;
 *  - the same by a whole turn, whether its data is hot or not, once it has waited for
 *    VRQ_HOT_MS;
 *  - its deadline has passed, its data is no longer hot, and it has waited for a
 *    second;
 *  - a higher class keeps its CPU.
 *
 * A few tasks of each level are looked at, so that the time with interrupts off stays
 * short; the earliest deadlines are those that others would run next. Of the other
 * CPUs a few are looked at each time.
 */
void vrq_expire(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq), *p, *next;
	/* The idle task makes room for them at once */
	bool all = !vrq_task(curr) && curr != rq->idle;
	struct sample sample;
	enum vrq_level level;
	int tries;

	if (vrq_queue_best_key(&rq->vrq.queue) == VRQ_KEY_NONE)
		return;

	sample.latest = NO_SAMPLE;
	for (level = 0; level < VRQ_LEVELS; level++) {
		p = vrq_queue_first_of(&rq->vrq.queue, level);
		for (tries = 0; p && tries < EXPIRE_TRIES; tries++) {
			if (!all && (s64)(rq_clock(rq) - p->vrq.deadline) <= 0)
				break;
			next = vrq_queue_next(p);
			if (all || expired(rq, p, &sample)) {
				vrq_end_wait(rq, p);
				vrq_share(rq, p);
				vrq_count(VRQ_EXPIRED);
			}
			p = next;
		}
	}
}
