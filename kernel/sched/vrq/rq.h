/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What VRQ keeps in every run queue. Included by ../sched.h between
 * struct balance_callback and struct rq.
 */
#ifndef _KERNEL_SCHED_VRQ_RQ_H
#define _KERNEL_SCHED_VRQ_RQ_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/irq_work.h>
#include <linux/rbtree_types.h>
#include <linux/types.h>

struct task_struct;

/**
 * enum vrq_level - the first half of the order in which tasks are picked
 * @VRQ_ISO: SCHED_ISO, and normal tasks that starve behind it; the same as VRQ_NORMAL
 *	while SCHED_ISO has used up its part of the machine
 * @VRQ_NORMAL: SCHED_NORMAL, SCHED_BATCH, and SCHED_IDLE that starves
 * @VRQ_IDLE: SCHED_IDLE
 * @VRQ_LEVELS: how many there are
 *
 * Within a level the earliest deadline comes first.
 */
enum vrq_level {
	VRQ_ISO,
	VRQ_NORMAL,
	VRQ_IDLE,
	VRQ_LEVELS,
};

/**
 * enum vrq_kind - whom a task competes with
 * @VRQ_KIND_NORMAL: all but SCHED_IDLE
 * @VRQ_KIND_IDLE: SCHED_IDLE, and all tasks of a group with cpu.idle
 * @VRQ_KINDS: how many there are
 *
 * Tasks of VRQ_KIND_IDLE count for nothing beside tasks of VRQ_KIND_NORMAL, so each kind has
 * sums of its own.
 */
enum vrq_kind {
	VRQ_KIND_NORMAL,
	VRQ_KIND_IDLE,
	VRQ_KINDS,
};

/**
 * struct vrq_queue - tasks that wait, in the order in which they are picked
 * @earliest: deadline of the leftmost task of each tree, VRQ_NO_DEADLINE for
 *	an empty one. Written under the queue's lock, read without it
 * @tasks: a tree for each level, ordered by deadline
 *
 * A queue of a CPU is protected by its rq->lock, that of a domain by the
 * domain's lock.
 */
struct vrq_queue {
	atomic64_t		earliest[VRQ_LEVELS];
	struct rb_root_cached	tasks[VRQ_LEVELS];
};

#define VRQ_NO_DEADLINE		S64_MAX

