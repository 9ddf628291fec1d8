// SPDX-License-Identifier: GPL-2.0-only
/*
 * How CPUs and domains even out their load. When the task of a CPU has used up its slice, the
 * CPU looks at some other CPUs:
 *
 *  - CPUs of its own domain. It takes a task that waits for one of them if that task should
 *    run before all tasks that wait here, by half a turn, see look_near().
 *  - one other domain, the next one each time. It takes the first task in the shared queue
 *    there if that task should run before all tasks that wait here, by a margin that grows
 *    with the distance. It also takes the first task in the queue of one of the CPUs there,
 *    with a margin that is a turn greater.
 *
 * Deadlines on all CPUs are in one order, so domains need no other balancing.
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
 * The margin for a task that waits in the queue of one CPU, whose cache has its data. In the
 * same domain this is half a turn. In another domain it is a turn more than the margin for the
 * shared queue there, unless a move would even out the load of the two domains. So only a task
 * that is ahead of its share by that much gives way.
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
 * Does a task wait in another domain that should run before all tasks here? The slice of @curr
 * has just been renewed.
 *
 * Looks at the shared queue of one other domain, and at the queue of one of its CPUs, without
 * a lock. If there is such a task, the next pick takes it.
 *
 * Most tasks wait in the queue of a CPU. The CPUs of a small domain may have a little less to
 * do than others, if no waiting task fits in. When only the shared queue was looked at, a task
 * there got up to 7% more than its share for seconds.
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
 * If one of them runs a task that @curr should run before, by half a turn, @curr is to wait in
 * the shared queue. The tick cannot replace this: it finds a task that waits behind one other
 * task only when its CPU is about to take it anyway. And if the slices of all CPUs end at the
 * same tick, no CPU looks while it could find something. Without this, one of 7 hogs on 4 CPUs
 * had a CPU of its own for seconds, 1.75 times its share.
 *
 * If a task that waits for one of them should run before @curr, by half a turn, the next pick
 * takes it. Otherwise this CPU could go on with tasks that are ahead of their share, while
 * others get late behind a task that needs all of its CPU. That task would have to give way to
 * them, and could not make up for it. Three hogs with a right to a CPU each, beside eight hogs
 * of another group, on 4 CPUs, together got 46 ms too little in their first 2 s (median of 12
 * cases), 134 ms at worst. Now it is 21 and 26 ms.
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
