/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs are idle, and how one of them is made to look for work.
 */
#ifndef _KERNEL_SCHED_VRQ_IDLE_H
#define _KERNEL_SCHED_VRQ_IDLE_H

#include "domain.h"

/* What kicked_for says of a CPU that was not kicked: all others are 0 or more, or less */
#define VRQ_NOT_KICKED		(-1)

#ifdef CONFIG_SMP
extern struct cpumask vrq_work_domains;

void vrq_set_idle(struct rq *rq);
bool vrq_clear_idle(struct rq *rq);
int vrq_claim_idle(const struct task_struct *p, int near);
bool vrq_kick_idle_for(const struct task_struct *p);
bool vrq_leaves_alone(const struct task_struct *p, int cpu);
bool vrq_any_idle(struct vrq_domain *own);
bool vrq_no_work_in(struct vrq_domain *domain, bool (*has_work)(struct vrq_domain *domain));
#ifdef CONFIG_SCHED_SMT
bool vrq_idle_core_near(const struct task_struct *p, int near);
bool vrq_core_is_shared(int cpu);
#endif
#else
/* One CPU, and where a task becomes runnable there it reschedules */
static inline bool vrq_kick_idle_for(const struct task_struct *p) { return false; }
#endif

/*
 * kicked_for names a CPU, for a task in its queue or slot, or by its leader a domain,
 * for a task in its shared queue
 */
static inline int vrq_kicked_for_cpu(int cpu)
{
	return cpu;
}

static inline int vrq_kicked_for_domain(int leader)
{
	return -2 - leader;
}

#endif /* _KERNEL_SCHED_VRQ_IDLE_H */
