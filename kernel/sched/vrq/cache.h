/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks that wait for the CPU whose cache has their data.
 */
#ifndef _KERNEL_SCHED_VRQ_CACHE_H
#define _KERNEL_SCHED_VRQ_CACHE_H

#include "entity.h"

bool vrq_may_cache(struct rq *rq, struct task_struct *p);
void vrq_cache_add(struct rq *rq, struct task_struct *p);
void vrq_wait_in_grq(struct rq *rq, struct task_struct *p);
void vrq_cache_del(struct rq *rq, struct task_struct *p);
void vrq_cache_expire(struct rq *rq);

#endif /* _KERNEL_SCHED_VRQ_CACHE_H */
