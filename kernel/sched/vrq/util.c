// SPDX-License-Identifier: GPL-2.0-only
/*
 * Utilisation of CPUs, as cpufreq governors see it: mainline's load average of
 * the root group, in rq->cfs.avg, and those of the other classes.
 */
#include "entity.h"
#include "util.h"
#include "../pelt.h"

#ifdef CONFIG_SMP
static bool others_have_util(struct rq *rq)
{
	return cpu_util_rt(rq) || cpu_util_dl(rq) || cpu_util_irq(rq);
}

/* Is there anything to age? */
static bool others_have_load(struct rq *rq)
{
	return others_have_util(rq) || hw_load_avg(rq);
}
#endif

/**
 * vrq_update_util - bring the load averages of a CPU up to now
 * @rq: its run queue, locked, its clock updated; the caller is about to change
 *	what they are made from
 *
 * Those of the other classes, of interrupts and of the hardware's pressure too:
 * they grow elsewhere, as it happens, and the load balancer would age them.
 */
void vrq_update_util(struct rq *rq)
{
#ifdef CONFIG_SMP
	struct cfs_rq *cfs_rq = &rq->cfs;

	__update_load_avg_cfs_rq(cfs_rq_clock_pelt(cfs_rq), cfs_rq);
	if (others_have_load(rq))
		update_other_load_avgs(rq);
#endif
	cpufreq_update_util(rq, 0);
}

#ifdef CONFIG_SMP
/* Half-life of the averages: no use to look more often */
#define AGE_MS	32

/* When idle CPUs were last looked at, jiffies. Whoever moves it on does so */
static unsigned long aged_at = INITIAL_JIFFIES;

static bool has_util(struct rq *rq)
{
	return READ_ONCE(rq->cfs.avg.util_avg) || others_have_util(rq);
}

static bool time_to_age(void)
{
	unsigned long last = READ_ONCE(aged_at);

	return time_after_eq(jiffies, last + msecs_to_jiffies(AGE_MS)) &&
	       try_cmpxchg(&aged_at, &last, jiffies);
}

static void age(struct rq *rq)
{
	struct rq_flags rf;

	if (!raw_spin_rq_trylock(rq))
		return;

	rq_pin_lock(rq, &rf);
	update_rq_clock(rq);
	vrq_update_util(rq);
	rq_unpin_lock(rq, &rf);
	raw_spin_rq_unlock(rq);
}

/**
 * vrq_age_idle - let the load averages of idle CPUs decay
 * @rq: the run queue of this CPU, locked, its clock updated
 *
 * Where several CPUs have one frequency their governor goes by the busiest, and
 * an idle CPU does not see to its own. Called from the tick and before going
 * idle, and does something each 32 ms at most, on one CPU of the machine. Run
 * queues that are locked are passed over: they are busy, or it is their turn the
 * next time.
 */
void vrq_age_idle(struct rq *rq)
{
	int cpu;

	if (!time_to_age())
		return;

	/* Its tick goes on where it keeps the time for all */
	if (vrq_curr(rq) == rq->idle)
		vrq_update_util(rq);

	for_each_online_cpu(cpu) {
		if (cpu_rq(cpu) != rq && idle_cpu(cpu) && has_util(cpu_rq(cpu)))
			age(cpu_rq(cpu));
	}
}
#endif /* CONFIG_SMP */
