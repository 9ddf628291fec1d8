/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SMT nice: a thread of a core gives way to more important work of another one.
 */
#ifndef _KERNEL_SCHED_VRQ_SMT_H
#define _KERNEL_SCHED_VRQ_SMT_H

#include "core.h"

#ifdef CONFIG_SCHED_SMT
DECLARE_STATIC_KEY_FALSE(vrq_smt_nice);

bool __vrq_smt_gives_way(struct rq *rq, struct task_struct *p);
void __vrq_smt_runs(struct rq *rq, struct task_struct *p);
void __vrq_smt_tick(struct rq *rq);

/**
 * vrq_smt_gives_way - shall this CPU idle rather than run the task it has chosen?
 * @rq: its run queue, locked, its clock updated
 * @p: the task
 *
 * Return: true if so. Whatever changes that makes this CPU pick again.
 */
static inline bool vrq_smt_gives_way(struct rq *rq, struct task_struct *p)
{
	return static_branch_unlikely(&vrq_smt_nice) &&
	       __vrq_smt_gives_way(rq, p);
}

/**
 * vrq_smt_gave_way - does this CPU idle because another thread is to go ahead?
 * @rq: its run queue, locked
 *
 * Return: true if so.
 */
static inline bool vrq_smt_gave_way(struct rq *rq)
{
	return rq->vrq.gives_way;
}

/**
 * vrq_smt_runs - tell the other threads of the core what this CPU runs
 * @rq: its run queue, locked
 * @p: the task; NULL for none of VRQ's
 */
static inline void vrq_smt_runs(struct rq *rq, struct task_struct *p)
{
	if (static_branch_unlikely(&vrq_smt_nice))
		__vrq_smt_runs(rq, p);
}

/**
 * vrq_smt_tick - the tick of a CPU that runs a task of VRQ's
 * @rq: its run queue, locked, its clock updated
 */
static inline void vrq_smt_tick(struct rq *rq)
{
	if (static_branch_unlikely(&vrq_smt_nice))
		__vrq_smt_tick(rq);
}

/**
 * vrq_smt_idle_exit - this CPU leaves the idle task
 * @rq: its run queue, locked
 */
static inline void vrq_smt_idle_exit(struct rq *rq)
{
	if (!rq->vrq.gives_way)
		return;

	WRITE_ONCE(rq->vrq.gives_way, false);
	atomic64_set(&rq->vrq.priodl, 0);
}
#else
static inline bool vrq_smt_gives_way(struct rq *rq, struct task_struct *p)
{
	return false;
}

static inline bool vrq_smt_gave_way(struct rq *rq) { return false; }
static inline void vrq_smt_runs(struct rq *rq, struct task_struct *p) { }
static inline void vrq_smt_tick(struct rq *rq) { }
static inline void vrq_smt_idle_exit(struct rq *rq) { }
#endif

#if defined(CONFIG_SCHED_SMT) && defined(CONFIG_SYSCTL)
void vrq_register_smt_nice(void);
#else
static inline void vrq_register_smt_nice(void) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_SMT_H */
