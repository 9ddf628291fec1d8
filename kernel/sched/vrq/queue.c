// SPDX-License-Identifier: GPL-2.0-only
/*
 * How tasks are ordered in a queue. Which lock protects it is said in place.h.
 */
#include "idle.h"
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
 * vrq_queue_first_of - the task of a level with the earliest deadline
 * @queue: the queue, locked
 * @level: the level
 *
 * Return: the task or NULL.
 */
struct task_struct *vrq_queue_first_of(struct vrq_queue *queue,
				       enum vrq_level level)
{
	struct rb_node *first = rb_first_cached(&queue->tasks[level]);

	return first ? rb_entry(first, struct task_struct, vrq.node) : NULL;
}

/**
 * vrq_queue_first - the task that is to be picked first
 * @queue: the queue, locked
 *
 * Return: the task or NULL.
 */
struct task_struct *vrq_queue_first(struct vrq_queue *queue)
{
	return vrq_queue_first_of(queue, VRQ_NORMAL) ?:
	       vrq_queue_first_of(queue, VRQ_IDLE);
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

/**
 * vrq_queue_has_starved - has a SCHED_IDLE task waited here for too long?
 * @queue: the queue; it need not be locked, then the answer is a hint
 * @now: on the clock of the run queues, ns
 */
bool vrq_queue_has_starved(struct vrq_queue *queue, u64 now)
{
	s64 earliest = atomic64_read(&queue->earliest[VRQ_IDLE]);

	return earliest < (s64)now - (s64)VRQ_IDLE_STARVED_NS;
}

/**
 * vrq_queue_promote_first - queue the first of VRQ_IDLE as one of VRQ_NORMAL
 * @queue: the queue, locked, with such a task
 *
 * Return: the task.
 */
struct task_struct *vrq_queue_promote_first(struct vrq_queue *queue)
{
	struct task_struct *p = vrq_queue_first_of(queue, VRQ_IDLE);

	vrq_queue_del(queue, p);
	p->vrq.level = VRQ_NORMAL;
	p->vrq.promoted = true;
	vrq_queue_add(queue, p);
	trace_sched_vrq_enqueue(p);

	return p;
}

/**
 * vrq_queue_kick - find an idle CPU for one of the tasks of a queue
 * @queue: the queue, locked
 *
 * If there is none for a task that every CPU may run, it is for nobody.
 *
 * Return: true if there was one.
 */
bool vrq_queue_kick(struct vrq_queue *queue)
{
	enum vrq_level level;
	struct task_struct *p;

	for (level = 0; level < VRQ_LEVELS; level++) {
		p = vrq_queue_first_of(queue, level);
		for (; p; p = vrq_queue_next(p)) {
			if (vrq_kick_idle_for(p))
				return true;
			if (!vrq_confined(p))
				return false;
		}
	}

	return false;
}
