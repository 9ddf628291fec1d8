// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks on two threads of one core share its units and get less done than on two
 * cores. Wake-ups choose idle cores first, see idle.c; but a core may get idle while
 * tasks share another one, and they do not wake up for as long as they have
 * something to do. Once that has lasted for a slice one of them leaves. Built with
 * CONFIG_SCHED_SMT only.
 *
 * It is put back as if preempted, with its CPU idle, and the kick that goes with
 * that finds it the idle core. Only behind the same last-level cache, as wake-ups
 * choose: what they would bring back need not leave.
 */
#include "entity.h"
#include "idle.h"
#include "spread.h"

static bool could_leave(struct rq *rq, struct task_struct *curr)
{
	return !is_migration_disabled(curr) && curr->nr_cpus_allowed > 1 &&
	       vrq_core_is_shared(cpu_of(rq)) &&
	       vrq_idle_core_near(curr->cpus_ptr, cpu_of(rq));
}

void __vrq_spread_tick(struct rq *rq)
{
	if (!could_leave(rq, vrq_curr(rq))) {
		rq->vrq.shared_ticks = 0;
	} else if (++rq->vrq.shared_ticks * TICK_NSEC > vrq_rr_ns()) {
		rq->vrq.spread = true;
		resched_curr(rq);
	}
}

bool __vrq_leaves_core(struct rq *rq, struct task_struct *curr)
{
	rq->vrq.spread = false;
	rq->vrq.shared_ticks = 0;
	if (!curr || !could_leave(rq, curr))
		return false;

	/* To the grq, others need not wait for its cache to get cold */
	curr->vrq.roams = true;

	return true;
}
