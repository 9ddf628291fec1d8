/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much of the machine a task is entitled to.
 */
#ifndef _KERNEL_SCHED_VRQ_WEIGHT_H
#define _KERNEL_SCHED_VRQ_WEIGHT_H

#include "core.h"
#include "deadline.h"
#include "group.h"

/* nice + 20, with what priority inheritance lends */
static inline unsigned int vrq_nice_index(const struct task_struct *p)
{
	return clamp(p->prio - MAX_RT_PRIO, 0, VRQ_NICE_WIDTH - 1);
}

unsigned int vrq_favour(unsigned int used_us, unsigned int slept_us);
void vrq_note_used(struct task_struct *p);
void vrq_note_slept(struct task_struct *p, s64 slept);
void vrq_note_waited(struct task_struct *p);
void vrq_split_sleep(struct task_struct *parent, struct task_struct *child);
unsigned int vrq_own_weight(const struct task_struct *p);
unsigned int vrq_task_weight(const struct task_struct *p, enum vrq_factor which);
void vrq_limit_weight(struct task_struct *p, u64 others, unsigned int cpus);
u64 vrq_task_span(const struct task_struct *p, enum vrq_factor which, u64 rr_ns,
		  u64 weight_sum, unsigned int cpus);

#endif /* _KERNEL_SCHED_VRQ_WEIGHT_H */
