/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUs without work take from others.
 */
#ifndef _KERNEL_SCHED_VRQ_STEAL_H
#define _KERNEL_SCHED_VRQ_STEAL_H

#include "entity.h"

#ifdef CONFIG_SMP
/**
 * vrq_is_open - may a task wait in the cache queue or the slot of this CPU?
 * @rq: its run queue, locked
 *
 * Return: false if none does. On one CPU, which has nobody to say it to, true.
 */
static inline bool vrq_is_open(struct rq *rq)
{
	return rq->vrq.open;
}

void vrq_set_open(struct rq *rq);
void vrq_close_if_empty(struct rq *rq);
bool vrq_cached_elsewhere(enum vrq_level level);
struct task_struct *vrq_steal(struct rq *rq, enum vrq_level level, bool *missed);
void vrq_kick_for_open(struct rq *rq);
#else
static inline bool vrq_is_open(struct rq *rq)
{
	return true;
}

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
