// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of the next task: the earliest key among the current task, the
 * preempt slot, the two queues of this CPU, and what the shared queue of its domain
 * holds for it. Where else a CPU looks is in search.c, steal.c and even.c.
 */
#include "entity.h"
#include "choose.h"
#include "queue.h"
#include "shared.h"
#include "trace.h"

/**
 * vrq_note_pick - count and trace a choice
 * @p: the task, NULL if there is none
 * @reason: where it came from
 * @missed: something had to be left because a run queue was locked
 */
void vrq_note_pick(struct task_struct *p, enum vrq_counter reason, bool missed)
{
	vrq_count(reason);
	trace_sched_vrq_pick(p, reason, missed);
}

/**
 * vrq_best_key_here - how urgent the most urgent task is that waits for a CPU
 * @rq: its run queue, locked
 *
 * Return: the vrq_key() of the first in the slot and the queues, or VRQ_KEY_NONE.
 */
s64 vrq_best_key_here(struct rq *rq)
{
	s64 key = min(vrq_queue_best_key(&rq->vrq.queue),
		      vrq_queue_best_key(&rq->vrq.pinned));

	return rq->vrq.slot ? min(key, vrq_key(rq->vrq.slot)) : key;
}

/**
 * vrq_somebody_waits - is there anybody with an earlier key?
 * @rq: the run queue of this CPU, locked
 * @key: the vrq_key() to beat
 *
 * Reads the shared queue without its lock.
 *
 * Return: true if a pick is worth while.
 */
bool vrq_somebody_waits(struct rq *rq, s64 key)
{
	return vrq_best_key_here(rq) < key ||
	       vrq_shared_best_key(cpu_of(rq)) < key;
}

/* A task with a key before @key that has waited for a slice? */
static bool better_in(struct vrq_queue *queue, s64 key, u64 now)
{
	return vrq_queue_best_key(queue) < key &&
	       now - vrq_queue_first(queue)->vrq.since > vrq_rr_ns();
}

/* Does such a task wait for this CPU? The current task is one of those queued, too */
static bool better_here(struct rq *rq, s64 key)
{
	return rq->cfs.h_nr_queued > 1 &&
	       (better_in(&rq->vrq.pinned, key, rq_clock(rq)) ||
		better_in(&rq->vrq.queue, key, rq_clock(rq)));
}

/**
 * vrq_better_waits - should the running task be preempted within its slice?
 * @rq: the run queue of this CPU, locked
 * @curr: the running task
 *
 * Called at the tick. It makes up for a wake-up that did not preempt: because the waker
 * announced that it would sleep and has not, or because the deadline was not earlier by
 * enough.
 *
 * Return: true if a task that waits for this CPU has an earlier deadline by the
 * margin and has waited for a slice; if one of a better level is in the shared
 * queue; or if the last pick had to leave one there that is earlier by the margin.
 */
bool vrq_better_waits(struct rq *rq, struct task_struct *curr)
{
	s64 key = vrq_key(curr) - vrq_preempt_margin();

	return better_here(rq, key) ||
	       vrq_shared_best_key(cpu_of(rq)) <
	       (rq->vrq.missed ? key : vrq_key_of(vrq_level_now(curr->vrq.level), 0));
}

/**
 * vrq_bring_home - move a task that was just taken from another CPU here
 * @rq: the run queue of this CPU, locked
 * @p: the task, VRQ_PICKED; the lock of its home, if another than @rq, is held,
 *	and is released
 */
void vrq_bring_home(struct rq *rq, struct task_struct *p)
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

/* Where a task out of a shared queue came from */
static enum vrq_counter reason_for(struct rq *rq, const struct task_struct *p)
{
	if (task_rq(p) == rq)
		return VRQ_PICK_SHARED;

	return p->vrq.domain == vrq_domain_of(cpu_of(rq)) ?
	       VRQ_PICK_PULLED : VRQ_PICK_FAR;
}

