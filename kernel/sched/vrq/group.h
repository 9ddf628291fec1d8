/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a group of tasks is entitled to, and with it the tasks in it.
 */
#ifndef _KERNEL_SCHED_VRQ_GROUP_H
#define _KERNEL_SCHED_VRQ_GROUP_H

#include "core.h"

struct vrq_counts;

/**
 * enum vrq_factor - which load of a group a factor is computed from
 * @VRQ_FACTOR_NOW: the load that is runnable now; for what a task adds to the load
 * @VRQ_FACTOR_MEAN: the recent mean of the load; for tasks that get a whole slice
 * @VRQ_FACTORS: number of factors that are stored in a group
 * @VRQ_FACTOR_WAKE: the load that is runnable now, with the task itself and with tasks that
 *	may come soon; for tasks that wake up
 *
 * See group.c.
 */
enum vrq_factor {
	VRQ_FACTOR_NOW,
	VRQ_FACTOR_MEAN,
	VRQ_FACTORS,
	VRQ_FACTOR_WAKE = VRQ_FACTORS,
};

/* Time constant of a group's means, for a factor of e, ms */
#define VRQ_GROUP_MEAN_MS	128

#ifdef CONFIG_FAIR_GROUP_SCHED
/**
 * struct vrq_group_cpu - a group's part on a CPU
 * @weight: sum of p->vrq.own_weight over the group's own tasks that are queued there.
 *	Written under that CPU's rq->lock, read without it, about once a jiffy, by the
 *	CPU that sums up the group
 * @ahead: sum of what vrq_group_note_ahead() has added here, weight times us. Fetched and set
 *	to 0 by the CPU that sums up the group
 * @left: what this CPU has drawn from the group's limit and not used, ns; negative if it has
 *	overdrawn
 * @throttled: the tasks that wait here for that limit to be refilled
 * @throttled_at: since when @throttled is not empty, ns
 * @stopped: number of throttled tasks here in the group and in groups below it, whichever
 *	limit they wait for
 * @stopped_at: since when @stopped is not 0, ns
 *
 * All fields from @left on are protected by that CPU's rq->lock.
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
 * @parent: the struct vrq_group of its parent, NULL below the root. Lives as long as the group
 * @percpu: its parts on the CPUs
 * @cpus: the CPUs on which it may have tasks queued. A CPU sets its own bit; the CPU that sums
 *	up the group clears the bits of CPUs that have nothing
 * @idle: the group or a group around it has cpu.idle
 * @limited: the nearest group with a limit of CPU bandwidth: this one, or one around it
 * @summed_at: when the group was last summed up, jiffies; the CPU that sets this sums it up
 * @swept_at: when the means were last updated, jiffies. Written with counted_lock held, as are
 *	@mean and @ahead
 * @since: when the group last began to have something to do, jiffies
 * @children: sum of the shares of the child groups that have something to do
 * @runnable: the weight of all that is runnable in the group, as of the last summing up
 * @weight: @runnable with a lower limit. If nothing is runnable, the limit is the weight of a
 *	nice 0 task, because a task that wakes up reads this before it is counted
 * @ahead: recent mean of a correction that is a part of @runnable: what tasks that sleep still
 *	count for, less what tasks counted for too much while they were queued
 * @mean: recent mean of the rest of @runnable
 * @peak: the greatest @runnable of late, see group.c
 * @given: what the group has added to @children of its parent
 * @factor: what the weight of a task in the group is multiplied by
 * @throttled: the CPUs on which tasks wait for its limit to be refilled. Bits are written
 *	under their rq->lock and the lock of the limit
 * @debt: what CPUs have overdrawn and is not paid back yet, ns; protected by the lock of the
 *	limit
 * @first_cpu: the CPU that was served first at the last refill
 * @workers_at: when throttled threads of io_uring last went on for a moment, jiffies
 * @counted: links the groups that have something to do, protected by counted_lock
 * @gone: the group must not be linked any more; protected by counted_lock
 * @depth: how many groups are around it
 * @around: the groups around it, the outermost first
 *
 * The fields from @summed_at to @throttled change once a jiffy while the group has something
 * to do. The CPUs that run its tasks read them.
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
	unsigned long			workers_at;
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
void vrq_group_begin_anew(void);
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

/* Do all tasks of the task's group run only when no other task wants the CPU? */
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
static inline void vrq_group_begin_anew(void) { }
static inline bool vrq_in_group(const struct task_struct *p) { return false; }
static inline bool vrq_group_is_idle(const struct task_struct *p) { return false; }
static inline u64 vrq_group_weight(const struct task_struct *p, enum vrq_factor which,
				   u64 own)
{
	return own;
}
#endif

#endif /* _KERNEL_SCHED_VRQ_GROUP_H */
