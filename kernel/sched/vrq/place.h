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
 *    only while their task is out of it. The exception are a task's level, deadline, slice,
 *    promoted, promoted_at, waited, since and slept_us, which vrq_shared_promote()
 *    changes under the domain's lock, and deadline, span and weight_max, which vrq_shared_advance()
 *    does.
 *  - A CPU that holds such a lock does not step over many tasks that it may not run. A shared
 *    queue keeps tasks apart by mask, see shared.c, a CPU of another domain looks at up to 64
 *    tasks of it before it takes one, and the number of such tasks in the queue of a CPU is
 *    limited, see place.c. A CPU that goes down is the exception.
 *  - rq->lock -> a domain's lock -> trylock of another rq->lock. To take a task
 *    with another home out of a shared queue a CPU trylocks that home under the
 *    domain's lock and passes the task over if it fails: nothing is ever dropped
 *    inside a pick, nothing ever waits for an rq->lock with a domain's lock held,
 *    and nobody holds two domains' locks.
 *  - A CPU joins its domain once, see domain.c, with its rq->lock held, and while
 *    it is not active, or VRQ is not: it has no task in a shared queue and no bit in a
 *    mask then.
 *  - Whether VRQ or the fair class has the queued tasks changes only while all CPUs are in
 *    stop_machine(), see switch.c. So it does not change while preemption is disabled. A task
 *    that is not queued may be of the other class for a while.
 *
 * What can be read without a lock is atomic, so that 32-bit machines never see
 * half of it: vrq_queue.earliest, vrq_rq.priodl, the sums of domains; the masks of
 * idle CPUs, of CPUs with offers and of CPUs to which they are made are single words.
 *
 * Fields that are written under a lock with plain accesses, and are also read without the
 * lock, are read in data_race(): masks of domains and of the CPUs of a group, where a bit may
 * be missed, as described below and in group.c; hints; and what the watchdog and /proc show.
 * So KCSAN, which covers these files, does not report them ("make soak CONFIG=kcsan").
 *
 * Only CPU hotplug, a switch to or from the fair class, the setting of tunables, and the
 * watchdog, which holds no lock, go through all CPUs or all domains. The other paths are
 * bounded:
 *
 *  - A wake-up looks at up to 5 CPUs and into up to 9 domains' masks of idle CPUs, 17 for a
 *    task that may not run everywhere, and once more when the task begins to wait.
 *  - A tick looks at 4 CPUs and 2 domains' queues. In each jiffy one CPU of a domain also
 *    looks at the CPUs of that domain and of an idle domain. While a CPU is idle, a tick looks
 *    for an idle CPU as a wake-up does, for up to 17 tasks.
 *  - The end of a slice looks at 4 CPUs of the own domain, at the queue of another domain and
 *    at one CPU of that domain.
 *  - The share of a task that may not run everywhere is computed from up to 16 CPUs or 8
 *    domains: at its wake-ups, at the end of its slices, and when it is taken from elsewhere.
 *  - A CPU without work looks at up to 20 other CPUs that offer something and at 5 domains'
 *    queues, for normal tasks, then for SCHED_IDLE tasks; and again after it has set its bit
 *    in the mask of idle CPUs. Of up to 64 domains it reads whether they have such tasks, and
 *    of the CPUs of those 5 that offer something, whether they offer it to this CPU.
 *
 * Domains that are skipped because of their distance or because of an empty mask do not count.
 *
 * Groups are the exception. To sum up a group, a CPU goes through the CPUs that have tasks of
 * it. One CPU in a jiffy does this at its tick, for up to 64 groups. A wake-up or the end of a
 * slice does it for those groups around the task that were not summed up in this jiffy. When a
 * limit is refilled, its timer goes through the tasks that were stopped, and holds a lock for
 * 32 of them at a time.
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
 * [A] is in vrq_kick_idle_for(), [B] in vrq_set_idle(). Either the waker sees the bit of the
 * idle CPU, or the idle CPU sees the task. In both masks of domains, a CPU that finds nothing
 * in a domain clears the bit of the domain, and then looks again. If it finds something then,
 * other CPUs may have passed over the domain meanwhile. A CPU without work may also miss a
 * task because it looks at a few CPUs only, or because a run queue or the shared queue of another
 * domain is locked. For these cases every CPU kicks at each tick for what waits in its queue, and
 * for what waits in its domain's shared queue. So a task waits beside an idle CPU for no longer
 * than until that tick, with four exceptions:
 *
 *  - If tasks of more than five masks are in the shared queue, it takes until all masks have
 *    had their turn, four masks a tick. Of tasks whose masks differ only in CPUs of other
 *    domains, the first two of each level are kicked for, until others are the first, and
 *    of these eight tasks a tick.
 *  - For a task that may run in few of many domains with idle CPUs, all of these domains are
 *    asked, eight at a tick, unless several such tasks of a CPU ask in step.
 *  - For the queue of an isolated CPU, the first eight tasks are kicked for.
 *  - Isolated CPUs look in their own domain only, and depend on kicks; and with nohz_full= a
 *    CPU that runs a real-time task may have no tick to kick from. Then the deadline server
 *    runs the tasks that wait there.
 *
 * A CPU without work passes over CPUs with offers whose offered_to lacks its bit or, in other
 * domains, whose offered_afar is not set. The CPU without work clears these itself, with the
 * lock of the other CPU held, when it has found nothing there that it may run. A CPU that
 * queues a task sets the bits before [A], so the same argument holds for them. A CPU that
 * joins its domain has no bit for confined tasks that wait already. And a task that one CPU of
 * another domain may not run may be allowed on another CPU of that domain. CPUs get such tasks
 * by a kick.
 *
 * A kicked CPU may find another task than the one that it was kicked for. Then it passes the
 * kick on, see vrq_leave_idle(). A CPU that is claimed may set its idle bit again before the
 * claimer has written kicked_for, and may be claimed once more. Then one of the two kicks is
 * lost, and its task waits for the kick of the next tick.
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
