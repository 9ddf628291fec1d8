// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of a CPU for a task that wakes up or is new.
 */
#include <linux/sched/clock.h>

#include "counters.h"
#include "idle.h"
#include "queue.h"
#include "shared.h"
#include "wakeup.h"

/*
 * Does a wake-up for @cpu say that the current task there is about to sleep? An
 * interrupt that wakes says nothing of the task that it interrupts, and a
 * real-time task is not one to take turns with. Nor is a kernel thread: it stands for an
 * interrupt, see woken_from_outside().
 */
static bool sync_wakeup(int cpu, int wake_flags)
{
	return (wake_flags & WF_SYNC) && in_task() && vrq_task(current) &&
	       !(current->flags & (PF_EXITING | PF_KTHREAD)) && cpu == smp_processor_id();
}

/*
 * Does an interrupt wake, or what stands for one: a kernel thread, say that of a
 * threaded interrupt or a workqueue, or a task of a higher class?
 */
static bool woken_from_outside(void)
{
	return !in_task() || current->flags & PF_KTHREAD || !vrq_task(current);
}

/* Only a task of a better level preempts, ns */
#define BETTER_LEVEL		(1LL << (VRQ_KEY_LEVEL_SHIFT - 1))

/**
 * __vrq_note_waker - note by whom a task is woken up, and so which margin it needs to preempt
 * @p: the task, or a new one, whose parent counts as its waker; p->pi_lock held, it is in no
 *	queue
 *
 * The margin is how much earlier the deadline of @p must be to preempt. A task that is woken
 * by an interrupt has waited for a time or a device, and preempts any task that is less
 * urgent. A task that is woken by another task takes turns with it or others like it. So it
 * preempts only if it is behind by a whole turn, or of a better level.
 *
 * The waker is known only here: an interrupt of the CPU of @p may do the rest of the wake-up.
 */
void __vrq_note_waker(struct task_struct *p)
{
	p->vrq.margin = woken_from_outside() ? 0 :
			max_t(s64, vrq_preempt_margin(), p->vrq.span);
	/* The sleep ended because of another task, maybe a real-time one, see weight.c */
	if (in_task() && !(current->flags & PF_KTHREAD))
		p->vrq.since = 0;
}

#ifdef CONFIG_SMP
/* SCHED_BATCH preempts only those that want what is left */
static bool can_preempt(int cpu, const struct task_struct *p)
{
	s64 margin = p->policy == SCHED_BATCH ? BETTER_LEVEL : p->vrq.margin;
	struct vrq_rq *vrq = &cpu_rq(cpu)->vrq;

	return cpumask_test_cpu(cpu, p->cpus_ptr) &&
	       atomic64_read(&vrq->priodl) - vrq_key(p) > margin &&
	       !READ_ONCE(vrq->slot);
}

/* Will @p be the next once the current task sleeps, if it waits for that in the slot? */
static bool is_next_here(struct rq *rq, const struct task_struct *p)
{
	s64 key = vrq_key(p);

	return !READ_ONCE(rq->vrq.slot) &&
	       vrq_queue_best_key(&rq->vrq.queue) > key &&
	       vrq_queue_best_key(&rq->vrq.pinned) > key &&
	       vrq_shared_best_key(cpu_of(rq)) > key;
}

/* How many CPUs but the previous one to look at for a task to preempt */
#define PREEMPT_TRIES	4

/*
 * Is it worth while to search for a task to preempt on other CPUs than the previous one? It is
 * for a task that is woken by an interrupt. As long as SCHED_IDLE tasks are queued in @domain,
 * it is for all tasks that are not SCHED_IDLE, unless the waker is known to hand over @this_rq
 * to the task. Other tasks are served as well at the previous CPU: with the search for them
 * too hackbench took 2% longer on 16 CPUs.
 */
static bool searches(struct rq *this_rq, const struct vrq_domain *domain,
		     const struct task_struct *p, bool trusted)
{
	if (!READ_ONCE(vrq_interactive))
		return false;
	if (!p->vrq.margin && p->policy != SCHED_BATCH)
		return true;

	return p->vrq.level != VRQ_IDLE && atomic64_read(&domain->idle_weight) &&
	       !(trusted && is_next_here(this_rq, p));
}

/*
 * Find a CPU whose task can be preempted: the previous one, or one of a few others of its
 * domain, from a position on that moves with each search. This is the first such CPU, not the
 * best: to look at every CPU for that cost VRQ more than it gained. With the tunable
 * interactive at 0 there is no search.
 */
static int first_to_preempt(struct rq *this_rq, struct task_struct *p, int prev,
			    bool trusted)
{
	const struct vrq_domain *domain = vrq_domain_of(prev);
	/* Pairs with the release in join() in domain.c */
	unsigned int i, tries, nr = smp_load_acquire(&domain->nr_cpus);

	/* It could preempt only a SCHED_IDLE task */
	if (p->vrq.margin == BETTER_LEVEL && p->vrq.level != VRQ_ISO &&
	    !atomic64_read(&domain->idle_weight))
		return -1;
	if (can_preempt(prev, p))
		return prev;
	if (!searches(this_rq, domain, p, trusted))
		return -1;

	/* Interrupts of this CPU may change this meanwhile: any value will do */
	i = READ_ONCE(this_rq->vrq.sample);
	for (tries = min(nr, PREEMPT_TRIES); tries; tries--) {
		if (++i >= nr)
			i = 0;
		if (can_preempt(domain->cpus[i], p))
			break;
	}
	WRITE_ONCE(this_rq->vrq.sample, i);

	return tries ? domain->cpus[i] : -1;
}

