// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle CPUs: the masks of them, the choice among them by cache distance, and
 * the kick. Built with CONFIG_SMP only.
 *
 * Each domain has a mask of its idle CPUs. Where there are several domains, a mask
 * of domains says in which of them a search is worth while. A bit in there is set
 * by a CPU that gets idle, and cleared by one that looks and finds the domain's own
 * mask empty: so it is seldom written. The same holds for the mask of domains in
 * which tasks wait for any CPU.
 *
 * Isolated CPUs have a separate mask of domains. It is searched only for tasks that may run
 * nowhere else, because a kernel thread may have all CPUs in its mask.
 */
#include "counters.h"
#include "entity.h"
#include "fault.h"
#include "idle.h"

/* In how many domains but its own a search looks, at most */
#define CLAIM_DOMAINS	8

/* The domains that may have idle CPUs, by their leaders. Read and written by all */
static struct cpumask idle_domains ____cacheline_aligned_in_smp;
/* The isolated ones of these */
static struct cpumask idle_isolated ____cacheline_aligned_in_smp;
/* The domains in which tasks may wait that idle CPUs can take. Likewise */
struct cpumask vrq_work_domains ____cacheline_aligned_in_smp;

/* Set a domain's bit, ordered against what the caller reads next */
static void set_domain(struct vrq_domain *domain, struct cpumask *mask)
{
	if (vrq_one_domain() ||
	    cpumask_test_cpu(domain->leader, mask))
		return;

	cpumask_set_cpu(domain->leader, mask);
	/* pairs with the barrier in still_there(), and stands for [A] or [B] */
	smp_mb__after_atomic();
}

/* Clear it, and return false, unless @something is there after all */
static bool still_there(struct vrq_domain *domain, struct cpumask *mask,
			bool (*something)(struct vrq_domain *domain))
{
	if (something(domain))
		return true;

	cpumask_clear_cpu(domain->leader, mask);
	/* A CPU that adds something meanwhile has seen the bit cleared, or is seen here */
	smp_mb__after_atomic();
	if (!something(domain))
		return false;
	cpumask_set_cpu(domain->leader, mask);

	return true;
}

static struct cpumask *mask_with(const struct vrq_domain *domain)
{
	return domain->isolated ? &idle_isolated : &idle_domains;
}

static bool has_idle(struct vrq_domain *domain)
{
	return atomic_long_read(&domain->idle);
}

/**
 * vrq_set_idle - this CPU has nothing to do
 * @rq: the run queue of this CPU, locked
 *
 * The caller must look for tasks once more afterwards, see place.h.
 */
void vrq_set_idle(struct rq *rq)
{
	struct vrq_domain *domain = vrq_domain_of(cpu_of(rq));
	unsigned long bit = vrq_bit_of(cpu_of(rq));

	if (!cpu_active(cpu_of(rq)))
		return;

	if (!(atomic_long_read(&domain->idle) & bit))
		atomic_long_or(bit, &domain->idle);
	/* [B] in place.h, pairs with the barrier in vrq_kick_idle_for() */
	smp_mb__after_atomic();
	set_domain(domain, mask_with(domain));
}

/* Clear the bit of a CPU: false if it was not set */
static bool clear_idle(struct vrq_domain *domain, unsigned long bit)
{
	return atomic_long_read(&domain->idle) & bit &&
	       atomic_long_fetch_andnot(bit, &domain->idle) & bit;
}

/**
 * vrq_clear_idle - this CPU has something to do, or is going offline
 * @rq: its run queue, locked
 *
 * Somebody may have claimed this CPU before, to make it look for work. If it does something
 * else, it has to pass the kick on.
 */
void vrq_clear_idle(struct rq *rq)
{
	clear_idle(vrq_domain_of(cpu_of(rq)), vrq_bit_of(cpu_of(rq)));
}

/* Of idle CPUs those whose whole core is idle */
static unsigned long whole_cores(const struct vrq_domain *domain,
				 unsigned long idle)
{
	unsigned long whole = 0, busy = READ_ONCE(domain->online) & ~idle;
	unsigned int i;

	if (!sched_smt_active())
		return idle;

	for_each_set_bit(i, &idle, BITS_PER_LONG) {
		if (!(domain->core[i] & busy))
			whole |= BIT(i);
	}

	return whole;
}

/* The first bit from @index on, with wrap-around, so that CPUs do not all choose the same */
static unsigned int first_from(unsigned long mask, unsigned int index)
{
	unsigned long behind = mask & ~(BIT(index) - 1);

	return __ffs(behind ?: mask);
}

/*
 * The best CPU of @idle that is in @allowed too. If cores are idle as a whole: the CPU with
 * this @index, else one of another idle core. Otherwise: the CPU with this @index, else a
 * thread of its core, else any other.
 */
