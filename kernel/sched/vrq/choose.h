/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The choice among the tasks that wait for a CPU and in its domain.
 */
#ifndef _KERNEL_SCHED_VRQ_CHOOSE_H
#define _KERNEL_SCHED_VRQ_CHOOSE_H

#include "counters.h"
#include "domain.h"

struct task_struct *vrq_choose(struct rq *rq, bool leaves, bool *missed);
struct task_struct *vrq_take_shared(struct rq *rq, struct vrq_domain *domain,
				    s64 limit, bool *missed);
s64 vrq_best_key_here(struct rq *rq);
void vrq_bring_home(struct rq *rq, struct task_struct *p);
void vrq_note_pick(struct task_struct *p, enum vrq_counter reason, bool missed);
bool vrq_somebody_waits(struct rq *rq, s64 key);
bool vrq_better_waits(struct rq *rq, struct task_struct *curr);

#endif /* _KERNEL_SCHED_VRQ_CHOOSE_H */
