// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of CPU bandwidth: cpu.max, cpu.max.burst, cpu.cfs_quota_us and so on.
 *
 * The settings, the pool that a group has for a period, the timer that refills it and the
 * statistics are mainline's, in struct cfs_bandwidth. A CPU that runs a task of the group
 * draws from the pool in portions, so that it takes the pool's lock once for each portion and
 * not at each switch. If a group is in another group with a limit, both pay.
 *
 * Time is accounted at ticks and switches. If the pool may not have enough for all CPUs until
 * the next tick, a timer also accounts it when a CPU has used what it has drawn, see
 * throttle.c. Without this timer, many CPUs could each overdraw by up to a tick. A CPU
 * overdraws by more if its task stays in the kernel. What is overdrawn is the group's debt.
 * When the pool is refilled, the debt is paid back before any CPU gets more, and the pool is
 * refilled as long as there is a debt. A task that never stops, such as a process that exits,
 * makes a debt of ten quotas or so at most. Otherwise a process that takes seconds to exit
 * would stop the other tasks for minutes.
 *
 * What a CPU has drawn and not used at the end of a period is used in the next ones, if the
 * group runs there again. All CPUs together have no more than a quarter of a quota of this, or
 * 100 us for each CPU if that is more.
 *
 * A task that has to stop does so when it returns to user space, see throttle.c: in the kernel
 * it may hold locks that other tasks wait for.
 *
 * A task stops only if it has found the pool empty, and has put its CPU into group->throttled,
 * with the pool's lock held all the time. The timer refills the pool and looks at
 * group->throttled with the lock held. So either the timer comes first, and the task finds the
 * pool filled, or the timer finds the CPU.
 *
 * Locks: rq->lock -> cfs_b->lock, as in mainline.
 */
#include "limit.h"

/* The least portion, and the greatest, ns */
#define PORTION_MIN	(100 * NSEC_PER_USEC)
#define PORTION_MAX	(5 * NSEC_PER_MSEC)
/* What a CPU has overdrawn becomes the group's debt if it is more than this, ns */
#define OVERDRAFT_MAX	((s64)PORTION_MAX)
/* Maximum debt of a group because of tasks that never stop, in quotas */
#define DEBT_QUOTAS	10
/* Maximum charge: more passes at once only while a hypervisor has stopped the CPU */
#define CHARGE_MAX	(10 * TICK_NSEC)

/* Has a group a limit of its own on this CPU? What mainline keeps, under rq->lock */
static bool has_limit(struct rq *rq, const struct vrq_group *group)
{
	return group->tg->cfs_rq[cpu_of(rq)]->runtime_enabled;
}

static u64 portion_of(const struct cfs_bandwidth *cfs_b)
{
	return clamp_t(u64, div_u64(cfs_b->quota, 4 * num_online_cpus()), PORTION_MIN,
		       PORTION_MAX);
}

/*
 * Add what a CPU has overdrawn to the group's debt, up to a debt of @most. The lock of the
 * limit is held.
 */
static void owe(struct vrq_group *group, struct vrq_group_cpu *part, u64 most)
{
	u64 debt = group->debt;

	if (part->left >= 0)
		return;

	WRITE_ONCE(group->debt, debt + min_t(u64, -part->left, most - min(debt, most)));
	part->left = 0;
}

static void pay_back(struct vrq_group *group, struct cfs_bandwidth *cfs_b)
{
	u64 paid = min_t(u64, cfs_b->runtime, group->debt);

	cfs_b->runtime -= paid;
	WRITE_ONCE(group->debt, group->debt - paid);
}

/*
 * Draw a portion from the pool, or what is left there once debts are paid: true if this CPU
 * has something to use then. The lock of the limit is held.
 */
static bool draw_locked(struct rq *rq, struct vrq_group *group)
{
	struct cfs_bandwidth *cfs_b = &group->tg->cfs_bandwidth;
	struct vrq_group_cpu *part = vrq_group_part(rq, group);
	u64 amount;

	if (cfs_b->quota == RUNTIME_INF) {
		part->left = PORTION_MAX;
		return true;
	}

	start_cfs_bandwidth(cfs_b);
	owe(group, part, U64_MAX);
	pay_back(group, cfs_b);
	amount = min(cfs_b->runtime, portion_of(cfs_b));
	cfs_b->runtime -= amount;
	part->left += amount;
	if (amount)
		cfs_b->idle = 0;

	return part->left > 0;
}

static bool draw(struct rq *rq, struct vrq_group *group)
{
	struct cfs_bandwidth *cfs_b = &group->tg->cfs_bandwidth;
	bool something;

	raw_spin_lock(&cfs_b->lock);
	something = draw_locked(rq, group);
	raw_spin_unlock(&cfs_b->lock);

	return something;
}

/**
 * vrq_limit_stops - does a task stop if a limit is reached?
 * @p: the task, running
 *
 * A task that dies or exits does not stop, because others may wait for its end, and it no
 * longer returns to user space. A task that is killed does not stop either: a debt may last for
 * hours, and the task has to end.
 *
 * Kernel threads do not stop, including those that serve a process (vhost): they never return
 * to user space, and run task works, if ever, with a lock held. What they use is charged, so
 * the other tasks of their group pay for it.
 *
 * Threads of io_uring do stop, because otherwise they could do much work beyond a limit. Its
 * workers run task works between two pieces of work. Its thread for polling holds a lock while
 * it is stopped. Tasks that set up, change or close one of its rings may wait for that lock, so
 * it goes on for a moment now and then, see throttle.c.
 *
 * Return: true if so.
 */
