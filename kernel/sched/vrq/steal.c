// SPDX-License-Identifier: GPL-2.0-only
/*
 * What waits for busy CPUs and is taken by those without work. Built with
 * CONFIG_SMP only.
 *
 * That are cached tasks, see cache.c, and a preempt task while its CPU runs
 * another one: that may be in the kernel, with preemption or interrupts off, for
 * longer than a wake-up takes.
 */
#include "idle.h"
#include "place.h"
#include "queue.h"
#include "steal.h"

/*
 * The CPUs to take from. Not those that have nothing but a task in the slot that
 * waits for its waker to sleep: it comes and goes at each turn of a ping-pong. A
 * CPU's bit changes under its rq->lock; the barriers that make it a promise to
 * idle CPUs are [A] and [B] in place.h.
 */
static struct cpumask open_cpus ____cacheline_aligned_in_smp;

/**
 * vrq_set_open - this CPU has got a task that others may take
 * @rq: its run queue, locked
 *
 * The caller must then look for an idle CPU, see place.h.
 */
void vrq_set_open(struct rq *rq)
{
	if (vrq_is_open(rq))
		return;

	rq->vrq.open = true;
	cpumask_set_cpu(cpu_of(rq), &open_cpus);
}

/**
 * vrq_close_if_empty - a task has left the cache queue or the slot of this CPU
 * @rq: its run queue, locked
 */
void vrq_close_if_empty(struct rq *rq)
{
	if (!vrq_is_open(rq) || rq->vrq.slot ||
	    vrq_queue_best_key(&rq->vrq.cache) != VRQ_KEY_NONE)
		return;

	rq->vrq.open = false;
	cpumask_clear_cpu(cpu_of(rq), &open_cpus);
}

/* Is a task of @level or a better one cached there? Without the lock a hint */
static bool has_cached(struct rq *rq, enum vrq_level level)
{
	return vrq_queue_best_key(&rq->vrq.cache) < vrq_key_of(level + 1, 0);
}

/**
 * vrq_cached_elsewhere - does a task wait in any CPU's queue?
 * @level: of this level or a better one
 *
 * Return: a hint, no lock is taken.
 */
bool vrq_cached_elsewhere(enum vrq_level level)
{
	int cpu;

	for_each_cpu(cpu, &open_cpus) {
		if (has_cached(cpu_rq(cpu), level))
			return true;
	}

	return false;
}

/* Steps over confined tasks only, of which there are few: see vrq_may_cache() */
static struct task_struct *first_allowed(struct rq *from, enum vrq_level limit,
					 int cpu)
{
	enum vrq_level level;
	struct task_struct *p;

	for (level = 0; level <= limit; level++) {
		p = vrq_queue_first_of(&from->vrq.cache, level);
		while (p && !cpumask_test_cpu(cpu, p->cpus_ptr))
			p = vrq_queue_next(p);
		if (p)
			return p;
	}

	return NULL;
}

/*
 * The preempt task of a CPU that runs another one. An idle CPU makes room for
 * its own anyway.
 */
static struct task_struct *open_slot(struct rq *rq)
{
	struct task_struct *p = rq->vrq.slot, *curr = vrq_curr(rq);

	return p && vrq_task(curr) && vrq_may_preempt(p, curr) ? p : NULL;
}

static struct task_struct *slot_allowed(struct rq *from, enum vrq_level level,
					int cpu)
{
	struct task_struct *p = open_slot(from);

	return p && p->vrq.level <= level &&
	       cpumask_test_cpu(cpu, p->cpus_ptr) ? p : NULL;
}

static struct task_struct *steal_from(struct rq *from, enum vrq_level level,
				      struct rq *rq, bool *missed)
{
	struct task_struct *p;

	if (from == rq || !(has_cached(from, level) ||
			    READ_ONCE(from->vrq.slot)))
		return NULL;

	if (!raw_spin_rq_trylock(from)) {
		*missed = true;
		return NULL;
	}

	p = first_allowed(from, level, cpu_of(rq)) ?:
	    slot_allowed(from, level, cpu_of(rq));
	if (!p) {
		raw_spin_rq_unlock(from);
		return NULL;
	}

	vrq_unplace(from, p);
	p->vrq.place = VRQ_PICKED;

	return p;
}

/**
 * vrq_steal - take a task that waits for another CPU
 * @rq: the run queue of this CPU, locked
 * @level: of this level or a better one
 * @missed: set if a run queue was locked
 *
 * Near ones first.
 *
 * Return: a task with the lock of its home, to be brought here, or NULL.
 */
struct task_struct *vrq_steal(struct rq *rq, enum vrq_level level, bool *missed)
{
	const struct cpumask *near;
	struct task_struct *p = NULL;
	int cpu;

	if (cpumask_empty(&open_cpus))
		return NULL;

	rcu_read_lock();
	near = vrq_llc_span(cpu_of(rq));
	for_each_cpu_and(cpu, &open_cpus, near) {
		p = steal_from(cpu_rq(cpu), level, rq, missed);
		if (p)
			goto out;
	}
	for_each_cpu_andnot(cpu, &open_cpus, near) {
		p = steal_from(cpu_rq(cpu), level, rq, missed);
		if (p)
			goto out;
	}
out:
	rcu_read_unlock();

	return p;
}

static bool kick_for_slot(struct rq *rq)
{
	struct task_struct *p = open_slot(rq);

	return p && vrq_kick_idle_for(p);
}

/**
 * vrq_kick_for_open - let an idle CPU see to what waits for busy ones
 * @rq: the run queue of this CPU, locked
 *
 * A run queue that is locked is passed over, for its CPU kicks again at its next
 * tick: see vrq_cache_expire().
 */
void vrq_kick_for_open(struct rq *rq)
{
	struct rq *from;
	bool kicked;
	int cpu;

	if (!vrq_any_idle())
		return;

	for_each_cpu(cpu, &open_cpus) {
		from = cpu_rq(cpu);
		if (from != rq && !raw_spin_rq_trylock(from))
			continue;
		kicked = vrq_queue_kick(&from->vrq.cache) || kick_for_slot(from);
		if (from != rq)
			raw_spin_rq_unlock(from);
		if (kicked)
			return;
	}
}
