// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much there is to do, on a CPU, in a domain, on the machine.
 *
 * The sum of a run queue is exact. The sum of a domain is updated once a jiffy, at the tick of
 * whichever of its CPUs is first, and with it the sum of the machine. A domain in which all
 * CPUs are idle has no tick: CPUs of other domains update its sum, one such domain in a jiffy.
 * So sums are a jiffy old, and those that include idle domains as many jiffies as there are
 * domains.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "deadline.h"
#include "iso.h"
#include "load.h"

/* For up to this many CPUs the sums of the run queues are used */
#define CPUS_MAX	16
/* For up to this many domains the sums of the domains are used, for more that of the machine */
#define DOMAINS_MAX	8

static void add(struct rq *rq, bool only_idle, long weight, long own, long unconfined)
{
	if (only_idle) {
		WRITE_ONCE(rq->vrq.idle_weight, rq->vrq.idle_weight + weight);
		return;
	}

	WRITE_ONCE(rq->vrq.weight, rq->vrq.weight + weight);
	WRITE_ONCE(rq->vrq.own_weight, rq->vrq.own_weight + own);
	WRITE_ONCE(rq->vrq.unconfined, rq->vrq.unconfined + unconfined);
}

/**
 * vrq_load_add - a task is queued, or dequeued
 * @rq: its run queue, locked
 * @p: the task
 * @sign: 1 if it is queued, -1 if it is dequeued
 */
void vrq_load_add(struct rq *rq, const struct task_struct *p, int sign)
{
	vrq_iso_load(p->vrq.iso ? sign * (long)p->vrq.weight : 0);
	add(rq, p->vrq.only_idle, sign * (long)p->vrq.weight, sign * (long)p->vrq.own_weight,
	    sign * (long)p->vrq.unconfined);
}

/**
 * vrq_load_recount - what a queued task counts for has changed
 * @rq: its run queue, locked
 * @p: the task
 * @before: what it counted for
 *
 * A CPU that reads the sums meanwhile finds the task in them. This matters because most slices
 * are renewed at ticks, when the sums are read.
 */
void vrq_load_recount(struct rq *rq, const struct task_struct *p,
		      const struct vrq_counts *before)
{
	long weight = before->weight, own = before->own_weight, unconfined = before->unconfined;

	vrq_iso_load((p->vrq.iso ? p->vrq.weight : 0) - (before->iso ? weight : 0));
	if (p->vrq.only_idle == before->only_idle) {
		add(rq, p->vrq.only_idle, p->vrq.weight - weight, p->vrq.own_weight - own,
		    p->vrq.unconfined - unconfined);
	} else {
		add(rq, p->vrq.only_idle, p->vrq.weight, p->vrq.own_weight, p->vrq.unconfined);
		add(rq, before->only_idle, -weight, -own, -unconfined);
	}
}

static struct vrq_load load_of_cpu(int cpu)
{
	const struct vrq_rq *rq = &cpu_rq(cpu)->vrq;

	return (struct vrq_load) {
		.weight = READ_ONCE(rq->weight),
		.own = READ_ONCE(rq->own_weight),
		.unconfined = READ_ONCE(rq->unconfined),
		.idle = READ_ONCE(rq->idle_weight),
	};
}

static void count(struct vrq_load *load, const struct vrq_load *more)
{
	load->weight += more->weight;
	load->own += more->own;
	load->unconfined += more->unconfined;
	load->idle += more->idle;
}

static u64 confined_in(const struct vrq_load *part)
{
	return part->weight - min(part->weight, part->unconfined);
}

/*
 * Limit what the confined tasks of one CPU, those that not every CPU may run, count for in the
 * load of several CPUs. They count for no more than one of these CPUs is worth on the @mean,
 * or than as many tasks would on the machine as of the last jiffy, whichever is more. In the
 * load of their own CPU alone they count in full, because they have a right to all of it.
 *
 * A task beside a group counts for as much as all tasks in the group. When five kernel threads
 * were found beside a group of 64 hogs on 16 CPUs, a task that got a slice just then waited
 * for 53 ms, not 15.
 */
static void limit_confined(struct vrq_load *load, u64 mean, const struct vrq_load *machine)
{
	u64 confined = confined_in(load), limit;

	if (!confined || machine->weight == machine->own)
		return;

	limit = max(mean, vrq_convert_weight(load->own, machine->own, machine->weight));
	load->weight -= confined - min(confined, limit);
}

/* False if a CPU is summing up the domain, or has done so in this jiffy */
static bool time_to_sum(struct vrq_domain *domain)
{
	unsigned long now = jiffies, last = READ_ONCE(domain->summed_at);

	return !vrq_same_jiffy(last, now) && try_cmpxchg(&domain->summed_at, &last, now);
}

