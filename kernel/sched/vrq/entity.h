/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A task as VRQ sees it: its level, its slice, its deadline.
 */
#ifndef _KERNEL_SCHED_VRQ_ENTITY_H
#define _KERNEL_SCHED_VRQ_ENTITY_H

#include "core.h"
#include "deadline.h"
#include "iso.h"
#include "tunables.h"
#include "weight.h"

/*
 * If a task is overdue by this much because tasks of a better level run, it is promoted to
 * that level for one slice, ns. So in the end it releases whatever it holds.
 */
#define VRQ_STARVED_NS		NSEC_PER_SEC
/*
 * But not for longer than this, ns. With slices of a second, two starved tasks would have their
 * turns once in 40 s, and RCU complains of a read-side critical section after 21.
 */
#define VRQ_PROMOTED_MAX	(6 * NSEC_PER_MSEC)
/* Starved tasks of a level get one of this many such slices of a CPU's time */
#define VRQ_PROMOTE_EVERY	20

/* vrq_key(): the level goes above the deadline, 2^60 ns are 36 years */
#define VRQ_KEY_LEVEL_SHIFT	60

/* No task at all: later than every other key */
#define VRQ_KEY_NONE		S64_MAX

/*
 * A wake-up preempts a task of the same level only if its deadline is earlier
 * by this much, ns: a slice. Two tasks that wake each other have deadlines a fraction
 * of a slice apart, and nobody gains from preempting in turn.
 */
static inline s64 vrq_preempt_margin(void)
{
	return vrq_rr_ns();
}

/* For how long a starved task is promoted, ns */
static inline s64 vrq_promoted_ns(void)
{
	return min_t(s64, vrq_rr_ns(), VRQ_PROMOTED_MAX);
}

/* level and deadline in one number: the lower is picked first */
static inline s64 vrq_key_of(enum vrq_level level, u64 deadline)
{
	return (s64)level << VRQ_KEY_LEVEL_SHIFT | deadline;
}

static inline s64 vrq_key(const struct task_struct *p)
{
	return vrq_key_of(vrq_level_now(p->vrq.level), p->vrq.deadline);
}

/* Length of a turn: how far apart the deadlines of equal waiting tasks are, ns */
static inline s64 vrq_turn_of(const struct task_struct *p)
{
	return max_t(s64, vrq_rr_ns(), p->vrq.span);
}

/*
 * Is there a CPU, neither isolated nor offline, that the task may not run on? CPUs that search
 * for work have to step over such a task. The value is that of the last enqueue, see
 * vrq_note_affinity().
 */
static inline bool vrq_confined(const struct task_struct *p)
{
	return p->vrq.confined;
}

enum vrq_level vrq_policy_level(const struct task_struct *p);
bool vrq_may_preempt(const struct task_struct *p,
		     const struct task_struct *curr);
bool vrq_overloaded(struct rq *rq, const struct task_struct *p);
void vrq_note_affinity(struct task_struct *p);
void vrq_note_wait(struct rq *rq, struct task_struct *p);
void vrq_wait_in(struct rq *rq, struct task_struct *p, enum vrq_place place);
u64 vrq_slice_setting(const struct task_struct *p);
u64 vrq_slice_ns(const struct task_struct *p);
u64 vrq_longest_turn(const struct task_struct *p);
void vrq_renew_slice(struct rq *rq, struct task_struct *p);
bool vrq_advance_deadline(struct rq *rq, struct task_struct *p);
void vrq_extend_slice(struct task_struct *p);
void vrq_whole_slice(struct task_struct *p);
void vrq_note_burst(struct rq *rq, struct task_struct *p);
void vrq_request(struct rq *rq, struct task_struct *p);
void vrq_forget_lateness(struct rq *rq);
void vrq_defer(struct rq *rq, struct task_struct *p,
	       const struct task_struct *last);
void vrq_lend_deadline(struct task_struct *from, struct task_struct *to, u64 now);
void vrq_fork_slice(struct rq *rq, struct task_struct *parent,
		    struct task_struct *child);
void vrq_update_entity(struct rq *rq, struct task_struct *p);

#endif /* _KERNEL_SCHED_VRQ_ENTITY_H */
