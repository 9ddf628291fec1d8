/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often each path was taken: /sys/kernel/debug/sched/vrq.
 */
#ifndef _KERNEL_SCHED_VRQ_COUNTERS_H
#define _KERNEL_SCHED_VRQ_COUNTERS_H

#include <linux/percpu.h>

/**
 * enum vrq_counter - what is counted, on the CPU where it happens
 * @VRQ_SHARED_LOCK: the lock of a domain was taken
 * @VRQ_SHARED_MISSED: a task in a shared queue was passed over because its run queue was
 *	locked, or the queue was, and the CPU had something else to run
 * @VRQ_SHARED_FULL: the shared queue had no room for the mask of a task, so the task waits for
 *	its home CPU
 * @VRQ_PICK_CURR: a pick that let the current task go on
 * @VRQ_PICK_SLOT: ... that took the preempt task
 * @VRQ_PICK_PINNED: ... that took a task that may run on this CPU only
 * @VRQ_PICK_QUEUE: ... that took a task from the queue of this CPU
 * @VRQ_PICK_SHARED: ... that took a task whose home is this CPU from a shared queue
 * @VRQ_PICK_PULLED: ... that took a task of another CPU of this domain from there
 * @VRQ_PICK_FAR: ... that took a task from the shared queue of another domain
 * @VRQ_PICK_STOLEN: ... that took a task that waited for another CPU
 * @VRQ_PICK_NONE: ... that found nothing
 * @VRQ_WAKE_IDLE: a wake-up that found an idle CPU
 * @VRQ_WAKE_PREEMPT: ... that found a CPU to preempt
 * @VRQ_WAKE_STAY: ... that let the task wait for its waker to sleep
 * @VRQ_WAKE_QUEUE: ... that let the task wait
 * @VRQ_KICK: an idle CPU was made to look for work
 * @VRQ_EXPIRED: a task went from its CPU's queue to the shared one
 * @VRQ_MOVED_DOMAIN: a task moved to another domain of the same node
 * @VRQ_MOVED_NODE: a task moved to another node
 * @VRQ_COUNTERS: number of counters
 */
enum vrq_counter {
	VRQ_SHARED_LOCK,
	VRQ_SHARED_MISSED,
	VRQ_SHARED_FULL,
	VRQ_PICK_CURR,
	VRQ_PICK_SLOT,
	VRQ_PICK_PINNED,
	VRQ_PICK_QUEUE,
	VRQ_PICK_SHARED,
	VRQ_PICK_PULLED,
	VRQ_PICK_FAR,
	VRQ_PICK_STOLEN,
	VRQ_PICK_NONE,
	VRQ_WAKE_IDLE,
	VRQ_WAKE_PREEMPT,
	VRQ_WAKE_STAY,
	VRQ_WAKE_QUEUE,
	VRQ_KICK,
	VRQ_EXPIRED,
	VRQ_MOVED_DOMAIN,
	VRQ_MOVED_NODE,
	VRQ_COUNTERS,
};

#ifdef CONFIG_DEBUG_FS
DECLARE_PER_CPU(unsigned long, vrq_counters[VRQ_COUNTERS]);

void vrq_create_counters(void);
void vrq_print_counters(void);

static inline void vrq_count(enum vrq_counter counter)
{
	this_cpu_inc(vrq_counters[counter]);
}
#else
static inline void vrq_create_counters(void) { }
static inline void vrq_print_counters(void) { }
static inline void vrq_count(enum vrq_counter counter) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_COUNTERS_H */
