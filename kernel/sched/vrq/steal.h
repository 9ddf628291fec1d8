/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CPU takes from others.
 */
#ifndef _KERNEL_SCHED_VRQ_STEAL_H
#define _KERNEL_SCHED_VRQ_STEAL_H

#include "entity.h"

#ifdef CONFIG_SMP
struct task_struct *vrq_take_offered(struct rq *rq, int cpu, enum vrq_level level,
				     s64 limit, bool *missed);
bool vrq_offered_here(struct rq *rq, int cpu, bool near);
struct task_struct *vrq_take_from_others(struct rq *rq, enum vrq_level level,
					 bool *missed);
bool vrq_far_task_waits(struct rq *rq, struct task_struct *curr);
#else
static inline struct task_struct *vrq_take_from_others(struct rq *rq, enum vrq_level level,
						       bool *missed)
{
	return NULL;
}

static inline bool vrq_far_task_waits(struct rq *rq, struct task_struct *curr)
{
	return false;
}
#endif

#endif /* _KERNEL_SCHED_VRQ_STEAL_H */
