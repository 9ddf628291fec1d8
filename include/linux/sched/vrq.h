/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What VRQ knows of a task: struct sched_vrq_entity, part of task_struct.
 */
#ifndef _LINUX_SCHED_VRQ_H
#define _LINUX_SCHED_VRQ_H

#include <linux/rbtree_types.h>
#include <linux/types.h>

/**
 * enum vrq_place - where a task is as VRQ sees it
 * @VRQ_NOWHERE: not queued: asleep, new, or of another scheduling class
 * @VRQ_ON_CPU: rq->curr of its CPU
 * @VRQ_THROTTLED: runnable, but its group has used up its limit of CPU bandwidth: in
 *	a list of the group on its CPU, see throttle.c. For the class it is not queued
 * @VRQ_PICKED: taken out of a queue by the pick that is under way; the very
 *	same hold of rq->lock turns it into VRQ_ON_CPU
 * @VRQ_IN_SLOT: in the preempt slot of its CPU
 * @VRQ_PINNED: in the queue of its CPU for tasks that may run nowhere else
 * @VRQ_IN_QUEUE: in the queue of its CPU
 * @VRQ_IN_SHARED: in the shared queue of a domain
 *
 * A task with VRQ_PICKED or a later value waits, or has waited until now.
 *
 * Protected by the lock of the task's run queue. A task enters and leaves
 * VRQ_IN_SHARED with the lock of the domain held as well.
 */
enum vrq_place {
	VRQ_NOWHERE = 0,
	VRQ_ON_CPU,
	VRQ_THROTTLED,
	VRQ_PICKED,
	VRQ_IN_SLOT,
	VRQ_PINNED,
	VRQ_IN_QUEUE,
	VRQ_IN_SHARED,
};

struct vrq_domain;
struct vrq_group;

