// SPDX-License-Identifier: GPL-2.0-only
/*
 * How CPUs and domains even out. A CPU whose task has used up a slice looks at some others:
 *
 *  - of its domain. What waits for one of these, and should have run before all that wait
 *    here by half a turn, it takes, see look_near().
 *  - of one other domain, the next one each time. If the first task in the shared queue
 *    there should have run before all that wait here, by a margin that grows with the
 *    distance, it is taken. So is, by a turn more, the first one in the queue of one of the
 *    CPUs there. Deadlines are of one order everywhere, so nothing else is needed for
 *    domains to even out.
 *
 * Built with CONFIG_SMP only.
 */
#include "choose.h"
#include "even.h"
#include "load.h"
#include "queue.h"
#include "shared.h"
#include "steal.h"

/* How many CPUs of the own domain to look at */
#define NEAR_TRIES		4

/**
 * vrq_even_init_rq - prepare a run queue at boot
 * @rq: the run queue
 */
void __init vrq_even_init_rq(struct rq *rq)
{
	rq->vrq.pull_from = -1;
	rq->vrq.pull_from_cpu = -1;
	rq->vrq.next_domain = -1;
}

/*
 * The margin by which a task in another domain must be earlier to be taken, ns: half a
 * turn on the same node, a whole one on the next, one and a half further away
 */
static s64 far_margin(const struct vrq_domain *own, const struct vrq_domain *other,
		      const struct task_struct *curr)
{
	s64 half_turn = vrq_turn_of(curr) / 2;

	return half_turn + half_turn * vrq_distance(own, other);
}

/*
 * The margin for what waits for one CPU, where its data is in the cache: half a turn in the
 * same domain. In another one it is a turn more than that of its shared queue, if the two
 * domains have as much to do as they can have: so only a task that has run ahead of its
 * share by that gives way.
 */
static s64 queue_margin(const struct vrq_domain *own, const struct vrq_domain *other,
			const struct task_struct *curr)
{
	s64 margin = far_margin(own, other, curr);

	return own == other || vrq_evens_out(other, own, curr) ? margin :
								 margin + vrq_turn_of(curr);
}

/* One CPU of a domain, the next one each time */
static int cpu_in_turn(const struct vrq_domain *domain, unsigned int *last)
{
	/* Pairs with the release in join() in domain.c */
	unsigned int nr = smp_load_acquire(&domain->nr_cpus), i = *last + 1;

	if (i >= nr)
		i = 0;
	*last = i;

	return domain->cpus[i];
}

/* Should what has @key, plus the margin, run before all that is here? */
static bool goes_first(struct rq *rq, const struct task_struct *curr, s64 key)
{
	return key < vrq_key(curr) && !vrq_somebody_waits(rq, key);
}

/*
 * Has another domain something that should run before all here? The slice of @curr has just
 * been renewed.
 *
 * Looks at the shared queue of one other domain, and at the queue of one of its CPUs,
 * without a lock. If so, the next pick takes it.
 *
 * Most tasks wait for a CPU. Where the CPUs of a small domain have a little less to do than
 * others, for want of a task that would fit in, one of theirs got up to 7% more than its
 * share for seconds with a look at the shared queue alone.
 */
static void look_afar(struct rq *rq, struct task_struct *curr)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq)), *other;
	s64 key;
	int cpu;

	if (vrq_one_domain() || own->isolated)
		return;

	other = vrq_domain_in_turn(&rq->vrq.next_domain);
	if (other == own || other->isolated)
		return;

	key = vrq_shared_key_of_any(other);
	if (key != VRQ_KEY_NONE &&
	    goes_first(rq, curr, key + far_margin(own, other, curr))) {
		rq->vrq.pull_from = other->leader;
		resched_curr(rq);
		return;
	}

	cpu = cpu_in_turn(other, &rq->vrq.next_afar);
	key = vrq_queue_best_key(&cpu_rq(cpu)->vrq.queue);
	if (key != VRQ_KEY_NONE &&
	    goes_first(rq, curr, key + queue_margin(own, other, curr))) {
		rq->vrq.pull_from_cpu = cpu;
		resched_curr(rq);
	}
}

