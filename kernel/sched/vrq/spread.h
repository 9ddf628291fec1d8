/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A task that shares a core leaves it when another core gets idle.
 */
#ifndef _KERNEL_SCHED_VRQ_SPREAD_H
#define _KERNEL_SCHED_VRQ_SPREAD_H

#include "core.h"

#ifdef CONFIG_SCHED_SMT
void __vrq_spread_tick(struct rq *rq);
bool __vrq_leaves_core(struct rq *rq);

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
 * @rq: its run queue, locked, at a pick
 *
 * Return: true once after the tick has found so.
 */
static inline bool vrq_leaves_core(struct rq *rq)
{
	return unlikely(rq->vrq.spread) && __vrq_leaves_core(rq);
}
#else
static inline void vrq_spread_tick(struct rq *rq) { }
static inline bool vrq_leaves_core(struct rq *rq) { return false; }
#endif

#endif /* _KERNEL_SCHED_VRQ_SPREAD_H */