static int best_idle(const struct vrq_domain *domain, unsigned long idle,
		     unsigned long allowed, unsigned int index)
{
	unsigned long whole = whole_cores(domain, idle) & allowed;

	if (whole)
		return first_from(whole, index);
	idle &= allowed;
	if (idle & BIT(index))
		return index;
	if (idle & domain->core[index])
		return __ffs(idle & domain->core[index]);

	return first_from(idle, index);
}

static unsigned long allowed_in(const struct vrq_domain *domain,
				const struct task_struct *p)
{
	return vrq_confined(p) || domain->isolated ?
	       vrq_local_mask(domain, p->cpus_ptr) : ~0UL;
}

/* Claim an idle CPU of a domain, the nearest to that with @index; -1 if there is none */
static int claim_in(struct vrq_domain *domain, const struct task_struct *p,
		    unsigned int index)
{
	unsigned long idle = atomic_long_read(&domain->idle), allowed;
	unsigned int i;

	if (!idle)
		return -1;

	allowed = allowed_in(domain, p);
	while (idle & allowed) {
		i = best_idle(domain, idle, allowed, index);
		/*
		 * The CPU has come online since the task was last queued, see
		 * vrq_note_affinity()
		 */
		if (unlikely(!cpumask_test_cpu(domain->cpus[i], p->cpus_ptr))) {
			allowed = vrq_local_mask(domain, p->cpus_ptr);
			continue;
		}
		/*
		 * A CPU that was stopped for a reboot, not taken down, is offline
		 * with its bit set, while others still schedule
		 */
		if (clear_idle(domain, BIT(i)) &&
		    likely(cpu_online(domain->cpus[i])))
			return domain->cpus[i];
		idle = atomic_long_read(&domain->idle);
	}

	return -1;
}

/* May a task run on isolated CPUs only? */
static bool is_isolated(const struct task_struct *p)
{
	if (!vrq_confined(p))
		return false;

	/* A CPU that comes or goes just now may be missed */
	return !data_race(cpumask_intersects(p->cpus_ptr, &vrq_machine.cpus));
}

/* Claim an idle CPU in a domain of @mask other than @own, on the same node or on others */
static int claim_on_nodes(const struct vrq_domain *own, struct cpumask *mask,
			  const struct task_struct *p, bool same, int *tries)
{
	struct vrq_domain *domain;
	int leader, cpu;

	vrq_for_each_cpu_unlocked(leader, mask) {
		domain = vrq_domain_led_by(leader);
		if (domain == own || !vrq_distance(domain, own) != same)
			continue;
		if (!still_there(domain, mask, has_idle))
			continue;
		cpu = claim_in(domain, p, 0);
		if (cpu >= 0 || !--*tries)
			return cpu;
	}

	return -1;
}

/* Where claim_in_turn() goes on, by the leader */
static DEFINE_PER_CPU(int, next_claimed);

/*
 * Claim an idle CPU in the next few domains each time, near or far, for a task that may not
 * run in all domains: the CPUs of the domains that were searched before may not be allowed for
 * it.
 */
static int claim_in_turn(const struct vrq_domain *own, struct cpumask *mask,
			 const struct task_struct *p)
{
	int leader = this_cpu_read(next_claimed), tries = CLAIM_DOMAINS, first = -1, cpu = -1;
	struct vrq_domain *domain;

	while (cpu < 0 && tries--) {
		leader = vrq_next_unlocked(mask, leader);
		if (leader >= small_cpumask_bits)
			leader = vrq_next_unlocked(mask, 0);
		/* Once around, or there is none */
		if (leader >= small_cpumask_bits || leader == first)
			break;
		if (first < 0)
			first = leader;
		domain = vrq_domain_led_by(leader++);
		if (domain != own && still_there(domain, mask, has_idle))
			cpu = claim_in(domain, p, 0);
	}
	this_cpu_write(next_claimed, leader);

	return cpu;
}

/**
 * vrq_claim_idle - take the nearest idle CPU for a task
 * @p: the task; it is not being changed
 * @near: the CPU it ran on
 *
 * The order in the same domain is @near itself, then another CPU. If cores have several
 * threads it is a core that is idle as a whole, else @near, a sibling in its core, another
 * CPU. Then follow domains of the same node, then all others. The order of distances is that
 * of the -gc branch of BFS. Looks into a few domains; for a task that may not run in all of
 * them into a few more, the next ones each time. An isolated CPU other than @near is claimed
 * only for a task that may run on isolated CPUs only.
 *
 * Interrupts are off.
 *
 * Return: the CPU, to which the caller must now queue a task or which it must
 * kick; -1 if none was found.
 */
