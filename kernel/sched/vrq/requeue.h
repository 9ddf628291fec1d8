/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All tasks that are queued are queued anew.
 */
#ifndef _KERNEL_SCHED_VRQ_REQUEUE_H
#define _KERNEL_SCHED_VRQ_REQUEUE_H

void vrq_requeue_all(void);

#endif /* _KERNEL_SCHED_VRQ_REQUEUE_H */
