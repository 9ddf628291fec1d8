// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a task waits: the preempt slot, the local and the cache queue of its
 * home, the grq. The locking contract is in place.h.
 */
#include "cache.h"
#include "grq.h"
#include "idle.h"
#include "place.h"
#include "queue.h"
#include "steal.h"

/**
 * vrq_kick_for_waiting - let another idle CPU see to what waits
 * @rq: the run queue of this CPU, locked
 *
 * For a CPU that was kicked and has done something else. One kick is enough:
 * who is kicked does the same.
 */
void vrq_kick_for_waiting(struct rq *rq)
{
	if (!vrq_grq_kick())
		vrq_kick_for_open(rq);
}

static void place_behind(struct rq *rq, struct task_struct *p)
{
	if (vrq_may_cache(rq, p))
		vrq_cache_add(rq, p);
	else
		vrq_wait_in_grq(rq, p);
}

/* @open: a CPU without work may take it first */
static void fill_slot(struct rq *rq, struct task_struct *p, bool open)
{
	vrq_flush_slot(rq);
	vrq_wait_in(rq, p, VRQ_IN_SLOT);
	WRITE_ONCE(rq->vrq.slot, p);
	if (open) {
		vrq_set_open(rq);
		vrq_kick_idle_for(p);
	}
}

static void clear_slot(struct rq *rq)
{
	WRITE_ONCE(rq->vrq.slot, NULL);
	vrq_close_if_empty(rq);
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
 * Kicks an idle CPU if the task can be taken by others; to preempt the current
 * task of @rq for one in the slot is the caller's.
 */
void vrq_place(struct rq *rq, struct task_struct *p)
{
	bool stay = p->vrq.stay;

	p->vrq.stay = false;

	if (is_migration_disabled(p) ||
	    (p->nr_cpus_allowed == 1 &&
	     cpumask_test_cpu(cpu_of(rq), p->cpus_ptr))) {
		vrq_wait_in(rq, p, VRQ_IN_LOCAL);
		vrq_queue_add(&rq->vrq.local, p);
	} else if (takes_the_slot(rq, p, stay)) {
		fill_slot(rq, p, vrq_curr(rq) != rq->idle && !stay);
	} else {
		place_behind(rq, p);
	}
}

/**
 * vrq_unplace - take a task out of wherever it waits
 * @rq: the home of @p, locked
 * @p: the task
 */
void vrq_unplace(struct rq *rq, struct task_struct *p)
{
	switch (p->vrq.place) {
	case VRQ_IN_SLOT:
		clear_slot(rq);
		break;
	case VRQ_IN_LOCAL:
		vrq_queue_del(&rq->vrq.local, p);
		break;
	case VRQ_IN_CACHE:
		vrq_cache_del(rq, p);
		break;
	case VRQ_IN_GRQ:
		vrq_grq_del(p);
		break;
	}

	p->vrq.place = VRQ_NOWHERE;
}

/**
 * vrq_flush_slot - let others have the preempt task that this CPU did not take
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

/* So long a waker that is about to sleep is waited for, ns */
#define SLOT_TIMEOUT_NS		(200 * NSEC_PER_USEC)

/**
 * vrq_expire_slot - the same, at the tick, if it has waited for long enough
 * @rq: the run queue, locked, its clock updated
 *
 * Its waker did not sleep, or this CPU cannot preempt.
 */
void vrq_expire_slot(struct rq *rq)
{
	struct task_struct *p = rq->vrq.slot;

	if (p && rq_clock(rq) - p->vrq.since > SLOT_TIMEOUT_NS)
		vrq_flush_slot(rq);
}

static bool promote_in(struct vrq_queue *queue, enum vrq_level level, u64 now)
{
	if (!vrq_queue_has_starved(queue, level, now))
		return false;

	vrq_queue_promote_first(queue, level, now);

	return true;
}

static bool promote_for(struct rq *rq, enum vrq_level level)
{
	u64 now = rq_clock(rq);

	return promote_in(&rq->vrq.local, level, now) ||
	       promote_in(&rq->vrq.cache, level, now) ||
	       vrq_grq_promote_starved(level, cpu_of(rq), now);
}

/* Of a CPU that SCHED_ISO has, starved tasks get a slice in so many */
#define PROMOTE_EVERY	20

/**
 * vrq_promote_starved - let no task wait for ever for those of better levels
 * @rq: the run queue of this CPU, locked, its clock updated; running a task of
 *	VRQ's
 *
 * Called at the tick of every CPU that runs a task of VRQ's: as long as one
 * does not, it takes what waits anyway. One task at a time is enough, each
 * holds up others for no more than a slice. Normal tasks that are late for each
 * other's sake, not for that of SCHED_ISO, are none of its business; and they get
 * as much together as the deadline server would give them beside a real-time task.
 */
void vrq_promote_starved(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq);

	promote_for(rq, VRQ_IDLE);

	if (curr->policy != SCHED_ISO || vrq_level_now(curr->vrq.level) != VRQ_ISO ||
	    rq_clock(rq) < rq->vrq.next_promotion)
		return;
	if (promote_for(rq, VRQ_NORMAL))
		rq->vrq.next_promotion = rq_clock(rq) + PROMOTE_EVERY * vrq_rr_ns();
}