/**
 * struct vrq_rq - VRQ's part of a run queue
 * @queue: runnable tasks that wait for this CPU, see place.c
 * @pinned: runnable tasks that only this CPU may take
 * @confined: number of tasks in @queue that only some CPUs may run
 * @slot: the preempt task: woken for this CPU, which takes it at its next pick.
 *	Written at each wake-up that preempts, and at the pick that follows;
 *	read by CPUs that look for one to preempt, or for a task to take
 * @priodl: vrq_key() of the running task, 0 if a higher class runs. Written at
 *	each switch; read by CPUs that look for one to preempt. Meaningless
 *	while the CPU is idle
 * @weight: sum of p->vrq.weight over the queued tasks of this run queue but those that
 *	count for SCHED_IDLE alone.
 *	Written at each enqueue and dequeue; read once a tick by one CPU of the
 *	domain, see load.c, and by CPUs that run a task which may use few CPUs
 * @own_weight: the sum of p->vrq.own_weight over the same tasks; as @weight
 * @unconfined: the part of @weight of tasks that every CPU may run; as @weight
 * @idle_weight: the sum over those that count for SCHED_IDLE alone; as @weight
 * @lateness: how late tasks used up their slices here, on the mean of the last 16
 *	or so, ns. Written when a slice is renewed; read as @weight
 * @runs: the weight of the running task, 0 if it is not VRQ's. Written at each
 *	switch with the tunable smt_nice only, see smt.c; read by the other
 *	threads of the core
 * @gives_way: the CPU idles because a more important task runs on its core; as
 *	@runs
 * @kicked_for: where the task waits for which this CPU was kicked, see
 *	vrq_kick_idle_for(). Written by others, who have claimed this CPU, and
 *	by the CPU itself
 * @offered_to: the CPUs of the domain, by their index, that may find a task here which
 *	they may run. Bits are set when a task is offered, and cleared by a CPU that
 *	takes the lock and finds nothing. Read without the lock, see place.h
 * @offered_afar: the same for all CPUs of other domains: one of them that finds nothing
 *	clears it for all
 * @kick: makes this CPU, if idle, pick again
 * @scost: what has been switched to here, see hot.c
 * @scost_threshold: from the size of the last-level cache, 0 if it is not known.
 *	Written as the CPU comes online, read without a lock
 * @idle_since: when the CPU last ran out of tasks, ns
 * @pace: the time that a task of weight 1 needs here for 1 ns of CPU time, in ns times weight,
 *	0 if not known; one value for each enum vrq_kind, see group.c
 * @next_promotion: when the next normal task may go before SCHED_ISO, ns
 * @next_idle_promotion: when the next SCHED_IDLE one may go before normal ones, ns
 * @missed: the last pick had to leave a task because its run queue was locked, or the shared
 *	queue; the next tick looks again
 * @ticks: number of ticks that found a VRQ task running, no softirq, and no reschedule
 *	pending. Read by the watchdog
 * @ticks_alike: number of ticks in a row, up to the last one, without a task switch
 * @seen_switches: rq->nr_switches as of the last tick
 * @pull_from: the first CPU of the domain that the next pick is to look at too,
 *	-1 for none, see even.c
 * @pull_from_cpu: the CPU whose queue it is to look at, -1 for none
 * @next_domain: the first CPU of the domain that was looked at last when a slice was
 *	used up
 * @next_for_idle: likewise at the ticks of a SCHED_IDLE task. Not in common with @next_domain:
 *	depending on the number of ticks in a slice, it could then be the same domain each time
 *	that a slice is used up
 * @sample: where a wake-up's last look at a few CPUs of a domain ended
 * @next_sampled: where the tick's last look at a few CPUs of the machine ended. @sample,
 *	@next_sampled, @next_near and @next_afar are four fields, because with a common one
 *	some CPUs would never be looked at
 * @next_near: where the last look at CPUs of the own domain ended, when a slice was used up
 * @next_afar: likewise for CPUs of another domain
 * @offers: the levels for which this CPU's bits in the domain's masks of CPUs to
 *	take tasks from are set, see place.c
 * @shared_ticks: at how many ticks in a row another thread of the core was busy while
 *	a core was idle
 * @spread: the current task is to leave for such a core, see spread.c
 * @slot_offered: the task in @slot may be taken by a CPU without work
 * @limit_timer: looks whether the running task has to stop before the next tick, because its
 *	group reaches its limit, see throttle.c
 * @retry: queued when a pick had to leave a task because its run queue was
 *	locked, and has found nothing else to run
 *
 * All fields but @kicked_for are protected by rq->lock. The fields that other CPUs read come
 * first: one cache line, or two with CONFIG_SCHED_SMT. Of the other fields, CPUs read the keys
 * in @queue at the end of their slices, and the watchdog reads @ticks. The rest is used only
 * by this CPU, or by others with the lock held.
 */
struct vrq_rq {
	atomic64_t		priodl ____cacheline_aligned_in_smp;
	struct task_struct	*slot;
	unsigned long		weight;
	unsigned long		own_weight;
	unsigned long		unconfined;
	unsigned long		idle_weight;
	atomic64_t		lateness;
#ifdef CONFIG_SCHED_SMT
	unsigned int		runs;
	bool			gives_way;
#endif
#ifdef CONFIG_SMP
	int			kicked_for;
	bool			offered_afar;
	unsigned long		offered_to;
#endif

	struct vrq_queue	queue ____cacheline_aligned_in_smp;
	struct vrq_queue	pinned;
	unsigned int		confined;
	unsigned int		scost;
	unsigned int		scost_threshold;
	u64			idle_since;
	u64			pace[VRQ_KINDS];
	u64			next_promotion;
	u64			next_idle_promotion;
	bool			missed;
	unsigned long		ticks;
	unsigned int		ticks_alike;
	u64			seen_switches;
#ifdef CONFIG_CFS_BANDWIDTH
	struct hrtimer		limit_timer;
#endif
#ifdef CONFIG_SCHED_SMT
	bool			spread;
	unsigned int		shared_ticks;
#endif
#ifdef CONFIG_SMP
	int			pull_from;
	int			pull_from_cpu;
	int			next_domain;
	int			next_for_idle;
	unsigned int		sample;
	int			next_sampled;
	unsigned int		next_near;
	unsigned int		next_afar;
	u8			offers;
	bool			slot_offered;
	struct balance_callback	retry;
	struct irq_work		kick;
#endif
};

#endif /* _KERNEL_SCHED_VRQ_RQ_H */
