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
 * __vrq_note_waker - a task that sleeps is woken up: how does it compete with others?
 * @p: the task, or a new one, whose parent counts as its waker; p->pi_lock held, it is in
 *	no queue
 *
 * How much earlier its deadline must be to preempt. Who is woken by an interrupt has
 * waited for a time or a device, and preempts whoever is less urgent. Who is woken by
 * another task takes turns with it or others like it: only if it is behind by a whole
 * turn, or of a better level.
 *
 * The waker is known here only: an interrupt of the CPU of @p may do the rest.
 */
void __vrq_note_waker(struct task_struct *p)
{
	p->vrq.margin = woken_from_outside() ? 0 :
			max_t(s64, vrq_preempt_margin(), p->vrq.span);
	/* What it slept was for another task, if only a real-time one, see weight.c */
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
 * Is it worth while to look for a task to preempt on other CPUs than the previous one?
 * For a task that is woken by an interrupt; and as long as SCHED_IDLE tasks are queued
 * there, for all that are not SCHED_IDLE. Others are as well served at the previous CPU:
 * with the search for them too hackbench took 2% longer on 16 CPUs. Nor for one to which
 * its waker is known to hand over @this_rq.
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
 * A CPU that runs a task to be preempted: the previous one, or one of a few others of
 * its domain, from a place on that moves with each look. The first, not the best: to
 * look at every CPU for that cost VRQ more than it gained. With the tunable interactive
 * at 0 nobody searches.
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

	/* Raced for with interrupts of this CPU: any value will do */
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
 * Does a synchronous wake-up by the current task mean what it says? A pipe's
 * writer tells of every write that it is about to sleep, whether it then waits
 * for an answer or writes on. So a task's word counts once it has kept it so many
 * times in a row: it slept within SYNC_SLEEP_NS of the wake-up, and said it to
 * nobody else in between. If it does not keep it then, the woken task may wait for a
 * tick beside idle CPUs: one wake-up in nine at the most.
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

/* Nothing else to do for this CPU once its current task sleeps? */
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

	/* It runs here, and finds a free CPU when it next has to wait */
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
 * vrq_place() put it into the slot if so, with one exception: beside a waker
 * about to sleep it waits there for that.
 */
void vrq_wakeup_preempt(struct rq *rq, struct task_struct *p, int wake_flags)
{
	if (p->vrq.place != VRQ_IN_SLOT && p->vrq.place != VRQ_PINNED)
		return;

	/* vrq_select_task_rq() is not asked where there is no choice */
	if (p->vrq.place == VRQ_PINNED && sync_wakeup(cpu_of(rq), wake_flags))
		p->vrq.margin = BETTER_LEVEL;

	if (vrq_may_preempt(p, vrq_curr(rq)))
		resched_curr(rq);
}
