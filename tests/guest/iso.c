// SPDX-License-Identifier: GPL-2.0-only
/*
 * SCHED_ISO: for everybody, before all normal tasks, for 70% (iso_cpu) of the
 * CPUs in any 50 ms; and nobody starves behind it. Under the fair class there is
 * no such policy.
 */
#include <sys/resource.h>
#include "guest.h"

#define ISO_CPU		"/proc/sys/kernel/iso_cpu"
#define MAX		64
#define STARVED		200

static void set_iso_cpu(const char *value)
{
	must_put(ISO_CPU, value);
}

static void reset(void)
{
	put(ISO_CPU, "70");
}

static int try_policy(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(0, policy, &param) ? errno : 0;
}

struct tried {
	int iso, fifo, rr, high, forked, nice, idle, kept;
};

/* The same policy, and a step nicer */
static int get_nicer(void)
{
	struct attributes attr = {
		.size = sizeof(attr),
		.policy = SCHED_ISO,
		.flags = 1,	/* SCHED_FLAG_RESET_ON_FORK, which it has */
		.nice = getpriority(PRIO_PROCESS, 0) + 1,
	};

	return syscall(SYS_sched_setattr, 0, &attr, 0) ? errno : 0;
}

static void as_nobody(void *arg)
{
	struct tried *tried = arg;
	int status;

	be_normal();
	if (!become_nobody())
		_exit(1);
	tried->high = try_policy(SCHED_ISO, 1);
	tried->iso = try_policy(SCHED_ISO | SCHED_RESET_ON_FORK, 0);
	if ((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_ISO)
		tried->iso = -1;
	if (!fork())
		_exit(sched_getscheduler(0));
	tried->forked = wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	tried->fifo = try_policy(SCHED_FIFO, 1);
	tried->rr = try_policy(SCHED_RR, 1);
	setpriority(PRIO_PROCESS, 0, 1);
	tried->kept = get_nicer();
	try_policy(SCHED_OTHER, 0);
	tried->nice = try_policy(SCHED_ISO, 0);
	try_policy(SCHED_IDLE, 0);
	tried->idle = try_policy(SCHED_ISO, 0);
}

static void who_may(void)
{
	struct tried *tried = shared(sizeof(*tried));
	int status;

	tried->forked = -1;
	tried->kept = -1;
	waitpid(spawn(as_nobody, tried), &status, 0);
	ksft_test_result(!status && !tried->iso, "a user without privilege may have it (%s)\n",
			 strerror(tried->iso));
	ksft_test_result(tried->high == EINVAL && !sched_get_priority_min(SCHED_ISO) &&
			 !sched_get_priority_max(SCHED_ISO),
			 "it has no priorities (%s)\n", strerror(tried->high));
	ksft_test_result(tried->fifo == EPERM && tried->rr == EPERM,
			 "FIFO and RR stay an error for that user (%s, %s)\n",
			 strerror(tried->fifo), strerror(tried->rr));
	ksft_test_result(tried->nice == EPERM && tried->idle == EPERM,
			 "and so is it from nice 1 and from SCHED_IDLE (%s, %s)\n",
			 strerror(tried->nice), strerror(tried->idle));
	ksft_test_result(!tried->kept, "who has it may get nicer (%s)\n", strerror(tried->kept));
	ksft_test_result(tried->forked == SCHED_OTHER,
			 "SCHED_RESET_ON_FORK resets it (%d)\n", tried->forked);
}

/*
 * 7 ms of work, 1 ms of sleep: more than an equal share beside three hogs a CPU, and more
 * than a task may need that is favoured for its sleep
 */
struct worker {
	int policy;
	volatile uint64_t turns;
};

static void work(void *arg)
{
	struct worker *me = arg;
	uint64_t end;

	set_policy(0, me->policy, 0);
	for (;;) {
		end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 7 * MSEC;
		while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
			;
		sleep_ns(MSEC);
		me->turns++;
	}
}

/* How often it gets round in a second */
static unsigned int turns(int policy)
{
	struct worker *worker = shared(sizeof(*worker));
	uint64_t before;
	pid_t pid;

	worker->policy = policy;
	pid = spawn(work, worker);
	sleep_ns(200 * MSEC);
	before = worker->turns;
	sleep_ns(SEC);
	before = worker->turns - before;
	finish(pid);

	return before;
}

static void before_normal_tasks(int cpus)
{
	unsigned int normal, iso;
	uint64_t used;
	pid_t pids[MAX], pid;
	int i;

	/* What the hogs have used before does not matter */
	set_iso_cpu("100");
	for (i = 0; i < 3 * cpus; i++)
		pids[i] = spawn(normal_hog, NULL);
	normal = turns(SCHED_OTHER);
	iso = turns(SCHED_ISO);
	ksft_test_result(iso >= 115, "it gets the CPU when it wants it (%u turns of 8 ms in a second)\n",
			 iso);
	ksft_test_result(normal && normal <= 105, "which a normal task does not (%u)\n", normal);
	pid = spawn(iso_hog, NULL);
	sleep_ns(50 * MSEC);
	used = cpu_time_within(pid, SEC);
	finish(pid);
	finish_all(pids, 3 * cpus);
	ksft_test_result(used * 100 >= SEC * 97,
			 "one of them beside %d hogs has a CPU to itself (%llu%%)\n",
			 3 * cpus, (unsigned long long)(used * 100 / SEC));
}

/* The part of @cpus CPUs that @n tasks use in the next @ns, percent */
static unsigned int share_of(const pid_t *pids, int n, int cpus, uint64_t ns)
{
	uint64_t used = time_of_all(pids, n), start = now_ns();

	sleep_ns(ns);
	used = time_of_all(pids, n) - used;

	return used * 100 / ((now_ns() - start) * cpus);
}

/* The least and the most that one of @n tasks has used */
static uint64_t spread(const pid_t *pids, int n, uint64_t *most)
{
	uint64_t least = ~0ULL, used;
	int i;

	for (*most = 0, i = 0; i < n; i++) {
		used = cpu_time_of(pids[i]);
		if (used < least)
			least = used;
		if (used > *most)
			*most = used;
	}

	return least;
}

/*
 * A hog that is SCHED_ISO for a moment about each tick, and normal between: it is not
 * preempted at a tick, and hardly charged. Where ticks are in a millisecond it does not
 * know: @phase is a guess, in tenths of one.
 */
static void flip_about_ticks(void *phase)
{
	uint64_t since, shift = *(int *)phase * MSEC / 10;
	int policy = SCHED_OTHER, next;

	be_normal();
	pin(0, 0);
	for (;;) {
		since = (now_ns() + shift) % MSEC;
		next = since < 2 * MSEC / 10 ? SCHED_ISO : SCHED_OTHER;
		if (next != policy)
			set_policy(0, next, 0);
		policy = next;
	}
}

/* Three hogs beside it: a quarter is its own, and a fifth of the time it may be ISO */
static void gains_nothing_by_flips(void)
{
	unsigned int share, most = 0;
	pid_t hogs[3], pid;
	int phase, i;

	for (i = 0; i < 3; i++)
		hogs[i] = spawn(normal_hog_on_cpu_0, NULL);
	for (phase = 0; phase < 10; phase++) {
		pid = spawn(flip_about_ticks, &phase);
		sleep_ns(100 * MSEC);
		share = cpu_time_within(pid, 400 * MSEC) * 100 / (400 * MSEC);
		finish(pid);
		if (share > most)
			most = share;
	}
	finish_all(hogs, 3);
	ksft_test_result(most >= 10 && most <= 35,
			 "who is SCHED_ISO only about ticks has no more than 35%% of a CPU (%u%%)\n",
			 most);
}

static void iso_hog_on_cpu_0(void *counter)
{
	pin(0, 0);
	iso_hog(counter);
}

#define SWARM		50
#define FLIPPERS	8
#define FLIPS		5

static void set_policies(const pid_t *pids, int n, int policy)
{
	int i;

	for (i = 0; i < n; i++)
		set_policy(pids[i], policy, 0);
}

/* The longest of the turns of @n tasks, ns; -1: it is not told */
static long long longest_turn(const pid_t *pids, int n)
{
	long long span, longest = -1;
	char path[32];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/proc/%d/sched", pids[i]);
		span = number_after(path, "vrq.span");
		if (span > longest)
			longest = span;
	}
	return longest;
}

