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
 * Of a mask whose bits others set and clear meanwhile: the first CPU in it from @from on,
 * small_cpumask_bits or more if there is none. It is read a word at a time, without marks,
 * as the rest of the kernel does it; which bits may be missed is for the mask to say.
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
 * Is @last the jiffy @now? It may be ahead by what @now is late; weeks in which the fair class
 * was active must not look like that.
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
