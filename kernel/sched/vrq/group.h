/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a group of tasks is entitled to, and with it the tasks in it.
 */
#ifndef _KERNEL_SCHED_VRQ_GROUP_H
#define _KERNEL_SCHED_VRQ_GROUP_H

#include "core.h"

struct vrq_counts;

/**
 * enum vrq_factor - of which load of a group
 * @VRQ_FACTOR_NOW: what is runnable just now: for what a task adds to the load
 * @VRQ_FACTOR_MEAN: the mean of late: for tasks that get a whole slice
 * @VRQ_FACTORS: how many of them a group has
 * @VRQ_FACTOR_WAKE: that of now with the task itself, and those that may come: for tasks
 *	that wake up
 *
 * See group.c.
 */
enum vrq_factor {
	VRQ_FACTOR_NOW,
	VRQ_FACTOR_MEAN,
	VRQ_FACTORS,
	VRQ_FACTOR_WAKE = VRQ_FACTORS,
};

/* In how many ms a group's means follow, by a factor of e */
#define VRQ_GROUP_MEAN_MS	128

#ifdef CONFIG_FAIR_GROUP_SCHED
/**
 * struct vrq_group_cpu - a group's part on a CPU
 * @weight: sum of p->vrq.own_weight over the group's own tasks that are queued there.
 *	Written under that CPU's rq->lock, read without it, about once a jiffy, by the
 *	CPU that sums up the group
 * @ahead: what was told by vrq_group_note_ahead() here, weight times us.
 *	Fetched and set to 0 by the CPU that sums up
 * @left: what it has drawn from the group's limit and not used, ns; below zero what it
 *	has overdrawn
 * @throttled: the tasks that wait here for that limit to be refilled
 * @throttled_at: since when there are any, ns
 * @stopped: how many tasks in the group, or in one in it, wait here, whatever for
 * @stopped_at: since when there are any, ns
 *
 * All from @left on are protected by that CPU's rq->lock.
 */
struct vrq_group_cpu {
	unsigned long		weight[VRQ_KINDS];
	atomic64_t		ahead[VRQ_KINDS];
#ifdef CONFIG_CFS_BANDWIDTH
	s64			left;
	struct list_head	throttled;
	u64			throttled_at;
	unsigned int		stopped;
	u64			stopped_at;
#endif
};

/**
 * struct vrq_group - VRQ's part of a task group other than the root
 * @tg: the task group
 * @parent: that of its parent, NULL below the root. Lives as long as the group
 * @percpu: its parts on the CPUs
 * @cpus: the CPUs on which it may have tasks queued. A CPU sets its own bit, whoever
 *	sums up clears those of CPUs that have nothing
 * @idle: it or a group around it has cpu.idle
 * @limited: the nearest of it and the groups around it that has a limit of CPU bandwidth
 * @summed_at: when it was summed up last, jiffies; who moves it on does so
 * @swept_at: when its means followed, jiffies. Written with counted_lock held, as are
 *	@mean and @ahead
 * @since: when it last began to have something to do, jiffies
 * @children: sum of the shares of the child groups that have something to do
 * @runnable: the weight of all that is runnable in the group, as of the last summing up
 * @weight: what that is taken to be: where nothing is runnable no less than that of a task
 *	of nice 0, for who comes asks before it is counted
 * @ahead: what tasks count for that sleep ahead, less what others count for too much while
 *	they are queued, on the mean of late, a part of @runnable
 * @mean: the rest of that on the mean of late
 * @peak: the greatest @runnable of late, see group.c
 * @given: what the group has added to @children of its parent
 * @factor: what the weight of a task in the group is multiplied with
 * @throttled: the CPUs on which tasks wait for its limit to be refilled. Bits are written
 *	under their rq->lock and the lock of the limit
 * @debt: what CPUs have overdrawn and is not paid back yet, ns; with the lock of the limit
 * @first_cpu: the one that got something first when it was last refilled
 * @counted: links those that have something to do, protected by counted_lock
 * @gone: is not to be linked any more, likewise
 * @depth: how many groups are around it
 * @around: those, the outermost first
 *
 * From @summed_at to @throttled all change once a jiffy while the group has something to
 * do, and are read by the CPUs that run its tasks.
 */
