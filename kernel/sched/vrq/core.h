/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler core, as VRQ's files see it.
 */
#ifndef _KERNEL_SCHED_VRQ_CORE_H
#define _KERNEL_SCHED_VRQ_CORE_H

/* ../sched.h wants to know task_cpu_possible() */
#include <linux/mmu_context.h>

#include "../sched.h"

/* rq->curr; rq->lock held */
static inline struct task_struct *vrq_curr(struct rq *rq)
{
	return rcu_dereference_protected(rq->curr,
					 lockdep_is_held(__rq_lockp(rq)));
}

static inline bool vrq_task(const struct task_struct *p)
{
	return p->sched_class == &vrq_sched_class;
}

#endif /* _KERNEL_SCHED_VRQ_CORE_H */
