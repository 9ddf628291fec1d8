/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SCHED_ISO: how much of the machine it has used.
 */
#ifndef _KERNEL_SCHED_VRQ_ISO_H
#define _KERNEL_SCHED_VRQ_ISO_H

#include "core.h"

void __vrq_iso_account(u64 delta, u64 now);

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
