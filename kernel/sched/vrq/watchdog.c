// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog. A task that could run and is not run for stall_ms is reported in the log,
 * and the fair class takes over. The same on a soft lockup, and by SysRq.
 *
 * A thread of a real-time class looks at all tasks, ROUNDS times in stall_ms or more often,
 * and counts for each task how long it has been passed over. One round adds to that time
 *
 *  - nothing, if the task has run since the last round, or waits for its group's limit, or its
 *    deadline is still to come;
 *  - else as much of the round as VRQ had on the best of the task's CPUs. That is the ticks
 *    that found a VRQ task there, and no switch that was put off, and the time without any
 *    task, if an interrupt sent to that CPU was answered since. So time that a higher class,
 *    an interrupt or a hypervisor had does not count.
 *
 * If many tasks wait, each of them may have to wait longer than stall_ms: by a slice for each
 * waiting task. For each task of a level that starves behind another one it is twenty slices,
 * the distance of two slices of that level, see vrq_promote_starved().
 *
 * The thread does not need any VRQ task to run, except one that holds the locks of CPU
 * hotplug, of the stop machine or of code patching.
 *
 * That a watchdog takes the tasks away from a scheduler is sched_ext's idea.
 */
#include <linux/irq_work.h>
#include <linux/kernel_stat.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/nmi.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sysctl.h>
#include <linux/sysrq.h>
#include <linux/tick.h>

#include "domain.h"
#include "entity.h"
#include "report.h"
#include "switch.h"
#include "watchdog.h"

#define ROUNDS		16
#define ROUND_MIN_MS	5U
#define ROUND_MAX_MS	250U
#define STALL_MIN_MS	100

/*
 * How many turns a normal task may be behind: the tasks before it may have saved up two turns
 * each, which are up to four times as long if all tasks are late, and have one turn of their
 * own
 */
#define TURNS_BEHIND	9

#define STALL_MAX_MS	(3600 * MSEC_PER_SEC)

/* Pause before the next try after a failed switch, ms: longer each time, up to the maximum */
#define RETRY_MS	500
#define RETRY_MAX_MS	(30 * MSEC_PER_SEC)

static unsigned int stall_ms __read_mostly = 30 * MSEC_PER_SEC;
static struct task_struct *watchdog;

/* Why to fall back, and NULL if there is no reason. Set anywhere, also in interrupts */
static const char *wanted;

/* Written by the watchdog alone */
static unsigned int fallbacks;
static const char *last_reason = "none";

/**
 * struct watched - what the watchdog knows of a CPU. Written by the watchdog, but for @answered
 * @ticks: rq->vrq.ticks at the end of the last round
 * @idle_ns: the time without any task by then, ns
 * @given_ms: how much time of the last round VRQ had here, ms
 * @answered: an interrupt that was sent to this CPU in the last round has been served
 * @probe: sends that interrupt
 */
struct watched {
	unsigned long		ticks;
	u64			idle_ns;
	unsigned int		given_ms;
	bool			answered;
	struct irq_work		probe;
};

static DEFINE_PER_CPU(struct watched, watched);

/**
 * struct look - one round
 * @stall_ms: the tunable
 * @round_ms: how long a round takes
 * @now: local_clock(), ns
 * @given_ms: the most that VRQ had of the round on a CPU that is not isolated, ms
 * @waiting: how many tasks of each level wait, by the enum vrq_level
 * @patience_ms: for how long a task of each level may be passed over
 * @iso: a SCHED_ISO task can run, and normal ones may starve
 * @suspects: how many tasks have been passed over
 * @stuck: a task that has been passed over for too long, with a reference
 */
struct look {
	unsigned int		stall_ms;
	unsigned int		round_ms;
	u64			now;
	unsigned int		given_ms;
	unsigned int		waiting[VRQ_LEVELS];
	unsigned int		patience_ms[VRQ_LEVELS];
	bool			iso;
	unsigned int		suspects;
	struct task_struct	*stuck;
};

static unsigned int round_ms(unsigned int stall)
{
	return clamp(stall / ROUNDS, ROUND_MIN_MS, ROUND_MAX_MS);
}

static void note_answer(struct irq_work *work)
{
	this_cpu_write(watched.answered, true);
}

static u64 idle_ns(int cpu)
{
	u64 idle = get_cpu_idle_time_us(cpu, NULL);

	if (idle == -1ULL)
		return kcpustat_cpu(cpu).cpustat[CPUTIME_IDLE] +
		       kcpustat_cpu(cpu).cpustat[CPUTIME_IOWAIT];

	return (idle + get_cpu_iowait_time_us(cpu, NULL)) * NSEC_PER_USEC;
}

