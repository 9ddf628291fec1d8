/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shared queue of a domain: the tasks that wait for whichever CPU is first.
 */
#ifndef _KERNEL_SCHED_VRQ_SHARED_H
#define _KERNEL_SCHED_VRQ_SHARED_H

#include "domain.h"
#include "entity.h"

void vrq_shared_init(void);
bool vrq_shared_add(struct rq *rq, struct task_struct *p);
void vrq_shared_del(struct task_struct *p);
s64 vrq_shared_best_key(int cpu);
s64 vrq_shared_key_of_any(struct vrq_domain *domain);
struct task_struct *vrq_shared_take(struct rq *rq, struct vrq_domain *domain,
				    s64 limit, bool *missed);
bool vrq_shared_promote(int cpu, enum vrq_level level, u64 now, u64 before);
void vrq_shared_advance(struct rq *rq, enum vrq_level level);
void vrq_shared_kick(struct vrq_domain *domain);

#endif /* _KERNEL_SCHED_VRQ_SHARED_H */
