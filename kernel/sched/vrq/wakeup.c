// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of a CPU for a task that wakes up or is new.
 */
#include "idle.h"
#include "queue.h"
#include "wakeup.h"

#ifdef CONFIG_SMP
static bool can_preempt(int cpu, s64 key)
{
	struct vrq_rq *vrq = &cpu_rq(cpu)->vrq;

	return vrq_key_preempts(key, atomic64_read(&vrq->priodl)) &&
	       !READ_ONCE(vrq->slot);
}

/*
 * The first CPU that runs a task to be preempted, not the best: to look at
 * every CPU for that cost VRQ more than it gained.
 */
static int first_to_preempt(struct task_struct *p, int near)
{
	s64 key = vrq_key(p);
	struct sched_domain *llc;
	int cpu, found = -1;

	if (p->policy == SCHED_BATCH)
		return -1;

	if (cpumask_test_cpu(near, p->cpus_ptr) && can_preempt(near, key))
		return near;

	rcu_read_lock();
	llc = rcu_dereference(per_cpu(sd_llc, near));
	if (llc) {
		for_each_cpu_and(cpu, p->cpus_ptr, sched_domain_span(llc)) {
			if (can_preempt(cpu, key)) {
				found = cpu;
				break;
			}
		}
	}
	rcu_read_unlock();
	if (found >= 0)
		return found;

	for_each_cpu_and(cpu, p->cpus_ptr, cpu_active_mask) {
		if (can_preempt(cpu, key))
			return cpu;
	}

	return -1;
}

/**
 * vrq_select_task_rq - choose the run queue for a task that becomes runnable
 * @p: the task; p->pi_lock held, and nobody else touches @p
 * @prev_cpu: the CPU it ran on last
 * @wake_flags: WF_*
 *
 * An idle CPU, the nearest to @prev_cpu; else the first CPU whose task may be
 * preempted. Else @p will wait in the grq, or beside a waker that is about to
 * sleep in the preempt slot of its CPU, and @prev_cpu is just its home.
 *
 * Return: the CPU; it may be one that is not allowed, which the core sees to.
 */
int vrq_select_task_rq(struct task_struct *p, int prev_cpu, int wake_flags)
{
	int cpu, this_cpu = smp_processor_id();

	/* It runs here, and finds a free CPU when it next has to wait */
	if (wake_flags & WF_EXEC)
		return prev_cpu;

	cpu = vrq_claim_idle(p->cpus_ptr, prev_cpu);
	if (cpu >= 0)
		return cpu;

	cpu = first_to_preempt(p, prev_cpu);
	if (cpu >= 0)
		return cpu;

	/* An interrupt that wakes says nothing of the task that it interrupts */
	if ((wake_flags & WF_SYNC) && in_task() &&
	    !(current->flags & PF_EXITING) &&
	    cpumask_test_cpu(this_cpu, p->cpus_ptr) &&
	    !READ_ONCE(cpu_rq(this_cpu)->vrq.slot)) {
		p->vrq.stay = true;
		return this_cpu;
	}

	return prev_cpu;
}
#endif /* CONFIG_SMP */

/**
 * vrq_wakeup_preempt - let a task that has just been queued run at once?
 * @rq: its home, locked, running another task of VRQ's
 * @p: the task
 * @wake_flags: WF_*
 *
 * vrq_place() put it into the slot if so, with one exception: beside a waker
 * about to sleep it waits there for that.
 */
void vrq_wakeup_preempt(struct rq *rq, struct task_struct *p, int wake_flags)
{
	if (p->vrq.place != VRQ_IN_SLOT && p->vrq.place != VRQ_IN_LOCAL)
		return;

	if (vrq_may_preempt(p, vrq_curr(rq)))
		resched_curr(rq);
}
