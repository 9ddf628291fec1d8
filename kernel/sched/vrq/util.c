// SPDX-License-Identifier: GPL-2.0-only
/*
 * Utilisation of CPUs, as cpufreq governors see it: mainline's load average of
 * the root group, in rq->cfs.avg, and those of the other classes.
 */
#include "domain.h"
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
 * The averages of the other classes, of interrupts and of the hardware's pressure are
 * included. Other code raises them as things happen, but leaves it to the load balancer to age
 * them.
 */
void vrq_update_util(struct rq *rq)
{
#ifdef CONFIG_SMP
	struct cfs_rq *cfs_rq = &rq->cfs;

	__update_load_avg_cfs_rq(cfs_rq_clock_pelt(cfs_rq), cfs_rq);
	/* 32-bit: set_task_rq_fair() waits until the two are the same, for ever if need be */
	u64_u32_store_copy(cfs_rq->avg.last_update_time, cfs_rq->last_update_time_copy,
			   cfs_rq->avg.last_update_time);
	if (others_have_load(rq))
		update_other_load_avgs(rq);
#endif
	cpufreq_update_util(rq, 0);
}

#ifdef CONFIG_SMP
/* Half-life of the averages: no use to look more often */
#define AGE_MS	32

/*
 * When the idle CPUs of a domain were last looked at, jiffies, and the leader of that domain.
 * The CPU that sets the time looks at the next domain
 */
static unsigned long aged_at = INITIAL_JIFFIES;
static int aged_last = -1;

static bool has_util(struct rq *rq)
{
	return READ_ONCE(rq->cfs.avg.util_avg) || others_have_util(rq);
}

static bool time_to_age(void)
{
	unsigned int nr_domains = READ_ONCE(vrq_machine.nr_domains);
	unsigned long now = jiffies, last = READ_ONCE(aged_at), every;

	/* Before the boot CPU has joined its domain there is nobody else */
	if (likely(vrq_same_jiffy(last, now)) || !nr_domains)
		return false;

	every = max(msecs_to_jiffies(AGE_MS) / nr_domains, 1UL);

	return !vrq_same_jiffy(last + every - 1, now) && try_cmpxchg(&aged_at, &last, now);
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
 * If several CPUs share one frequency, their governor goes by the busiest, and an idle CPU
 * does not update its own averages. Called from the tick and before going idle. One CPU of the
 * machine at a time does the work, for one domain, the next one each time. So each domain has
 * its turn after 32 ms, or after as many jiffies as there are domains. Run queues that are
 * locked are passed over: they are busy, or are updated the next time.
 */
void vrq_age_idle(struct rq *rq)
{
	struct vrq_domain *domain;
	unsigned long idle;
	unsigned int i;

	if (!time_to_age())
		return;

	/* An idle CPU has its tick if it keeps the time for all CPUs */
	if (vrq_curr(rq) == rq->idle)
		vrq_update_util(rq);

	domain = vrq_domain_in_turn(&aged_last);
	idle = atomic_long_read(&domain->idle);
	for_each_set_bit(i, &idle, BITS_PER_LONG) {
		if (cpu_rq(domain->cpus[i]) != rq &&
		    has_util(cpu_rq(domain->cpus[i])))
			age(cpu_rq(domain->cpus[i]));
	}
}
#endif /* CONFIG_SMP */
