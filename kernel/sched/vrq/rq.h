/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What VRQ keeps in every run queue. Included by ../sched.h between
 * struct balance_callback and struct rq.
 */
#ifndef _KERNEL_SCHED_VRQ_RQ_H
#define _KERNEL_SCHED_VRQ_RQ_H

#include <linux/atomic.h>
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
 * struct vrq_queue - tasks that wait, in the order in which they are picked
 * @tasks: a tree for each level, ordered by deadline
 * @earliest: deadline of the leftmost task of each tree, VRQ_NO_DEADLINE for
 *	an empty one. Written under the queue's lock, read without it
 *
 * A queue of a CPU is protected by its rq->lock, those of the grq by grq.lock.
 */
struct vrq_queue {
	struct rb_root_cached	tasks[VRQ_LEVELS];
	atomic64_t		earliest[VRQ_LEVELS];
};

#define VRQ_NO_DEADLINE		S64_MAX

/**
 * struct vrq_rq - VRQ's part of a run queue
 * @local: runnable tasks that only this CPU may take
 * @cache: runnable tasks that shall run on this CPU for a while yet, see cache.c
 * @confined: how many of those in @cache are vrq_confined()
 * @slot: the preempt task: woken for this CPU, taken without grq.lock
 * @weight: sum of p->vrq.weight over the queued tasks of this run queue.
 *	Read by other CPUs without the lock
 * @anywhere: the part of @weight of tasks that every CPU may run; read as that is
 * @late: how late tasks used up their slices here, on the mean of the last 16
 *	or so, ns
 * @scost: what has been switched to here, see hot.c
 * @scost_threshold: from the size of the last-level cache, 0 if it is not known.
 *	Written as the CPU comes online, read without a lock
 * @idle_since: when the CPU last ran out of tasks, ns
 * @next_promotion: when the next normal task may go before SCHED_ISO, ns
 * @priodl: vrq_key() of the running task, 0 if a higher class runs. Read by
 *	other CPUs without the lock; meaningless while the CPU is idle
 * @runs: the weight of the running task, 0 if it is not VRQ's. Like @gives_way only
 *	with the tunable smt_nice, see smt.c, and read by the other threads of the
 *	core without the lock
 * @gives_way: the CPU idles because a more important task runs on its core
 * @shared_ticks: at how many ticks in a row another thread of the core was busy while
 *	a core was idle, see spread.c
 * @spread: the current task is to leave for that core
 * @open: a CPU that is idle may find something to take in @cache or @slot; is
 *	this CPU's bit in open_cpus, see steal.c
 * @retry: queued when a pick had to leave a task because its run queue was
 *	locked, and has found nothing else to run
 * @kick: makes this CPU, if idle, pick again
 *
 * All protected by rq->lock.
 */
struct vrq_rq {
	struct vrq_queue	local;
	struct vrq_queue	cache;
	unsigned int		confined;
	struct task_struct	*slot;
	unsigned long		weight;
	unsigned long		anywhere;
	s64			late;
	unsigned int		scost;
	unsigned int		scost_threshold;
	u64			idle_since;
	u64			next_promotion;
	atomic64_t		priodl;
#ifdef CONFIG_SCHED_SMT
	unsigned int		runs;
	bool			gives_way;
	bool			spread;
	unsigned int		shared_ticks;
#endif
#ifdef CONFIG_SMP
	bool			open;
	struct balance_callback	retry;
	struct irq_work		kick;
#endif
};

#endif /* _KERNEL_SCHED_VRQ_RQ_H */
