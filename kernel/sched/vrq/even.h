/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How CPUs and domains even out: a CPU whose slice has ended takes from others what should
 * run first.
 */
#ifndef _KERNEL_SCHED_VRQ_EVEN_H
#define _KERNEL_SCHED_VRQ_EVEN_H

#include "entity.h"

#ifdef CONFIG_SMP
void vrq_even_init_rq(struct rq *rq);
void vrq_look_at_others(struct rq *rq, struct task_struct *curr);
struct task_struct *__vrq_pull(struct rq *rq, struct task_struct *p, bool *missed);

/**
 * vrq_pull - take the task that vrq_look_at_others() has seen elsewhere
 * @rq: the run queue of this CPU, locked, its clock updated
 * @p: the best task that waits here; only a task that should run before @p is taken
 * @missed: set if a task had to be left because a run queue was locked
 *
 * Return: the task, VRQ_PICKED, at home here; or NULL.
 */
static inline struct task_struct *vrq_pull(struct rq *rq, struct task_struct *p,
					   bool *missed)
{
	if (likely(rq->vrq.pull_from < 0 && rq->vrq.pull_from_cpu < 0))
		return NULL;

	return __vrq_pull(rq, p, missed);
}
#else
static inline void vrq_even_init_rq(struct rq *rq) { }
static inline void vrq_look_at_others(struct rq *rq, struct task_struct *curr) { }
static inline struct task_struct *vrq_pull(struct rq *rq, struct task_struct *p,
					   bool *missed)
{
	return NULL;
}
#endif

#endif /* _KERNEL_SCHED_VRQ_EVEN_H */