/*
 * Does the current task really sleep after a synchronous wake-up? The writer of a pipe says at
 * every write that it is about to sleep, whether it then waits for an answer or goes on
 * writing. So a task is trusted only after it has slept as announced SYNC_TRUSTED times in a
 * row: within SYNC_SLEEP_NS of the wake-up, and without another synchronous wake-up in
 * between. If a trusted task does not sleep, the woken task may wait for a tick beside idle
 * CPUs: one wake-up in nine at most.
 */
#define SYNC_SLEEP_NS		(100 * NSEC_PER_USEC)
#define SYNC_TRUSTED		8

static void trust(struct task_struct *p, bool kept_its_word)
{
	if (kept_its_word)
		p->vrq.sync_trust += p->vrq.sync_trust < SYNC_TRUSTED;
	else
		p->vrq.sync_trust = 0;
}

static bool trusted_sync(struct task_struct *waker)
{
	if (waker->vrq.sync_wakeup)
		trust(waker, false);
	waker->vrq.sync_wakeup = sched_clock_cpu(smp_processor_id());

	return waker->vrq.sync_trust == SYNC_TRUSTED;
}

/* Has this CPU nothing else to do once its current task sleeps? */
static bool waker_is_alone(struct rq *rq)
{
	return READ_ONCE(rq->nr_running) == 1 && !READ_ONCE(rq->vrq.slot) &&
	       vrq_shared_best_key(cpu_of(rq)) == VRQ_KEY_NONE;
}

/**
 * vrq_select_task_rq - choose the run queue for a task that becomes runnable
 * @p: the task; p->pi_lock held, and nobody else touches @p
 * @prev_cpu: the CPU it ran on last
 * @wake_flags: WF_*
 *
 * The waker's CPU, if nothing else is to do there and the waker is about to
 * sleep; an idle CPU, the nearest to @prev_cpu; a CPU near @prev_cpu whose task may be
 * preempted. Else @p has to wait: for the waker to sleep, or at @prev_cpu.
 *
 * Return: the CPU; it may be one that is not allowed, which the core sees to.
 */
int vrq_select_task_rq(struct task_struct *p, int prev_cpu, int wake_flags)
{
	int cpu, this_cpu = smp_processor_id();
	struct rq *this_rq = cpu_rq(this_cpu);
	bool sync, trusted = false;

	/* exec(): the task runs here, and finds a free CPU when it next has to wait */
	if (wake_flags & WF_EXEC)
		return prev_cpu;

	/* Its waker waits for it, and says so */
	if (wake_flags & WF_CURRENT_CPU && cpumask_test_cpu(this_cpu, p->cpus_ptr)) {
		p->vrq.stay = true;
		return this_cpu;
	}

	sync = sync_wakeup(this_cpu, wake_flags) &&
	       cpumask_test_cpu(this_cpu, p->cpus_ptr) &&
	       (this_cpu == prev_cpu || !vrq_leaves_alone(p, this_cpu));
	if (sync) {
		trusted = trusted_sync(current);
		/* The waker makes room by itself */
		p->vrq.margin = BETTER_LEVEL;
	}

	if (trusted && waker_is_alone(this_rq)) {
		vrq_count(VRQ_WAKE_STAY);
		p->vrq.stay = true;
		return this_cpu;
	}

	cpu = vrq_claim_idle(p, prev_cpu);
	if (cpu >= 0) {
		vrq_count(VRQ_WAKE_IDLE);
		return cpu;
	}

	cpu = first_to_preempt(this_rq, p, prev_cpu, trusted);
	if (cpu >= 0) {
		vrq_count(VRQ_WAKE_PREEMPT);
		return cpu;
	}

	if (trusted && !READ_ONCE(this_rq->vrq.slot)) {
		vrq_count(VRQ_WAKE_STAY);
		p->vrq.stay = true;
		return this_cpu;
	}

	vrq_count(VRQ_WAKE_QUEUE);

	return sync ? this_cpu : prev_cpu;
}

/**
 * vrq_note_sleep - the current task goes to sleep
 * @rq: its run queue, locked, its clock updated
 * @p: the task
 */
void vrq_note_sleep(struct rq *rq, struct task_struct *p)
{
	if (!p->vrq.sync_wakeup)
		return;

	/* the run queue's clock may be a little behind */
	trust(p, (s64)(rq_clock(rq) - p->vrq.sync_wakeup) < (s64)SYNC_SLEEP_NS);
	p->vrq.sync_wakeup = 0;
}
#endif /* CONFIG_SMP */

/**
 * vrq_wakeup_preempt - let a task that has just been queued run at once?
 * @rq: its home, locked, running another task of VRQ's
 * @p: the task
 * @wake_flags: WF_*
 *
 * If so, vrq_place() has put the task into the slot. There is one exception: a task whose
 * waker is about to sleep waits in the slot until then.
 */
void vrq_wakeup_preempt(struct rq *rq, struct task_struct *p, int wake_flags)
{
	if (p->vrq.place != VRQ_IN_SLOT && p->vrq.place != VRQ_PINNED)
		return;

	/* vrq_select_task_rq() is not called if there is no choice of CPUs */
	if (p->vrq.place == VRQ_PINNED && sync_wakeup(cpu_of(rq), wake_flags))
		p->vrq.margin = BETTER_LEVEL;

	if (vrq_may_preempt(p, vrq_curr(rq)))
		resched_curr(rq);
}
