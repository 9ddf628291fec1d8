// SPDX-License-Identifier: GPL-2.0-only
/*
 * Normal tasks beside a real-time task that spins: those bound to its CPU get what
 * the deadline server has for them, the others do not notice it.
 */
#include "guest.h"

#define MAX	64
#define RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"

struct turn {
	volatile uint64_t ran;		/* times */
	volatile uint64_t last;		/* when */
	uint64_t longest;		/* from one time to the next, ns */
};

static void spin(void *arg)
{
	(void)arg;
	pin(0, 0);
	set_policy(0, SCHED_FIFO, 10);
	hog(NULL);
}

static void bound_sleeper(void *arg)
{
	struct turn *turn = arg;
	uint64_t now;

	be_normal();
	pin(0, 0);
	turn->last = now_ns();
	for (;;) {
		sleep_ns(10 * MSEC);
		now = now_ns();
		turn->ran++;
		if (now - turn->last > turn->longest)
			turn->longest = now - turn->last;
		turn->last = now;
	}
}

/* A hog and a sleeper bound to the CPU */
static void bound(void)
{
	struct turn *turn = shared(sizeof(*turn));
	pid_t rt = spawn(spin, NULL), pid = spawn(normal_hog_on_cpu_0, NULL);
	pid_t sleeper = spawn(bound_sleeper, turn);
	uint64_t used, spun, unserved;

	sleep_ns(2 * SEC);
	used = cpu_time_of(pid) + cpu_time_of(sleeper);
	spun = cpu_time_of(rt);
	sleep_ns(4 * SEC);
	used = cpu_time_of(pid) + cpu_time_of(sleeper) - used;
	spun = cpu_time_of(rt) - spun;
	unserved = now_ns() - turn->last;
	if (unserved > turn->longest)
		turn->longest = unserved;
	finish(rt);
	finish(pid);
	finish(sleeper);
	ksft_test_result(used >= 160 * MSEC && used <= 260 * MSEC,
			 "tasks bound to its CPU get 50 ms in a second (%llu ms in 4 s)\n",
			 (unsigned long long)(used / MSEC));
	ksft_test_result(spun >= 4 * SEC * 93 / 100, "it has the rest (%llu ms)\n",
			 (unsigned long long)(spun / MSEC));
	ksft_test_result(turn->ran >= 4 && turn->longest < 1100 * MSEC,
			 "they wait for no longer than a second (%llu ms)\n",
			 (unsigned long long)(turn->longest / MSEC));
}

/* As many hogs as CPUs are left: they run already where it begins to spin */
static void not_bound(int cpus)
{
	uint64_t before[MAX], used, spun, least = ~0ULL;
	pid_t pids[MAX], rt;
	int i;

	for (i = 0; i < cpus - 1; i++)
		pids[i] = spawn(normal_hog, NULL);
	sleep_ns(200 * MSEC);
	rt = spawn(spin, NULL);
	for (i = 0; i < cpus - 1; i++)
		before[i] = cpu_time_of(pids[i]);
	spun = cpu_time_within(rt, SEC);
	for (i = 0; i < cpus - 1; i++) {
		used = cpu_time_of(pids[i]) - before[i];
		if (used < least)
			least = used;
	}
	finish(rt);
	finish_all(pids, cpus - 1);
	ksft_test_result(least * 100 >= SEC * 95 && spun * 100 >= SEC * 90,
			 "%d hogs have the other CPUs to themselves (%llu%% at least)\n",
			 cpus - 1, (unsigned long long)(least * 100 / SEC));
}

/* The throttling of real-time tasks stays out of it */
static long long runtime_before;

static void restore(void)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", runtime_before);
	put(RUNTIME, text);
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	if (cpus > MAX)
		ksft_exit_skip("no room for %d hogs\n", cpus);
	ksft_set_plan(4);
	be_supervisor();
	runtime_before = number_after(RUNTIME, "");
	atexit(restore);
	if (!put(RUNTIME, "-1"))
		ksft_exit_fail_msg("-1 to sched_rt_runtime_us: %s\n", strerror(errno));
	bound();
	/* The fair class takes longer to balance: 70% was seen */
	if (cpus > 1 && under_vrq())
		not_bound(cpus);
	else
		ksft_test_result_skip("one CPU only, or the fair class\n");
	ksft_finished();
}
