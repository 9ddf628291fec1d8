/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much a task is entitled to: what there is to do on the CPUs that it may use.
 */
#ifndef _KERNEL_SCHED_VRQ_LOAD_H
#define _KERNEL_SCHED_VRQ_LOAD_H

#include "domain.h"

/**
 * struct vrq_load - what some CPUs have to do
 * @weight: sum of p->vrq.weight over the tasks that are queued on them, but for
 *	SCHED_IDLE ones
 * @own: the same of p->vrq.own_weight: what it would be if there were no groups
 * @unconfined: the part of @weight of tasks that every CPU may run
 * @idle: the sum over SCHED_IDLE tasks: next to others they count for nothing
 * @cpus: how many CPUs these are, at least 1
 * @lateness: how late tasks used up their slices, on the mean, ns; vrq_load_of() leaves
 *	that to its caller
 */
struct vrq_load {
	u64		weight;
	u64		own;
	u64		unconfined;
	u64		idle;
	unsigned int	cpus;
	s64		lateness;
};

/**
 * struct vrq_counts - what a task adds to the sums of its run queue and of its group
 * @weight: p->vrq.weight, and so on
 * @own_weight: p->vrq.own_weight
 * @unconfined: p->vrq.unconfined
 * @only_idle: p->vrq.only_idle: which of the sums the task is added to
 * @iso: p->vrq.iso: likewise
 */
struct vrq_counts {
	unsigned int	weight;
	unsigned int	own_weight;
	unsigned int	unconfined;
	bool		only_idle;
	bool		iso;
};

/* What a task counts for now. The lock of its run queue is held */
static inline struct vrq_counts vrq_counts_of(const struct task_struct *p)
{
	return (struct vrq_counts) {
		.weight = p->vrq.weight,
		.own_weight = p->vrq.own_weight,
		.unconfined = p->vrq.unconfined,
		.only_idle = p->vrq.only_idle,
		.iso = p->vrq.iso,
	};
}

void vrq_load_add(struct rq *rq, const struct task_struct *p, int sign);
void vrq_load_recount(struct rq *rq, const struct task_struct *p,
		      const struct vrq_counts *before);
void vrq_load_tick(int cpu);
void vrq_load_begin_anew(void);
struct vrq_load vrq_load_of_machine(void);
bool vrq_evens_out(const struct vrq_domain *from, const struct vrq_domain *to,
		   const struct task_struct *p);
struct vrq_load vrq_load_of(const struct cpumask *mask, unsigned int nr_cpus);

#endif /* _KERNEL_SCHED_VRQ_LOAD_H */