/* It idles for the sake of another thread of its core */
static bool gives_way(int cpu)
{
#ifdef CONFIG_SCHED_SMT
	return READ_ONCE(cpu_rq(cpu)->vrq.gives_way);
#else
	return false;
#endif
}

/* How much time of the round that ends now did VRQ have on a CPU? */
static void measure(int cpu, unsigned int round)
{
	struct watched *it = per_cpu_ptr(&watched, cpu);
	unsigned long ticks = READ_ONCE(cpu_rq(cpu)->vrq.ticks);
	u64 idle = idle_ns(cpu), given = (u64)(ticks - it->ticks) * TICK_NSEC;

	if (READ_ONCE(it->answered) && !gives_way(cpu) && idle > it->idle_ns)
		given += idle - it->idle_ns;
	WRITE_ONCE(it->answered, false);
	it->given_ms = min_t(u64, div_u64(given, NSEC_PER_MSEC), round);
	it->ticks = ticks;
	it->idle_ns = idle;
}

/*
 * Do CPUs without a task answer an interrupt? The next round checks that. This CPU does answer
 */
static void send_probes(void)
{
	int cpu;

	guard(preempt)();
	this_cpu_write(watched.answered, true);
	for_each_online_cpu(cpu) {
		if (is_idle_task(rcu_dereference_raw(cpu_rq(cpu)->curr)))
			irq_work_queue_on(&per_cpu(watched, cpu).probe, cpu);
	}
}

/*
 * Tasks and run queues are read without their locks, and what is read may be of different
 * moments: is_stuck() looks once more, with the locks.
 */
#define unlocked(expr)	data_race(expr)

static bool waits(const struct task_struct *p)
{
	return unlocked(READ_ONCE(p->on_rq)) &&
	       unlocked(READ_ONCE(p->sched_class)) == &vrq_sched_class &&
	       unlocked(READ_ONCE(p->vrq.place)) != VRQ_THROTTLED && !task_curr(p);
}

/* Has the deadline passed, or is it too far ahead to be right? */
static bool is_due(const struct task_struct *p, u64 now)
{
	s64 early = unlocked(READ_ONCE(p->vrq.deadline)) - now;

	return early <= 0 || early > (s64)unlocked(vrq_longest_turn(p));
}

/* The most that VRQ had of this round on one of the task's CPUs, ms */
static unsigned int given_to(const struct task_struct *p, const struct look *look)
{
	unsigned int given = 0;
	int cpu;

	if (!unlocked(vrq_confined(p)))
		return look->given_ms;

	for_each_cpu_and(cpu, p->cpus_ptr, cpu_active_mask)
		given = max(given, per_cpu(watched, cpu).given_ms);

	return given;
}

/* Has the task run, or has its level changed, by which it is measured? */
static bool has_run(struct task_struct *p, enum vrq_level level)
{
	u64 runtime = unlocked(READ_ONCE(p->se.sum_exec_runtime));

	if (p->vrq.seen_runtime == runtime && p->vrq.seen_level == level)
		return false;

	p->vrq.seen_runtime = runtime;
	p->vrq.seen_level = level;
	p->vrq.passed_over_ms = 0;

	return true;
}

static void look_at(struct task_struct *p, struct look *look)
{
	enum vrq_level level;

	if (unlocked(p->vrq.iso) && unlocked(READ_ONCE(p->on_rq)))
		look->iso = true;
	if (!waits(p))
		return;

	/* The level of its policy: a promoted task has waited at that level until now */
	level = unlocked(vrq_policy_level(p));
	look->waiting[level]++;
	if (has_run(p, level) || !is_due(p, look->now))
		return;

	look->suspects++;
	p->vrq.passed_over_ms += given_to(p, look);
	if (p->vrq.passed_over_ms > look->patience_ms[level] && !look->stuck)
		look->stuck = get_task_struct(p);
}

