// SPDX-License-Identifier: GPL-2.0-only
/*
 * Throttling: a task whose group has used up its limit stops where it returns to user
 * space, and goes on when the limit is refilled. Its deadline is as far ahead, or as long past,
 * as it was when the task stopped. Otherwise all tasks of a group would be late at the refill,
 * and run before all other tasks until the limit is used up.
 *
 * In the kernel the task goes on, because it may hold a lock that others wait for. A task work
 * stops it. The work is added when the task is picked, at a tick, or by a timer of its CPU if
 * the group may reach the limit before the next tick. The timer is left to expire when the
 * task leaves the CPU: for tasks that sleep often, to cancel it would cost more than to look
 * once in vain.
 *
 * The work takes the task out of the run queue and puts it into a list of the group whose
 * limit is reached, on its CPU (VRQ_THROTTLED). For the core the task is runnable all the
 * time: on_rq is set. Whatever changes the task (affinity, policy, nice level, group, priority
 * inheritance) takes it out by dequeue_task() and queues it by enqueue_task(). Then the task
 * runs once more, and is stopped again if its limit is reached. The same holds for a task that
 * was stopped for one group, and is in another group whose limit is reached too.
 *
 * The lists are protected by the rq->lock of their CPU.
 *
 * The idea of stopping at the return to user space is that of mainline from 6.18 on.
 */
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/sched/jobctl.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>

#include "throttle.h"

/* Minimum time until the timer expires, ns */
#define TIMER_MIN	(10 * NSEC_PER_USEC)
/* How many tasks go on in one hold of an rq->lock */
#define RESUME_BATCH	32
/* How many throttled tasks to check whether they have to go on, in a period */
#define EXEMPT_TRIES	512
/* How often threads of io_uring go on for a moment, which may hold a lock. In jiffies */
#define WORKERS_EVERY	(30 * HZ)

/* Mainline counts for cpu.stat.local how long there are throttled tasks in a group */
static void note_stopped(struct rq *rq, struct task_struct *p, int sign)
{
	struct vrq_group *group = vrq_group_of(p);
	struct vrq_group_cpu *part;

	for (; group; group = group->parent) {
		part = vrq_group_part(rq, group);
		if (sign > 0 && !part->stopped)
			part->stopped_at = rq_clock(rq);
		part->stopped += sign;
		if (sign < 0 && !part->stopped)
			group->tg->cfs_rq[cpu_of(rq)]->throttled_clock_self_time +=
				rq_clock(rq) - part->stopped_at;
	}
}

/* Put a task, which is in no queue, among the throttled ones of a group */
static void throttle_in(struct rq *rq, struct vrq_group *group, struct task_struct *p)
{
	struct vrq_group_cpu *part = vrq_group_part(rq, group);

	if (list_empty(&part->throttled))
		part->throttled_at = rq_clock(rq);
	list_add_tail(&p->vrq.throttled, &part->throttled);
	p->vrq.throttled_by = group;
	p->vrq.place = VRQ_THROTTLED;
	p->vrq.since = rq_clock(rq);
	note_stopped(rq, p, 1);
}

/**
 * vrq_throttle_out - take a task out of the throttled ones
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task, VRQ_THROTTLED
 */
void vrq_throttle_out(struct rq *rq, struct task_struct *p)
{
	struct vrq_group *group = p->vrq.throttled_by;
	struct vrq_group_cpu *part = vrq_group_part(rq, group);

	list_del(&p->vrq.throttled);
	p->vrq.deadline += rq_clock(rq) - p->vrq.since;
	/* It may be on its way from throttle() into schedule() */
	p->vrq.place = vrq_curr(rq) == p ? VRQ_ON_CPU : VRQ_NOWHERE;
	note_stopped(rq, p, -1);
	if (list_empty(&part->throttled))
		vrq_limit_go(rq, group, rq_clock(rq) - part->throttled_at);
}

static bool may_stop(struct task_struct *p)
{
	return vrq_task(p) && vrq_limit_stops(p);
}

/*
 * Does a task stop or freeze before it returns to user space, because a debugger, SIGSTOP or a
 * freezer wants it to? A signal for its process may be left to another thread: only with
 * TIF_SIGPENDING does this one look for it.
 */
static bool stops_anyway(struct task_struct *p)
{
	if (!task_sigpending(p))
		return false;
	if (freezing(p))
		return true;
	/* It never returns there, and looks for signals only when it has no work left */
	if (p->flags & PF_IO_WORKER)
		return false;

	/* Written under sighand->siglock: it may be seen only the next time */
	return data_race(READ_ONCE(p->jobctl) & (JOBCTL_PENDING_MASK | JOBCTL_TRAP_FREEZE) ||
			 sigismember(&p->pending.signal, SIGSTOP) ||
			 sigismember(&p->signal->shared_pending.signal, SIGSTOP));
}

