/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs are idle, and how one of them is made to look for work.
 */
#ifndef _KERNEL_SCHED_VRQ_IDLE_H
#define _KERNEL_SCHED_VRQ_IDLE_H

#include "domain.h"

/* kicked_for of a CPU that was not kicked. Values from 0 on name a CPU, lower ones a domain */
#define VRQ_NOT_KICKED		(-1)

#ifdef CONFIG_SMP
extern struct cpumask vrq_work_domains;

void vrq_set_idle(struct rq *rq);
void vrq_clear_idle(struct rq *rq);
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
/* There is one CPU, which reschedules by itself when a task becomes runnable */
static inline bool vrq_kick_idle_for(const struct task_struct *p) { return false; }
#endif

/*
 * kicked_for names a CPU if the task waits in the queue or the slot of that CPU. It names a
 * domain, by its leader, if the task waits in the shared queue of that domain
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
