// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks on two threads of one core share its units and get less done than on two
 * cores. Wake-ups choose idle cores first, see idle.c; but a core may get idle while
 * tasks share another one, and they do not wake up for as long as they have
 * something to do. Once that has lasted for a slice one of them leaves.
 *
 * The task is put back as if it were preempted, although its CPU gets idle, and the kick for a
 * task that begins to wait finds the idle core. This is done only within the domain, where
 * wake-ups choose too: a task that the next wake-up would bring back need not leave.
 */
#include "entity.h"
#include "idle.h"
#include "spread.h"

static bool could_leave(struct rq *rq, struct task_struct *curr)
{
	return !is_migration_disabled(curr) && curr->nr_cpus_allowed > 1 &&
	       vrq_core_is_shared(cpu_of(rq)) &&
	       vrq_idle_core_near(curr, cpu_of(rq));
}

/* See vrq_spread_tick() */
void __vrq_spread_tick(struct rq *rq)
{
	if (!could_leave(rq, vrq_curr(rq))) {
		rq->vrq.shared_ticks = 0;
	} else if (++rq->vrq.shared_ticks * TICK_NSEC > vrq_rr_ns()) {
		rq->vrq.spread = true;
		resched_curr(rq);
	}
}

/* See vrq_leaves_core() */
bool __vrq_leaves_core(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq);

	rq->vrq.spread = false;
	rq->vrq.shared_ticks = 0;
	if (!vrq_task(curr) || !curr->vrq.queued || !could_leave(rq, curr))
		return false;
	/*
	 * It waits in the shared queue, so that others may take it while its data is hot here
	 */
	curr->vrq.wait_shared = true;

	return true;
}
