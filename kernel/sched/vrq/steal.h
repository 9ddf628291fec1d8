/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUs without work take from others.
 */
#ifndef _KERNEL_SCHED_VRQ_STEAL_H
#define _KERNEL_SCHED_VRQ_STEAL_H

#include "entity.h"

#ifdef CONFIG_SMP
void vrq_set_open(struct rq *rq);
void vrq_close_if_empty(struct rq *rq);
bool vrq_cached_elsewhere(enum vrq_level level);
struct task_struct *vrq_steal(struct rq *rq, enum vrq_level level, bool *missed);
void vrq_kick_for_open(struct rq *rq);
#else
static inline void vrq_set_open(struct rq *rq) { }

static inline void vrq_close_if_empty(struct rq *rq) { }

static inline bool vrq_cached_elsewhere(enum vrq_level level)
{
	return false;
}

static inline struct task_struct *
vrq_steal(struct rq *rq, enum vrq_level level, bool *missed)
{
	return NULL;
}

static inline void vrq_kick_for_open(struct rq *rq) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_STEAL_H */
