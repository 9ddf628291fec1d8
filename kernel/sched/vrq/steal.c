// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a CPU takes from others: a task that waits in the queue of another CPU, or in another
 * domain. Near ones first, and of several domains a few. Built with CONFIG_SMP only.
 */
#include "choose.h"
#include "fault.h"
#include "idle.h"
#include "place.h"
#include "shared.h"
#include "steal.h"

/* How many CPUs of a domain to try to take a task from */
#define STEAL_TRIES		4
/* In how many domains but its own a CPU looks, at most, and at how many whether they have work */
#define STEAL_DOMAINS		4
#define STEAL_DOMAINS_SEEN	32

/* Tasks before this key are of @level or a better one */
static s64 limit_of(enum vrq_level level)
{
	return level == VRQ_IDLE ? VRQ_KEY_NONE : vrq_key_of(level + 1, 0);
}

/* The CPUs that offer a task of level VRQ_NORMAL or better, or of VRQ_IDLE */
static unsigned long offers(struct vrq_domain *domain, enum vrq_level level)
{
	return atomic_long_read(&domain->offers[level == VRQ_IDLE ?
						VRQ_OFFER_IDLE : VRQ_OFFER_NORMAL]);
}

static bool has_work(struct vrq_domain *domain)
{
	return offers(domain, VRQ_NORMAL) || offers(domain, VRQ_IDLE) ||
	       vrq_shared_key_of_any(domain) != VRQ_KEY_NONE;
}

/*
 * May a task of VRQ_NORMAL or better, or of VRQ_IDLE, be in a domain's shared queue? One of
 * VRQ_IDLE may wait behind others that this CPU may not run.
 */
static bool shares(struct vrq_domain *domain, enum vrq_level level)
{
	return vrq_shared_key_of_any(domain) < limit_of(level);
}

/**
 * vrq_take_offered - take a task that waits for another CPU
 * @rq: the run queue of this CPU, locked, its clock updated
 * @cpu: the other CPU
 * @level: a task of this level or a better one
 * @limit: only one with a vrq_key() before this
 * @missed: set if the other run queue was locked
 *
 * Return: the task, VRQ_PICKED, at home here; or NULL.
 */
struct task_struct *vrq_take_offered(struct rq *rq, int cpu, enum vrq_level level,
				     s64 limit, bool *missed)
{
	struct rq *from = cpu_rq(cpu);
	struct task_struct *p;

	if (from == rq)
		return NULL;
	if (vrq_fault_lock() || !raw_spin_rq_trylock(from)) {
		*missed = true;
		return NULL;
	}

	p = vrq_offered_to(from, level, cpu_of(rq));
	if (!p || vrq_key(p) >= limit) {
		raw_spin_rq_unlock(from);
		return NULL;
	}

	vrq_unplace(from, p);
	p->vrq.place = VRQ_PICKED;
	vrq_note_pick(p, VRQ_PICK_STOLEN, *missed);
	vrq_bring_home(rq, p);

	return p;
}

/**
 * vrq_offered_here - may another CPU have a task that this one may run?
 * @rq: the run queue of this CPU
 * @cpu: the other CPU, not locked
 * @near: it is of the same domain
 *
 * Return: false if not; true may be wrong.
 */
bool vrq_offered_here(struct rq *rq, int cpu, bool near)
{
	struct vrq_rq *from = &cpu_rq(cpu)->vrq;

	return near ? READ_ONCE(from->offered_to) & vrq_bit_of(cpu_of(rq)) :
		      READ_ONCE(from->offered_afar);
}

/* Take a task that waits for one of the CPUs of a domain, from index @first on */
static struct task_struct *steal(struct rq *rq, struct vrq_domain *domain,
				 unsigned int first, enum vrq_level level,
				 bool *missed)
{
	unsigned long cpus = offers(domain, level), behind;
	bool near = domain == vrq_domain_of(cpu_of(rq));
	struct task_struct *p = NULL;
	int tries = STEAL_TRIES;
	unsigned int i;

	behind = cpus & ~(BIT(first) - 1);
	/* What is left over gets a CPU by a kick at its own CPU's next tick, see place.h */
	while (cpus && tries && !p) {
		i = __ffs(behind ?: cpus);
		cpus &= ~BIT(i);
		behind &= ~BIT(i);
		if (!vrq_offered_here(rq, domain->cpus[i], near))
			continue;
		p = vrq_take_offered(rq, domain->cpus[i], level, VRQ_KEY_NONE, missed);
		tries--;
	}

	return p;
}

/* Take a task that waits in another domain, on the same node or not */
static struct task_struct *take_afar(struct rq *rq, enum vrq_level level,
				     bool same, int *tries, bool *missed)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq)), *domain;
	int leader, left = STEAL_DOMAINS_SEEN;
	struct task_struct *p = NULL;
	bool shared;

	vrq_for_each_cpu_unlocked(leader, &vrq_work_domains) {
		domain = vrq_domain_led_by(leader);
		if (domain == own || !vrq_distance(own, domain) != same ||
		    vrq_no_work_in(domain, has_work))
			continue;
		if (!left--)
			return NULL;
		shared = shares(domain, level);
		if (!shared && !offers(domain, level))
			continue;
		if (shared)
			p = vrq_take_shared(rq, domain, limit_of(level), missed);
		if (!p)
			p = steal(rq, domain, 0, level, missed);
		if (p || !--*tries)
			return p;
	}

	return NULL;
}

/**
 * vrq_take_from_others - take a task from wherever one waits, near ones first
 * @rq: the run queue of this CPU, locked, its clock updated
 * @level: VRQ_NORMAL for a task of that level or a better one, VRQ_IDLE for one of that
 * @missed: set if one had to be left because a run queue was locked
 *
 * Return: the task, VRQ_PICKED, at home here; or NULL.
 */
struct task_struct *vrq_take_from_others(struct rq *rq, enum vrq_level level,
					 bool *missed)
{
	struct vrq_member *here = &per_cpu(vrq_members, cpu_of(rq));
	int tries = STEAL_DOMAINS;
	struct task_struct *p;

	/*
	 * A task that a CPU going down takes would only be pushed away again, and an isolated
	 * CPU is kicked for the few tasks that it may run
	 */
	if (!cpu_active(cpu_of(rq)) || here->domain->isolated)
		return NULL;

	p = steal(rq, here->domain, here->index, level, missed);
	if (p || vrq_one_domain() || vrq_empty_unlocked(&vrq_work_domains))
		return p;

	p = take_afar(rq, level, true, &tries, missed);

	return p || !tries ? p : take_afar(rq, level, false, &tries, missed);
}

/**
 * vrq_far_task_waits - does a normal task wait elsewhere while a SCHED_IDLE one runs?
 * @rq: the run queue of this CPU, locked
 * @curr: its current task
 *
 * For the tick. Looks at the own domain and another one, without a lock.
 *
 * Return: true if a pick is worth while.
 */
bool vrq_far_task_waits(struct rq *rq, struct task_struct *curr)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq)), *other;

	if (curr->vrq.level != VRQ_IDLE || own->isolated)
		return false;
	if (offers(own, VRQ_NORMAL))
		return true;
	if (vrq_one_domain())
		return false;

	other = vrq_domain_in_turn(&rq->vrq.next_for_idle);

	return offers(other, VRQ_NORMAL) || shares(other, VRQ_NORMAL);
}
