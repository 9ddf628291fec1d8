/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a task leaves the queue of its CPU for the shared queue.
 */
#ifndef _KERNEL_SCHED_VRQ_EXPIRE_H
#define _KERNEL_SCHED_VRQ_EXPIRE_H

#include "core.h"

void vrq_expire(struct rq *rq);

#endif /* _KERNEL_SCHED_VRQ_EXPIRE_H */
