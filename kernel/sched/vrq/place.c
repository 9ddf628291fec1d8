// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a task waits: the queues and the preempt slot of its home, or the shared
 * queue of the home's domain. The locking contract is in place.h.
 *
 * A task that begins to wait does so in the queue of its CPU, whose cache has its
 * data or that of its waker, and which can take it without another lock. It waits
 * in the shared queue, for every CPU of the domain to take,
 *
 *  - at once, when it has used up a slice, or made room for a task from elsewhere,
 *    on a CPU with more to do than the mean of those that it may use;
 *  - when its CPU runs a higher class, or is one of nohz_full=; always if it is a SCHED_ISO
 *    task, or one for whose data no time-out is set, see hot.c;
 *  - later, for the reasons that expire.c has.
 *
 * The idea of keeping tasks at a CPU is VRQ's of 2015, where such tasks stayed in
 * the global queue and other CPUs passed over them, under its lock.
 */
#include <linux/tick.h>

#include "counters.h"
#include "fault.h"
#include "hot.h"
#include "idle.h"
#include "place.h"
#include "queue.h"
#include "shared.h"

/* How many confined tasks, which other CPUs may have to step over, may wait for a CPU */
#define CONFINED_MAX		32
/* The same while the shared queue has no room for them */
#define CONFINED_FULL_MAX	(2 * CONFINED_MAX)

#ifdef CONFIG_SMP
static u8 offers_of(struct rq *rq)
{
	s64 idle = vrq_key_of(VRQ_IDLE, 0);
	u8 offers = 0;

	if (vrq_queue_best_key(&rq->vrq.queue) < idle ||
	    (rq->vrq.slot_offered && vrq_key(rq->vrq.slot) < idle))
		offers |= BIT(VRQ_OFFER_NORMAL);
	if (vrq_queue_first_of(&rq->vrq.queue, VRQ_IDLE))
		offers |= BIT(VRQ_OFFER_IDLE);

	return offers;
}

/*
 * What CPUs without work may take from this one has changed. If there is more, the
 * caller must then look for an idle CPU, see place.h.
 */
static void publish_offers(struct rq *rq)
{
	struct vrq_domain *domain = vrq_domain_of(cpu_of(rq));
	unsigned long bit = vrq_bit_of(cpu_of(rq));
	u8 offers = offers_of(rq), changed = offers ^ rq->vrq.offers;
	enum vrq_offer i;

	if (!changed)
		return;

	rq->vrq.offers = offers;
	for (i = 0; i < VRQ_OFFERS; i++) {
		if (changed & offers & BIT(i))
			atomic_long_or(bit, &domain->offers[i]);
		else if (changed & BIT(i))
			atomic_long_andnot(bit, &domain->offers[i]);
	}
}

/* A CPU without work may take @p from this one: to be told before publish_offers() */
static void offer_to_cpus_of(struct rq *rq, const struct task_struct *p)
{
	unsigned long cpus = ~0UL;
	bool afar = true;

	if (rq->vrq.offered_to == ~0UL && rq->vrq.offered_afar)
		return;

	if (vrq_confined(p)) {
		cpus = vrq_local_mask(vrq_domain_of(cpu_of(rq)), p->cpus_ptr);
		afar = p->nr_cpus_allowed > hweight_long(cpus);
	}
	WRITE_ONCE(rq->vrq.offered_to, rq->vrq.offered_to | cpus);
	if (afar)
		WRITE_ONCE(rq->vrq.offered_afar, true);
}

static void offer_slot(struct rq *rq, bool offered)
{
	rq->vrq.slot_offered = offered;
}
#else
static void publish_offers(struct rq *rq) { }
static void offer_to_cpus_of(struct rq *rq, const struct task_struct *p) { }
static void offer_slot(struct rq *rq, bool offered) { }
#endif

/*
 * May @p wait in the queue of its home? Not if
 *
 *  - the CPU is not for @p, goes down, runs a higher class, or may go without a tick while it
 *    does;
 *  - the CPU has more than its part of the load, or @p is behind what other CPUs run;
 *  - @p is to run before all others, on whichever CPU is first;
 *  - so many confined tasks wait here that CPUs in search of work would take long to step over
 *    them.
 */
