// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues: how tasks are ordered in one, and which one a task waits in.
 * The locking contract is in queue.h.
 */
#include "cache.h"
#include "idle.h"
#include "queue.h"
#include "steal.h"
#include "trace.h"

struct vrq_grq grq = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(grq.lock),
};

static bool earlier(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sched_vrq_entity, node)->deadline <
	       rb_entry(b, struct sched_vrq_entity, node)->deadline;
}

static void publish_earliest(struct vrq_queue *queue, enum vrq_level level)
{
	struct task_struct *first = vrq_queue_first(queue, level);

	atomic64_set(&queue->earliest[level],
		     first ? first->vrq.deadline : VRQ_NO_DEADLINE);
}

/**
 * vrq_queue_init - make an empty queue
 * @queue: the queue
 */
void vrq_queue_init(struct vrq_queue *queue)
{
	enum vrq_level level;

	for (level = 0; level < VRQ_LEVELS; level++) {
		queue->tasks[level] = RB_ROOT_CACHED;
		atomic64_set(&queue->earliest[level], VRQ_NO_DEADLINE);
	}
}

/**
 * vrq_queue_add - put a task into a queue
 * @queue: the queue, locked
 * @p: the task, behind those of its level with the same deadline
 */
void vrq_queue_add(struct vrq_queue *queue, struct task_struct *p)
{
	enum vrq_level level = p->vrq.level;

	if (rb_add_cached(&p->vrq.node, &queue->tasks[level], earlier))
		atomic64_set(&queue->earliest[level], p->vrq.deadline);
}

/**
 * vrq_queue_del - take a task out of its queue
 * @queue: the queue, locked
 * @p: the task
 */
void vrq_queue_del(struct vrq_queue *queue, struct task_struct *p)
{
	enum vrq_level level = p->vrq.level;
	bool first = rb_first_cached(&queue->tasks[level]) == &p->vrq.node;

	rb_erase_cached(&p->vrq.node, &queue->tasks[level]);
	if (first)
		publish_earliest(queue, level);
}

/**
 * vrq_queue_first - the task of a level with the earliest deadline
 * @queue: the queue, locked
 * @level: the level
 *
 * Return: the task or NULL.
 */
struct task_struct *vrq_queue_first(struct vrq_queue *queue,
				    enum vrq_level level)
{
	struct rb_node *first = rb_first_cached(&queue->tasks[level]);

	return first ? rb_entry(first, struct task_struct, vrq.node) : NULL;
}

/**
 * vrq_queue_best_key - how urgent the most urgent task of a queue is
 * @queue: the queue; it need not be locked, then the answer is a hint
 *
 * Return: its vrq_key(), VRQ_KEY_NONE if the queue is empty.
 */
s64 vrq_queue_best_key(struct vrq_queue *queue)
{
	enum vrq_level level;
	s64 deadline;

	for (level = 0; level < VRQ_LEVELS; level++) {
		deadline = atomic64_read(&queue->earliest[level]);
		if (deadline != VRQ_NO_DEADLINE)
			return vrq_key_of(level, deadline);
	}

	return VRQ_KEY_NONE;
}

static bool has_starved(struct vrq_queue *queue, u64 now)
{
	s64 earliest = atomic64_read(&queue->earliest[VRQ_IDLE]);

	return earliest < (s64)now - (s64)VRQ_IDLE_STARVED_NS;
}

/* Queue @queue's first task of VRQ_IDLE as one of VRQ_NORMAL */
static struct task_struct *promote_first(struct vrq_queue *queue)
{
	struct task_struct *p = vrq_queue_first(queue, VRQ_IDLE);

	vrq_queue_del(queue, p);
	p->vrq.level = VRQ_NORMAL;
	p->vrq.promoted = true;
	vrq_queue_add(queue, p);
	trace_sched_vrq_enqueue(p);

	return p;
}

/**
 * vrq_promote_starved - let no SCHED_IDLE task wait for ever
 * @rq: the run queue of this CPU, locked, its clock updated
 *
 * Called at the tick of every CPU that runs a task of VRQ's: as long as one
 * does not, it takes what waits anyway. One task at a time is enough, each
 * holds up others for no more than a slice.
 */
void vrq_promote_starved(struct rq *rq)
{
	u64 now = rq_clock(rq);

	if (has_starved(&rq->vrq.local, now))
		promote_first(&rq->vrq.local);

	if (!has_starved(&grq.queue, now))
		return;

	vrq_lock_grq();
	/*
	 * For a moment the task was in neither tree: a CPU that went idle then
	 * may have seen nothing
	 */
	if (has_starved(&grq.queue, now))
		vrq_kick_idle_for(promote_first(&grq.queue));
	vrq_unlock_grq();
}

/* How many tasks to find an idle CPU for before it is thought of no use */
#define KICK_TRIES	8

/**
 * vrq_kick_for_one_of - find an idle CPU for one of the tasks of a queue
 * @queue: the queue, locked
 * @level: of which level
 *
 * Return: true if there was one.
 */
bool vrq_kick_for_one_of(struct vrq_queue *queue, enum vrq_level level)
{
	struct task_struct *p = vrq_queue_first(queue, level);
	int tries;

	for (tries = 0; p && tries < KICK_TRIES; tries++) {
		if (vrq_kick_idle_for(p))
			return true;
		p = vrq_queue_next(p);
	}

	return false;
}

static bool kick_for_grq(void)
{
	bool kicked;

	if (vrq_queue_best_key(&grq.queue) == VRQ_KEY_NONE)
		return false;

	vrq_lock_grq();
	kicked = vrq_kick_for_one_of(&grq.queue, VRQ_NORMAL) ||
		 vrq_kick_for_one_of(&grq.queue, VRQ_IDLE);
	vrq_unlock_grq();

	return kicked;
}

/**
 * vrq_kick_for_waiting - let another idle CPU see to what waits
 * @rq: the run queue of this CPU, locked
 *
 * For a CPU that was kicked and has done something else. One kick is enough:
 * who is kicked does the same.
 */
void vrq_kick_for_waiting(struct rq *rq)
{
	if (!kick_for_grq())
		vrq_kick_for_open(rq);
}

/**
 * vrq_wait_in - note where a task waits, and since when
 * @rq: the home of @p, locked, its clock updated
 * @p: the task
 * @place: the slot or the queue that it is about to enter
 */
void vrq_wait_in(struct rq *rq, struct task_struct *p, enum vrq_place place)
{
	vrq_note_wait(rq, p);
	p->vrq.place = place;
	p->vrq.since = rq_clock(rq);
	trace_sched_vrq_enqueue(p);
}

/**
 * vrq_place_in_grq - let a task wait for whichever CPU is first
 * @rq: the home of @p, locked, its clock updated
 * @p: the task, in no queue
 *
 * Kicks an idle CPU if there is one for it.
 */
void vrq_place_in_grq(struct rq *rq, struct task_struct *p)
{
	vrq_wait_in(rq, p, VRQ_IN_GRQ);
	vrq_lock_grq();
	vrq_queue_add(&grq.queue, p);
	vrq_unlock_grq();
	vrq_kick_idle_for(p);
}

static void place_behind(struct rq *rq, struct task_struct *p)
{
	if (!vrq_may_cache(rq, p)) {
		vrq_place_in_grq(rq, p);
		return;
	}

	vrq_cache_add(rq, p);
	vrq_kick_idle_for(p);
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
		vrq_lock_grq();
		vrq_queue_del(&grq.queue, p);
		vrq_unlock_grq();
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
