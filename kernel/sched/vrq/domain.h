/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Domains: CPUs that share a last-level cache, and with it a queue of tasks, a
 * mask of those that are idle, and a sum of what they have to do.
 */
#ifndef _KERNEL_SCHED_VRQ_DOMAIN_H
#define _KERNEL_SCHED_VRQ_DOMAIN_H

#include "core.h"

/* How many masks of CPUs the tasks in one shared queue may have at a time */
#define VRQ_MASK_QUEUES		32

/**
 * enum vrq_offer - what CPUs without work may take from a CPU
 * @VRQ_OFFER_NORMAL: a task of level VRQ_NORMAL or better
 * @VRQ_OFFER_IDLE: a SCHED_IDLE task
 * @VRQ_OFFERS: how many there are
 */
enum vrq_offer {
	VRQ_OFFER_NORMAL,
	VRQ_OFFER_IDLE,
	VRQ_OFFERS,
};

/**
 * struct vrq_mask_queue - the tasks in a shared queue that may run on the same CPUs
 * @cpus: the CPUs of the domain that may run these tasks, by their index. Written under the
 *	domain's lock before the mask queue is used, read without the lock. A CPU that reads a
 *	stale mask finds a mask queue without tasks, or has its bit in the mask of idle CPUs
 *	and is kicked
 * @queue: the tasks; an empty mask queue is free for another mask
 * @advanced_at: when a tick last advanced the deadlines of tasks in @queue, jiffies
 *
 * The fields that are read without the lock are in the first cache line. They change only when
 * another task becomes the first one.
 */
struct vrq_mask_queue {
	unsigned long		cpus;
	struct vrq_queue	queue;
	unsigned long		advanced_at;
} ____cacheline_aligned_in_smp;

/**
 * struct vrq_domain - some CPUs that share a last-level cache
 * @leader: the CPU that stands for the domain in masks of domains
 * @node: the NUMA node
 * @isolated: the domain is one isolated CPU, which the scheduler leaves alone, see isolcpus=
 * @nr_cpus: how many CPUs have joined
 * @nr_cores: how many cores these CPUs belong to
 * @online: the CPUs that are online now, by their index
 * @cpus: the CPUs; the position of a CPU in this array is its index
 * @core: for each CPU the threads of its core that are in this domain
 * @idle: the CPUs that have nothing to do. Each sets its own bit when its pick
 *	finds nothing, and clears it when it leaves the idle task. Others clear
 *	it to claim the CPU, see idle.c
 * @offers: the CPUs that have a task for those without work, see enum vrq_offer.
 *	A CPU's bits are written under its rq->lock
 * @lock: protects @used, @last_kicked, @next_looked, @mask_queues and what is in them
 * @used: which mask queues, other than the first, have tasks; read without the lock
 * @last_kicked: the mask queue for whose first task a tick last looked for an idle CPU
 * @next_looked: the mask queue where a CPU of another domain begins to look
 * @mask_queues: the first is for the tasks that every CPU may run
 * @weight: sum of the weights of the CPUs' run queues, see load.c. Written once
 *	a tick by one of them
 * @own_weight: the same without regard to groups
 * @unconfined: the part of @weight of tasks that every CPU of the machine may run
 * @idle_weight: sum of the weights of SCHED_IDLE tasks, which @weight does not include
 * @lateness: sum of how late tasks used up their slices on the CPUs that are busy, ns
 * @summed_at: when the sums were last updated, jiffies; the CPU that sets this updates them
 *
 * The fields before @idle are written when CPUs come and go. Each of the following lines is
 * written by all CPUs of the domain: @idle when CPUs become idle or busy, @offers when their
 * queues become empty or non-empty, the lock and the mask queues when a task enters or leaves
 * the shared queue.
 */
struct vrq_domain {
	int			leader;
	int			node;
	bool			isolated;
	unsigned int		nr_cpus;
	unsigned int		nr_cores;
	unsigned long		online;
	int			cpus[BITS_PER_LONG];
	unsigned long		core[BITS_PER_LONG];

