// SPDX-License-Identifier: GPL-2.0-only
/*
 * A change of the scheduler while the machine runs.
 *
 * All CPUs are in stop_machine() during the change. So no task of either class runs, and no
 * task holds a raw spin lock, or has interrupts or preemption disabled: no run queue is
 * locked, and no wake-up or switch is half done. One CPU takes every task of the old class out
 * of its queue, changes sched_vrq_active, and queues the tasks again in the new class. The two
 * classes never have tasks queued at the same time, because both count them in rq->cfs.
 *
 * Tasks that are not queued keep the old class for a moment longer. They get the new class
 * when they are queued, see __vrq_check_class(), or from vrq_switch() once the other CPUs run
 * again, whichever comes first. So the machine stands still only for as long as it takes to
 * queue the tasks that are runnable.
 *
 * Tasks are found in the list of all tasks. A task that exits leaves the list before it ends,
 * and may be queued then. If such a task is left in a queue, all tasks are put back, and the
 * change is tried again a moment later.
 *
 * Groups of the fair class may have been left in rq->cfs, without tasks, until it is their
 * turn to be dequeued. They stay there while VRQ runs, and their load in rq->cfs.load.
 *
 * The static keys are changed before and after, for that cannot be done with all CPUs
 * stopped.
 *
 * The idea to move all tasks from one class to the other is that of sched_ext, which does
 * it one by one while both classes run.
 */
#include <linux/delay.h>
#include <linux/rtmutex.h>
#include <linux/sched/signal.h>
#include <linux/stop_machine.h>

#include "answer.h"
#include "entity.h"
#include "group.h"
#include "limit.h"
#include "load.h"
#include "switch.h"
#include "../pelt.h"

DEFINE_STATIC_KEY_FALSE(__sched_vrq_switched);
/* Is VRQ active? Valid once __sched_vrq_switched is set. Written with all CPUs stopped */
bool sched_vrq_active;

/* How often to try while a queued task is in no list, and the longest pause between, ms */
#define TRIES	50
#define PAUSE_MAX_MS	32

/* Since boot. Written with all CPUs stopped */
static unsigned int switches;

/*
 * Held during a switch, and from vrq_keep_out() to vrq_let_in(). It lends priority, because
 * the watchdog waits for it, and its holder may be the task that is stuck.
 */
static DEFINE_RT_MUTEX(mutex);

/**
 * struct move - tasks on their way
 * @from: the class that they leave
 * @to: the class that they get
 * @queued: those that are to be queued again, in the order in which they were found
 * @running: the task that switches, where stop_machine() has no task of its own: on a
 *	kernel for one CPU
 */
struct move {
	const struct sched_class	*from;
	const struct sched_class	*to;
	struct list_head		queued;
	struct task_struct		*running;
};

/**
 * struct switching - what stop_machine() is told, and tells
 * @vrq: to VRQ, else to the fair class
 * @pause: how long all CPUs were stopped, ns
 */
struct switching {
	bool	vrq;
	u64	pause;
};

static struct move move_to(bool vrq)
{
	return (struct move) {
		.from = vrq ? &fair_sched_class : &vrq_sched_class,
		.to = vrq ? &vrq_sched_class : &fair_sched_class,
	};
}

static bool is_queued(const struct task_struct *p, const struct move *move)
{
	return p->sched_class == move->from && READ_ONCE(p->on_rq);
}

/* Do something with the locks of a task, and the clock of its run queue updated */
static void do_locked(void (*what)(struct rq *rq, struct task_struct *p, struct move *move),
		      struct task_struct *p, struct move *move)
{
	CLASS(task_rq_lock, rq_guard)(p);
	/* sparse does not know that the guard unlocks */
	__release(p->pi_lock);
	__release(rq_guard.rq->lock);
	update_rq_clock(rq_guard.rq);
	what(rq_guard.rq, p, move);
}

static void take_out(struct rq *rq, struct task_struct *p, struct move *move)
{
	/* The task sleeps, but the fair class keeps it queued until it would be its turn */
	if (p->se.sched_delayed)
		dequeue_task(rq, p, DEQUEUE_SLEEP | DEQUEUE_DELAYED | DEQUEUE_NOCLOCK);
	if (task_on_rq_queued(p)) {
		dequeue_task(rq, p, DEQUEUE_SAVE | DEQUEUE_MOVE | DEQUEUE_NOCLOCK);
		list_add_tail(&p->vrq.moved, &move->queued);
	}
	if (vrq_curr(rq) == p) {
		p->sched_class->put_prev_task(rq, p, NULL);
		move->running = p;
	}
}

