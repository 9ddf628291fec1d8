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
 *    task is out of the grq. The exception are a task's level, deadline and promoted,
 *    which vrq_grq_promote_starved() changes under grq.lock.
 *  - Nobody steps over many tasks with such a lock held because they may not run
 *    on its CPU: in the grq they are kept apart by mask, see grq.c, and only so
 *    many of them wait in a cache queue, see vrq_may_cache(). A CPU that goes
 *    down is the exception.
 *  - rq->lock -> grq.lock -> trylock of another rq->lock. To take a task
 *    with another home out of the grq a CPU trylocks that home under grq.lock
 *    and passes the task over if it fails: nothing is ever dropped inside a
 *    pick, and nothing ever waits for an rq->lock with grq.lock held.
 *
 * What can be read without a lock is atomic, so that 32-bit machines never see
 * half of it: vrq_queue.earliest, vrq_rq.priodl, the masks of idle CPUs and of CPUs
 * to take tasks from. Of the mask of a part of the grq one bit is read.
 *
 * No wake-up is lost:
 *
 *   a task enters the grq              a CPU goes idle (vrq_pick_task())
 *     queue it: the part's mask,         set its bit in the idle mask
 *     earliest and used are written
 *     smp_mb()                   [A]     smp_mb__after_atomic()       [B]
 *     read the idle mask, kick           read earliest, look again
 *
 * [A] is in vrq_kick_idle_for(), [B] in vrq_set_idle(). Either the one sees
 * the bit or the other sees the task. The same holds for a task that waits in the
 * cache queue of a CPU or is to preempt there, with the mask of such CPUs, open_cpus,
 * in place of earliest. A kick can be used up for another task than that which it
 * was for: then it is passed on, see vrq_kick_for_waiting(). Cached tasks of a CPU
 * whose run queue is locked are left out there, and kicked for at its next tick.
 */
#ifndef _KERNEL_SCHED_VRQ_PLACE_H
#define _KERNEL_SCHED_VRQ_PLACE_H

#include "entity.h"

void vrq_place(struct rq *rq, struct task_struct *p);
void vrq_unplace(struct rq *rq, struct task_struct *p);
void vrq_flush_slot(struct rq *rq);
void vrq_expire_slot(struct rq *rq);
void vrq_promote_starved(struct rq *rq);
void vrq_kick_for_waiting(struct rq *rq);

#endif /* _KERNEL_SCHED_VRQ_PLACE_H */
