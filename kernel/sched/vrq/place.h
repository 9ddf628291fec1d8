/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a task waits: the queues of one CPU and the shared queue of its domain.
 *
 * Locking contract of VRQ
 * =======================
 *
 * Mainline's "Serialization rules" (../core.c) hold without exception. In
 * particular every queued task has a home, task_rq(p), is counted in its
 * nr_running, and task_cpu(p) changes only with the home's lock held; so
 * task_rq_lock(), setaffinity, migration and hotplug need to know nothing of
 * VRQ. (A VRQ_THROTTLED task has a home too, but is not counted there: what a CPU
 * has of them goes on when it goes down, see throttle.c.) On top of that:
 *
 *  - p->vrq, with the exceptions named in <linux/sched/vrq.h>, and every place
 *    but a shared queue (a CPU, its slot, its two queues) belong to the home's
 *    rq->lock.
 *  - Entering and leaving a shared queue takes the home's rq->lock and, nested in
 *    it, the domain's lock. Under the domain's lock alone one may walk the queue
 *    and read, of the tasks in it, p->vrq, task_cpu(p) and p->cpus_ptr: they change
 *    only while their task is out of it. The exception are a task's level, deadline,
 *    promoted, promoted_at, waited, since and slept_us, which vrq_shared_promote()
 *    changes under the domain's lock, and deadline, span and weight_max, which vrq_shared_advance()
 *    does.
 *  - Nobody steps over many tasks with such a lock held because they may not run
 *    on its CPU: in a shared queue they are kept apart by mask, see shared.c, and
 *    only so many of them wait in the queue of a CPU, see place.c. A CPU that goes
 *    down is the exception.
 *  - rq->lock -> a domain's lock -> trylock of another rq->lock. To take a task
 *    with another home out of a shared queue a CPU trylocks that home under the
 *    domain's lock and passes the task over if it fails: nothing is ever dropped
 *    inside a pick, nothing ever waits for an rq->lock with a domain's lock held,
 *    and nobody holds two domains' locks.
 *  - A CPU joins its domain once, see domain.c, with its rq->lock held, and while
 *    it is not active, or VRQ is not: it has no task in a shared queue and no bit in a
 *    mask then.
 *  - Whether VRQ or the fair class has the queued tasks changes while all CPUs are in
 *    stop_machine(), see switch.c. So who has preemption disabled may rely on it. A task
 *    that is not queued may be of the other class for a while.
 *
 * What can be read without a lock is atomic, so that 32-bit machines never see
 * half of it: vrq_queue.earliest, vrq_rq.priodl, the sums of domains; the masks of
 * idle CPUs, of CPUs with offers and of CPUs to which they are made are single words.
 *
 * What is written under a lock, without marks, and read without it too, is read in
 * data_race(): masks of domains and of the CPUs of a group, a bit of which may be
 * missed, as said below and in group.c; hints; and what the watchdog and /proc show.
 * So KCSAN, which covers these files, reports nothing of them ("make soak CONFIG=kcsan").
 *
 * On no path but CPU hotplug, a switch to or from the fair class, the setting of tunables and
 * the watchdog, which holds no lock, does anybody go through all CPUs, or all domains: a
 * wake-up looks at up to 5 CPUs and into up to 9 domains' masks of idle CPUs, 17 for a task
 * that may not run everywhere, and once more as the task begins to wait. A tick looks at 4 CPUs
 * and 2 domains' queues and, one CPU of a domain each jiffy, at those of that domain and of an
 * idle one; and while a CPU is idle it looks for one as a wake-up does, for up to 14 tasks. The
 * end of a slice looks at 4 CPUs of the own domain, another one's queue and one CPU of that.
 * What a task that may not run everywhere has a right to is read from up to 16 CPUs or 8
 * domains: at its wake-ups, at the end of its slices, and as it is taken from elsewhere.
 * Domains that are passed over, by their distance or for an empty mask, do not count.
 *
 * A CPU without work looks at up to 20 others that offer something and 5 domains' queues, for
 * normal tasks, then for SCHED_IDLE ones; and again once it has said that it is idle.
 *
 * Groups are the exception: to sum one up somebody goes through the CPUs that have tasks of it,
 * at a tick of one CPU in a jiffy for up to 64 of them, and at a wake-up or the end of a slice
 * for those around the task that were not in this jiffy. And when a limit is refilled its timer
 * goes through the tasks that were stopped, and holds a lock for 32 at a time.
 *
 * No wake-up is lost:
 *
 *   a task begins to wait              a CPU goes idle (vrq_search())
 *     queue it: earliest and, for        set its bit in the domain's idle
 *     a CPU's queue, offers              smp_mb__after_atomic()       [B]
 *     smp_mb()                   [A]     set the domain in idle_domains, or
 *                                        idle_isolated
 *     set the domain in                  look once more: the own domain's queue
 *     vrq_work_domains                   and offers, vrq_work_domains and those
 *     read idle and idle_domains,        of the domains in there
 *     kick
 *
 * [A] is in vrq_kick_idle_for(), [B] in vrq_set_idle(). Either the one sees the bit
 * or the other sees the task. Both masks of domains are cleared by who finds nothing
 * in a domain; that looks again afterwards, and if it finds something then, others
 * may have passed it over meanwhile. So has a CPU without work that looks at a few
 * CPUs only, or finds a run queue locked. For these every CPU kicks for what waits in
 * its queue, and for what waits in its domain's shared queue, at each tick: a task
 * waits beside an idle CPU for no longer than that. There are four exceptions. Where tasks of
 * more than five masks are in the shared queue, it takes as long as to get round, four masks a
 * tick. For a task that may run in few of many domains with idle CPUs all of these are asked,
 * eight at a tick, unless several such tasks of a CPU ask in step. Of an isolated CPU's queue
 * the first eight tasks are kicked for. Isolated CPUs look in their own domain only, and depend
 * on kicks; and with nohz_full= a CPU that runs a real-time task may have no tick to kick from:
 * then the deadline server sees to who waits there.
 *
 * Of the CPUs with offers a CPU without work passes over those whose offered_to lacks
 * its bit or, in other domains, whose offered_afar is not set. It clears that itself,
 * with their lock held, when it has found nothing there that it may run. Who queues a
 * task sets the bits before [A], so the same holds for these. A CPU that joins its
 * domain has no bit for confined tasks that wait already, and what one CPU of another
 * domain may not run another one might: they get those by a kick.
 *
 * A kick can be used up for another task than that which it was for: then the CPU
 * passes it on, see vrq_leave_idle(). A CPU that is claimed, and sets its bit again before
 * who claimed it has written what for, may be claimed once more: then one of the two is
 * lost, and what it was for waits for the kick of the next tick.
 */
#ifndef _KERNEL_SCHED_VRQ_PLACE_H
#define _KERNEL_SCHED_VRQ_PLACE_H

#include "entity.h"

void vrq_place(struct rq *rq, struct task_struct *p);
void vrq_unplace(struct rq *rq, struct task_struct *p);
void vrq_end_wait(struct rq *rq, struct task_struct *p);
void vrq_share(struct rq *rq, struct task_struct *p);
void vrq_flush_slot(struct rq *rq);
void vrq_expire_slot(struct rq *rq);
void vrq_promote_starved(struct rq *rq);
void vrq_advance_waiting(struct rq *rq);
#ifdef CONFIG_SMP
struct task_struct *vrq_offered_to(struct rq *rq, enum vrq_level level, int cpu);
void vrq_kick_for_queue(struct rq *rq);
#endif

#endif /* _KERNEL_SCHED_VRQ_PLACE_H */
