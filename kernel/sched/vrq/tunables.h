/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be set in /proc/sys/kernel under sched=vrq, as under BFS. The time-outs of caches
 * are in hot.c, what belongs to SCHED_ISO is in iso.c, to SMT nice in smt.c, and
 * sched_vrq_stall_ms in watchdog.c.
 */
#ifndef _KERNEL_SCHED_VRQ_TUNABLES_H
#define _KERNEL_SCHED_VRQ_TUNABLES_H

#include <linux/compiler.h>
#include <linux/time64.h>
#include <linux/types.h>

/**
 * enum vrq_yield_type - what sched_yield() does
 * @VRQ_YIELD_NOTHING: nothing, but that tasks with earlier deadlines go first
 * @VRQ_YIELD_GIVE_WAY: tasks of the same level or a better one go first
 * @VRQ_YIELD_EXPIRE: the slice ends, whatever is left of it
 */
enum vrq_yield_type {
	VRQ_YIELD_NOTHING,
	VRQ_YIELD_GIVE_WAY,
	VRQ_YIELD_EXPIRE,
};

extern unsigned int vrq_rr_interval_ms;
extern unsigned int vrq_yield_type;
extern unsigned int vrq_interactive;

#ifdef CONFIG_SYSCTL
void vrq_register_tunables(void);
#else
static inline void vrq_register_tunables(void) { }
#endif

/* Length of a time slice, ms */
static inline unsigned int vrq_rr_ms(void)
{
	return READ_ONCE(vrq_rr_interval_ms);
}

/* The same, ns */
static inline u64 vrq_rr_ns(void)
{
	return (u64)vrq_rr_ms() * NSEC_PER_MSEC;
}

#endif /* _KERNEL_SCHED_VRQ_TUNABLES_H */