/*
 * A swarm is SCHED_ISO whenever those that wait become that, and is not whenever they are it no
 * longer. Their turns, which others may make longer, do not grow from time to time. A tick mends
 * the first and the last one of those that wait.
 */
static void turns_do_not_grow(void)
{
	pid_t swarm[SWARM], flippers[FLIPPERS];
	long long before, after;
	int i;

	for (i = 0; i < SWARM; i++)
		swarm[i] = spawn(iso_hog, NULL);
	for (i = 0; i < FLIPPERS; i++)
		flippers[i] = spawn(iso_hog_on_cpu_0, NULL);
	sleep_ns(300 * MSEC);
	before = longest_turn(flippers, FLIPPERS);
	for (i = 0; i < FLIPS; i++) {
		set_policies(swarm, SWARM, SCHED_OTHER);
		set_policies(flippers, FLIPPERS, SCHED_OTHER);
		set_policies(swarm, SWARM, SCHED_ISO);
		set_policies(flippers, FLIPPERS, SCHED_ISO);
	}
	after = longest_turn(flippers, FLIPPERS);
	finish_all(flippers, FLIPPERS);
	finish_all(swarm, SWARM);
	if (before < 0)
		ksft_test_result_skip("no vrq.span\n");
	else
		ksft_test_result(before && after > 0 && after <= 100 * before,
				 "turns of %lld us take %lld once policies have changed %d times\n",
				 before / 1000, after / 1000, 2 * FLIPS);
}