/* A sum of a domain has changed, and with it that of the machine */
static void publish(struct vrq_domain *domain, atomic64_t *sum,
		    atomic64_t *machine, s64 value)
{
	s64 more = value - atomic64_xchg(sum, value);

	if (more && !domain->isolated)
		atomic64_add(more, machine);
}

static void sum_up(struct vrq_domain *domain)
{
	unsigned long busy = READ_ONCE(domain->online) &
			     ~atomic_long_read(&domain->idle);
	struct vrq_load load = {}, machine = vrq_load_of_machine(), part;
	u64 mean = div_u64(machine.weight, machine.cpus);
	unsigned int i, nr;

	/* Pairs with the release in join() in domain.c: the CPUs are there by then */
	nr = smp_load_acquire(&domain->nr_cpus);
	for (i = 0; i < nr; i++) {
		part = load_of_cpu(domain->cpus[i]);
		if (!domain->isolated)
			limit_confined(&part, mean, &machine);
		count(&load, &part);
		/* An idle CPU does not make tasks late */
		if (busy & BIT(i))
			load.lateness += atomic64_read(&cpu_rq(domain->cpus[i])->vrq.lateness);
	}

	publish(domain, &domain->weight, &vrq_machine.weight, load.weight);
	publish(domain, &domain->own_weight, &vrq_machine.own_weight, load.own);
	publish(domain, &domain->unconfined, &vrq_machine.unconfined, load.unconfined);
	publish(domain, &domain->idle_weight, &vrq_machine.idle_weight, load.idle);
	publish(domain, &domain->lateness, &vrq_machine.lateness, load.lateness);
}

/* One domain more, in turns, if its own CPUs have not for a while */
static void sum_up_idle(void)
{
	struct vrq_domain *domain = vrq_domain_in_turn(&vrq_machine.next);

	if (!vrq_same_jiffy(READ_ONCE(domain->summed_at) + 1, jiffies) &&
	    time_to_sum(domain))
		sum_up(domain);
}

/**
 * vrq_load_tick - bring the sums that a CPU is part of up to date
 * @cpu: this CPU, at its tick
 *
 * Goes through the CPUs of the domain, at one tick of all of them in a jiffy.
 */
void vrq_load_tick(int cpu)
{
	struct vrq_domain *domain = vrq_domain_of(cpu);

	if (!time_to_sum(domain))
		return;

	sum_up(domain);
	if (!vrq_one_domain())
		sum_up_idle();
}

/**
 * vrq_load_begin_anew - bring all sums up to date: the scheduler has been changed
 *
 * All CPUs are stopped. Sums of a domain are taken twice, because what its confined tasks
 * count for depends on the sum of the machine.
 */
void vrq_load_begin_anew(void)
{
	int round, leader;

	for (round = 0; round < 2; round++) {
		for_each_cpu(leader, &vrq_machine.domains)
			sum_up(vrq_domain_led_by(leader));
	}
}

/**
 * vrq_load_of_machine - what there is to do for all CPUs that are not isolated
 *
 * Return: the load.
 */
struct vrq_load vrq_load_of_machine(void)
{
	unsigned int cpus = max(READ_ONCE(vrq_machine.nr_cpus), 1U);

	return (struct vrq_load) {
		.weight = max(atomic64_read(&vrq_machine.weight), 0LL),
		.own = max(atomic64_read(&vrq_machine.own_weight), 0LL),
		.unconfined = max(atomic64_read(&vrq_machine.unconfined), 0LL),
		.idle = max(atomic64_read(&vrq_machine.idle_weight), 0LL),
		.cpus = cpus,
		.lateness = div_s64(atomic64_read(&vrq_machine.lateness), cpus),
	};
}

/*
 * The mean weight of some CPUs if the confined tasks of no CPU count for more than that mean.
 * CPUs whose confined tasks exceed the mean are left out one after the other, until there is
 * none. @sum is the sum of all weights.
 */
static u64 mean_with_limits(const struct vrq_load *parts, unsigned int cpus, u64 sum)
{
	unsigned int left = cpus, before, i;
	u64 mean = div_u64(sum, cpus);
	unsigned long limited = 0;

	do {
		before = left;
		for (i = 0; i < cpus; i++) {
			if (limited & BIT(i) || confined_in(&parts[i]) <= mean)
				continue;
			limited |= BIT(i);
			sum -= confined_in(&parts[i]);
			left--;
		}
		/* Not all CPUs are left out: at least one has no more than the mean */
		if (left && left < before)
			mean = div_u64(sum, left);
	} while (left < before);

	return mean;
}

/*
 * Limit the confined tasks of each CPU, see limit_confined(). A task bound to CPU 0 may have
 * the weight of the machine, which must not count in full for a task that CPU 1 may run as
 * well.
 */
