/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of VRQ that the core calls, and stubs for a kernel without VRQ. Included by
 * ../sched.h at a place where all types are known.
 */
#ifndef _KERNEL_SCHED_VRQ_HOOKS_H
#define _KERNEL_SCHED_VRQ_HOOKS_H

#include "enabled.h"

#ifdef CONFIG_SCHED_VRQ

void __init vrq_init(void);
void __init vrq_init_rq(struct rq *rq);
void vrq_init_entity(struct task_struct *p);
struct task_struct *vrq_server_pick_task(struct sched_dl_entity *server);
void __vrq_idle_exit(struct rq *rq, struct task_struct *next);
void __vrq_tick(struct rq *rq);
void __vrq_note_waker(struct task_struct *p);
void __vrq_check_class(struct rq *rq, struct task_struct *p);
int vrq_refuse(const char *what);
int vrq_keep_out(const char *what);
void vrq_let_in(void);
void vrq_policy_set(struct task_struct *p);
u64 vrq_slice_setting(const struct task_struct *p);
void vrq_show_task(struct task_struct *p, struct seq_file *m);

#ifdef CONFIG_CFS_BANDWIDTH
bool vrq_throttled(struct cfs_bandwidth *cfs_b);
void vrq_unthrottle(struct cfs_bandwidth *cfs_b);
void vrq_limit_changed(struct task_group *tg);
#endif

#ifdef CONFIG_FAIR_GROUP_SCHED
bool vrq_alloc_group(struct task_group *tg, struct task_group *parent);
void vrq_unlink_group(struct task_group *tg);
void vrq_group_idle_changed(struct task_group *tg);
void vrq_free_group(struct task_group *tg);
#endif

/* The class of SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE */
static inline const struct sched_class *fair_or_vrq_class(void)
{
	return sched_vrq_enabled() ? &vrq_sched_class : &fair_sched_class;
}

/* The length of a task's slices as sched_getattr() tells it, ns */
static inline u64 fair_or_vrq_slice(const struct task_struct *p)
{
	return sched_vrq_enabled() ? vrq_slice_setting(p) : p->se.slice;
}

/* Returns @class, or the next class if no task can be of @class */
static inline const struct sched_class *
vrq_skip_unused_class(const struct sched_class *class)
{
	if (sched_vrq_enabled())
		return class == &fair_sched_class ? &idle_sched_class : class;

	return class == &vrq_sched_class ? &fair_sched_class : class;
}

/* @p is about to be queued: make sure that its class is the active one. rq->lock held. */
static inline void vrq_check_class(struct rq *rq, struct task_struct *p)
{
	if (static_branch_unlikely(&__sched_vrq_switched))
		__vrq_check_class(rq, p);
}

/* The idle task of @rq is switched out for @next. rq->lock held. */
static inline void vrq_idle_exit(struct rq *rq, struct task_struct *next)
{
	if (sched_vrq_enabled())
		__vrq_idle_exit(rq, next);
}

/* The tick of the CPU of @rq. rq->lock held. */
static inline void vrq_tick(struct rq *rq)
{
	if (sched_vrq_enabled())
		__vrq_tick(rq);
}

/* What runs on this CPU wakes up @p, which is in no queue. p->pi_lock held. */
static inline void vrq_note_waker(struct task_struct *p)
{
	if (sched_vrq_enabled())
		__vrq_note_waker(p);
}

/*
 * Slices end at the tick, and this CPU is not told when a task begins to wait in a shared
 * queue. So it keeps its tick while it runs a VRQ task.
 */
static inline bool vrq_can_stop_tick(struct rq *rq)
{
	return !sched_vrq_enabled() || !rq->cfs.h_nr_queued;
}

#else /* !CONFIG_SCHED_VRQ */

static inline void vrq_init(void) { }
static inline void vrq_init_rq(struct rq *rq) { }
static inline void vrq_init_entity(struct task_struct *p) { }
static inline void vrq_check_class(struct rq *rq, struct task_struct *p) { }
static inline void vrq_idle_exit(struct rq *rq, struct task_struct *next) { }
static inline void vrq_tick(struct rq *rq) { }
static inline void vrq_note_waker(struct task_struct *p) { }
static inline bool vrq_can_stop_tick(struct rq *rq) { return true; }
static inline int vrq_refuse(const char *what) { return 0; }
static inline int vrq_keep_out(const char *what) { return 0; }
static inline void vrq_let_in(void) { }
static inline void vrq_policy_set(struct task_struct *p) { }
static inline void vrq_show_task(struct task_struct *p, struct seq_file *m) { }
static inline bool vrq_throttled(struct cfs_bandwidth *cfs_b) { return false; }
static inline void vrq_unthrottle(struct cfs_bandwidth *cfs_b) { }
static inline void vrq_limit_changed(struct task_group *tg) { }

static inline struct task_struct *
vrq_server_pick_task(struct sched_dl_entity *server)
{
	return NULL;
}

static inline const struct sched_class *fair_or_vrq_class(void)
{
	return &fair_sched_class;
}

static inline u64 fair_or_vrq_slice(const struct task_struct *p)
{
	return p->se.slice;
}

static inline const struct sched_class *
vrq_skip_unused_class(const struct sched_class *class)
{
	return class;
}

#endif /* CONFIG_SCHED_VRQ */

#if !defined(CONFIG_SCHED_VRQ) || !defined(CONFIG_FAIR_GROUP_SCHED)
static inline bool vrq_alloc_group(struct task_group *tg, struct task_group *parent)
{
	return true;
}

static inline void vrq_unlink_group(struct task_group *tg) { }
static inline void vrq_group_idle_changed(struct task_group *tg) { }
static inline void vrq_free_group(struct task_group *tg) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_HOOKS_H */
