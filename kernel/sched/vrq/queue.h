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
struct task_struct *vrq_queue_first_of(struct vrq_queue *queue,
				       enum vrq_level level);
struct task_struct *vrq_queue_first(struct vrq_queue *queue);
s64 vrq_queue_best_key(struct vrq_queue *queue);
bool vrq_queue_has_starved(struct vrq_queue *queue, enum vrq_level level,
			   u64 now);
struct task_struct *vrq_queue_promote_first(struct vrq_queue *queue,
					    enum vrq_level level, u64 now);
bool vrq_queue_kick(struct vrq_queue *queue);

/* The next task of the same level in @p's queue, or NULL */
static inline struct task_struct *vrq_queue_next(struct task_struct *p)
{
	struct rb_node *node = rb_next(&p->vrq.node);

	return node ? rb_entry(node, struct task_struct, vrq.node) : NULL;
}

#endif /* _KERNEL_SCHED_VRQ_QUEUE_H */
