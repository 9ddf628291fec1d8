/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requeue all queued tasks.
 */
#ifndef _KERNEL_SCHED_VRQ_REQUEUE_H
#define _KERNEL_SCHED_VRQ_REQUEUE_H

struct vrq_group;

void vrq_requeue_all(struct vrq_group *group);

#endif /* _KERNEL_SCHED_VRQ_REQUEUE_H */
