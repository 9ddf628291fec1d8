/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits of CPU bandwidth: how much of what a group may use is left.
 */
#ifndef _KERNEL_SCHED_VRQ_LIMIT_H
#define _KERNEL_SCHED_VRQ_LIMIT_H

#include "group.h"

#ifdef CONFIG_CFS_BANDWIDTH
bool vrq_limit_stops(struct task_struct *p);
void __vrq_limit_charge(struct rq *rq, struct task_struct *p, struct vrq_group *group,
			s64 delta);
struct vrq_group *__vrq_limit_reached(struct rq *rq, struct vrq_group *group, s64 *left);
bool vrq_limit_stop(struct rq *rq, struct vrq_group *group);
void vrq_limit_go(struct rq *rq, struct vrq_group *group, s64 waited);
bool vrq_limit_refill(struct rq *rq, struct vrq_group *group);
void vrq_limit_pay(struct vrq_group *group);
void vrq_limit_restart(struct vrq_group *group);

/* The nearest group with a limit: @group, which may be NULL, or one around it; else NULL */
static inline struct vrq_group *vrq_limited_of(const struct vrq_group *group)
{
	return group ? READ_ONCE(group->limited) : NULL;
}

/* The nearest group with a limit, for a task's group; NULL if there is none */
static inline struct vrq_group *vrq_limited_group(const struct task_struct *p)
{
	return vrq_limited_of(vrq_group_of(p));
}

/**
 * vrq_limit_charge - a task has used the CPU
 * @rq: its run queue, locked
 * @p: the task
 * @delta: for how long, ns
 */
static inline void vrq_limit_charge(struct rq *rq, struct task_struct *p, s64 delta)
{
	struct vrq_group *group = vrq_limited_group(p);

	if (unlikely(group))
		__vrq_limit_charge(rq, p, group, delta);
}

/**
 * vrq_limit_reached - has a task's group nothing left to use?
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task
 * @left: if something is left, how long the task may run until the next check, ns; a tick if
 *	the check at the tick is soon enough
 *
 * Return: the task's group, or the group around it, whose limit is reached; NULL if there is
 * none.
 */
static inline struct vrq_group *vrq_limit_reached(struct rq *rq, const struct task_struct *p,
						  s64 *left)
{
	struct vrq_group *group = vrq_limited_group(p);

	*left = TICK_NSEC;

	return unlikely(group) ? __vrq_limit_reached(rq, group, left) : NULL;
}
#else
static inline void vrq_limit_charge(struct rq *rq, struct task_struct *p, s64 delta) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_LIMIT_H */
