/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of tasks that share a core one leaves for a core that is idle.
 */
#ifndef _KERNEL_SCHED_VRQ_SPREAD_H
#define _KERNEL_SCHED_VRQ_SPREAD_H

#include "core.h"

#ifdef CONFIG_SCHED_SMT
void __vrq_spread_tick(struct rq *rq);
bool __vrq_leaves_core(struct rq *rq, struct task_struct *curr);

/**
 * vrq_spread_tick - the tick of a CPU that runs a task of VRQ's
 * @rq: its run queue, locked, its clock updated
 */
static inline void vrq_spread_tick(struct rq *rq)
{
	if (sched_smt_active())
		__vrq_spread_tick(rq);
}

/**
 * vrq_leaves_core - is the current task to go on elsewhere?
 * @rq: its run queue, locked
 * @curr: the task, of VRQ's and runnable; NULL if there is none
 *
 * Return: true, once, if the tick has found so and there is still a core for it.
 * It is then to be queued where others find it.
 */
static inline bool vrq_leaves_core(struct rq *rq, struct task_struct *curr)
{
	return sched_smt_active() && rq->vrq.spread &&
	       __vrq_leaves_core(rq, curr);
}
#else
static inline void vrq_spread_tick(struct rq *rq) { }

static inline bool vrq_leaves_core(struct rq *rq, struct task_struct *curr)
{
	return false;
}
#endif

#endif /* _KERNEL_SCHED_VRQ_SPREAD_H */
