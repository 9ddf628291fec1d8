/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SCHED_ISO: how much of the machine it has used, and what it counts as.
 */
#ifndef _KERNEL_SCHED_VRQ_ISO_H
#define _KERNEL_SCHED_VRQ_ISO_H

#include "core.h"

/* SCHED_ISO has used up its part of the machine, see iso.c. Changes at any time */
extern bool vrq_iso_over;

/**
 * struct vrq_iso_time - all tasks of SCHED_ISO together
 * @used: their CPU time since boot, ns
 * @left: the part of @used that has left the window, see iso.c, ns
 * @weight: the sum of p->vrq.weight over those that are queued
 */
struct vrq_iso_time {
	atomic64_t	used;
	atomic64_t	left;
	atomic64_t	weight;
};

extern struct vrq_iso_time vrq_iso_time;

/* What a level counts as just now */
static inline enum vrq_level vrq_level_now(enum vrq_level level)
{
	return level == VRQ_ISO && READ_ONCE(vrq_iso_over) ? VRQ_NORMAL : level;
}

u64 __vrq_iso_weight(const struct task_struct *p, u64 weight, u64 now);
void __vrq_iso_account(u64 delta, u64 now);

#ifdef CONFIG_SYSCTL
void vrq_register_iso_cpu(void);
#else
static inline void vrq_register_iso_cpu(void) { }
#endif

/**
 * vrq_iso_weight - correct a load for what SCHED_ISO uses, to compute the span of a task
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task
 * @weight: the sum of the weights of the load
 *
 * SCHED_ISO tasks run before all other tasks, whatever their weight. If they have had more of
 * the CPUs than their part of the weight, less is left for each of the other tasks, and there
 * is more for each SCHED_ISO task. Spans have to follow that. Otherwise all other tasks are
 * late, and a late task runs before a task that has just woken up. And SCHED_ISO tasks are all
 * ahead of their deadlines, which then do not tell which of them is to run next.
 *
 * Return: the weight; @weight where there is no SCHED_ISO.
 */
static inline u64 vrq_iso_weight(struct rq *rq, const struct task_struct *p, u64 weight)
{
	if (likely(atomic64_read(&vrq_iso_time.used) == atomic64_read(&vrq_iso_time.left)))
		return weight;

	return __vrq_iso_weight(p, weight, rq_clock(rq));
}

/**
 * vrq_iso_load - update the weight of queued SCHED_ISO tasks
 * @more: what to add when a SCHED_ISO task is queued, changes or is dequeued; 0 for other
 *	tasks
 */
static inline void vrq_iso_load(long more)
{
	if (unlikely(more))
		atomic64_add(more, &vrq_iso_time.weight);
}

/**
 * vrq_iso_account - a task has used a CPU, or is about to be queued
 * @rq: its run queue, locked, its clock updated
 * @p: the task; does nothing if it is not SCHED_ISO
 * @delta: for how long it has, ns
 */
static inline void vrq_iso_account(struct rq *rq, const struct task_struct *p,
				   u64 delta)
{
	if (unlikely(p->vrq.iso))
		__vrq_iso_account(delta, rq_clock(rq));
}

#endif /* _KERNEL_SCHED_VRQ_ISO_H */
