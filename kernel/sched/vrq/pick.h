/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pick.
 */
#ifndef _KERNEL_SCHED_VRQ_PICK_H
#define _KERNEL_SCHED_VRQ_PICK_H

#include "core.h"

struct task_struct *vrq_pick_task(struct rq *rq);

#endif /* _KERNEL_SCHED_VRQ_PICK_H */