	atomic_long_t		idle ____cacheline_aligned_in_smp;
	atomic_long_t		offers[VRQ_OFFERS] ____cacheline_aligned_in_smp;
	raw_spinlock_t		lock ____cacheline_aligned_in_smp;
	unsigned long		used ____cacheline_aligned_in_smp;
	unsigned int		last_kicked;
	unsigned int		next_looked;
	struct vrq_mask_queue	mask_queues[VRQ_MASK_QUEUES];
	atomic64_t		weight ____cacheline_aligned_in_smp;
	atomic64_t		own_weight;
	atomic64_t		unconfined;
	atomic64_t		idle_weight;
	atomic64_t		lateness;
	unsigned long		summed_at;
};

/**
 * struct vrq_machine - all domains but the isolated ones together
 * @cpus: their CPUs that are online
 * @nr_cpus: how many these are
 * @nr_domains: how many domains there are, isolated ones too
 * @domains: which, by their leaders
 * @weight: sum over the domains. Written once a tick by a CPU of each domain
 * @own_weight: likewise
 * @unconfined: likewise
 * @idle_weight: likewise
 * @lateness: likewise
 * @next: the leader of the domain that was last summed up by a CPU of another domain
 */
struct vrq_machine {
	struct cpumask		cpus;
	struct cpumask		domains;
	unsigned int		nr_cpus;
	unsigned int		nr_domains;

	atomic64_t		weight ____cacheline_aligned_in_smp;
	atomic64_t		own_weight;
	atomic64_t		unconfined;
	atomic64_t		idle_weight;
	atomic64_t		lateness;
	int			next;
};

/**
 * struct vrq_member - where a CPU belongs
 * @domain: its domain; until it has been online for the first time one of its own
 * @index: its place in there
 */
struct vrq_member {
	struct vrq_domain	*domain;
	unsigned int		index;
};

extern struct vrq_machine vrq_machine;
DECLARE_PER_CPU_SHARED_ALIGNED(struct vrq_domain, vrq_domains);
DECLARE_PER_CPU_READ_MOSTLY(struct vrq_member, vrq_members);

void vrq_domain_init(void);
int vrq_domain_start(void);
unsigned long vrq_local_mask(const struct vrq_domain *domain,
			     const struct cpumask *mask);

static inline struct vrq_domain *vrq_domain_of(int cpu)
{
	return per_cpu(vrq_members, cpu).domain;
}

/* There is no other domain to search. nr_domains is 0 until the boot CPU has joined */
static inline bool vrq_one_domain(void)
{
	return READ_ONCE(vrq_machine.nr_domains) <= 1;
}

/* The bit of a CPU in the masks of its domain */
static inline unsigned long vrq_bit_of(int cpu)
{
	return BIT(per_cpu(vrq_members, cpu).index);
}

/* The domain that has this bit in a mask of domains */
static inline struct vrq_domain *vrq_domain_led_by(int leader)
{
	return &per_cpu(vrq_domains, leader);
}

/**
 * vrq_domain_in_turn - the domains one after the other, over and over
 * @last: the leader of the domain returned last, -1 for none yet; set to that of the next one
 *
 * No lock is needed: of two CPUs that call this at once, one may get the same domain again.
 *
 * Return: the next domain.
 */
static inline struct vrq_domain *vrq_domain_in_turn(int *last)
{
	int next = vrq_next_unlocked(&vrq_machine.domains, READ_ONCE(*last) + 1);

	if (next >= nr_cpu_ids)
		next = vrq_next_unlocked(&vrq_machine.domains, 0);
	WRITE_ONCE(*last, next);

	return vrq_domain_led_by(next);
}

/**
 * vrq_distance - how far data have to go from one domain to another
 * @a: a domain
 * @b: another one
 *
 * Return: 0 on the same node, else 1 or more, as the node distance says.
 */
static inline int vrq_distance(const struct vrq_domain *a,
			       const struct vrq_domain *b)
{
	if (a->node == b->node)
		return 0;

	return node_distance(a->node, b->node) > 2 * LOCAL_DISTANCE ? 2 : 1;
}

#endif /* _KERNEL_SCHED_VRQ_DOMAIN_H */
