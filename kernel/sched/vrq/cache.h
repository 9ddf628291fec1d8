/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks that wait for the CPU whose cache has their data.
 */
#ifndef _KERNEL_SCHED_VRQ_CACHE_H
#define _KERNEL_SCHED_VRQ_CACHE_H

#include "entity.h"

bool vrq_may_cache(struct rq *rq, struct task_struct *p);
void vrq_cache_add(struct rq *rq, struct task_struct *p);
void vrq_cache_del(struct rq *rq, struct task_struct *p);
void vrq_cache_expire(struct rq *rq);

#ifdef CONFIG_SMP
bool vrq_cached_elsewhere(enum vrq_level level);
struct task_struct *vrq_cache_steal(struct rq *rq, enum vrq_level level,
				    bool *missed);
void vrq_cache_kick(struct rq *rq);
#else
static inline bool vrq_cached_elsewhere(enum vrq_level level)
{
	return false;
}

static inline struct task_struct *
vrq_cache_steal(struct rq *rq, enum vrq_level level, bool *missed)
{
	return NULL;
}

static inline void vrq_cache_kick(struct rq *rq) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_CACHE_H */
