/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a CPU that has nothing to do looks for a task.
 */
#ifndef _KERNEL_SCHED_VRQ_SEARCH_H
#define _KERNEL_SCHED_VRQ_SEARCH_H

#include "choose.h"
#include "entity.h"

#ifdef CONFIG_SMP
void vrq_search_init_rq(struct rq *rq);
struct task_struct *vrq_search(struct rq *rq);
void vrq_leave_idle(struct rq *rq);
void vrq_kick_again(struct rq *rq);
#else
static inline void vrq_search_init_rq(struct rq *rq) { }

static inline struct task_struct *vrq_search(struct rq *rq)
{
	if (vrq_curr(rq) != rq->idle)
		rq->vrq.idle_since = rq_clock(rq);
	vrq_note_pick(NULL, VRQ_PICK_NONE, false);

	return NULL;
}

static inline void vrq_leave_idle(struct rq *rq)
{
	vrq_forget_lateness(rq);
}

static inline void vrq_kick_again(struct rq *rq) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_SEARCH_H */
