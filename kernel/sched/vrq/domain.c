// SPDX-License-Identifier: GPL-2.0-only
/*
 * Domains are made of the CPUs that share a last-level cache or, without CONFIG_SCHED_MC, a
 * NUMA node. If there are many such CPUs they are divided, because cache lines that all CPUs
 * of a domain write must not travel between too many CPUs. An isolated CPU is a domain of its
 * own, so that none of its data is in a cache line that other CPUs write.
 *
 * A CPU joins its domain as it comes online for the first time, before it
 * schedules anything but its own kernel threads, and stays there.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/sched/isolation.h>
#include <linux/topology.h>

#include "domain.h"

/* A core joins a domain only if the domain has fewer CPUs, all threads of its cores counted */
#define DOMAIN_CPUS	16
/* All bits of a mask of a domain's CPUs are set for every CPU of the machine, see shared.c */
#define DOMAIN_CPUS_MAX	(BITS_PER_LONG - 1)

struct vrq_machine vrq_machine __read_mostly = {
	.next = -1,
};

DEFINE_PER_CPU_SHARED_ALIGNED(struct vrq_domain, vrq_domains);
DEFINE_PER_CPU_READ_MOSTLY(struct vrq_member, vrq_members);

/* sched_vrq_domain=N: CPUs 0 to N - 1 are a domain, the next N another one ... */
static unsigned int forced __read_mostly;

static int __init force_domains(char *text)
{
	unsigned int cpus;

	if (!text || kstrtouint(text, 10, &cpus) || !cpus || cpus > DOMAIN_CPUS_MAX)
		pr_warn("sched: sched_vrq_domain=%s is not a number of CPUs from 1 to %d\n",
			text ?: "", DOMAIN_CPUS_MAX);
	else
		forced = cpus;

	return 0;
}
early_param("sched_vrq_domain", force_domains);

/**
 * vrq_local_mask - the CPUs of a domain that are in a mask
 * @domain: the domain
 * @mask: the mask
 *
 * Goes through the CPUs of the domain.
 *
 * Return: a bit for the index of each of them.
 */
unsigned long vrq_local_mask(const struct vrq_domain *domain,
			     const struct cpumask *mask)
{
	/* Pairs with the release in join() */
	unsigned int i, nr = smp_load_acquire(&domain->nr_cpus);
	unsigned long local = 0;

	for (i = 0; i < nr; i++) {
		if (cpumask_test_cpu(domain->cpus[i], mask))
			local |= BIT(i);
	}

	return local;
}

static bool on_same_core(int cpu, int other)
{
#ifdef CONFIG_SCHED_SMT
	return cpumask_test_cpu(other, cpu_smt_mask(cpu));
#else
	return false;
#endif
}

static const struct cpumask *llc_mask(int cpu)
{
#ifdef CONFIG_SCHED_MC
	return cpu_coregroup_mask(cpu);
#else
	return cpumask_of_node(cpu_to_node(cpu));
#endif
}

static bool has_room(const struct vrq_domain *domain)
{
	/* cpu_smt_num_threads is UINT_MAX if the architecture does not set it */
	unsigned int threads = cpu_smt_num_threads > DOMAIN_CPUS ?
			       1 : max(cpu_smt_num_threads, 1U);

	return domain->nr_cores < DOMAIN_CPUS / threads &&
	       domain->nr_cpus < DOMAIN_CPUS_MAX;
}

static bool joined(int cpu)
{
	return vrq_domain_of(cpu)->nr_cores;
}

/* Of CPUs that share a cache: the domain of another thread of the core, else one with room */
static struct vrq_domain *domain_of_cache(int cpu)
{
	struct vrq_domain *domain, *found = NULL;
	int other;

	for_each_cpu(other, llc_mask(cpu)) {
		domain = vrq_domain_of(other);
		if (other == cpu || !joined(other) || domain->isolated)
			continue;
		if (on_same_core(cpu, other) && domain->nr_cpus < DOMAIN_CPUS_MAX)
			return domain;
		if (!found && has_room(domain))
			found = domain;
	}

	return found;
}

static struct vrq_domain *domain_to_join(int cpu)
{
	struct vrq_domain *own = vrq_domain_led_by(cpu);
	int leader;

	if (!housekeeping_cpu(cpu, HK_TYPE_DOMAIN)) {
		own->isolated = true;
		return own;
	}

