// SPDX-License-Identifier: GPL-2.0-only
/*
 * SCHED_ISO: real-time among the VRQ tasks, for all users. To keep users from taking over the
 * machine with it, it is in force only as long as all tasks of this policy together have used
 * less than iso_cpu percent of the online CPUs within the last 50 ms. Otherwise they are
 * normal tasks until that holds again. What they use as normal tasks counts as well.
 *
 * SCHED_ISO tasks stay in trees of their own all the time, and vrq_iso_over tells what level
 * these trees count as. So the level changes for all of these tasks at once, also for those
 * that wait.
 *
 * The idea and the part are those of BFS, which had a decaying mean, over 5 s, of
 * the ticks that hit a SCHED_ISO task. With that any user could have all CPUs for 3.5 s
 * on end. Here a window of 50 ms moves on in ten steps: so nobody waits behind them for
 * longer than 35 ms, and the part is the same.
 */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/sysctl.h>

#include "domain.h"
#include "iso.h"

#define STEP_NS		(5ULL * NSEC_PER_MSEC)
#define STEPS		10
/* Mean length of the window, ns: nine steps, and what has passed of the tenth */
#define WINDOW_NS	(STEP_NS * STEPS - STEP_NS / 2)

bool vrq_iso_over __read_mostly;
static unsigned int iso_cpu __read_mostly = 70;

/* In place of @next_step: a CPU is moving the window */
#define MOVING		S64_MAX

/*
 * CPUs that run or queue a SCHED_ISO task read and write this without a lock. The CPU that
 * sets @next_step to MOVING moves the window, and owns it until it sets @next_step to the next
 * time.
 */
static struct {
	atomic64_t	next_step;	/* when the window moves, ns */
	s64		at[STEPS];	/* what was used at the beginning of each step, ns */
	unsigned int	step;		/* the index of the oldest of them */
	s64		last;		/* the newest of them */
	s64		mean;		/* used in a step, on the mean of the last 32 or so, ns */
} iso;

/* Written whenever a SCHED_ISO task is accounted, queued or dequeued */
struct vrq_iso_time vrq_iso_time ____cacheline_aligned_in_smp;

static s64 used_in_window(void)
{
	return atomic64_read(&vrq_iso_time.used) - atomic64_read(&vrq_iso_time.left);
}

/* The window ends at @now, on the clock of any run queue */
static void move_window(s64 now)
{
	s64 next = atomic64_read(&iso.next_step), used;
	unsigned int steps;

	if (likely(now < next) ||
	    !atomic64_try_cmpxchg_acquire(&iso.next_step, &next, MOVING))
		return;

	for (steps = 0; now >= next && steps < STEPS; steps++) {
		used = atomic64_read(&vrq_iso_time.used);
		WRITE_ONCE(iso.mean, iso.mean + ((used - iso.last - iso.mean) >> 5));
		iso.last = used;
		iso.at[iso.step] = used;
		iso.step = (iso.step + 1) % STEPS;
		next += STEP_NS;
	}
	atomic64_set(&vrq_iso_time.left, iso.at[iso.step]);

	/* After a pause of more than the window it begins anew */
	if (now >= next)
		next = now + STEP_NS;
	atomic64_set_release(&iso.next_step, next);
}

/* Of the time of all CPUs within the window, ns */
static u64 part_of_cpus(unsigned int percent)
{
	return div_u64(WINDOW_NS * num_online_cpus() * percent, 100);
}

/* Update vrq_iso_over. With iso_cpu at 100 SCHED_ISO is always in force */
static void judge(void)
{
	unsigned int percent = READ_ONCE(iso_cpu);
	bool over = percent < 100 && used_in_window() >= part_of_cpus(percent);

	if (over != READ_ONCE(vrq_iso_over))
		WRITE_ONCE(vrq_iso_over, over);
}

/*
 * The part of the CPUs that SCHED_ISO has had lately, at most @percent, in 1 / 1024. Not that
 * within the window: slices of normal tasks are renewed when it is small, and those of
 * SCHED_ISO when it is large.
 */
static unsigned int part_used(unsigned int percent)
{
	u64 all = STEP_NS * num_online_cpus();
	u64 used = max(READ_ONCE(iso.mean), 0LL);

	return min(div64_u64(used << 10, all), (percent << 10) / 100);
}

/*
 * If SCHED_ISO uses more than this percentage, e.g. with iso_cpu at 100, the turns of others
 * get no longer than at this percentage
 */
#define PERCENT_MAX	75U

/**
 * __vrq_iso_weight - see vrq_iso_weight()
 * @p: the task
 * @weight: the sum of the weights
 * @now: rq_clock() of its run queue, ns, the lock of which is held
 *
 * Return: the weight.
 */
u64 __vrq_iso_weight(const struct task_struct *p, u64 weight, u64 now)
{
	u64 all = max(atomic64_read(&vrq_machine.weight), 1LL);
	s64 own = p->vrq.iso && !p->vrq.queued ? p->vrq.weight : 0;
	u64 iso = clamp(atomic64_read(&vrq_iso_time.weight) + own, 0LL, (s64)all);
	unsigned int percent = READ_ONCE(iso_cpu), used;

	/*
	 * Each renewal of a slice updates vrq_iso_over: maybe no SCHED_ISO task runs that
	 * would do it
	 */
	move_window(now);
	judge();

	used = part_used(p->vrq.iso ? percent : min(percent, PERCENT_MAX));
	/* SCHED_ISO has used no more than its weight gives it */
	if (used * all <= iso << 10)
		return weight;
	if (p->vrq.iso)
		return mul_u64_u64_div_u64(weight, iso << 10, all * used);

	return mul_u64_u64_div_u64(weight, (all - iso) << 10, all * (1024 - used));
}

/**
 * __vrq_iso_account - a SCHED_ISO task has used a CPU, or is about to be queued
 * @delta: for how long it has, ns
 * @now: rq_clock() of that CPU, ns; the lock of its run queue is held
 */
void __vrq_iso_account(u64 delta, u64 now)
{
	move_window(now);
	atomic64_add(delta, &vrq_iso_time.used);
	judge();
}

#ifdef CONFIG_SYSCTL
static int set_iso_cpu(const struct ctl_table *table, int write, void *buffer,
		       size_t *lenp, loff_t *ppos)
{
	int err = proc_douintvec_minmax(table, write, buffer, lenp, ppos);

	if (write && !err)
		judge();

	return err;
}

static struct ctl_table iso_table[] = {
	{
		.procname	= "iso_cpu",
		.data		= &iso_cpu,
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= set_iso_cpu,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE_HUNDRED,
	},
};

/**
 * vrq_register_iso_cpu - make the tunable iso_cpu
 */
void vrq_register_iso_cpu(void)
{
	register_sysctl("kernel", iso_table);
}
#endif
