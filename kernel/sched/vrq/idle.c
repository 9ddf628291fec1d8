// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle CPUs: the mask of them, the choice among them by cache distance, and
 * the kick. Built with CONFIG_SMP only.
 */
#include "counters.h"
#include "idle.h"

/*
 * A CPU sets its own bit when its pick finds nothing, and clears it when it
 * leaves the idle task. Others clear it to claim the CPU: who has done so must
 * queue a task there or kick it, either of which makes it pick again and, if
 * that finds nothing, set its bit again. A CPU that finds itself claimed when it
 * leaves the idle task for another reason passes the kick on.
 */
static struct cpumask idle_cpus ____cacheline_aligned_in_smp;

/*
 * Runs on the kicked CPU with interrupts off, so never in the midst of its
 * __schedule(): that could clear a flag set from afar after it has looked into
 * the grq for the last time. If the CPU is no longer idle it has passed the kick
 * on, see vrq_leave_idle(), and will look again before it goes idle.
 */
static void kicked(struct irq_work *work)
{
	if (!is_idle_task(current))
		return;

	set_tsk_need_resched(current);
	set_preempt_need_resched();
}

/**
 * vrq_idle_init_rq - prepare a run queue at boot
 * @rq: the run queue
 */
void __init vrq_idle_init_rq(struct rq *rq)
{
	rq->vrq.kick = IRQ_WORK_INIT_HARD(kicked);
}

/**
 * vrq_set_idle - this CPU has nothing to do
 * @rq: the run queue of this CPU, locked
 *
 * The caller must look into the grq once more afterwards, see place.h.
 *
 * Return: true if the CPU did not count as idle until now: if it was idle all the
 * same, somebody had claimed it.
 */
bool vrq_set_idle(struct rq *rq)
{
	bool news;

	if (!cpu_active(cpu_of(rq)))
		return false;

	news = !cpumask_test_cpu(cpu_of(rq), &idle_cpus);
	if (news)
		cpumask_set_cpu(cpu_of(rq), &idle_cpus);
	/* [B] in place.h, pairs with the barrier in vrq_kick_idle_for() */
	smp_mb__after_atomic();

	return news;
}

/**
 * vrq_clear_idle - this CPU has something to do, or is going offline
 * @rq: its run queue, locked
 *
 * Return: false if somebody had claimed this CPU. Unless what it goes on to do
 * is what it was claimed for, it has to pass the kick on: see
 * vrq_kick_for_waiting().
 */
bool vrq_clear_idle(struct rq *rq)
{
	return cpumask_test_and_clear_cpu(cpu_of(rq), &idle_cpus);
}

/*
 * A CPU that was stopped for a reboot, not taken down, is offline with its bit set,
 * while others still schedule.
 */
static bool claim(int cpu)
{
	return cpumask_test_cpu(cpu, &idle_cpus) &&
	       cpumask_test_and_clear_cpu(cpu, &idle_cpus) &&
	       likely(cpu_online(cpu));
}

/**
 * vrq_llc_span - the CPUs behind the same last-level cache as a CPU
 * @cpu: the CPU; within rcu_read_lock()
 */
const struct cpumask *vrq_llc_span(int cpu)
{
	struct sched_domain *llc = rcu_dereference(per_cpu(sd_llc, cpu));

	return llc ? sched_domain_span(llc) : cpumask_of(cpu);
}

/* Claim a CPU that is idle, in @allowed and in @among */
static int claim_among(const struct cpumask *allowed,
		       const struct cpumask *among)
{
	int cpu;

	for (;;) {
		cpu = cpumask_first_and_and(&idle_cpus, allowed, among);
		if (cpu >= nr_cpu_ids)
			return -1;
		if (claim(cpu))
			return cpu;
	}
}

/* Are all threads of the core of @cpu idle? */
static bool core_is_idle(int cpu)
{
#ifdef CONFIG_SCHED_SMT
	if (sched_smt_active())
		return cpumask_subset(cpu_smt_mask(cpu), &idle_cpus);
#endif
	return true;
}

/* A CPU of an idle core, in @allowed and in @among; -1 if there is none */
static int idle_core_among(const struct cpumask *allowed,
			   const struct cpumask *among)
{
	int cpu;

	for_each_cpu_and(cpu, &idle_cpus, allowed) {
		if (cpumask_test_cpu(cpu, among) && core_is_idle(cpu))
			return cpu;
	}

	return -1;
}