static bool may_queue(struct rq *rq, struct task_struct *p)
{
	struct task_struct *curr = vrq_curr(rq);
	bool wait_shared = p->vrq.wait_shared;

	p->vrq.wait_shared = false;

	return !wait_shared && p->vrq.level != VRQ_ISO && vrq_cacheable(p) &&
	       (vrq_task(curr) || curr == rq->idle) &&
	       cpumask_test_cpu(cpu_of(rq), p->cpus_ptr) &&
	       cpu_active(cpu_of(rq)) &&
	       !tick_nohz_full_cpu(cpu_of(rq)) &&
	       !(rq->vrq.confined >= CONFINED_MAX && vrq_confined(p));
}

static void queue_here(struct rq *rq, struct task_struct *p)
{
	/* The task has come here for the data that its waker has in the cache */
	if (p->vrq.cached_on != cpu_of(rq))
		vrq_scost_switch_out(rq, p);
	vrq_wait_in(rq, p, VRQ_IN_QUEUE);
	vrq_queue_add(&rq->vrq.queue, p);
	rq->vrq.confined += vrq_confined(p);
	offer_to_cpus_of(rq, p);
	publish_offers(rq);
	vrq_kick_idle_for(p);
}

static void pin_here(struct rq *rq, struct task_struct *p)
{
	vrq_wait_in(rq, p, VRQ_PINNED);
	vrq_queue_add(&rq->vrq.pinned, p);
}

/**
 * vrq_share - let a task wait in the shared queue or, if that is full, for its home
 * @rq: the home of @p, locked, its clock updated
 * @p: the task, in no queue
 *
 * The shared queue is full if it has no room for the mask of @p. Then @p waits at its home,
 * from where CPUs without work may take it, unless too many such tasks wait there already.
 * Kicks an idle CPU.
 */
void vrq_share(struct rq *rq, struct task_struct *p)
{
	vrq_wait_in(rq, p, VRQ_IN_SHARED);
	if (vrq_shared_add(rq, p))
		vrq_kick_idle_for(p);
	else if (cpumask_test_cpu(cpu_of(rq), p->cpus_ptr) &&
		 cpu_active(cpu_of(rq)) && rq->vrq.confined < CONFINED_FULL_MAX)
		queue_here(rq, p);
	else
		pin_here(rq, p);
}

static void place_behind(struct rq *rq, struct task_struct *p)
{
	if (may_queue(rq, p))
		queue_here(rq, p);
	else
		vrq_share(rq, p);
}

static void clear_slot(struct rq *rq)
{
	WRITE_ONCE(rq->vrq.slot, NULL);
	offer_slot(rq, false);
	publish_offers(rq);
}

/* @offer: a CPU without work may take it first */
static void fill_slot(struct rq *rq, struct task_struct *p, bool offer)
{
	vrq_flush_slot(rq);
	if (vrq_fault(VRQ_LOSE_SLOT, p))
		return;

	vrq_wait_in(rq, p, VRQ_IN_SLOT);
	WRITE_ONCE(rq->vrq.slot, p);
	if (!offer)
		return;

	offer_slot(rq, true);
	offer_to_cpus_of(rq, p);
	publish_offers(rq);
	vrq_kick_idle_for(p);
}

/*
 * The slot is for a task that @rq's CPU will take as soon as it can: it is
 * idle, or runs a task that the woken one may preempt, or the waker is @rq's
 * current task and about to sleep.
 */
static bool takes_the_slot(struct rq *rq, struct task_struct *p, bool stay)
{
	struct task_struct *curr = vrq_curr(rq);

	if (!cpumask_test_cpu(cpu_of(rq), p->cpus_ptr) ||
	    !cpu_active(cpu_of(rq)))
		return false;

	/* A task of a higher class would go first, for nobody knows how long */
	if (rq->nr_running != rq->cfs.h_nr_queued)
		return false;

	if (rq->vrq.slot && vrq_key(rq->vrq.slot) <= vrq_key(p))
		return false;

	if (curr == rq->idle || stay)
		return true;

	return vrq_task(curr) && vrq_may_preempt(p, curr);
}

/**
 * vrq_place - let a runnable task wait where it is found soonest
 * @rq: the home of @p, locked
 * @p: the task, not running, in no queue
 *
 * Kicks an idle CPU if other CPUs can take the task. If the task goes into the slot, it is up
 * to the caller to preempt the current task of @rq.
 */
void vrq_place(struct rq *rq, struct task_struct *p)
{
	bool stay = p->vrq.stay;

	p->vrq.stay = false;
	if (vrq_fault(VRQ_LOSE_TASK, p))
		return;

	if (is_migration_disabled(p) ||
	    (p->nr_cpus_allowed == 1 &&
	     cpumask_test_cpu(cpu_of(rq), p->cpus_ptr)))
		pin_here(rq, p);
	else if (takes_the_slot(rq, p, stay))
		fill_slot(rq, p, vrq_curr(rq) != rq->idle && !stay);
	else
		place_behind(rq, p);
}