int vrq_claim_idle(const struct task_struct *p, int near)
{
	struct vrq_domain *own = vrq_domain_of(near);
	int cpu = claim_in(own, p, per_cpu(vrq_members, near).index);
	struct cpumask *mask = &idle_domains;
	int tries = CLAIM_DOMAINS;

	if (cpu >= 0 || vrq_one_domain())
		return cpu;
	if (unlikely(is_isolated(p)))
		mask = &idle_isolated;
	if (vrq_empty_unlocked(mask))
		return cpu;

	cpu = claim_on_nodes(own, mask, p, true, &tries);
	if (cpu < 0 && tries)
		cpu = claim_on_nodes(own, mask, p, false, &tries);

	return cpu >= 0 || tries || !vrq_confined(p) ? cpu : claim_in_turn(own, mask, p);
}

/**
 * vrq_leaves_alone - does a task have to stay away from an isolated CPU?
 * @p: the task
 * @cpu: the CPU, which is in its mask
 *
 * Return: true if the task may be on the CPU only if it is there already.
 */
bool vrq_leaves_alone(const struct task_struct *p, int cpu)
{
	return unlikely(vrq_domain_of(cpu)->isolated) && !is_isolated(p);
}

/**
 * vrq_any_idle - is a CPU idle?
 * @own: the domain to look at first, before the masks of the others. If it is not isolated,
 *	isolated CPUs do not count, because its tasks do not go there
 *
 * Return: false if none was; true may be wrong.
 */
bool vrq_any_idle(struct vrq_domain *own)
{
	struct cpumask *mask = mask_with(own);

	if (has_idle(own))
		return true;
	if (vrq_one_domain())
		return false;
	/* It may be that no CPU of another domain looks into this one, so clear its bit here */
	if (cpumask_test_cpu(own->leader, mask) && still_there(own, mask, has_idle))
		return true;

	return !vrq_empty_unlocked(&idle_domains) ||
	       (own->isolated && !vrq_empty_unlocked(&idle_isolated));
}

/**
 * vrq_kick_idle_for - find an idle CPU for a task that others may take
 * @p: the task; the lock of its home is held, or of the domain in whose queue it
 *	is, so it cannot go away
 *
 * The CPU is told where the task waits, and looks there first.
 *
 * Return: true if there was one.
 */
bool vrq_kick_idle_for(const struct task_struct *p)
{
	struct vrq_domain *domain = p->vrq.place == VRQ_IN_SHARED ?
				    p->vrq.domain : vrq_domain_of(task_cpu(p));
	struct rq *rq;
	int cpu;

	/* [A] in place.h, pairs with the barrier in vrq_set_idle() */
	smp_mb();
	set_domain(domain, &vrq_work_domains);
	cpu = vrq_claim_idle(p, task_cpu(p));
	if (cpu < 0)
		return false;

	rq = cpu_rq(cpu);
	vrq_count(VRQ_KICK);
	WRITE_ONCE(rq->vrq.kicked_for, p->vrq.place == VRQ_IN_SHARED ?
		   vrq_kicked_for_domain(domain->leader) :
		   vrq_kicked_for_cpu(task_cpu(p)));
	if (!vrq_fault(VRQ_LOSE_KICK, p))
		irq_work_queue_on(&rq->vrq.kick, cpu);

	return true;
}

/**
 * vrq_no_work_in - a CPU without work has found nothing to take in a domain
 * @domain: the domain
 * @has_work: does a task wait there? Asked again once others look elsewhere
 *
 * Return: false if there is something after all.
 */
bool vrq_no_work_in(struct vrq_domain *domain,
		    bool (*has_work)(struct vrq_domain *domain))
{
	return !still_there(domain, &vrq_work_domains, has_work);
}

#ifdef CONFIG_SCHED_SMT
/**
 * vrq_core_is_shared - is another thread of a CPU's core busy?
 * @cpu: the CPU
 *
 * Return: true if so. A hint.
 */
bool vrq_core_is_shared(int cpu)
{
	const struct vrq_domain *domain = vrq_domain_of(cpu);
	unsigned long busy = READ_ONCE(domain->online) &
			     ~atomic_long_read(&domain->idle);

	return domain->core[per_cpu(vrq_members, cpu).index] & busy &
	       ~vrq_bit_of(cpu);
}

/**
 * vrq_idle_core_near - is a core idle, behind the same last-level cache?
 * @p: a task that is to run there
 * @near: the CPU that it runs on
 *
 * Return: true if so. A hint: nothing is claimed.
 */
bool vrq_idle_core_near(const struct task_struct *p, int near)
{
	const struct vrq_domain *domain = vrq_domain_of(near);
	unsigned long idle = atomic_long_read(&domain->idle);

	return idle && whole_cores(domain, idle) & allowed_in(domain, p);
}
#endif
