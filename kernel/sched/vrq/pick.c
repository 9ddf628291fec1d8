// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of the next task: the earliest key among the current task, the
 * preempt slot, the local and the cache queue of this CPU, and what the grq holds
 * for it; for want of all these, what waits for other CPUs.
 */
#include "counters.h"
#include "grq.h"
#include "idle.h"
#include "pick.h"
#include "place.h"
#include "queue.h"
#include "smt.h"
#include "spread.h"
#include "steal.h"
#include "trace.h"
#include "util.h"

/* Count and trace a choice */
static void tell(struct task_struct *p, enum vrq_counter reason, bool missed)
{
	vrq_count(reason);
	trace_sched_vrq_pick(p, reason, missed);
}

/**
 * vrq_somebody_waits - is there anybody with an earlier key?
 * @rq: the run queue of this CPU, locked
 * @key: the vrq_key() to beat
 *
 * Reads the grq without its lock.
 *
 * Return: true if a pick is worth while.
 */
bool vrq_somebody_waits(struct rq *rq, s64 key)
{
	return (rq->vrq.slot && vrq_key(rq->vrq.slot) < key) ||
	       vrq_queue_best_key(&rq->vrq.local) < key ||
	       vrq_queue_best_key(&rq->vrq.cache) < key ||
	       vrq_grq_best_key(cpu_of(rq)) < key;
}

/* A task with a key before @key that has waited for half a slice? */
static bool better_in(struct vrq_queue *queue, s64 key, u64 now)
{
	return vrq_queue_best_key(queue) < key &&
	       now - vrq_queue_first(queue)->vrq.since > vrq_rr_ns() / 2;
}

/* The same of the tasks that wait for this CPU; its own is one of those queued */
static bool better_here(struct rq *rq, s64 key)
{
	return rq->cfs.h_nr_queued > 1 &&
	       (better_in(&rq->vrq.local, key, rq_clock(rq)) ||
		better_in(&rq->vrq.cache, key, rq_clock(rq)));
}

/**
 * vrq_better_waits - should the running task be preempted within its slice?
 * @rq: the run queue of this CPU, locked
 * @curr: the running task
 *
 * For the tick: it makes up for a wake-up that did not preempt because the
 * waker was to sleep and has not, or the deadline was not earlier by enough.
 *
 * Return: true if a task that waits for this CPU has an earlier deadline by the
 * margin and has waited for half a slice; or if one of a better level waits
 * anywhere.
 */
bool vrq_better_waits(struct rq *rq, struct task_struct *curr)
{
	s64 key = vrq_key(curr) - vrq_preempt_margin();

	if (better_here(rq, key))
		return true;

	if (vrq_grq_best_key(cpu_of(rq)) <
	    vrq_key_of(vrq_level_now(curr->vrq.level), 0))
		return true;

	/* VRQ_ISO is not cached */
	return curr->vrq.level == VRQ_IDLE && vrq_cached_elsewhere(VRQ_NORMAL);
}

/* Move a task that was just taken out of the grq here from its old home */
static void bring_home(struct rq *rq, struct task_struct *p)
{
#ifdef CONFIG_SMP
	struct rq *from = task_rq(p);
	struct rq_flags rf;

	if (from == rq)
		return;

	rq_pin_lock(from, &rf);
	deactivate_task(from, p, 0);
	rq_unpin_lock(from, &rf);
	set_task_cpu(p, cpu_of(rq));
	raw_spin_rq_unlock(from);
	activate_task(rq, p, ENQUEUE_NOCLOCK);
#endif
}

/*
 * Take the best task with a key before @limit out of the grq. @missed is set
 * if one had to be left because its home was locked.
 */
static struct task_struct *take_from_grq(struct rq *rq, s64 limit, bool *missed)
{
	struct task_struct *curr = vrq_curr(rq);
	struct task_struct *p = vrq_grq_take(rq, limit, missed);

	if (!p)
		return NULL;

	if (task_rq(p) == rq) {
		tell(p, VRQ_PICK_GRQ, *missed);
	} else {
		tell(p, VRQ_PICK_PULLED, *missed);
		bring_home(rq, p);
		/* One has come; who has to wait for it may go elsewhere */
		curr->vrq.roams = curr->vrq.queued && vrq_overloaded(rq, curr);
	}

