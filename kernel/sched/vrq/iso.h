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
 * struct vrq_iso_time - the CPU time of SCHED_ISO
 * @used: by all tasks since boot, ns
 * @left: of that, what has left the window, see iso.c, ns
 */
struct vrq_iso_time {
	atomic64_t	used;
	atomic64_t	left;
};

extern struct vrq_iso_time vrq_iso_time;

/* What a level counts as just now */
static inline enum vrq_level vrq_level_now(enum vrq_level level)
{
	return level == VRQ_ISO && READ_ONCE(vrq_iso_over) ? VRQ_NORMAL : level;
}

unsigned int __vrq_beside_iso(const struct task_struct *p, u64 now);
void __vrq_iso_account(u64 delta, u64 now);

#ifdef CONFIG_SYSCTL
void vrq_register_iso_cpu(void);
#else
static inline void vrq_register_iso_cpu(void) { }
#endif

/**
 * vrq_beside_iso - by how much longer a task's turns take because of SCHED_ISO
 * @rq: its run queue, locked, its clock updated
 * @p: the task
 *
 * Return: a factor in units of 1 / 1024; 1 where there is none, and for SCHED_ISO itself
 * unless it counts as normal.
 */
static inline unsigned int vrq_beside_iso(struct rq *rq, const struct task_struct *p)
{
	if (likely(atomic64_read(&vrq_iso_time.used) == atomic64_read(&vrq_iso_time.left)))
		return 1024;

	return __vrq_beside_iso(p, rq_clock(rq));
}

/**
 * vrq_iso_account - a task has used a CPU, or is about to be queued
 * @rq: its run queue, locked, its clock updated
 * @p: the task; does nothing unless its policy is SCHED_ISO
 * @delta: for how long it has, ns
 */
static inline void vrq_iso_account(struct rq *rq, const struct task_struct *p,
				   u64 delta)
{
	if (unlikely(p->policy == SCHED_ISO))
		__vrq_iso_account(delta, rq_clock(rq));
}

#endif /* _KERNEL_SCHED_VRQ_ISO_H */
