/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hotplug affinity: a task whose CPUs are all away runs elsewhere, and gets the
 * mask that it asked for back when one of them comes back.
 *
 * task_struct::user_cpus_ptr is what sched_setaffinity() asked for. Mainline
 * throws it away when select_fallback_rq() has to break the mask. Here it is
 * *set aside*: it stays, and MDF_RENEW in task_struct::migration_flags says that
 * it is not heeded for now. The rules:
 *
 * - Both belong to task_struct::pi_lock.
 * - MDF_RENEW is set where cpus_mask is set in spite of a user_cpus_ptr because
 *   that has no active CPU, and cleared wherever else cpus_mask is set. So what
 *   a user, a cpuset or the kernel asks for meanwhile wins.
 * - MDF_RENEW means nothing without a user_cpus_ptr, see dup_user_cpus_ptr().
 */
#ifndef _KERNEL_SCHED_RENEW_AFFINITY_H
#define _KERNEL_SCHED_RENEW_AFFINITY_H

#include "sched.h"

#ifdef CONFIG_SCHED_RENEW_AFFINITY

bool renew_affinity_keep(const struct task_struct *p);
bool renew_affinity_later(const struct task_struct *p,
			  struct affinity_context *ctx,
			  const struct cpumask *wanted);
void renew_affinity_note(struct task_struct *p,
			 const struct affinity_context *ctx);
void renew_affinity_post_fork(struct task_struct *p);
void renew_affinity(unsigned int cpu);

#else /* !CONFIG_SCHED_RENEW_AFFINITY */

static inline bool renew_affinity_keep(const struct task_struct *p)
{
	return false;
}

static inline bool renew_affinity_later(const struct task_struct *p,
					struct affinity_context *ctx,
					const struct cpumask *wanted)
{
	return false;
}

static inline void renew_affinity_note(struct task_struct *p,
				       const struct affinity_context *ctx) { }
static inline void renew_affinity_post_fork(struct task_struct *p) { }
static inline void renew_affinity(unsigned int cpu) { }

#endif /* CONFIG_SCHED_RENEW_AFFINITY */

#endif /* _KERNEL_SCHED_RENEW_AFFINITY_H */
