/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the next task is chosen.
 */
#ifndef _KERNEL_SCHED_VRQ_PICK_H
#define _KERNEL_SCHED_VRQ_PICK_H

#include "core.h"

struct task_struct *vrq_pick_task(struct rq *rq);
void vrq_leave_idle(struct rq *rq);
bool vrq_better_waits(struct rq *rq, struct task_struct *curr);
bool vrq_somebody_waits(struct rq *rq, s64 key);

#endif /* _KERNEL_SCHED_VRQ_PICK_H */