	if (forced) {
		leader = cpu - cpu % forced;
		return joined(leader) && !vrq_domain_of(leader)->isolated ?
		       vrq_domain_of(leader) : own;
	}

	return domain_of_cache(cpu) ?: own;
}

/* The new CPU's index is the last one */
static void add_to_core(struct vrq_domain *domain, int cpu)
{
	unsigned int last = domain->nr_cpus - 1, i;

	domain->core[last] = BIT(last);
	for (i = 0; i < last; i++) {
		if (!on_same_core(cpu, domain->cpus[i]))
			continue;
		domain->core[last] |= BIT(i);
		domain->core[i] |= BIT(last);
	}
	domain->nr_cores += domain->core[last] == BIT(last);
}

static void join(int cpu)
{
	struct vrq_domain *own = vrq_domain_led_by(cpu);
	struct vrq_domain *domain = domain_to_join(cpu);
	struct vrq_member *member = &per_cpu(vrq_members, cpu);

	domain->node = cpu_to_node(domain->leader);
	/* Remove the sums of @own: they are counted anew, or belong to an isolated CPU */
	atomic64_sub(atomic64_xchg(&own->weight, 0), &vrq_machine.weight);
	atomic64_sub(atomic64_xchg(&own->own_weight, 0), &vrq_machine.own_weight);
	atomic64_sub(atomic64_xchg(&own->unconfined, 0), &vrq_machine.unconfined);
	atomic64_sub(atomic64_xchg(&own->idle_weight, 0), &vrq_machine.idle_weight);
	atomic64_sub(atomic64_xchg(&own->lateness, 0), &vrq_machine.lateness);
	if (domain == own) {
		cpumask_set_cpu(cpu, &vrq_machine.domains);
		WRITE_ONCE(vrq_machine.nr_domains, vrq_machine.nr_domains + 1);
	} else {
		own->nr_cpus = 0;
		domain->cpus[domain->nr_cpus] = cpu;
		member->index = domain->nr_cpus;
		/* pairs with the reads of nr_cpus: the CPU is there by then */
		smp_store_release(&domain->nr_cpus, domain->nr_cpus + 1);
		WRITE_ONCE(member->domain, domain);
	}
	add_to_core(domain, cpu);
}

static void set_online(int cpu, bool online)
{
	struct vrq_domain *domain = vrq_domain_of(cpu);
	unsigned long others = domain->online & ~vrq_bit_of(cpu);

	WRITE_ONCE(domain->online, others | (online ? vrq_bit_of(cpu) : 0));
}

/* As a CPU comes online, and before others run tasks of theirs there */
static int come_online(unsigned int cpu)
{
	struct rq_flags rf;

	if (!joined(cpu)) {
		rq_lock_irqsave(cpu_rq(cpu), &rf);
		join(cpu);
		rq_unlock_irqrestore(cpu_rq(cpu), &rf);
	}

	set_online(cpu, true);
	if (vrq_domain_of(cpu)->isolated)
		return 0;
	cpumask_set_cpu(cpu, &vrq_machine.cpus);
	WRITE_ONCE(vrq_machine.nr_cpus, vrq_machine.nr_cpus + 1);

	return 0;
}

static int go_offline(unsigned int cpu)
{
	set_online(cpu, false);
	if (vrq_domain_of(cpu)->isolated)
		return 0;
	cpumask_clear_cpu(cpu, &vrq_machine.cpus);
	WRITE_ONCE(vrq_machine.nr_cpus, vrq_machine.nr_cpus - 1);

	return 0;
}

/**
 * vrq_domain_init - make each CPU a domain of its own, at boot
 */
void __init vrq_domain_init(void)
{
	struct vrq_domain *domain;
	int cpu;

	for_each_possible_cpu(cpu) {
		domain = vrq_domain_led_by(cpu);
		per_cpu(vrq_members, cpu).domain = domain;
		domain->leader = cpu;
		domain->cpus[0] = cpu;
		domain->nr_cpus = 1;
		domain->summed_at = INITIAL_JIFFIES;
	}
}

/**
 * vrq_domain_start - let the CPUs that are online, and each that comes, join a domain
 *
 * Return: 0 or an error of cpuhp_setup_state().
 */
int vrq_domain_start(void)
{
	int err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "sched/vrq:domain",
				    come_online, go_offline);

	return min(err, 0);
}
