// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task caching: a task that begins to wait does so in a queue of its CPU, whose
 * cache has its data or that of its waker, and which can take it without
 * grq.lock. It goes into the grq, for every CPU to take,
 *
 *  - at once, when it has used up a slice, or made room for a task from elsewhere,
 *    on a CPU with more to do than the mean of those that it may use;
 *  - when its data is no longer hot here, see hot.c, its deadline has passed, and
 *    another CPU runs a task with a deadline later by half a turn: it would get
 *    less than its share of the machine; not with the tunable interactive at 0;
 *  - when it has waited for a second, whatever its deadline;
 *  - when a higher class keeps its CPU for longer than a tick.
 *
 * Before that, other CPUs take it only if they would otherwise be idle, or run
 * a task of a worse level. So no CPU is idle while a cached task waits that may
 * run there, see steal.c, and what caching does to the order of deadlines is
 * bounded.
 *
 * The idea of caching tasks is VRQ's of 2015, where cached tasks stayed in the
 * global queue and other CPUs passed over them, under its lock.
 */
#include <linux/tick.h>

#include "cache.h"
#include "counters.h"
#include "grq.h"
#include "hot.h"
#include "idle.h"
#include "queue.h"
#include "steal.h"

/* After this long any task may */
#define CACHE_LIMIT_NS		NSEC_PER_SEC
/* How many tasks of a level to look at in a tick */
#define EXPIRE_TRIES		8
/* How many tasks that others may have to step over may wait for a CPU */
#define CONFINED_MAX		32
/* The same while the grq has no room for them */
#define CONFINED_FULL_MAX	(2 * CONFINED_MAX)

/**
 * vrq_may_cache - may a task wait for this CPU?
 * @rq: the home of @p, locked
 * @p: the task
 *
 * Return: false if the CPU is not for @p, goes down, runs a higher class, may
 * go without a tick while it does, or has more than its part of the load; if @p is
 * to run before all others, wherever that is first possible; or if
 * so many confined tasks wait that CPUs in search of work would take long to step
 * over them.
 */
bool vrq_may_cache(struct rq *rq, struct task_struct *p)
{
	bool roams = p->vrq.roams;

	p->vrq.roams = false;

	return !roams && p->vrq.level != VRQ_ISO && vrq_cacheable(p) &&
	       rq->nr_running == rq->cfs.h_nr_queued &&
	       cpumask_test_cpu(cpu_of(rq), p->cpus_ptr) &&
	       cpu_active(cpu_of(rq)) &&
	       !tick_nohz_full_cpu(cpu_of(rq)) &&
	       !(rq->vrq.confined >= CONFINED_MAX && vrq_confined(p));
}

/**
 * vrq_cache_add - let a task wait for this CPU
 * @rq: the home of @p, locked, its clock updated
 * @p: the task
 *
 * Kicks an idle CPU if there is one for it.
 */
void vrq_cache_add(struct rq *rq, struct task_struct *p)
{
	/* It has come here for what its waker has in the cache */
	if (p->vrq.cached_on != cpu_of(rq))
		vrq_scost_switch_out(rq, p);
	vrq_wait_in(rq, p, VRQ_IN_CACHE);
	vrq_queue_add(&rq->vrq.cache, p);
	rq->vrq.confined += vrq_confined(p);
	vrq_set_open(rq);
	vrq_kick_idle_for(p);
}

/**
 * vrq_cache_del - take a task out of the queue of its CPU
 * @rq: the home of @p, locked
 * @p: the task
 */
void vrq_cache_del(struct rq *rq, struct task_struct *p)
{
	vrq_queue_del(&rq->vrq.cache, p);
	rq->vrq.confined -= vrq_confined(p);
	vrq_close_if_empty(rq);
}

/**
 * vrq_wait_in_grq - let a task wait in the grq or, if that is full, for its home
 * @rq: the home of @p, locked, its clock updated
 * @p: the task, in no queue
 *
 * The grq is full for a mask that is one too many. Then idle CPUs may take @p from
 * its home as a cached task, but for those beyond the limit.
 */
void vrq_wait_in_grq(struct rq *rq, struct task_struct *p)
{
	if (vrq_grq_add(rq, p))
		return;

	if (cpumask_test_cpu(cpu_of(rq), p->cpus_ptr) &&
	    cpu_active(cpu_of(rq)) && rq->vrq.confined < CONFINED_FULL_MAX) {
		vrq_cache_add(rq, p);
	} else {
		vrq_wait_in(rq, p, VRQ_IN_LOCAL);
		vrq_queue_add(&rq->vrq.local, p);
	}
}

/*
 * Does another CPU run a task that @p should go before, by half a turn? Only then
 * does @p gain by waiting for that one too.
 */
static bool sooner_elsewhere(struct rq *rq, const struct task_struct *p)
{
	s64 limit = vrq_key(p) +
		    max_t(s64, vrq_rr_ns(), p->vrq.span) / 2;
	int cpu;

	for_each_cpu_and(cpu, p->cpus_ptr, cpu_active_mask) {
		if (cpu != cpu_of(rq) &&
		    atomic64_read(&cpu_rq(cpu)->vrq.priodl) > limit)
			return true;
	}

	return false;
}

static bool expired(struct rq *rq, const struct task_struct *p)
{
	u64 waited = rq_clock(rq) - p->vrq.since;

	if (vrq_cache_hot(rq, p, waited))
		return false;

	return waited > CACHE_LIMIT_NS ||
	       (READ_ONCE(vrq_interactive) &&
		(s64)(rq_clock(rq) - p->vrq.deadline) > 0 &&
		sooner_elsewhere(rq, p));
}

/**
 * vrq_cache_expire - let other CPUs have what this one does not get round to
 * @rq: the run queue of this CPU, locked, its clock updated
 *
 * Called at the tick. A few tasks of each level are looked at, so that the time
 * with interrupts off stays short; the earliest deadlines are those that others
 * would run next. For what stays an idle CPU is kicked once more: a kick may have
 * been used up for another task, see vrq_kick_for_open().
 */
void vrq_cache_expire(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq);
	/* The idle task makes room for them at once */
	bool all = !vrq_task(curr) && curr != rq->idle;
	enum vrq_level level;
	struct task_struct *p, *next;
	int tries;

	if (!vrq_is_open(rq))
		return;

	for (level = 0; level < VRQ_LEVELS; level++) {
		p = vrq_queue_first_of(&rq->vrq.cache, level);
		for (tries = 0; p && tries < EXPIRE_TRIES; tries++) {
			next = vrq_queue_next(p);
			if (all || expired(rq, p)) {
				vrq_cache_del(rq, p);
				vrq_wait_in_grq(rq, p);
				vrq_count(VRQ_UNCACHED);
			}
			p = next;
		}
	}
	vrq_queue_kick(&rq->vrq.cache);
}