	return p;
}

/* Take a task of @level or a better one that waits for another CPU */
static struct task_struct *steal(struct rq *rq, enum vrq_level level,
				 bool *missed)
{
	struct task_struct *p;

	/* A CPU that goes down would only have it pushed away again */
	if (!cpu_active(cpu_of(rq)))
		return NULL;

	p = vrq_steal(rq, level, missed);
	if (p) {
		tell(p, VRQ_PICK_STOLEN, *missed);
		bring_home(rq, p);
	}

	return p;
}

/*
 * The earliest of the current task, the slot and the queues of this CPU, with a
 * key before @limit
 */
static struct task_struct *earliest_here(struct rq *rq, struct task_struct *curr,
					 s64 limit)
{
	struct task_struct *best = curr, *p = rq->vrq.slot;
	s64 key = curr ? vrq_key(curr) : limit;

	if (p && vrq_key(p) < key) {
		best = p;
		key = vrq_key(p);
	}

	if (vrq_queue_best_key(&rq->vrq.local) < key) {
		best = vrq_queue_first(&rq->vrq.local);
		key = vrq_key(best);
	}

	if (vrq_queue_best_key(&rq->vrq.cache) < key)
		best = vrq_queue_first(&rq->vrq.cache);

	return best;
}

/* The same, and what the grq and, for want of normal tasks, other CPUs have */
static struct task_struct *earliest(struct rq *rq, struct task_struct *curr,
				    s64 limit, bool *missed)
{
	struct task_struct *best = earliest_here(rq, curr, limit), *p = NULL;
	s64 key = best ? vrq_key(best) : limit;

	if (vrq_grq_best_key(cpu_of(rq)) < key) {
		p = take_from_grq(rq, key, missed);
		if (p)
			return p;
	}

	if (best && best->vrq.level == VRQ_IDLE)
		p = steal(rq, VRQ_NORMAL, missed);

	return p ?: best;
}

#ifdef CONFIG_SMP
/* After the switch to the idle task: pick again, those locks were held briefly */
static void pick_again(struct rq *rq)
{
	resched_curr(rq);
}

static void retry_pick(struct rq *rq)
{
	queue_balance_callback(rq, &rq->vrq.retry, pick_again);
}
#else
static void retry_pick(struct rq *rq) { }
#endif

/*
 * Nothing to run: say so, and look once more, see place.h. A CPU that goes down
 * is the only one to look for those whose home it is, and so looks under the
 * lock; what it was kicked for it leaves to others.
 */
static struct task_struct *last_look(struct rq *rq)
{
	bool active = cpu_active(cpu_of(rq)), missed = false;
	bool was_idle = vrq_curr(rq) == rq->idle;
	struct task_struct *p = NULL;
	bool claimed;

	if (!was_idle)
		rq->vrq.idle_since = rq_clock(rq);
	claimed = vrq_set_idle(rq) && was_idle;

	if (!active || vrq_grq_best_key(cpu_of(rq)) != VRQ_KEY_NONE)
		p = take_from_grq(rq, VRQ_KEY_NONE, &missed);
	if (!p)
		p = steal(rq, VRQ_NORMAL, &missed) ?:
		    steal(rq, VRQ_IDLE, &missed);

	if (p) {
		/*
		 * The idle task passes a kick on as it is switched out, if its
		 * CPU counts as claimed: it does so again if this is not what
		 * the kick was for
		 */
		if (!was_idle)
			vrq_leave_idle(rq);
		else if (claimed || missed)
			vrq_clear_idle(rq);
		return p;
	}

	tell(NULL, VRQ_PICK_NONE, missed);
	if (!active) {
		vrq_kick_for_waiting(rq);
	} else if (missed) {
		/* Claimed until then: what comes first may be of another class */
		vrq_clear_idle(rq);
		retry_pick(rq);
	}
	vrq_age_idle(rq);

	return NULL;
}

/**
 * vrq_leave_idle - this CPU has found something to do
 * @rq: its run queue, locked
 *
 * If it was kicked it may have been for another task than that.
 */
void vrq_leave_idle(struct rq *rq)
{
	vrq_forget_late(rq);
	if (!vrq_clear_idle(rq))
		vrq_kick_for_waiting(rq);
}

