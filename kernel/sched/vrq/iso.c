// SPDX-License-Identifier: GPL-2.0-only
/*
 * SCHED_ISO: real-time among the tasks of VRQ, for everybody. So that nobody can
 * take the machine with it, it lasts as long as all tasks of this policy together
 * have used less than iso_cpu percent of the online CPUs within the last 5 s;
 * then they are normal tasks until that holds again. What they use as normal
 * tasks counts as well.
 *
 * They stay in trees of their own all the time, and vrq_iso_over says what these
 * count as: so that changes for all of them at once, also for those that wait.
 *
 * The idea and the figures are those of BFS, which had a decaying mean of the
 * ticks that hit a SCHED_ISO task. Here a window of 5 s moves on in ten steps.
 */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/sysctl.h>

#include "iso.h"

#define WINDOW_NS	(5ULL * NSEC_PER_SEC)
#define STEPS		10
#define STEP_NS		(WINDOW_NS / STEPS)

bool vrq_iso_over __read_mostly;
static unsigned int iso_cpu __read_mostly = 70;

/* In place of @next_step: a CPU is moving the window */
#define MOVING		S64_MAX

/*
 * All is read and written without a lock by whoever runs or queues a SCHED_ISO
 * task. The window is moved by the one that puts MOVING into @next_step, and
 * belongs to it until it puts the next time there.
 */
static struct {
	atomic64_t	used;		/* by all, since boot, ns */
	atomic64_t	left;		/* of that, what has left the window, ns */
	atomic64_t	next_step;	/* when the window moves, ns */
	s64		at[STEPS];	/* @used at the beginning of each step */
	unsigned int	step;		/* the index of the oldest of them */
} iso;

/* The window ends at @now, on the clock of any run queue */
static void move_window(s64 now)
{
	s64 next = atomic64_read(&iso.next_step);
	unsigned int steps;

	if (likely(now < next) ||
	    !atomic64_try_cmpxchg_acquire(&iso.next_step, &next, MOVING))
		return;

	for (steps = 0; now >= next && steps < STEPS; steps++) {
		iso.at[iso.step] = atomic64_read(&iso.used);
		iso.step = (iso.step + 1) % STEPS;
		next += STEP_NS;
	}
	atomic64_set(&iso.left, iso.at[iso.step]);

	/* After a pause of more than the window it begins anew */
	if (now >= next)
		next = now + STEP_NS;
	atomic64_set_release(&iso.next_step, next);
}

/* With iso_cpu at 100 it lasts for ever */
static void judge(void)
{
	unsigned int percent = READ_ONCE(iso_cpu);
	s64 limit = div_u64(WINDOW_NS * num_online_cpus() * percent, 100);
	s64 used = atomic64_read(&iso.used) - atomic64_read(&iso.left);
	bool over = percent < 100 && used >= limit;

	if (over != READ_ONCE(vrq_iso_over))
		WRITE_ONCE(vrq_iso_over, over);
}

/**
 * __vrq_iso_account - a SCHED_ISO task has used a CPU, or is about to be queued
 * @delta: for how long it has, ns
 * @now: rq_clock() of that CPU, ns; the lock of its run queue is held
 */
void __vrq_iso_account(u64 delta, u64 now)
{
	move_window(now);
	atomic64_add(delta, &iso.used);
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
