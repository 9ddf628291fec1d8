/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How tasks get from one CPU to another.
 */
#ifndef _KERNEL_SCHED_VRQ_BALANCE_H
#define _KERNEL_SCHED_VRQ_BALANCE_H

#include "entity.h"

struct task_struct *vrq_pick_task(struct rq *rq);
void vrq_balance_tick(struct rq *rq);

#ifdef CONFIG_SMP
void vrq_balance_init_rq(struct rq *rq);
bool vrq_far_task_waits(struct rq *rq, struct task_struct *curr);
void vrq_look_around(struct rq *rq, struct task_struct *curr);
void vrq_leave_idle(struct rq *rq);
#else
static inline void vrq_balance_init_rq(struct rq *rq) { }
static inline bool vrq_far_task_waits(struct rq *rq, struct task_struct *curr)
{
	return false;
}

static inline void vrq_look_around(struct rq *rq, struct task_struct *curr) { }

static inline void vrq_leave_idle(struct rq *rq)
{
	vrq_forget_lateness(rq);
}
#endif

#ifdef CONFIG_SCHED_SMT
void __vrq_spread_tick(struct rq *rq);

/**
 * vrq_spread_tick - the tick of a CPU that runs a task of VRQ's
 * @rq: its run queue, locked, its clock updated
 */
static inline void vrq_spread_tick(struct rq *rq)
{
	if (sched_smt_active())
		__vrq_spread_tick(rq);
}
#else
static inline void vrq_spread_tick(struct rq *rq) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_BALANCE_H */