/* Look at the limit again in @left ns, if that is before the next tick */
static void start_timer(struct rq *rq, s64 left)
{
	int cpu = cpu_of(rq);

	/*
	 * The timer expires on the CPU that starts it. If another CPU asks, the tick has to do
	 */
	if (left >= TICK_NSEC || cpu != smp_processor_id() || !cpu_active(cpu))
		return;

	hrtimer_start(&rq->vrq.limit_timer, ns_to_ktime(max_t(s64, left, TIMER_MIN)),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* A task work: runs as @p returns to user space, with no lock held */
static void throttle(struct callback_head *work)
{
	struct task_struct *p = current;
	struct vrq_group *group = NULL;
	struct rq_flags rf;
	struct rq *rq;
	s64 left;

	rq = this_rq_lock_irq(&rf);
	p->vrq.to_throttle = false;
	update_rq_clock(rq);
	/* What it is to stop for may be over before it stops: then the timer finds it */
	if (stops_anyway(p))
		start_timer(rq, 0);
	else if (may_stop(p) && !p->vrq.spared)
		group = vrq_limit_reached(rq, p, &left);
	p->vrq.spared = false;
	if (group && vrq_limit_stop(rq, group)) {
		p->sched_class->dequeue_task(rq, p, DEQUEUE_NOCLOCK);
		throttle_in(rq, group, p);
	} else {
		group = NULL;
	}
	rq_unlock_irq(rq, &rf);

	/*
	 * schedule() returns when the task has been picked again. If it has to stop again,
	 * another work is added
	 */
	if (group)
		schedule();
}

static enum hrtimer_restart look_at_limit(struct hrtimer *timer)
{
	struct rq *rq = container_of(timer, struct rq, vrq.limit_timer);
	struct task_struct *curr;
	struct rq_flags rf;

	rq_lock(rq, &rf);
	update_rq_clock(rq);
	curr = vrq_curr(rq);
	/* Else it is about to be switched out, see throttle() */
	if (vrq_task(curr) && curr->vrq.place == VRQ_ON_CPU) {
		curr->sched_class->update_curr(rq);
		vrq_throttle_check(rq, curr);
	}
	rq_unlock(rq, &rf);

	return HRTIMER_NORESTART;
}

/**
 * vrq_throttle_init_rq - prepare a run queue at boot
 * @rq: the run queue
 */
void __init vrq_throttle_init_rq(struct rq *rq)
{
	hrtimer_init(&rq->vrq.limit_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	rq->vrq.limit_timer.function = look_at_limit;
}

/* See vrq_throttle_check() */
void __vrq_throttle_check(struct rq *rq, struct task_struct *p)
{
	s64 left;

	if (p->vrq.to_throttle || !may_stop(p))
		return;
	if (!vrq_limit_reached(rq, p, &left)) {
		start_timer(rq, left);
		return;
	}

	init_task_work(&p->vrq.throttle_work, throttle);
	p->vrq.to_throttle = !task_work_add(p, &p->vrq.throttle_work,
					    TWA_RESUME | TWAF_NO_ALLOC);
}

/* Let a throttled task go on */
static void resume(struct rq *rq, struct task_struct *p)
{
	vrq_throttle_out(rq, p);
	p->sched_class->enqueue_task(rq, p, ENQUEUE_NOCLOCK);
	wakeup_preempt(rq, p, 0);
}

/* Let some of the throttled tasks of a group go on: true if there are more on this CPU */
static bool resume_some(struct rq *rq, struct vrq_group *group)
{
	struct list_head *throttled = &vrq_group_part(rq, group)->throttled;
	int i;

	for (i = 0; i < RESUME_BATCH && !list_empty(throttled); i++)
		resume(rq, list_first_entry(throttled, struct task_struct, vrq.throttled));

	return !list_empty(throttled);
}

/*
 * Does somebody wait for a throttled task? A debt may last for hours.
 *
 *  - One that is killed has to end.
 *  - Debugger, job control, freezer or suspend wait until one has stopped or frozen. SIGTSTP
 *    does not count, because the task may run a handler of it.
 *  - synchronize_rcu_tasks() waits until each task that is runnable has called schedule(). This
 *    one has, but before, and it does so once more.
 *  - Threads of io_uring may hold a lock, see vrq_limit_stops().
 */
static bool is_waited_for(struct task_struct *p, bool workers)
{
	/* The signal is sent under another lock: it may be seen only in the next period */
	if (data_race(fatal_signal_pending(p)) || stops_anyway(p))
		return true;
	if (workers && p->flags & PF_IO_WORKER) {
		p->vrq.spared = true;
		return true;
	}
#ifdef CONFIG_TASKS_RCU
	/* Written by the thread of a grace period, which looks again and again */
	return data_race(READ_ONCE(p->rcu_tasks_holdout));
#else
	return false;
#endif
}

/*
 * Resume some of the throttled tasks that somebody waits for. Returns true if there may be
 * more. If many other tasks are throttled, some of them are looked at in each period.
 */
static bool resume_exempt(struct rq *rq, struct vrq_group *group, bool workers, int *tries)
{
	struct list_head *throttled = &vrq_group_part(rq, group)->throttled;
	struct task_struct *p;
	int resumed = 0;

	while (resumed < RESUME_BATCH && *tries && !list_empty(throttled)) {
		--*tries;
		p = list_first_entry(throttled, struct task_struct, vrq.throttled);
		if (is_waited_for(p, workers)) {
			resume(rq, p);
			resumed++;
		} else {
			list_move_tail(&p->vrq.throttled, throttled);
		}
	}

	return resumed == RESUME_BATCH;
}

static void resume_on(int cpu, struct vrq_group *group, bool workers)
{
	struct rq *rq = cpu_rq(cpu);
	int tries = EXEMPT_TRIES;
	struct rq_flags rf;
	bool more;

	do {
		rq_lock_irqsave(rq, &rf);
		update_rq_clock(rq);
		more = vrq_limit_refill(rq, group) ? resume_some(rq, group) :
						     resume_exempt(rq, group, workers, &tries);
		rq_unlock_irqrestore(rq, &rf);
	} while (more);
}

/**
 * vrq_throttled - do tasks wait for a limit to be refilled, or is there a debt to be paid?
 * @cfs_b: the limit, of a group; its lock is held
 *
 * Asked by mainline's timer.
 *
 * Return: true if so, and then the timer goes on.
 */
bool vrq_throttled(struct cfs_bandwidth *cfs_b)
{
	struct vrq_group *group = container_of(cfs_b, struct task_group, cfs_bandwidth)->vrq;

	return group && (!cpumask_empty(group->throttled) ||
			 (sched_vrq_enabled() && group->debt));
}

/**
 * vrq_unthrottle - resume the tasks that wait for a limit which has been refilled
 * @cfs_b: the limit, of a group; its lock is not held
 *
 * Resumes tasks as long as something is left for their CPUs. Tasks that somebody waits for are
 * resumed even if nothing is left. Begins with another CPU each time, because there may be too
 * little for all CPUs.
 */
void vrq_unthrottle(struct cfs_bandwidth *cfs_b)
{
	struct vrq_group *group = container_of(cfs_b, struct task_group, cfs_bandwidth)->vrq;
	int first = cpumask_next_wrap(READ_ONCE(group->first_cpu), group->throttled, nr_cpu_ids,
				      false);
	unsigned long last = READ_ONCE(group->workers_at);
	bool workers = !time_in_range(jiffies, last, last + WORKERS_EVERY);
	int cpu;

	vrq_limit_pay(group);
	/* They may all have left the group by now */
	if (first >= nr_cpu_ids)
		return;

	/* A timer and a new limit may be here at once. Then workers may go on once too often */
	WRITE_ONCE(group->first_cpu, first);
	if (workers)
		WRITE_ONCE(group->workers_at, jiffies);
	for_each_cpu_wrap(cpu, group->throttled, first)
		resume_on(cpu, group, workers);
}

/**
 * vrq_limit_changed - cpu.max of a group has been written
 * @tg: the group; no CPU comes or goes meanwhile
 *
 * Throttled tasks are resumed as far as the new limit allows.
 */
void vrq_limit_changed(struct task_group *tg)
{
	if (!tg->vrq)
		return;

	vrq_group_note_settings();
	vrq_limit_restart(tg->vrq);
	vrq_unthrottle(&tg->cfs_bandwidth);
}

/**
 * vrq_throttle_offline - resume all throttled tasks of a CPU that goes down
 * @rq: its run queue, locked, its clock updated; it is no longer active
 */
void vrq_throttle_offline(struct rq *rq)
{
	struct task_group *tg;

	guard(rcu)();
	list_for_each_entry_rcu(tg, &task_groups, list) {
		while (tg->vrq && resume_some(rq, tg->vrq))
			;
	}
}