static void take_out(struct rq *rq, struct task_struct *p)
{
	switch (p->vrq.place) {
	case VRQ_IN_SLOT:
		clear_slot(rq);
		break;
	case VRQ_PINNED:
		vrq_queue_del(&rq->vrq.pinned, p);
		break;
	case VRQ_IN_QUEUE:
		vrq_queue_del(&rq->vrq.queue, p);
		rq->vrq.confined -= vrq_confined(p);
		publish_offers(rq);
		break;
	case VRQ_IN_SHARED:
		vrq_shared_del(p);
		break;
	}
}

/**
 * vrq_unplace - take a task out of wherever it waits
 * @rq: the home of @p, locked
 * @p: the task
 */
void vrq_unplace(struct rq *rq, struct task_struct *p)
{
	take_out(rq, p);
	p->vrq.place = VRQ_NOWHERE;
}

/**
 * vrq_end_wait - take a task out of wherever it waits, and count how long it has waited
 * @rq: the home of @p, locked, its clock updated
 * @p: the task
 *
 * The wait is counted last: as long as the task is in a shared queue, other CPUs may promote
 * it.
 */
void vrq_end_wait(struct rq *rq, struct task_struct *p)
{
	take_out(rq, p);
	vrq_note_wait(rq, p);
	p->vrq.place = VRQ_NOWHERE;
}

/**
 * vrq_flush_slot - move the preempt task out of the slot, so that other CPUs may take it
 * @rq: the run queue, locked
 */
void vrq_flush_slot(struct rq *rq)
{
	struct task_struct *p = rq->vrq.slot;

	if (!p)
		return;

	clear_slot(rq);
	place_behind(rq, p);
}

/* How long to wait for a waker that is about to sleep, ns */
#define SLOT_TIMEOUT_NS		(200 * NSEC_PER_USEC)

/**
 * vrq_expire_slot - flush the slot, at the tick, if its task has waited for too long
 * @rq: the run queue, locked, its clock updated
 *
 * The waker of the task did not sleep, or this CPU cannot preempt.
 */
void vrq_expire_slot(struct rq *rq)
{
	struct task_struct *p = rq->vrq.slot;

	if (p && rq_clock(rq) - p->vrq.since > SLOT_TIMEOUT_NS)
		vrq_flush_slot(rq);
}

/*
 * Promote the task that has been due for longest, of the first tasks of the queues here and of
 * the shared queue. Otherwise tasks that are bound to one CPU, as many as it can serve, would
 * starve all others.
 */
static bool promote_for(struct rq *rq, enum vrq_level level)
{
	u64 now = rq_clock(rq);
	struct task_struct *p = vrq_queue_starved(&rq->vrq.pinned, level, now);
	struct task_struct *other = vrq_queue_starved(&rq->vrq.queue, level, now);

	if (other && (!p || (s64)(other->vrq.deadline - p->vrq.deadline) < 0))
		p = other;
	if (vrq_shared_promote(cpu_of(rq), level, now, p ? p->vrq.deadline : now))
		return true;
	if (!p)
		return false;

	if (p->vrq.place == VRQ_PINNED) {
		vrq_queue_promote(&rq->vrq.pinned, p, now);
	} else {
		vrq_queue_promote(&rq->vrq.queue, p, now);
		publish_offers(rq);
		/* For a moment it was offered at neither level */
		vrq_kick_idle_for(p);
	}

	return true;
}

static void promote(struct rq *rq, enum vrq_level level)
{
	u64 *next = level == VRQ_IDLE ? &rq->vrq.next_idle_promotion :
					&rq->vrq.next_promotion;
	u64 now = rq_clock(rq);

	if (now < *next)
		return;

	*next = now + vrq_promoted_ns();
	if (level == VRQ_NORMAL && vrq_queue_promote_kthread(&rq->vrq.pinned, now))
		return;
	if (promote_for(rq, level))
		*next += (VRQ_PROMOTE_EVERY - 1) * vrq_promoted_ns();
}

/**
 * vrq_promote_starved - let no task wait for ever for those of better levels
 * @rq: the run queue of this CPU, locked, its clock updated; running a task of
 *	VRQ's
 *
 * Called at the tick of every CPU that runs a VRQ task. A CPU that does not run one takes what
 * waits anyway. All starved tasks together get a twentieth of the CPU, as much as the deadline
 * server would give them beside a real-time task, however many they are. Only kernel threads
 * that are bound to this CPU get a slice one after the other. Normal tasks are not promoted if
 * they are late because of each other, and not because of SCHED_ISO.
 */