/**
 * struct sched_vrq_entity - the scheduling state of a task under VRQ
 * @node: links the task into the queue that @place names
 * @throttled: links it into the list of throttled tasks instead
 * @moved: links it into the list of tasks to be queued, while schedulers are switched
 * @throttled_by: the group whose limit it waits for, if it is VRQ_THROTTLED
 * @throttle_work: stops the task when it next returns to user space, see throttle.c
 * @deadline: virtual deadline, ns on the clock of the run queues
 * @slice: what is left of the time slice, ns; below zero after an overrun,
 *	which the next slice pays back
 * @span: from the last deadline to @deadline at a fair share, ns
 * @burst: CPU time that it uses between two sleeps, mean of the last few, ns
 * @woken_at: the CPU time that it had used when it last woke up, ns
 * @renewed_at: when @span was last computed, ns
 * @renewed_used: the CPU time that it had used by then, ns
 * @used_us: what it has used of the CPU lately, see weight.c, us
 * @slept_us: what it has slept in the same time, us
 * @used_at: the CPU time that it had used when @used_us was last computed, ns
 * @since: when it began to wait for its CPU or for its group's limit, or to sleep, ns; 0 for
 *	a sleep for a disk or a lock, and from a wake-up by another task until the task is
 *	queued. The 0 of a wake-up is written under p->pi_lock, all else under the lock of its
 *	run queue
 * @promoted_at: the CPU time that it had used when @promoted was last set, ns
 * @ahead_until: while the task sleeps, until when it still counts in its group, ns; while it
 *	does not sleep, how much of that time was left when it woke up, ns
 * @waited: for how long it has waited since it got its slice, ns
 * @waited_awake: for how long it has waited since it woke up or came into its group, ns,
 *	without the wait that a promotion ended
 * @margin: how much earlier than that of the running task @deadline must be
 *	to preempt it, ns. Set at each wake-up and at fork under p->pi_lock, else under
 *	the lock of its run queue
 * @sync_wakeup: when it last woke another task with WF_SYNC, and so announced that it would
 *	sleep, ns; 0 if it has slept since. Used only by the task itself, while it runs
 * @scost: the scost of @cached_on when its data began to get cold there
 * @cached_on: the CPU that may have its data in the cache, see hot.c
 * @rr_ms: the rr_interval that @deadline, @slice and @span were computed for, ms
 * @own_weight: its weight among the tasks of its group, from its nice level and @favour
 * @weight: what the task adds to the weight of its run queue while queued, or with
 *	@only_idle to the weight of SCHED_IDLE tasks: @own_weight as its groups change it
 * @weight_max: upper limit of @weight if its group gives it more than @own_weight, see
 *	weight.c; 0 if that is not known yet
 * @unconfined: @weight if every CPU may run the task, else 0
 * @passed_over_ms: for how long it could have run and has not, while its CPU time stayed at
 *	@seen_runtime, ms. Written without a lock by the watchdog, as the next two, see
 *	watchdog.c
 * @seen_runtime: the CPU time that it had used when the watchdog saw it wait, ns
 * @seen_level: the enum vrq_level that it had then by its policy
 * @domain: the domain in whose shared queue it is. Protected by the lock of that domain
 * @mask_queue: index of the mask queue in @domain, see shared.c. Protected likewise
 * @place: an enum vrq_place
 * @level: the enum vrq_level that the task is queued at
 * @prio: the p->prio that @deadline was computed for
 * @queued: between enqueue_task() and dequeue_task()
 * @yielded: has called sched_yield() and not been passed over since
 * @wait_shared: is to wait in the shared queue, for example because its CPU had more than its
 *	part of the load when the slice ended
 * @confined: there is a CPU, neither isolated nor offline, that the task may not run on
 * @promoted: has starved, and was promoted to a better level. This ends with its slice, with a
 *	sleep that is not for a lock or a disk, or with a wake-up after it has used rr_interval
 *	since
 * @requested: @slice is less than a whole one: it is what the task may need until it sleeps
 * @only_idle: counts for SCHED_IDLE tasks alone
 * @iso: is SCHED_ISO and in no group with cpu.idle, even while SCHED_ISO counts as normal
 * @favour: by how much its weight is more than that of its nice level, see weight.c
 * @to_throttle: @throttle_work is pending
 * @spared: passes @throttle_work once without stopping, see throttle.c
 * @was_iso: was SCHED_ISO until the fair class took it over, see switch.c
 * @stay: the waker is about to sleep: wait for it in its CPU's preempt slot.
 *	Written by the waker under p->pi_lock, consumed at enqueue
 * @sync_trust: how many times in a row it has slept as announced, see wakeup.c. Used only by
 *	the task itself, while it runs
 *
 * The others are protected by the lock of the task's run queue.
 */
struct sched_vrq_entity {
	union {
		struct rb_node		node;
		struct list_head	throttled;
		struct list_head	moved;
	};
	struct vrq_group *throttled_by;
	struct callback_head throttle_work;
	u64		deadline;
	s64		slice;
	u64		span;
	u64		burst;
	u64		woken_at;
	u64		renewed_at;
	u64		renewed_used;
	u64		used_at;
	u64		since;
	u64		promoted_at;
	u64		ahead_until;
	u64		waited;
	u64		waited_awake;
	s64		margin;
	u64		sync_wakeup;
	unsigned int	used_us;
	unsigned int	slept_us;
	unsigned int	scost;
	int		cached_on;
	unsigned int	rr_ms;
	unsigned int	own_weight;
	unsigned int	weight;
	unsigned int	weight_max;
	unsigned int	unconfined;
	unsigned int	passed_over_ms;
	u64		seen_runtime;
	struct vrq_domain *domain;
	u8		mask_queue;
	u8		seen_level;
	u8		place;
	u8		level;
	u8		prio;
	u8		queued;
	u8		yielded;
	u8		confined;
	u8		promoted;
	u8		wait_shared;
	u8		requested;
	u8		only_idle;
	u8		iso;
	u8		favour;
	u8		to_throttle;
	u8		spared;
	u8		was_iso;
	u8		stay;
	u8		sync_trust;
};

#ifdef CONFIG_SCHED_VRQ
void vrq_soft_lockup(void);
#else
static inline void vrq_soft_lockup(void) { }
#endif

#endif /* _LINUX_SCHED_VRQ_H */
