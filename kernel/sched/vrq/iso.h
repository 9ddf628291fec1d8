/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SCHED_ISO: how much of the machine it has used, and what it counts as.
 */
#ifndef _KERNEL_SCHED_VRQ_ISO_H
#define _KERNEL_SCHED_VRQ_ISO_H

#include "core.h"

/* SCHED_ISO has used up its part of the machine, see iso.c. Changes at any time */
extern bool vrq_iso_over;

/* What a level counts as just now */
static inline enum vrq_level vrq_level_now(enum vrq_level level)
{
	return level == VRQ_ISO && READ_ONCE(vrq_iso_over) ? VRQ_NORMAL : level;
}

void __vrq_iso_account(u64 delta, u64 now);

#ifdef CONFIG_SYSCTL
void vrq_register_iso_cpu(void);
#else
static inline void vrq_register_iso_cpu(void) { }
#endif

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
