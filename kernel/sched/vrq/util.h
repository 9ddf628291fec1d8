/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Utilisation of CPUs, as cpufreq governors see it.
 */
#ifndef _KERNEL_SCHED_VRQ_UTIL_H
#define _KERNEL_SCHED_VRQ_UTIL_H

#include "core.h"

void vrq_update_util(struct rq *rq);

#ifdef CONFIG_SMP
void vrq_age_idle(struct rq *rq);
#else
static inline void vrq_age_idle(struct rq *rq) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_UTIL_H */
