/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For how long the data of a task that was switched out stays in the cache.
 */
#ifndef _KERNEL_SCHED_VRQ_HOT_H
#define _KERNEL_SCHED_VRQ_HOT_H

#include "entity.h"

/*
 * The time-out of SCHED_NORMAL unless preempt=none, ms. Not a slice: what is in a cache
 * does not get cold sooner because slices are shorter. With 3 ms hackbench over pipes
 * takes 1% longer and enters the shared queue three times as often.
 */
#define VRQ_HOT_MS	6

bool vrq_cacheable(const struct task_struct *p);
bool vrq_cache_hot(struct rq *rq, const struct task_struct *p, u64 waited);
void vrq_scost_switch_in(struct rq *rq, const struct task_struct *p);
void vrq_scost_switch_out(struct rq *rq, struct task_struct *p);
int vrq_hot_init(void);

#endif /* _KERNEL_SCHED_VRQ_HOT_H */
