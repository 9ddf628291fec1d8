/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs are idle, and how one of them is made to look for work.
 */
#ifndef _KERNEL_SCHED_VRQ_IDLE_H
#define _KERNEL_SCHED_VRQ_IDLE_H

#include "core.h"

#ifdef CONFIG_SMP
void vrq_idle_init_rq(struct rq *rq);
bool vrq_set_idle(struct rq *rq);
bool vrq_clear_idle(struct rq *rq);
const struct cpumask *vrq_llc_span(int cpu);
int vrq_claim_idle(const struct cpumask *allowed, int near);
bool vrq_kick_idle_for(struct task_struct *p);
bool vrq_any_idle(void);
#ifdef CONFIG_SCHED_SMT
bool vrq_core_is_shared(int cpu);
bool vrq_idle_core_near(const struct cpumask *allowed, int near);
#endif
#else
/* One CPU, and where a task becomes runnable there it reschedules */
static inline void vrq_idle_init_rq(struct rq *rq) { }
static inline bool vrq_set_idle(struct rq *rq) { return false; }
static inline bool vrq_clear_idle(struct rq *rq) { return true; }
static inline bool vrq_kick_idle_for(struct task_struct *p) { return false; }
#endif

#endif /* _KERNEL_SCHED_VRQ_IDLE_H */