/*
 * Compare with the next few CPUs of this domain, without a lock: the slice of @curr has just
 * been renewed. Returns true if the next pick is to take a task from the queue of one of them.
 *
 * If one of them runs a task that @curr should go before by half a turn, @curr is to wait
 * in the shared queue. The tick is no substitute: it finds a task that waits behind one
 * other just as its CPU is to take it anyway, and where the slices of all CPUs end at one
 * tick none of these looks while it could. Of 7 hogs on 4 CPUs one had a CPU of its own for
 * seconds, 1.75 times its share.
 *
 * If what waits for one of them should go before @curr by half a turn, the next pick takes
 * it. Else this CPU may go on with those who are ahead of their share while others get late
 * behind a task that needs all of its CPU. That has to give way to them, and cannot make up
 * for it. Three hogs with a right to a CPU each, beside eight of another group, on 4 CPUs,
 * together had 46 ms less in their first 2 s, on the median of 12 cases, and 134 at the
 * worst; now 21 and 26.
 */
static bool look_near(struct rq *rq, struct task_struct *curr)
{
	struct vrq_domain *domain = vrq_domain_of(cpu_of(rq));
	s64 margin = queue_margin(domain, domain, curr), best = VRQ_KEY_NONE, key;
	int tries, cpu, from = -1;

	if (!READ_ONCE(vrq_interactive))
		return false;

	for (tries = 0; tries < NEAR_TRIES; tries++) {
		cpu = cpu_in_turn(domain, &rq->vrq.next_near);
		if (cpu == cpu_of(rq))
			continue;
		if (rq->cfs.h_nr_queued > 1 && cpumask_test_cpu(cpu, curr->cpus_ptr) &&
		    atomic64_read(&cpu_rq(cpu)->vrq.priodl) > vrq_key(curr) + margin)
			curr->vrq.wait_shared = true;
		key = vrq_queue_best_key(&cpu_rq(cpu)->vrq.queue);
		if (key < best && vrq_offered_here(rq, cpu, true)) {
			best = key;
			from = cpu;
		}
	}
	if (from < 0 || !goes_first(rq, curr, best + margin))
		return false;

	rq->vrq.pull_from_cpu = from;
	resched_curr(rq);

	return true;
}

/**
 * vrq_look_at_others - should a task from elsewhere run before all that is here?
 * @rq: the run queue of this CPU, locked, its clock updated
 * @curr: its current task, whose slice has just been renewed
 *
 * If so, the next pick takes it. What is near comes first.
 */
void vrq_look_at_others(struct rq *rq, struct task_struct *curr)
{
	if (!look_near(rq, curr))
		look_afar(rq, curr);
}

/* Take what look_afar() has seen in a shared queue, if it should still go before @p */
static struct task_struct *pull_shared(struct rq *rq, struct task_struct *p, bool *missed)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq)), *other;
	s64 limit;

	other = vrq_domain_led_by(rq->vrq.pull_from);
	rq->vrq.pull_from = -1;
	if (!cpu_active(cpu_of(rq)))
		return NULL;

	limit = vrq_key(p) - far_margin(own, other, p);

	return vrq_shared_key_of_any(other) < limit ?
	       vrq_take_shared(rq, other, limit, missed) : NULL;
}

/* The same in the queue of a CPU */
static struct task_struct *pull_queued(struct rq *rq, struct task_struct *p, bool *missed)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq));
	int cpu = rq->vrq.pull_from_cpu;
	s64 limit;

	rq->vrq.pull_from_cpu = -1;
	if (!cpu_active(cpu_of(rq)))
		return NULL;

	limit = vrq_key(p) - queue_margin(own, vrq_domain_of(cpu), p);

	return vrq_take_offered(rq, cpu, VRQ_IDLE, limit, missed);
}

/* See vrq_pull() */
struct task_struct *__vrq_pull(struct rq *rq, struct task_struct *p, bool *missed)
{
	return rq->vrq.pull_from >= 0 ? pull_shared(rq, p, missed) :
					pull_queued(rq, p, missed);
}