/**
 * vrq_take_shared - take the best task of a shared queue for this CPU
 * @rq: the run queue of this CPU, locked
 * @domain: the domain to which the queue belongs
 * @limit: only one with a vrq_key() before this
 * @missed: set if one had to be left because of a lock, see vrq_shared_take()
 *
 * Return: the task, VRQ_PICKED, at home here; or NULL.
 */
struct task_struct *vrq_take_shared(struct rq *rq, struct vrq_domain *domain,
				    s64 limit, bool *missed)
{
	struct task_struct *curr = vrq_curr(rq);
	struct task_struct *p = vrq_shared_take(rq, domain, limit, missed);

	if (!p)
		return NULL;

	vrq_note_pick(p, reason_for(rq, p), *missed);
	if (task_rq(p) != rq) {
		vrq_bring_home(rq, p);
		/*
		 * This CPU has one task more now: if it has too much, @curr waits in the
		 * shared queue
		 */
		if (curr->vrq.queued && vrq_overloaded(rq, curr))
			curr->vrq.wait_shared = true;
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

	if (vrq_queue_best_key(&rq->vrq.pinned) < key) {
		best = vrq_queue_first(&rq->vrq.pinned);
		key = vrq_key(best);
	}

	if (vrq_queue_best_key(&rq->vrq.queue) < key)
		best = vrq_queue_first(&rq->vrq.queue);

	return best;
}

/* The same, and what the domain's shared queue has */
static struct task_struct *earliest(struct rq *rq, struct task_struct *curr,
				    s64 limit, bool *missed)
{
	struct task_struct *best = earliest_here(rq, curr, limit), *p = NULL;
	s64 key = best ? vrq_key(best) : limit;

	if (vrq_shared_best_key(cpu_of(rq)) < key)
		p = vrq_take_shared(rq, vrq_domain_of(cpu_of(rq)), key, missed);

	return p ?: best;
}

static struct task_struct *later(struct task_struct *a, struct task_struct *b)
{
	if (!a || !b)
		return a ?: b;

	return a->vrq.deadline > b->vrq.deadline ? a : b;
}

/* Of the tasks that wait for this CPU and are of @level now the one with the latest deadline */
static struct task_struct *last_waiting(struct rq *rq, enum vrq_level level)
{
	struct task_struct *last = NULL;
	enum vrq_level i;

	for (i = 0; i < VRQ_LEVELS; i++) {
		if (vrq_level_now(i) != level)
			continue;
		last = later(last, later(vrq_queue_last_of(&rq->vrq.pinned, i),
					 vrq_queue_last_of(&rq->vrq.queue, i)));
	}

	return last;
}

/* Choose another task than @curr, which has called sched_yield(), if there is one */
static struct task_struct *instead_of(struct rq *rq, struct task_struct *curr,
				      bool *missed)
{
	/* It does not give way to a worse level */
	s64 limit = vrq_key_of(vrq_level_now(curr->vrq.level) + 1, 0);
	struct task_struct *p = earliest(rq, NULL, limit, missed), *last;

	if (!p)
		return curr;

	last = last_waiting(rq, vrq_level_now(curr->vrq.level));
	if (last)
		vrq_defer(rq, curr, last);

	return p;
}

/**
 * vrq_choose - choose among what waits for a CPU and in its domain
 * @rq: the run queue of this CPU, locked, its clock updated
 * @leaves: the current task is to go on elsewhere
 * @missed: set if something had to be left because a run queue was locked
 *
 * Without @leaves the current task is a candidate as long as it is queued and has not called
 * sched_yield(). The lock of the shared queue is taken only if a look without the lock finds a
 * better task there.
 *
 * Return: a task whose home is @rq, VRQ_PICKED or still where it was; or NULL.
 */
struct task_struct *vrq_choose(struct rq *rq, bool leaves, bool *missed)
{
	struct task_struct *curr = vrq_curr(rq);

	if (!vrq_task(curr) || !curr->vrq.queued)
		curr = NULL;
	if (curr && curr->vrq.yielded) {
		curr->vrq.yielded = false;
		return instead_of(rq, curr, missed);
	}

	return earliest(rq, leaves ? NULL : curr, VRQ_KEY_NONE, missed);
}
