/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a task waits: the queues of one CPU and the global run queue, grq.
 *
 * Locking contract of VRQ
 * =======================
 *
 * Mainline's "Serialization rules" (../core.c) hold without exception. In
 * particular every queued task has a home, task_rq(p), is counted in its
 * nr_running, and task_cpu(p) changes only with the home's lock held; so
 * task_rq_lock(), setaffinity, migration and hotplug need to know nothing of
 * VRQ. On top of that:
 *
 *  - p->vrq, with the exceptions named in <linux/sched/vrq.h>, and every place
 *    but the grq (a CPU, its slot, its local and its cache queue) belong to the
 *    home's rq->lock.
 *  - Entering and leaving the grq takes the home's rq->lock and, nested in it,
 *    grq.lock. Under grq.lock alone one may walk the grq and read, of the tasks
 *    in it, p->vrq, task_cpu(p) and p->cpus_ptr: they change only while their
 *    task is out of the grq. The one exception is a task's level, which
 *    vrq_promote_starved() changes under grq.lock.
 *  - rq->lock -> grq.lock -> trylock of another rq->lock. To take a task
 *    with another home out of the grq a CPU trylocks that home under grq.lock
 *    and passes the task over if it fails: nothing is ever dropped inside a
 *    pick, and nothing ever waits for an rq->lock with grq.lock held.
 *
 * What can be read without a lock is atomic, so that 32-bit machines never see
 * half of it: vrq_queue.earliest, vrq_rq.priodl, the masks of idle CPUs and of
 * CPUs to take tasks from.
 *
 * No wake-up is lost:
 *
 *   a task enters the grq              a CPU goes idle (vrq_pick_task())
 *     vrq_queue_add(&grq.queue)          set its bit in the idle mask
 *     smp_mb()                   [A]     smp_mb__after_atomic()       [B]
 *     read the idle mask, kick           read grq.queue.earliest, look again
 *
 * [A] is in vrq_kick_idle_for(), [B] in vrq_set_idle(). Either the one sees
 * the bit or the other sees the task. The same holds for a task that waits in the
 * cache queue of a CPU or is to preempt there, with the mask of such CPUs, open_cpus,
 * in place of earliest. A kick can be used up for another task than that which it
 * was for: then it is passed on, see vrq_kick_for_waiting(), and for cached tasks
 * repeated at each tick.
 */
#ifndef _KERNEL_SCHED_VRQ_QUEUE_H
#define _KERNEL_SCHED_VRQ_QUEUE_H

#include "counters.h"
#include "entity.h"

/**
 * struct vrq_grq - the global run queue
 * @lock: protects @queue
 * @queue: the tasks that are runnable, not running and not bound to one CPU
 */
struct vrq_grq {
	raw_spinlock_t		lock;
	struct vrq_queue	queue;
} ____cacheline_aligned_in_smp;

extern struct vrq_grq grq;

void vrq_queue_init(struct vrq_queue *queue);
void vrq_queue_add(struct vrq_queue *queue, struct task_struct *p);
void vrq_queue_del(struct vrq_queue *queue, struct task_struct *p);
struct task_struct *vrq_queue_first(struct vrq_queue *queue,
				    enum vrq_level level);
s64 vrq_queue_best_key(struct vrq_queue *queue);
bool vrq_kick_for_one_of(struct vrq_queue *queue, enum vrq_level level);
void vrq_promote_starved(struct rq *rq);
void vrq_kick_for_waiting(struct rq *rq);

void vrq_place(struct rq *rq, struct task_struct *p);
void vrq_wait_in(struct rq *rq, struct task_struct *p, enum vrq_place place);
void vrq_place_in_grq(struct rq *rq, struct task_struct *p);
void vrq_unplace(struct rq *rq, struct task_struct *p);
void vrq_flush_slot(struct rq *rq);
void vrq_expire_slot(struct rq *rq);

/* Is there a task of this level? Without the lock the answer is a hint */
static inline bool vrq_queue_has(struct vrq_queue *queue, enum vrq_level level)
{
	return atomic64_read(&queue->earliest[level]) != VRQ_NO_DEADLINE;
}

/* Take grq.lock, interrupts off */
static inline void vrq_lock_grq(void)
{
	raw_spin_lock(&grq.lock);
	vrq_count(VRQ_GRQ_LOCK);
}

static inline void vrq_unlock_grq(void)
{
	raw_spin_unlock(&grq.lock);
}

/* The next task of the same level in @p's queue, or NULL */
static inline struct task_struct *vrq_queue_next(struct task_struct *p)
{
	struct rb_node *node = rb_next(&p->vrq.node);

	return node ? rb_entry(node, struct task_struct, vrq.node) : NULL;
}

#endif /* _KERNEL_SCHED_VRQ_QUEUE_H */
