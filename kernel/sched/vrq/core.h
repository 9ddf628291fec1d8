/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler core, as VRQ's files see it.
 */
#ifndef _KERNEL_SCHED_VRQ_CORE_H
#define _KERNEL_SCHED_VRQ_CORE_H

#include <linux/jiffies.h>
/* ../sched.h wants to know task_cpu_possible() */
#include <linux/mmu_context.h>

#include "../sched.h"

/* rq->curr; rq->lock held */
static inline struct task_struct *vrq_curr(struct rq *rq)
{
	return rcu_dereference_protected(rq->curr,
					 lockdep_is_held(__rq_lockp(rq)));
}

/*
 * Find the first CPU in @mask from @from on, while other CPUs set and clear bits. Returns
 * small_cpumask_bits or more if there is none. The mask is read a word at a time with plain
 * accesses, as in the rest of the kernel. The comment at each mask tells which bits may be
 * missed.
 */
static inline unsigned int vrq_next_unlocked(const struct cpumask *mask, unsigned int from)
{
	/* See above */
	return data_race(find_next_bit(cpumask_bits(mask), small_cpumask_bits, from));
}

#define vrq_for_each_cpu_unlocked(cpu, mask)						\
	for ((cpu) = 0;									\
	     (cpu) = vrq_next_unlocked((mask), (cpu)), (cpu) < small_cpumask_bits;	\
	     (cpu)++)

static inline bool vrq_empty_unlocked(const struct cpumask *mask)
{
	return vrq_next_unlocked(mask, 0) >= small_cpumask_bits;
}

/*
 * Is @last the same jiffy as @now? @now may be a little out of date, so @last may be ahead of
 * it. But after weeks under the fair class an old @last must not look as if it were ahead.
 */
static inline bool vrq_same_jiffy(unsigned long last, unsigned long now)
{
	return time_in_range(last, now, now + HZ);
}

static inline bool vrq_task(const struct task_struct *p)
{
	return p->sched_class == &vrq_sched_class;
}

#endif /* _KERNEL_SCHED_VRQ_CORE_H */