static void limit_parts(struct vrq_load *parts, struct vrq_load *load)
{
	struct vrq_load machine = vrq_load_of_machine();
	u64 mean = mean_with_limits(parts, load->cpus, load->weight);
	unsigned int i;

	load->weight = 0;
	for (i = 0; i < load->cpus; i++) {
		limit_confined(&parts[i], mean, &machine);
		load->weight += parts[i].weight;
	}
}

static noinline_for_stack struct vrq_load load_of_cpus(const struct cpumask *mask)
{
	struct vrq_load load = {}, parts[CPUS_MAX];
	int cpu;

	for_each_cpu_and(cpu, mask, cpu_active_mask) {
		/* The mask is being changed */
		if (load.cpus == CPUS_MAX)
			break;
		parts[load.cpus] = load_of_cpu(cpu);
		count(&load, &parts[load.cpus++]);
	}
	if (load.cpus > 1 && load.weight != load.own)
		limit_parts(parts, &load);
	/* All of them are going down: any answer will do, zero will not */
	load.cpus = max(load.cpus, 1U);

	return load;
}

/* The part of @load, of @cpus CPUs, that is on @of_them of them if they are alike */
static void take_part(struct vrq_load *load, unsigned int of_them,
		      unsigned int cpus)
{
	load->weight = div_u64(load->weight * of_them, max(cpus, 1U));
	load->own = div_u64(load->own * of_them, max(cpus, 1U));
	load->unconfined = div_u64(load->unconfined * of_them, max(cpus, 1U));
	load->idle = div_u64(load->idle * of_them, max(cpus, 1U));
	load->cpus = max(of_them, 1U);
}

static struct vrq_load load_of_domain(struct vrq_domain *domain,
				      unsigned int cpus)
{
	struct vrq_load load = {
		.weight = atomic64_read(&domain->weight),
		.own = atomic64_read(&domain->own_weight),
		.unconfined = atomic64_read(&domain->unconfined),
		.idle = atomic64_read(&domain->idle_weight),
	};

	take_part(&load, cpus, hweight_long(READ_ONCE(domain->online)));

	return load;
}

static s64 weight_of(const struct vrq_domain *domain, bool idle_too)
{
	return atomic64_read(&domain->weight) +
	       (idle_too ? atomic64_read(&domain->idle_weight) : 0);
}

/**
 * vrq_evens_out - are two domains more alike once a task has gone from one to the other?
 * @from: the domain that it would leave
 * @to: the domain that it would go to
 * @p: a task that counts as much
 *
 * Compares what there is to do for each CPU. The sums are a jiffy old: if two tasks move
 * within a jiffy, one of them may be too many.
 *
 * Return: true if so; of two domains that are as alike as they can be, never.
 */
bool vrq_evens_out(const struct vrq_domain *from, const struct vrq_domain *to,
		   const struct task_struct *p)
{
	s64 cpus_from = hweight_long(READ_ONCE(from->online));
	s64 cpus_to = hweight_long(READ_ONCE(to->online));
	s64 gap = weight_of(from, p->vrq.only_idle) * cpus_to -
		  weight_of(to, p->vrq.only_idle) * cpus_from;

	/* by so much the gap gets narrower, or opens on the other side */
	return (s64)p->vrq.weight * (cpus_from + cpus_to) < 2 * gap;
}

/**
 * vrq_load_of - what some CPUs have to do
 * @mask: the CPUs
 * @nr_cpus: how many there are in @mask, offline ones too
 *
 * For more than a few CPUs the sums of their domains are used. If only a part of a domain is
 * in @mask, its CPUs count as if they were alike.
 *
 * Return: the load.
 */
struct vrq_load vrq_load_of(const struct cpumask *mask, unsigned int nr_cpus)
{
	struct vrq_domain *domains[DOMAINS_MAX], *domain;
	struct vrq_load load = {}, part;
	unsigned int cpus, n = 0, i;
	int cpu;

	if (nr_cpus <= CPUS_MAX)
		return load_of_cpus(mask);

	for_each_cpu_and(cpu, mask, cpu_online_mask) {
		domain = vrq_domain_of(cpu);
		for (i = 0; i < n && domains[i] != domain; i++)
			;
		if (i < n)
			continue;
		if (n == DOMAINS_MAX) {
			load = vrq_load_of_machine();
			take_part(&load, min(nr_cpus, load.cpus), load.cpus);
			return load;
		}
		cpus = hweight_long(vrq_local_mask(domain, mask) &
				    READ_ONCE(domain->online));
		if (!cpus)
			continue;
		domains[n++] = domain;
		part = load_of_domain(domain, cpus);
		load.weight += part.weight;
		load.own += part.own;
		load.unconfined += part.unconfined;
		load.idle += part.idle;
		load.cpus += cpus;
		if (load.cpus >= nr_cpus)
			break;
	}
	load.cpus = max(load.cpus, 1U);

	return load;
}
