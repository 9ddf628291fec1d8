/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a woken or new task goes.
 */
#ifndef _KERNEL_SCHED_VRQ_WAKEUP_H
#define _KERNEL_SCHED_VRQ_WAKEUP_H

#include "core.h"

int vrq_select_task_rq(struct task_struct *p, int prev_cpu, int wake_flags);
void vrq_wakeup_preempt(struct rq *rq, struct task_struct *p, int wake_flags);

#ifdef CONFIG_SMP
void vrq_note_sleep(struct rq *rq, struct task_struct *p);
#else
static inline void vrq_note_sleep(struct rq *rq, struct task_struct *p) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_WAKEUP_H */