struct vrq_group {
	struct task_group		*tg;
	struct vrq_group		*parent;
	struct vrq_group_cpu __percpu	*percpu;
	cpumask_var_t			cpus;
	bool				idle;
#ifdef CONFIG_CFS_BANDWIDTH
	struct vrq_group		*limited;
#endif

	unsigned long			summed_at ____cacheline_aligned_in_smp;
	unsigned long			swept_at;
	unsigned long			since[VRQ_KINDS];
	atomic64_t			children[VRQ_KINDS];
	atomic64_t			runnable[VRQ_KINDS];
	atomic64_t			weight[VRQ_KINDS];
	atomic64_t			ahead[VRQ_KINDS];
	atomic64_t			mean[VRQ_KINDS];
	atomic64_t			peak[VRQ_KINDS];
	atomic64_t			given[VRQ_KINDS];
	atomic64_t			factor[VRQ_KINDS][VRQ_FACTORS];
#ifdef CONFIG_CFS_BANDWIDTH
	u64				debt;
	int				first_cpu;
	cpumask_var_t			throttled;
#endif

	struct list_head		counted;
	bool				gone;

	unsigned int			depth;
	struct vrq_group		*around[] __counted_by(depth);
};

/* The group of a task, NULL for the root's. The lock of its run queue is held */
static inline struct vrq_group *vrq_group_of(const struct task_struct *p)
{
	return p->sched_task_group->vrq;
}

void vrq_group_add(struct rq *rq, const struct task_struct *p, int sign);
void vrq_group_recount(struct rq *rq, const struct task_struct *p,
		       const struct vrq_counts *before);
void vrq_group_note_ahead(struct rq *rq, const struct task_struct *p, s64 ahead);
void vrq_group_sum_up(const struct task_struct *p);
void vrq_group_tick(void);
void vrq_group_note_settings(void);
u64 __vrq_group_weight(const struct vrq_group *group, const struct task_struct *p,
		       enum vrq_factor which, u64 own);

/* The part of a group on a CPU */
static inline struct vrq_group_cpu *vrq_group_part(struct rq *rq, struct vrq_group *group)
{
	return per_cpu_ptr(group->percpu, cpu_of(rq));
}

/* Is a group the other one, or in it? */
static inline bool vrq_group_within(const struct vrq_group *group,
				    const struct vrq_group *other)
{
	return group == other ||
	       (group->depth > other->depth && group->around[other->depth] == other);
}

/* Is a task in a group other than the root? Locked as for vrq_group_of() */
static inline bool vrq_in_group(const struct task_struct *p)
{
	return vrq_group_of(p);
}

/* Do all tasks of a task's group run when nobody else wants the CPU? */
static inline bool vrq_group_is_idle(const struct task_struct *p)
{
	struct vrq_group *group = vrq_group_of(p);

	return group && READ_ONCE(group->idle);
}

/**
 * vrq_group_weight - what a task counts for on the machine
 * @p: the task; the lock of its run queue is held
 * @which: the load of the group to go by
 * @own: what it counts for in its group
 *
 * Return: the weight; @own for a task of the root group.
 */
static inline u64 vrq_group_weight(const struct task_struct *p, enum vrq_factor which,
				   u64 own)
{
	struct vrq_group *group = vrq_group_of(p);

	return group ? __vrq_group_weight(group, p, which, own) : own;
}
#else
static inline void vrq_group_add(struct rq *rq, const struct task_struct *p, int sign) { }
static inline void vrq_group_recount(struct rq *rq, const struct task_struct *p,
				     const struct vrq_counts *before) { }
static inline void vrq_group_note_ahead(struct rq *rq, const struct task_struct *p, s64 ahead) { }
static inline void vrq_group_sum_up(const struct task_struct *p) { }
static inline void vrq_group_tick(void) { }
static inline void vrq_group_note_settings(void) { }
static inline bool vrq_in_group(const struct task_struct *p) { return false; }
static inline bool vrq_group_is_idle(const struct task_struct *p) { return false; }
static inline u64 vrq_group_weight(const struct task_struct *p, enum vrq_factor which,
				   u64 own)
{
	return own;
}
#endif

#endif /* _KERNEL_SCHED_VRQ_GROUP_H */