bool vrq_limit_stops(struct task_struct *p)
{
	/* The signal is sent under another lock: it may be seen only the next time */
	if (data_race(fatal_signal_pending(p)))
		return false;
	if (p->flags & PF_USER_WORKER && !(p->flags & PF_IO_WORKER))
		return false;

	/* One that dumps core, or waits for that, is no longer killed, and not yet exiting */
	return !(p->flags & (PF_EXITING | PF_SIGNALED | PF_POSTCOREDUMP | PF_KTHREAD));
}

/* See vrq_limit_charge() */
void __vrq_limit_charge(struct rq *rq, struct task_struct *p, struct vrq_group *group,
			s64 delta)
{
	bool stops = vrq_limit_stops(p);
	struct cfs_bandwidth *cfs_b;
	struct vrq_group_cpu *part;
	u64 most;

	delta = min_t(s64, delta, CHARGE_MAX);
	for (; group; group = vrq_limited_of(group->parent)) {
		if (!has_limit(rq, group))
			continue;
		cfs_b = &group->tg->cfs_bandwidth;
		part = vrq_group_part(rq, group);
		part->left -= delta;
		/* Without the lock: it need not be exact */
		most = stops ? U64_MAX : DEBT_QUOTAS * data_race(READ_ONCE(cfs_b->quota));
		/*
		 * The next draw, of whatever task, would add it to the debt. Read without the
		 * lock, too
		 */
		if (part->left < 0 && data_race(READ_ONCE(group->debt)) >= most)
			part->left = 0;
		if (part->left >= -OVERDRAFT_MAX)
			continue;
		raw_spin_lock(&cfs_b->lock);
		owe(group, part, most);
		start_cfs_bandwidth(cfs_b);
		raw_spin_unlock(&cfs_b->lock);
	}
}

/* Could the pool be too small for what all CPUs use by their next ticks? */
static bool is_scarce(const struct cfs_bandwidth *cfs_b)
{
	/* Read without the lock: a CPU that looks too late overdraws, as it may at any tick */
	return data_race(READ_ONCE(cfs_b->runtime)) < (u64)num_online_cpus() * TICK_NSEC;
}

/* See vrq_limit_reached() */
struct vrq_group *__vrq_limit_reached(struct rq *rq, struct vrq_group *group, s64 *left)
{
	struct vrq_group_cpu *part;

	/* A CPU that goes down pushes its tasks away */
	if (!cpu_active(cpu_of(rq)))
		return NULL;

	for (; group; group = vrq_limited_of(group->parent)) {
		if (!has_limit(rq, group))
			continue;
		part = vrq_group_part(rq, group);
		if (part->left <= 0 && !draw(rq, group))
			return group;
		if (is_scarce(&group->tg->cfs_bandwidth))
			*left = min(*left, part->left);
	}

	return NULL;
}

/**
 * vrq_limit_stop - a task is about to be throttled
 * @rq: its run queue, locked
 * @group: the group whose limit was found reached
 *
 * Return: false if it has been refilled since; true if the timer will come, and find this
 * CPU in group->throttled.
 */
bool vrq_limit_stop(struct rq *rq, struct vrq_group *group)
{
	struct cfs_bandwidth *cfs_b = &group->tg->cfs_bandwidth;
	bool stop;

	raw_spin_lock(&cfs_b->lock);
	stop = !draw_locked(rq, group);
	if (stop)
		cpumask_set_cpu(cpu_of(rq), group->throttled);
	raw_spin_unlock(&cfs_b->lock);

	return stop;
}

/**
 * vrq_limit_go - the last throttled task of a group on a CPU goes on
 * @rq: the run queue of the CPU, locked
 * @group: the group
 * @waited: how long there were such tasks, ns
 */
void vrq_limit_go(struct rq *rq, struct vrq_group *group, s64 waited)
{
	struct cfs_bandwidth *cfs_b = &group->tg->cfs_bandwidth;

	raw_spin_lock(&cfs_b->lock);
	cpumask_clear_cpu(cpu_of(rq), group->throttled);
	cfs_b->throttled_time += waited;
	raw_spin_unlock(&cfs_b->lock);
}

/**
 * vrq_limit_refill - may the throttled tasks of a CPU run again?
 * @rq: the run queue of the CPU, locked
 * @group: their group
 *
 * Return: true if it has something to use.
 */
bool vrq_limit_refill(struct rq *rq, struct vrq_group *group)
{
	return !has_limit(rq, group) || vrq_group_part(rq, group)->left > 0 || draw(rq, group);
}

/**
 * vrq_limit_pay - the pool of a group has been refilled: pay its debt
 * @group: the group
 */
void vrq_limit_pay(struct vrq_group *group)
{
	struct cfs_bandwidth *cfs_b = &group->tg->cfs_bandwidth;

	scoped_guard(raw_spinlock_irqsave, &cfs_b->lock)
		pay_back(group, cfs_b);
}

/**
 * vrq_limit_restart - the limit of a group has changed
 * @group: the group
 *
 * What was drawn or overdrawn under the old one is forgotten, as in mainline.
 */
void vrq_limit_restart(struct vrq_group *group)
{
	struct rq_flags rf;
	struct rq *rq;
	int cpu;

	scoped_guard(raw_spinlock_irqsave, &group->tg->cfs_bandwidth.lock)
		WRITE_ONCE(group->debt, 0);
	for_each_possible_cpu(cpu) {
		rq = cpu_rq(cpu);
		rq_lock_irqsave(rq, &rf);
		vrq_group_part(rq, group)->left = 0;
		rq_unlock_irqrestore(rq, &rf);
	}
}