#ifdef CONFIG_SCHED_SMT
/**
 * vrq_core_is_shared - is another thread of a CPU's core busy?
 * @cpu: the CPU, which is busy itself
 *
 * Return: true if so, by what the idle CPUs said last.
 */
bool vrq_core_is_shared(int cpu)
{
	int other;

	for_each_cpu_andnot(other, cpu_smt_mask(cpu), &idle_cpus) {
		if (other != cpu)
			return true;
	}

	return false;
}

/**
 * vrq_idle_core_near - is there an idle core for a task, behind the same last-level
 * cache?
 * @allowed: where the task may run
 * @near: the CPU that it runs on
 *
 * Return: true if so. A hint: nothing is claimed.
 */
bool vrq_idle_core_near(const struct cpumask *allowed, int near)
{
	bool found;

	rcu_read_lock();
	found = idle_core_among(allowed, vrq_llc_span(near)) >= 0;
	rcu_read_unlock();

	return found;
}
#endif

/* The same as claim_among(), a core whose other threads are idle too */
static int claim_core_among(const struct cpumask *allowed,
			    const struct cpumask *among)
{
	int cpu;

	do {
		cpu = idle_core_among(allowed, among);
	} while (cpu >= 0 && !claim(cpu));

	return cpu;
}

/* An idle core before an idle thread of a busy one */
static int claim_best_among(const struct cpumask *allowed,
			    const struct cpumask *among)
{
	int cpu = -1;

	if (sched_smt_active())
		cpu = claim_core_among(allowed, among);

	return cpu >= 0 ? cpu : claim_among(allowed, among);
}

/* Within the last-level cache of @near, see vrq_claim_idle(). RCU read lock held */
static int claim_near(const struct cpumask *allowed, int near)
{
	const struct cpumask *span = vrq_llc_span(near);
	bool near_allowed = cpumask_test_cpu(near, allowed);
	int cpu;

	if (near_allowed && core_is_idle(near) && claim(near))
		return near;

#ifdef CONFIG_SCHED_SMT
	if (sched_smt_active()) {
		cpu = claim_core_among(allowed, span);
		if (cpu >= 0)
			return cpu;
		if (near_allowed && claim(near))
			return near;
		cpu = claim_among(allowed, cpu_smt_mask(near));
		if (cpu >= 0)
			return cpu;
	}
#endif

	return claim_among(allowed, span);
}

/**
 * vrq_claim_idle - take the nearest idle CPU for a task
 * @allowed: where the task may run
 * @near: the CPU it ran on
 *
 * Behind the same last-level cache: @near itself, another CPU; of cores with
 * several threads one that is idle as a whole, else @near, a sibling in its core,
 * another CPU. Then a CPU of the same node, then any, idle cores first. The order
 * of distances is that of the -gc branch of BFS; the masks are mainline's.
 *
 * Return: the CPU, to which the caller must now queue a task or which it must
 * kick; -1 if no such CPU is idle.
 */
int vrq_claim_idle(const struct cpumask *allowed, int near)
{
	int cpu;

	if (!cpumask_intersects(&idle_cpus, allowed))
		return -1;

	rcu_read_lock();
	cpu = claim_near(allowed, near);
	rcu_read_unlock();
	if (cpu >= 0)
		return cpu;

	cpu = claim_best_among(allowed, cpumask_of_node(cpu_to_node(near)));
	if (cpu >= 0)
		return cpu;

	return claim_best_among(allowed, cpu_online_mask);
}

/**
 * vrq_kick_idle_for - find an idle CPU for a task that others may take
 * @p: the task; the lock of its home or grq.lock is held, so it cannot go away
 *
 * Return: true if there was one.
 */
bool vrq_kick_idle_for(struct task_struct *p)
{
	int cpu;

	/* [A] in place.h, pairs with the barrier in vrq_set_idle() */
	smp_mb();
	cpu = vrq_claim_idle(p->cpus_ptr, task_cpu(p));
	if (cpu < 0)
		return false;

	vrq_count(VRQ_KICK);
	irq_work_queue_on(&cpu_rq(cpu)->vrq.kick, cpu);

	return true;
}

/**
 * vrq_any_idle - is there an idle CPU at all?
 *
 * Return: false if none was after the caller let tasks wait.
 */
bool vrq_any_idle(void)
{
	/* as [A] in place.h */
	smp_mb();
	return !cpumask_empty(&idle_cpus);
}
