// SPDX-License-Identifier: GPL-2.0-only
/*
 * How tasks are ordered in a queue. Which lock protects it is said in place.h.
 */
#include "queue.h"
#include "trace.h"

static bool earlier(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sched_vrq_entity, node)->deadline <
	       rb_entry(b, struct sched_vrq_entity, node)->deadline;
}

static void publish_earliest(struct vrq_queue *queue, enum vrq_level level)
{
	struct task_struct *first = vrq_queue_first_of(queue, level);

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
 * vrq_queue_first - the task that is to be picked first
 * @queue: the queue, locked
 *
 * Return: the task or NULL.
 */
struct task_struct *vrq_queue_first(struct vrq_queue *queue)
{
	struct task_struct *iso = vrq_queue_first_of(queue, VRQ_ISO);
	struct task_struct *p = vrq_queue_first_of(queue, VRQ_NORMAL);

	/* VRQ_ISO may count as VRQ_NORMAL now */
	if (unlikely(iso) && (!p || vrq_key(iso) <= vrq_key(p)))
		return iso;

	return p ?: vrq_queue_first_of(queue, VRQ_IDLE);
}

/**
 * vrq_queue_best_key - how urgent the most urgent task of a queue is
 * @queue: the queue; it need not be locked, then the answer is a hint
 *
 * Return: its vrq_key(), VRQ_KEY_NONE if the queue is empty.
 */
s64 vrq_queue_best_key(struct vrq_queue *queue)
{
	s64 normal = atomic64_read(&queue->earliest[VRQ_NORMAL]);
	s64 iso = atomic64_read(&queue->earliest[VRQ_ISO]), idle;

	if (unlikely(iso != VRQ_NO_DEADLINE)) {
		if (vrq_level_now(VRQ_ISO) == VRQ_ISO)
			return vrq_key_of(VRQ_ISO, iso);
		normal = min(normal, iso);
	}
	if (normal != VRQ_NO_DEADLINE)
		return vrq_key_of(VRQ_NORMAL, normal);

	idle = atomic64_read(&queue->earliest[VRQ_IDLE]);

	return idle != VRQ_NO_DEADLINE ? vrq_key_of(VRQ_IDLE, idle) : VRQ_KEY_NONE;
}

static bool overdue_long(const struct task_struct *p, u64 now)
{
	return (s64)(now - p->vrq.deadline) > (s64)VRQ_STARVED_NS;
}

/* It may have slept since its deadline: only what it has waited for counts */
static bool has_waited_long(const struct task_struct *p, u64 now)
{
	return (s64)(p->vrq.waited + now - p->vrq.since) > (s64)VRQ_STARVED_NS;
}

/**
 * vrq_queue_starved - the first task of a level, if it has starved
 * @queue: the queue, locked
 * @level: the level, not VRQ_ISO
 * @now: on the clock of the run queues, ns
 *
 * Return: the task, or NULL if there is none or it has not waited for long enough.
 */
struct task_struct *vrq_queue_starved(struct vrq_queue *queue, enum vrq_level level,
				      u64 now)
{
	struct task_struct *p = vrq_queue_first_of(queue, level);

	return p && overdue_long(p, now) && has_waited_long(p, now) ? p : NULL;
}

/**
 * vrq_queue_promote - queue a task as one of the next better level
 * @queue: the queue, locked
 * @p: the task, in @queue, not of VRQ_ISO
 * @now: the deadline that it gets, ns: it has waited since the old one, and is not
 *	to count as starved at the better level too
 */
void vrq_queue_promote(struct vrq_queue *queue, struct task_struct *p, u64 now)
{
	vrq_queue_del(queue, p);
	p->vrq.level--;
	p->vrq.promoted = true;
	p->vrq.promoted_at = p->se.sum_exec_runtime;
	p->vrq.slice = min(p->vrq.slice, vrq_promoted_ns());
	p->vrq.deadline = now;
	/* The task has waited for longer than the time over which a favour is computed */
	p->vrq.slept_us = 0;
	p->vrq.waited = 0;
	p->vrq.since = now;
	vrq_queue_add(queue, p);
	trace_sched_vrq_enqueue(p);
}

/**
 * vrq_queue_promote_kthread - the same for a kernel thread that has starved
 * @queue: the queue of a CPU for tasks that may run nowhere else, locked
 * @now: as for vrq_queue_promote()
 *
 * Promotes the first kernel thread that has starved, wherever it is in the queue. Tasks on any
 * CPU may wait for what it does, so it must not wait behind all tasks that have starved for
 * longer. Steps over all tasks before it that are overdue for long.
 *
 * Return: true if there was one that has starved.
 */
bool vrq_queue_promote_kthread(struct vrq_queue *queue, u64 now)
{
	struct task_struct *p = vrq_queue_first_of(queue, VRQ_NORMAL);

	while (p && overdue_long(p, now)) {
		if (p->flags & PF_KTHREAD && has_waited_long(p, now)) {
			vrq_queue_promote(queue, p, now);
			return true;
		}
		p = vrq_queue_next(p);
	}

	return false;
}

/**
 * vrq_queue_advance - let tasks of a level have the deadlines that are due
 * @rq: the run queue of this CPU, locked, its clock updated
 * @queue: the queue, locked
 * @level: the level
 *
 * See vrq_advance_deadline(). Looks at the first task, which stays the first, and at the last
 * one: a task whose deadline is too far ahead gets there when the others have had their turns.
 */
void vrq_queue_advance(struct rq *rq, struct vrq_queue *queue, enum vrq_level level)
{
	struct task_struct *first = vrq_queue_first_of(queue, level);
	struct task_struct *last = vrq_queue_last_of(queue, level);

	if (!first)
		return;

	if (vrq_advance_deadline(rq, first)) {
		publish_earliest(queue, level);
		trace_sched_vrq_enqueue(first);
	}
	if (last != first && vrq_advance_deadline(rq, last)) {
		rb_erase_cached(&last->vrq.node, &queue->tasks[level]);
		vrq_queue_add(queue, last);
		trace_sched_vrq_enqueue(last);
	}
}