/* For how long one of @n tasks has not run at the most, in the next @ns, ns */
static uint64_t longest_gap(const pid_t *pids, int n, uint64_t ns)
{
	uint64_t ran_at[MAX], used[MAX], now, then, end = now_ns() + ns, longest = 0;
	int i;

	for (i = 0; i < n; i++) {
		used[i] = cpu_time_of(pids[i]);
		ran_at[i] = now_ns();
	}
	do {
		sleep_ns(50 * MSEC);
		for (i = 0; i < n; i++) {
			now = now_ns();
			then = cpu_time_of(pids[i]);
			if (now - ran_at[i] > longest)
				longest = now - ran_at[i];
			if (then == used[i])
				continue;
			used[i] = then;
			ran_at[i] = now;
		}
	} while (now_ns() < end);

	return longest;
}

/* Somebody who types: how long that one waits at the most, ns, and how often */
static void type(void *longest)
{
	uint64_t at = now_ns(), *waited = longest, ns;

	be_normal();
	for (;;) {
		at += 30 * MSEC;
		sleep_until(at);
		ns = now_ns() - at;
		if (ns > waited[0])
			waited[0] = ns;
		waited[1]++;
		use_ns(MSEC / 10);
	}
}

/* Two a CPU, of either policy */
static void bounded(int cpus)
{
	pid_t iso[MAX], normal[MAX];
	unsigned int first, then;
	uint64_t least, most, used, gap, *waited = shared(2 * sizeof(*waited));
	pid_t typist;
	int n = 2 * cpus, i;

	for (i = 0; i < n; i++) {
		normal[i] = spawn(normal_hog, NULL);
		iso[i] = spawn(iso_hog, NULL);
	}
	typist = spawn(type, waited);
	first = share_of(iso, n, cpus, 4 * SEC);
	finish(typist);
	ksft_test_result(first >= 65 && first <= 78, "they get 70%% of the CPUs beside others (%u%%)\n",
			 first);
	/* 70% of 50 ms on end, and a slice of one that they let go first. It wakes up 133 times */
	ksft_test_result(waited[0] && waited[0] <= 45 * MSEC && waited[1] >= 100,
			 "a normal task that wakes up now and then waits for %llu us, not more than 45 ms\n",
			 (unsigned long long)(waited[0] / 1000));

	set_iso_cpu("0");
	then = share_of(iso, n, cpus, SEC);
	ksft_test_result(then >= 43 && then <= 57, "with iso_cpu at 0 they are normal at once (%u%%)\n",
			 then);

	set_iso_cpu("100");
	used = time_of_all(iso, n);
	gap = longest_gap(normal, n, 4 * SEC);
	first = (time_of_all(iso, n) - used) * 100 / (4 * SEC * cpus);
	ksft_test_result(first >= 90, "and at 100 they get nearly all (%u%%)\n", first);
	/* A second, and the turns of those who wait for this CPU */
	timed_result(gap < 2 * SEC, "but no normal task starves (for %llu ms)\n",
		     (unsigned long long)(gap / MSEC));
	least = spread(iso, n, &most);
	ksft_test_result(least * 100 >= most * 95,
			 "all of them get the same (%llu to %llu ms)\n",
			 (unsigned long long)(least / MSEC), (unsigned long long)(most / MSEC));
	finish_all(iso, n);
	finish_all(normal, n);
}