/* Where it came from; what was taken from elsewhere is told already */
static void tell_place(struct task_struct *p, bool missed)
{
	switch (p->vrq.place) {
	case VRQ_ON_CPU:
		tell(p, VRQ_PICK_CURR, missed);
		break;
	case VRQ_IN_SLOT:
		tell(p, VRQ_PICK_SLOT, missed);
		break;
	case VRQ_IN_LOCAL:
		tell(p, VRQ_PICK_LOCAL, missed);
		break;
	case VRQ_IN_CACHE:
		tell(p, VRQ_PICK_CACHED, missed);
		break;
	}
}

static struct task_struct *last_of(struct vrq_queue *queue, enum vrq_level level)
{
	struct rb_node *last = rb_last(&queue->tasks[level].rb_root);

	return last ? rb_entry(last, struct task_struct, vrq.node) : NULL;
}

/* Of the tasks of @level that wait for this CPU the one with the latest deadline */
static struct task_struct *last_waiting(struct rq *rq, enum vrq_level level)
{
	struct task_struct *local = last_of(&rq->vrq.local, level);
	struct task_struct *cached = last_of(&rq->vrq.cache, level);

	if (!local || !cached)
		return local ?: cached;

	return local->vrq.deadline > cached->vrq.deadline ? local : cached;
}

/* Choose among what waits for @rq and its current task, see vrq_pick_task() */
static struct task_struct *choose(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq), *yielded = NULL, *last, *p;
	s64 limit = VRQ_KEY_NONE;
	bool missed = false;

	if (!vrq_task(curr) || !curr->vrq.queued)
		curr = NULL;
	if (curr && curr->vrq.yielded) {
		curr->vrq.yielded = false;
		yielded = curr;
		curr = NULL;
		/* It does not give way to a worse level */
		limit = vrq_key_of(vrq_level_now(yielded->vrq.level) + 1, 0);
	}
	if (vrq_leaves_core(rq, curr))
		curr = NULL;

	p = earliest(rq, curr, limit, &missed);
	if (p && yielded) {
		last = last_waiting(rq, yielded->vrq.level);
		if (last)
			vrq_defer(rq, yielded, last);
	}
	p = p ?: yielded;
	if (p)
		tell_place(p, missed);

	/* Who is passed over in the slot may be served sooner elsewhere */
	if (p && p != curr && p != rq->vrq.slot)
		vrq_flush_slot(rq);

	return p;
}

/*
 * This CPU is not to run @p for now, see smt.c: others may. Where it was not idle
 * @p may be its current task, which the core puts back.
 */
static void give_way(struct rq *rq, struct task_struct *p)
{
	if (vrq_curr(rq) == rq->idle)
		vrq_leave_idle(rq);
	else
		rq->vrq.idle_since = rq_clock(rq);

	if (p->vrq.place == VRQ_PICKED)
		vrq_place(rq, p);
	vrq_flush_slot(rq);
	tell(NULL, VRQ_PICK_NONE, false);
}

/**
 * vrq_pick_task - choose the next task to run on this CPU
 * @rq: the run queue of this CPU, locked, its clock updated
 *
 * The current task is a candidate as long as it is queued and has not called
 * sched_yield(). Where nothing in the grq is better, which is seen without its
 * lock, grq.lock is not entered.
 *
 * Return: a task whose home is @rq, to be given to set_next_task() within this
 * hold of rq->lock; NULL if there is none, and then the CPU counts as idle, or if
 * another thread of its core is to go ahead.
 */
struct task_struct *vrq_pick_task(struct rq *rq)
{
	struct task_struct *p = choose(rq) ?: last_look(rq);

	if (p && vrq_smt_gives_way(rq, p)) {
		give_way(rq, p);
		return NULL;
	}

	return p;
}

/**
 * vrq_server_pick_task - choose the task to run on behalf of the deadline server
 * @server: the server of SCHED_NORMAL in a run queue that is locked
 *
 * Return: as vrq_pick_task(), but without a task a higher class runs.
 */
struct task_struct *vrq_server_pick_task(struct sched_dl_entity *server)
{
	return choose(server->rq);
}
