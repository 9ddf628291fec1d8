/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks that wait because their group has used up its limit of CPU bandwidth.
 */
#ifndef _KERNEL_SCHED_VRQ_THROTTLE_H
#define _KERNEL_SCHED_VRQ_THROTTLE_H

#include "limit.h"

#ifdef CONFIG_CFS_BANDWIDTH
void vrq_throttle_init_rq(struct rq *rq);
void __vrq_throttle_check(struct rq *rq, struct task_struct *p);
void vrq_throttle_out(struct rq *rq, struct task_struct *p);
void vrq_throttle_offline(struct rq *rq);

/**
 * vrq_throttle_check - has a task that runs to stop?
 * @rq: its run queue, locked, its clock updated
 * @p: the task, about to run or running
 */
static inline void vrq_throttle_check(struct rq *rq, struct task_struct *p)
{
	if (unlikely(vrq_limited_group(p)))
		__vrq_throttle_check(rq, p);
}
#else
static inline void vrq_throttle_init_rq(struct rq *rq) { }
static inline void vrq_throttle_out(struct rq *rq, struct task_struct *p) { }
static inline void vrq_throttle_offline(struct rq *rq) { }
static inline void vrq_throttle_check(struct rq *rq, struct task_struct *p) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_THROTTLE_H */