/* For how long may a task of a level be passed over? The counts are those of the last round */
static unsigned int patience(const struct look *look, enum vrq_level level)
{
	u64 slice = max_t(u64, vrq_rr_ns(), TICK_NSEC), slices = look->waiting[level] + 1;
	u64 extra = 0;

	if (level == VRQ_NORMAL)
		slices *= TURNS_BEHIND;
	if (level == VRQ_IDLE) {
		slices *= VRQ_PROMOTE_EVERY;
		extra += VRQ_STARVED_NS;
	}
	/*
	 * SCHED_ISO tasks beyond their part, and promoted SCHED_IDLE tasks, wait among normal
	 * tasks
	 */
	if (level != VRQ_NORMAL)
		slices += TURNS_BEHIND * look->waiting[VRQ_NORMAL];
	if (level != VRQ_ISO && look->iso) {
		slices *= VRQ_PROMOTE_EVERY;
		extra += VRQ_STARVED_NS;
	}

	return look->stall_ms + min_t(u64, div_u64(slices * slice + extra, NSEC_PER_MSEC),
				      STALL_MAX_MS);
}

/* The limit falls slowly: a task may have waited for many tasks that are gone now */
static void set_patience(struct look *look)
{
	enum vrq_level level;

	for (level = 0; level < VRQ_LEVELS; level++)
		look->patience_ms[level] = max(patience(look, level),
					       look->patience_ms[level] -
					       min(look->patience_ms[level], look->round_ms));
	memset(look->waiting, 0, sizeof(look->waiting));
	look->iso = false;
}

/* Is a task of VRQ's queued that does not run? */
static bool somebody_waits(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		const struct rq *rq = cpu_rq(cpu);

		if (unlocked(READ_ONCE(rq->cfs.h_nr_queued)) >
		    (unlocked(READ_ONCE(rq->cfs.curr)) ? 1 : 0))
			return true;
	}

	return false;
}

static void look_around(struct look *look)
{
	struct task_struct *g, *p;
	int cpu;

	look->given_ms = 0;
	for_each_online_cpu(cpu) {
		measure(cpu, look->round_ms);
		if (!vrq_domain_of(cpu)->isolated)
			look->given_ms = max(look->given_ms, per_cpu(watched, cpu).given_ms);
	}
	set_patience(look);
	look->suspects = 0;
	if (!somebody_waits())
		return;

	look->now = local_clock();
	scoped_guard(rcu) {
		for_each_process_thread(g, p)
			look_at(p, look);
	}
	if (look->suspects)
		send_probes();
}

/* Check again, with its locks, that the task has not been run or queued anew since */
static bool is_stuck(struct task_struct *p)
{
	CLASS(task_rq_lock, rq_guard)(p);
	/* sparse does not know that the guard unlocks */
	__release(p->pi_lock);
	__release(rq_guard.rq->lock);

	return waits(p) && p->vrq.seen_runtime == p->se.sum_exec_runtime &&
	       is_due(p, local_clock());
}

static void judge(struct task_struct *p)
{
	if (is_stuck(p)) {
		vrq_report(p, p->vrq.passed_over_ms);
		WRITE_ONCE(wanted, "a task was not run");
	}
	p->vrq.passed_over_ms = 0;
	put_task_struct(p);
}

/* Returns the pause before the next try, ms, 0 if there is none. @retry_ms is the last pause */
static unsigned int fall_back(unsigned int retry_ms)
{
	const char *reason = xchg(&wanted, NULL);
	unsigned int before = vrq_switches();

	if (!reason || !sched_vrq_enabled())
		return 0;

	if (!retry_ms)
		pr_warn("sched: vrq: falling back to fair: %s\n", reason);
	if (vrq_switch(false)) {
		/* There may be another reason by now: one is as good as the other */
		WRITE_ONCE(wanted, reason);
		return min(retry_ms ? 2 * retry_ms : RETRY_MS, RETRY_MAX_MS);
	}
	/* Unless somebody else was faster */
	if (vrq_switches() != before) {
		WRITE_ONCE(last_reason, reason);
		WRITE_ONCE(fallbacks, fallbacks + 1);
	}

	return 0;
}

/* Until the next round or, if there is to be none, until it is woken up */
static void sleep_for_round(unsigned int stall, unsigned int retry_ms)
{
	ktime_t time = ms_to_ktime(retry_ms ?: round_ms(stall));

	set_current_state(TASK_IDLE);
	if (retry_ms || (stall && sched_vrq_enabled() && !READ_ONCE(wanted)))
		schedule_hrtimeout(&time, HRTIMER_MODE_REL);
	else if (!READ_ONCE(wanted))
		schedule();
	__set_current_state(TASK_RUNNING);
}

/* Forget what has been counted: that was with another value of stall_ms */
static void forget_waits(struct look *look)
{
	struct task_struct *g, *p;

	memset(look->patience_ms, 0, sizeof(look->patience_ms));
	guard(rcu)();
	for_each_process_thread(g, p)
		p->vrq.passed_over_ms = 0;
}