/*
 * Beside starved tasks of all kinds a SCHED_ISO task that needs little gets it:
 * what is promoted for their sake holds it up for a slice now and then.
 */
static void not_held_up(int cpus)
{
	uint64_t normal_ns, idle_ns;
	pid_t normal[MAX], idle[MAX];
	unsigned int iso;
	int n = 2 * cpus, i;

	for (i = 0; i < n; i++) {
		normal[i] = spawn(normal_hog, NULL);
		idle[i] = spawn(idle_hog, NULL);
	}
	sleep_ns(2 * SEC);
	normal_ns = time_of_all(normal, n);
	idle_ns = time_of_all(idle, n);
	iso = turns(SCHED_ISO);
	normal_ns = time_of_all(normal, n) - normal_ns;
	idle_ns = time_of_all(idle, n) - idle_ns;
	finish_all(normal, n);
	finish_all(idle, n);
	ksft_test_result(iso >= 112 && normal_ns && idle_ns,
			 "starved tasks do not hold it up (%u turns), and have %llu and %llu ms\n",
			 iso, (unsigned long long)(normal_ns / MSEC),
			 (unsigned long long)(idle_ns / MSEC));
}

/* How long until a kernel thread of each CPU has run, ns */
static uint64_t time_of_kernel_threads(void)
{
	uint64_t start = now_ns();

	if (!run_kernel_threads())
		ksft_exit_fail_msg("stat_refresh cannot be read\n");
	return now_ns() - start;
}

/* What others wait for does not starve behind what is starved by SCHED_ISO */
static void kernel_threads_run(void)
{
	uint64_t ns, used, longest = 0;
	pid_t pids[STARVED + 1];
	int i;

	for (i = 0; i < STARVED; i++)
		pids[i] = spawn(normal_hog_on_cpu_0, NULL);
	sleep_ns(SEC);
	pids[STARVED] = spawn(iso_hog_on_cpu_0, NULL);
	used = cpu_time_within(pids[STARVED], 2 * SEC);
	for (i = 0; i < 5; i++) {
		ns = time_of_kernel_threads();
		if (ns > longest)
			longest = ns;
	}
	finish(pids[STARVED]);
	finish_all(pids, STARVED);
	timed_result(longest < 2 * SEC && used > SEC,
		     "kernel threads run beside %d starved tasks (longest wait %llu ms)\n",
		     STARVED, (unsigned long long)(longest / MSEC));
}

int main(void)
{
	int cpus = online_cpus();
	int err;

	ksft_print_header();
	if (3 * cpus > MAX)
		ksft_exit_skip("no room for %d hogs\n", 3 * cpus);
	if (!under_vrq()) {
		ksft_set_plan(1);
		err = try_policy(SCHED_ISO, 0);
		ksft_test_result(err == EINVAL && sched_get_priority_max(SCHED_ISO) < 0,
				 "there is no SCHED_ISO (%s)\n", strerror(err));
		ksft_finished();
	}
	ksft_set_plan(19);
	be_supervisor();
	atexit(reset);
	who_may();
	bounded(cpus);
	before_normal_tasks(cpus);
	not_held_up(cpus);
	gains_nothing_by_flips();
	turns_do_not_grow();
	kernel_threads_run();
	ksft_finished();
}