/* The fair class has no SCHED_ISO. The lock of its run queue is held */
static void change_policy(struct task_struct *p, bool to_vrq)
{
	if (!to_vrq && p->policy == SCHED_ISO) {
		p->policy = SCHED_NORMAL;
		p->vrq.was_iso = true;
	} else if (to_vrq && p->vrq.was_iso) {
		if (p->policy == SCHED_NORMAL)
			p->policy = SCHED_ISO;
		p->vrq.was_iso = false;
	}
}

/* Forget what the task used in another class. The lock of its run queue is held */
static void forget_past(struct task_struct *p)
{
	p->vrq.used_at = p->se.sum_exec_runtime;
	p->vrq.woken_at = p->se.sum_exec_runtime;
	p->vrq.renewed_used = p->se.sum_exec_runtime;
	p->vrq.since = 0;
	p->vrq.waited = 0;
	p->vrq.waited_awake = 0;
	p->vrq.ahead_until = 0;
	p->vrq.passed_over_ms = 0;
	p->vrq.place = VRQ_NOWHERE;
	vrq_note_affinity(p);
}

static void change_class(struct rq *rq, struct task_struct *p, const struct sched_class *to)
{
	const struct sched_class *from = p->sched_class;

	change_policy(p, to == &vrq_sched_class);
	/* It never left VRQ if a switch has failed */
	if (to == &vrq_sched_class && from != to)
		forget_past(p);
	p->sched_class = to;
	check_class_changing(rq, p, from);
}

/*
 * Give the load of a task that is not of the fair class some age, as in mainline. With an age
 * of 0 the load would be attached twice when the task comes back to that class: when it is
 * queued and when it is switched. The age is 0 if the task has changed its CPU when it was
 * woken up.
 */
static void note_age(struct rq *rq, struct task_struct *p)
{
#ifdef CONFIG_SMP
	if (!p->se.avg.last_update_time)
		p->se.avg.last_update_time = rq_clock_pelt(rq);
#endif
}

static void put_in(struct rq *rq, struct task_struct *p, struct move *move)
{
	change_class(rq, p, move->to);
	note_age(rq, p);
	enqueue_task(rq, p, ENQUEUE_RESTORE | ENQUEUE_MOVE | ENQUEUE_NOCLOCK);
	if (p == move->running)
		p->sched_class->set_next_task(rq, p, false);
	check_class_changed(rq, p, move->from, p->prio);
}

static void put_all_in(struct move *move)
{
	struct task_struct *p, *next;

	list_for_each_entry_safe(p, next, &move->queued, vrq.moved) {
		list_del(&p->vrq.moved);
		do_locked(put_in, p, move);
	}
}

/* Give a queued task a slice, and a deadline for the load as it is known now */
static void give_turn(struct rq *rq, struct task_struct *p, struct move *move)
{
	/* For the running one it is too late */
	if (!task_on_rq_queued(p) || p == move->running)
		return;

	dequeue_task(rq, p, DEQUEUE_SAVE | DEQUEUE_NOCLOCK);
	p->vrq.deadline = rq_clock(rq);
	p->vrq.slice = 0;
	enqueue_task(rq, p, ENQUEUE_RESTORE | ENQUEUE_NOCLOCK);
}

/*
 * All tasks are queued by now. Before, it was not known how many there are, neither in their
 * groups nor on the machine. With deadlines from that time, all of 120 hogs ran before tasks
 * that woke up after one switch in four: for 56 ms, on 8 CPUs.
 */
static void give_turns(struct move *move)
{
	struct task_struct *g, *p;

	vrq_group_begin_anew();
	vrq_load_begin_anew();
	for_each_process_thread(g, p) {
		if (p->sched_class == move->to && READ_ONCE(p->on_rq))
			do_locked(give_turn, p, move);
	}
}

/* Tasks in a group that the fair class has throttled are not counted in its parent */
static bool groups_are_empty(int cpu)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	struct task_group *tg;

	list_for_each_entry_rcu(tg, &task_groups, list) {
		if (tg->cfs_rq[cpu]->h_nr_queued)
			return false;
	}
