/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The global run queue, grq: the tasks that wait for whichever CPU is first.
 */
#ifndef _KERNEL_SCHED_VRQ_GRQ_H
#define _KERNEL_SCHED_VRQ_GRQ_H

#include "entity.h"

void vrq_grq_init(void);
bool vrq_grq_add(struct rq *rq, struct task_struct *p);
void vrq_grq_del(struct task_struct *p);
s64 vrq_grq_best_key(int cpu);
struct task_struct *vrq_grq_take(struct rq *rq, s64 limit, bool *missed);
bool vrq_grq_promote_starved(enum vrq_level level, int cpu, u64 now);
bool vrq_grq_kick(void);

#endif /* _KERNEL_SCHED_VRQ_GRQ_H */
