/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A queue: tasks that wait, by level and deadline. Which lock protects it is said
 * in place.h.
 */
#ifndef _KERNEL_SCHED_VRQ_QUEUE_H
#define _KERNEL_SCHED_VRQ_QUEUE_H

#include "entity.h"

void vrq_queue_init(struct vrq_queue *queue);
void vrq_queue_add(struct vrq_queue *queue, struct task_struct *p);
void vrq_queue_del(struct vrq_queue *queue, struct task_struct *p);
struct task_struct *vrq_queue_first(struct vrq_queue *queue);
s64 vrq_queue_best_key(struct vrq_queue *queue);
struct task_struct *vrq_queue_starved(struct vrq_queue *queue, enum vrq_level level,
				      u64 now);
void vrq_queue_promote(struct vrq_queue *queue, struct task_struct *p, u64 now);
void vrq_queue_advance(struct rq *rq, struct vrq_queue *queue, enum vrq_level level);
bool vrq_queue_promote_kthread(struct vrq_queue *queue, u64 now);

/**
 * vrq_queue_first_of - the task of a level with the earliest deadline
 * @queue: the queue, locked
 * @level: the level
 *
 * Return: the task or NULL.
 */
static inline struct task_struct *vrq_queue_first_of(struct vrq_queue *queue,
						     enum vrq_level level)
{
	struct rb_node *first = rb_first_cached(&queue->tasks[level]);

	return first ? rb_entry(first, struct task_struct, vrq.node) : NULL;
}

/**
 * vrq_queue_last_of - the task of a level with the latest deadline
 * @queue: the queue, locked
 * @level: the level
 *
 * Return: the task or NULL.
 */
static inline struct task_struct *vrq_queue_last_of(struct vrq_queue *queue,
						    enum vrq_level level)
{
	struct rb_node *last = rb_last(&queue->tasks[level].rb_root);

	return last ? rb_entry(last, struct task_struct, vrq.node) : NULL;
}

/* The next task of the same level in @p's queue, or NULL */
static inline struct task_struct *vrq_queue_next(struct task_struct *p)
{
	struct rb_node *node = rb_next(&p->vrq.node);

	return node ? rb_entry(node, struct task_struct, vrq.node) : NULL;
}

#endif /* _KERNEL_SCHED_VRQ_QUEUE_H */