void vrq_promote_starved(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq);

	promote(rq, VRQ_IDLE);
	if (curr->vrq.iso && vrq_level_now(curr->vrq.level) == VRQ_ISO)
		promote(rq, VRQ_NORMAL);
}

/**
 * vrq_advance_waiting - advance the deadlines of tasks that wait here, if that is due
 * @rq: the run queue of this CPU, locked, its clock updated
 *
 * Called at the tick. Looks at the first and the last task of each level in each queue.
 */
void vrq_advance_waiting(struct rq *rq)
{
	enum vrq_level level;

	for (level = VRQ_NORMAL; level < VRQ_LEVELS; level++) {
		vrq_queue_advance(rq, &rq->vrq.pinned, level);
		vrq_queue_advance(rq, &rq->vrq.queue, level);
		vrq_shared_advance(rq, level);
	}
}

#ifdef CONFIG_SMP
/*
 * The preempt task of a CPU that runs another one. An idle CPU makes room for
 * its own anyway.
 */
static struct task_struct *offered_slot(struct rq *rq)
{
	struct task_struct *p = rq->vrq.slot, *curr = vrq_curr(rq);

	return p && vrq_task(curr) && vrq_may_preempt(p, curr) ? p : NULL;
}

/* Steps over confined tasks only, of which there are few: see may_queue() */
static struct task_struct *first_in_queue_for(struct rq *rq, enum vrq_level limit,
					      int cpu, int *steps)
{
	enum vrq_level level;
	struct task_struct *p;

	for (level = 0; level <= limit; level++) {
		p = vrq_queue_first_of(&rq->vrq.queue, level);
		for (; p && *steps; p = vrq_queue_next(p), --*steps) {
			if (cpumask_test_cpu(cpu, p->cpus_ptr))
				return p;
		}
	}

	return NULL;
}

/* @cpu has found nothing here that it may run: it need not look again until more tasks come */
static void offer_not_to(struct rq *rq, int cpu)
{
	if (vrq_domain_of(cpu) != vrq_domain_of(cpu_of(rq)))
		WRITE_ONCE(rq->vrq.offered_afar, false);
	else
		WRITE_ONCE(rq->vrq.offered_to,
			   rq->vrq.offered_to & ~vrq_bit_of(cpu));
}

/**
 * vrq_offered_to - what a CPU without work may take from another one
 * @rq: the run queue of the other one, locked
 * @level: a task of this level or a better one
 * @cpu: the CPU without work
 *
 * Return: the task, which still waits; or NULL.
 */
struct task_struct *vrq_offered_to(struct rq *rq, enum vrq_level level, int cpu)
{
	int steps = CONFINED_FULL_MAX;
	struct task_struct *p = first_in_queue_for(rq, level, cpu, &steps);

	if (p)
		return p;

	p = offered_slot(rq);
	if (p && p->vrq.level <= level && cpumask_test_cpu(cpu, p->cpus_ptr))
		return p;

	if (steps && !rq->vrq.slot &&
	    (level == VRQ_IDLE || !vrq_queue_first_of(&rq->vrq.queue, VRQ_IDLE)))
		offer_not_to(rq, cpu);

	return NULL;
}

/* For how many confined tasks of a queue to look for an idle CPU */
#define KICK_TRIES	8

/**
 * vrq_kick_for_queue - find an idle CPU for one of the tasks that wait for a CPU
 * @rq: the run queue of that CPU, locked
 *
 * If there is no idle CPU for a task that every CPU may run, there is none for other tasks
 * either. Isolated CPUs are the exception, because they are not used for such a task.
 */
void vrq_kick_for_queue(struct rq *rq)
{
	bool isolated = vrq_domain_of(cpu_of(rq))->isolated, few;
	int tries = KICK_TRIES;
	enum vrq_level level;
	struct task_struct *p;

	for (level = 0; level < VRQ_LEVELS; level++) {
		p = vrq_queue_first_of(&rq->vrq.queue, level);
		for (; p; p = vrq_queue_next(p)) {
			few = isolated || vrq_confined(p);
			if (few && --tries < 0) {
				if (isolated)
					break;
				continue;
			}
			if (vrq_kick_idle_for(p) || !few)
				return;
		}
	}
	p = offered_slot(rq);
	if (p)
		vrq_kick_idle_for(p);
}
#endif