#endif
	return true;
}

/* All tasks of the list are out of the queue: are there others? If not, stop its server */
static bool queue_is_empty(int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct rq_flags rf;

	if (rq->cfs.h_nr_queued || !groups_are_empty(cpu))
		return false;

	rq_lock_irqsave(rq, &rf);
	update_rq_clock(rq);
	dl_server_stop(&rq->fair_server);
	rq_unlock_irqrestore(rq, &rf);

	return true;
}

/* Apply what changed for groups under the fair class, and forget what they owed before */
static void restart_limits(void)
{
#ifdef CONFIG_CFS_BANDWIDTH
	struct task_group *tg;

	list_for_each_entry_rcu(tg, &task_groups, list) {
		if (tg->vrq && tg->cfs_bandwidth.quota != RUNTIME_INF)
			vrq_limit_restart(tg->vrq);
	}
#endif
	vrq_group_note_settings();
}

static int move_all(struct move *move, bool to_vrq)
{
	struct task_struct *g, *p;
	int cpu, err = 0;

	for_each_process_thread(g, p) {
		if (is_queued(p, move))
			do_locked(take_out, p, move);
	}
	for_each_possible_cpu(cpu) {
		if (!queue_is_empty(cpu))
			err = -EAGAIN;
	}
	if (err) {
		move->to = move->from;
		put_all_in(move);
		return err;
	}

	WRITE_ONCE(sched_vrq_active, to_vrq);
	WRITE_ONCE(switches, switches + 1);
	if (to_vrq)
		restart_limits();
	put_all_in(move);
	if (to_vrq)
		give_turns(move);

	return 0;
}

/* Called by stop_machine(): all other CPUs wait, with interrupts off */
static int switch_stopped(void *data)
{
	struct switching *to = data;
	struct move move = move_to(to->vrq);
	u64 start = ktime_get_ns();
	int err;

	INIT_LIST_HEAD(&move.queued);
	if (to->vrq && (scx_enabled() || !sched_core_disabled()))
		return -EBUSY;

	scoped_guard(rcu)
		err = move_all(&move, to->vrq);
	to->pause = ktime_get_ns() - start;

	return err;
}

/*
 * A new task has no load yet in the fair class, and a dead one has none any more: for them
 * that class has nothing to do.
 */
static bool has_load(const struct task_struct *p)
{
	return !(READ_ONCE(p->__state) & (TASK_NEW | TASK_DEAD));
}

/* Change the class and the policy of a task that is not queued, unless that is done already */
static void hand_over(struct rq *rq, struct task_struct *p, struct move *move)
{
	if (p->sched_class != move->from) {
		change_policy(p, move->to == &vrq_sched_class);
		return;
	}

	change_class(rq, p, move->to);
	if (!has_load(p))
		return;
	check_class_changed(rq, p, move->from, p->prio);
	if (move->to == &vrq_sched_class)
		note_age(rq, p);
}

/*
 * Is a task still to be handed over? With a lent priority it is of another class, but its
 * policy may have to be changed
 */
static bool is_left(const struct task_struct *p, const struct move *move)
{
	return READ_ONCE(p->sched_class) == move->from ||
	       (move->to == &vrq_sched_class ? p->vrq.was_iso : p->policy == SCHED_ISO);
}

/* After this many tasks hand_over_some() lets other tasks run */
#define BATCH	256

/* Hand over some of the tasks that are left: true if there may be more */
static bool hand_over_some(struct move *move)
{
	struct task_struct *g, *p;
	int n = 0;

	guard(rcu)();
	for_each_process_thread(g, p) {
		if (!is_left(p, move))
			continue;
		do_locked(hand_over, p, move);
		if (++n == BATCH)
			return true;
	}

	return false;
}

/* Sleep by a timer that needs no thread of the class that may be stuck */
static void pause_ms(unsigned int ms)
{
	usleep_range(ms * USEC_PER_MSEC, 2 * ms * USEC_PER_MSEC);
}

/* Try until every queued task is in the list of tasks, or it takes too long */
static int switch_with_keys_set(struct switching *to)
{
	int tries, err = -EAGAIN, cpu = vrq_silent_cpu();

	if (cpu >= 0) {
		pr_warn("sched: CPU %d does not switch tasks\n", cpu);
		return -EBUSY;
	}

	for (tries = 0; tries < TRIES && err == -EAGAIN; tries++) {
		err = stop_machine(switch_stopped, to, NULL);
		if (err == -EAGAIN)
			pause_ms(min(1 << tries / 4, PAUSE_MAX_MS));
	}

	return err == -EAGAIN ? -EBUSY : err;
}

