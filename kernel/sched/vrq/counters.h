/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often each path was taken: /sys/kernel/debug/sched/vrq.
 */
#ifndef _KERNEL_SCHED_VRQ_COUNTERS_H
#define _KERNEL_SCHED_VRQ_COUNTERS_H

#include <linux/percpu.h>

/**
 * enum vrq_counter - what is counted, on the CPU where it happens
 * @VRQ_GRQ_LOCK: grq.lock was taken
 * @VRQ_GRQ_MISSED: a task in the grq was passed over, its run queue was locked
 * @VRQ_GRQ_FULL: a task waits for its home, as the grq has no room for its mask
 * @VRQ_PICK_CURR: a pick that let the current task go on
 * @VRQ_PICK_SLOT: ... that took the preempt task
 * @VRQ_PICK_LOCAL: ... that took a task that may run on this CPU only
 * @VRQ_PICK_CACHED: ... that took a task that was cached on this CPU
 * @VRQ_PICK_GRQ: ... that took a task whose home is this CPU from the grq
 * @VRQ_PICK_PULLED: ... that took a task of another CPU's from the grq
 * @VRQ_PICK_STOLEN: ... that took a task that waited for another CPU
 * @VRQ_PICK_NONE: ... that found nothing
 * @VRQ_WAKE_IDLE: a wake-up that found an idle CPU
 * @VRQ_WAKE_PREEMPT: ... that found a CPU to preempt
 * @VRQ_WAKE_STAY: ... that let the task wait for its waker to sleep
 * @VRQ_WAKE_QUEUE: ... that let the task wait
 * @VRQ_KICK: an idle CPU was made to look for work
 * @VRQ_UNCACHED: a cached task went to the grq because its time was up
 * @VRQ_COUNTERS: how many there are
 */
enum vrq_counter {
	VRQ_GRQ_LOCK,
	VRQ_GRQ_MISSED,
	VRQ_GRQ_FULL,
	VRQ_PICK_CURR,
	VRQ_PICK_SLOT,
	VRQ_PICK_LOCAL,
	VRQ_PICK_CACHED,
	VRQ_PICK_GRQ,
	VRQ_PICK_PULLED,
	VRQ_PICK_STOLEN,
	VRQ_PICK_NONE,
	VRQ_WAKE_IDLE,
	VRQ_WAKE_PREEMPT,
	VRQ_WAKE_STAY,
	VRQ_WAKE_QUEUE,
	VRQ_KICK,
	VRQ_UNCACHED,
	VRQ_COUNTERS,
};

#ifdef CONFIG_DEBUG_FS
DECLARE_PER_CPU(unsigned long, vrq_counters[VRQ_COUNTERS]);

static inline void vrq_count(enum vrq_counter counter)
{
	this_cpu_inc(vrq_counters[counter]);
}
#else
static inline void vrq_count(enum vrq_counter counter) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_COUNTERS_H */
