// SPDX-License-Identifier: GPL-2.0-only
/*
 * SCHED_ISO: real-time among the tasks of VRQ, for everybody. So that nobody can
 * take the machine with it, it lasts as long as all tasks of this policy together
 * have used less than iso_cpu percent of the online CPUs within the last 50 ms;
 * then they are normal tasks until that holds again. What they use as normal
 * tasks counts as well.
 *
 * They stay in trees of their own all the time, and vrq_iso_over says what these
 * count as: so that changes for all of them at once, also for those that wait.
 *
 * The idea and the part are those of BFS, which had a decaying mean, over 5 s, of
 * the ticks that hit a SCHED_ISO task. There and with a window of 5 s any user could
 * have all CPUs for 3.5 s on end. Here a window of 50 ms moves on in ten steps: so
 * nobody waits behind them for longer than 35 ms, and the part is the same.
 */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/sysctl.h>

#include "iso.h"

#define WINDOW_NS	(50ULL * NSEC_PER_MSEC)
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
	atomic64_t	next_step;	/* when the window moves, ns */
	s64		at[STEPS];	/* what was used at the beginning of each step, ns */
	unsigned int	step;		/* the index of the oldest of them */
} iso;

/* What all have used since boot, and of that, what has left the window, ns */
struct vrq_iso_time vrq_iso_time ____cacheline_aligned_in_smp;

/* The window ends at @now, on the clock of any run queue */
static void move_window(s64 now)
{
	s64 next = atomic64_read(&iso.next_step);
	unsigned int steps;

	if (likely(now < next) ||
	    !atomic64_try_cmpxchg_acquire(&iso.next_step, &next, MOVING))
		return;

	for (steps = 0; now >= next && steps < STEPS; steps++) {
		iso.at[iso.step] = atomic64_read(&vrq_iso_time.used);
		iso.step = (iso.step + 1) % STEPS;
		next += STEP_NS;
	}
	atomic64_set(&vrq_iso_time.left, iso.at[iso.step]);

	/* After a pause of more than the window it begins anew */
	if (now >= next)
		next = now + STEP_NS;
	atomic64_set_release(&iso.next_step, next);
}

static s64 used_in_window(void)
{
	return atomic64_read(&vrq_iso_time.used) - atomic64_read(&vrq_iso_time.left);
}

/* Of the time of all CPUs within the window, ns */
static s64 part_of_cpus(unsigned int percent)
{
	return div_u64(WINDOW_NS * num_online_cpus() * percent, 100);
}

/* With iso_cpu at 100 it lasts for ever */
static void judge(void)
{
	unsigned int percent = READ_ONCE(iso_cpu);
	bool over = percent < 100 && used_in_window() >= part_of_cpus(percent);

	if (over != READ_ONCE(vrq_iso_over))
		WRITE_ONCE(vrq_iso_over, over);
}

/**
 * __vrq_beside_iso - by how much longer a task's turns take because of SCHED_ISO
 * @p: the task
 * @now: rq_clock() of its run queue, ns, the lock of which is held
 *
 * They go before all others, whatever their weight. What they have used within the window,
 * as far as iso_cpu allows it, is not there for the others, who would all be late if their
 * deadlines did not tell that; and who is late goes before one who has just woken up.
 *
 * Sees, too, when they are SCHED_ISO again: while they are normal tasks none of them may run.
 *
 * Return: a factor for spans and slack, in units of 1 / 1024, 1 to 4.
 */
unsigned int __vrq_beside_iso(const struct task_struct *p, u64 now)
{
	s64 all = part_of_cpus(100), used;

	move_window(now);
	judge();
	if (vrq_level_now(p->vrq.level) == VRQ_ISO)
		return 1024;

	used = clamp(used_in_window(), 0LL, part_of_cpus(min(READ_ONCE(iso_cpu), 75U)));

	return div64_u64(all << 10, all - used);
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