static int switch_locked(bool to_vrq)
{
	struct move move = move_to(to_vrq);
	struct switching to = { .vrq = to_vrq };
	int err;

	if (to_vrq == sched_vrq_enabled())
		return 0;

	WRITE_ONCE(sched_vrq_active, !to_vrq);
	static_branch_enable(&__sched_vrq_switched);
	static_branch_enable(&__sched_vrq_enabled);
	err = switch_with_keys_set(&to);
	while (!err && hand_over_some(&move))
		cond_resched();
	if (err)
		pr_warn("sched: cannot switch to %s: %d\n", vrq_name_of(to_vrq), err);
	else
		pr_info("sched: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE are scheduled by %s; all CPUs were stopped for %llu us\n",
			vrq_name_of(to_vrq), div_u64(to.pause, NSEC_PER_USEC));
	/* So the test at each task switch costs nothing again */
	if (!sched_vrq_active)
		static_branch_disable(&__sched_vrq_enabled);

	return err;
}

/**
 * vrq_switch - change the scheduler of SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE
 * @to_vrq: to VRQ, for which vrq_set_up() has been called, else to the fair class
 *
 * May sleep. During the switch no task runs, for a time in proportion to the number of
 * runnable tasks, and of task groups on each CPU. Does nothing if that scheduler is active
 * already.
 *
 * Return: 0, or -EBUSY if sched_ext or core scheduling is in use, a CPU does not switch tasks
 * or a task that exits does not come to its end.
 */
int vrq_switch(bool to_vrq)
{
	int err;

	rt_mutex_lock(&mutex);
	err = switch_locked(to_vrq);
	rt_mutex_unlock(&mutex);

	return err;
}

/**
 * __vrq_check_class - give a task the class that runs, before it is queued
 * @rq: its run queue, locked
 * @p: the task
 *
 * For one that was in no list when the scheduler was changed, a new one or one that exits.
 */
void __vrq_check_class(struct rq *rq, struct task_struct *p)
{
	const struct sched_class *class = p->sched_class, *right = fair_or_vrq_class();

	if (class != &fair_sched_class && class != &vrq_sched_class)
		return;

	/* It may have been copied from a SCHED_ISO task before the scheduler was changed */
	change_policy(p, right == &vrq_sched_class);
	if (likely(class == right))
		return;

	if (class->switched_from)
		class->switched_from(rq, p);
#ifdef CONFIG_SMP
	/* The fair class counts its load as it is queued */
	if (right == &fair_sched_class)
		p->se.avg.last_update_time = 0;
#endif
	change_class(rq, p, right);
	if (right == &vrq_sched_class)
		note_age(rq, p);
}

/**
 * vrq_policy_set - a policy has been set for a task, not by a switch
 * @p: the task; its pi_lock and the lock of its run queue are held
 *
 * The scheduler may have changed since the policy was checked, and SCHED_ISO may not exist
 * now.
 */
void vrq_policy_set(struct task_struct *p)
{
	p->vrq.was_iso = false;
	if (!sched_vrq_enabled())
		change_policy(p, false);
}

/**
 * vrq_keep_out - refuse a feature that cannot work with VRQ, or block switches to VRQ
 * @what: the feature, for the log
 *
 * May sleep. The caller calls vrq_let_in() when the feature is in use, which vrq_switch() sees
 * then, or when it is not going to be used.
 *
 * Return: 0, or -EOPNOTSUPP under VRQ, and then vrq_let_in() is not to be called.
 */
int vrq_keep_out(const char *what)
{
	int err;

	rt_mutex_lock(&mutex);
	err = vrq_refuse(what);
	if (err)
		rt_mutex_unlock(&mutex);

	return err;
}

/**
 * vrq_let_in - the end of what vrq_keep_out() began
 */
void vrq_let_in(void)
{
	rt_mutex_unlock(&mutex);
}

/**
 * vrq_switches - how often the scheduler has been changed
 *
 * Return: the number since boot.
 */
unsigned int vrq_switches(void)
{
	return READ_ONCE(switches);
}