static int watch(void *unused)
{
	unsigned int retry_ms = 0;
	struct look look = { };

	for (;;) {
		if (look.stall_ms != READ_ONCE(stall_ms))
			forget_waits(&look);
		look.stall_ms = READ_ONCE(stall_ms);
		look.round_ms = round_ms(look.stall_ms);
		look.stuck = NULL;
		if (look.stall_ms && sched_vrq_enabled())
			look_around(&look);
		if (look.stuck)
			judge(look.stuck);
		retry_ms = fall_back(retry_ms);
		sleep_for_round(look.stall_ms, retry_ms);
	}

	return 0;
}

/**
 * vrq_watchdog_wake - have the watchdog look again at what it is to do
 *
 * Any context in which a task can be woken up.
 */
void vrq_watchdog_wake(void)
{
	struct task_struct *thread = READ_ONCE(watchdog);

	if (thread)
		wake_up_process(thread);
}

static void want(const char *reason)
{
	WRITE_ONCE(wanted, reason);
	vrq_watchdog_wake();
}

#ifdef CONFIG_SOFTLOCKUP_DETECTOR
/**
 * vrq_soft_lockup - mainline has found that a CPU does not switch tasks
 *
 * Called in an interrupt on that CPU. The fair class takes over once the CPU does.
 *
 * Mainline also reports a CPU that a hypervisor had stopped. Such a CPU has not had the ticks
 * of that time. It has counted no more than those of 2/5 of watchdog_thresh, after which
 * mainline makes each CPU switch.
 */
void vrq_soft_lockup(void)
{
	if (sched_vrq_enabled() && this_rq()->vrq.ticks_alike >= watchdog_thresh * HZ)
		want("soft lockup");
}
#endif

static void sysrq_fall_back(u8 key)
{
	if (sched_vrq_enabled())
		want("SysRq");
	else
		pr_info("sched: the fair class is active already\n");
}

static const struct sysrq_key_op sysrq_fair = {
	.handler	= sysrq_fall_back,
	.help_msg	= "fall-back-to-fair-class(F)",
	.action_msg	= "Fall back to the fair class",
	.enable_mask	= SYSRQ_ENABLE_RTNICE,
};

#ifdef CONFIG_SYSCTL
static int set_stall_ms(const struct ctl_table *table, int write, void *buffer,
			size_t *lenp, loff_t *ppos)
{
	unsigned int value = READ_ONCE(stall_ms);
	struct ctl_table copy = *table;
	int err;

	copy.data = &value;
	err = proc_douintvec(&copy, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	if (value && (value < STALL_MIN_MS || value > STALL_MAX_MS))
		return -EINVAL;

	WRITE_ONCE(stall_ms, value);
	vrq_watchdog_wake();

	return 0;
}

static struct ctl_table stall_table[] = {
	{
		.procname	= "sched_vrq_stall_ms",
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= set_stall_ms,
	},
};
#endif

/**
 * vrq_watchdog_start - start the watchdog
 *
 * May sleep. Calls do not overlap; all but the first one that succeeds do nothing.
 *
 * Return: 0 or an error of kthread_run().
 */
int vrq_watchdog_start(void)
{
	struct task_struct *thread;
	int cpu;

	if (watchdog)
		return 0;

	for_each_possible_cpu(cpu)
		per_cpu(watched, cpu).probe = IRQ_WORK_INIT_HARD(note_answer);
	thread = kthread_run(watch, NULL, "vrq_watchdog");
	if (IS_ERR(thread))
		return PTR_ERR(thread);

	sched_set_fifo_low(thread);
	WRITE_ONCE(watchdog, thread);
	if (register_sysrq_key('F', &sysrq_fair))
		pr_warn("sched: vrq: SysRq F is not available\n");
#ifdef CONFIG_SYSCTL
	register_sysctl("kernel", stall_table);
#endif

	return 0;
}

/**
 * vrq_fallbacks - how often the fair class took over, not by an administrator
 *
 * Return: the number since boot.
 */
unsigned int vrq_fallbacks(void)
{
	return READ_ONCE(fallbacks);
}

/**
 * vrq_fallback_reason - why the fair class took over the last time
 *
 * Return: the reason, "none" if it never did.
 */
const char *vrq_fallback_reason(void)
{
	return READ_ONCE(last_reason);
}
