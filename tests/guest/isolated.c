// SPDX-License-Identifier: GPL-2.0-only
/*
 * Isolated CPUs (isolcpus=) are for those tasks that may run nowhere else. A task whose mask
 * has other CPUs too, as a kernel thread may have all, is not sent there; it stays there if it
 * begins there.
 */
#include "guest.h"

#define ISOLATED	"/sys/devices/system/cpu/isolated"
#define WATCH_NS	(500 * MSEC)
#define WORKERS		8

struct worker {
	uint64_t sleep_ns;		/* after each turn; 0: never */
	uint64_t isolated;		/* the mask of isolated CPUs */
	volatile uint64_t turns, there;	/* how many turns, and how many of these on isolated CPUs */
};

static struct worker *workers;
static uint64_t isolated, others;
static int nr_isolated;

static void work(void *arg)
{
	struct worker *me = arg;

	be_normal();
	for (;;) {
		use_ns(MSEC / 10);
		me->turns++;
		me->there += me->isolated >> sched_getcpu() & 1;
		if (me->sleep_ns)
			sleep_ns(me->sleep_ns);
	}
}

/* A worker that begins on the CPUs @first, and may use those of @mask then */
static pid_t hire(int i, uint64_t first, uint64_t mask, uint64_t sleep)
{
	pid_t pid;

	workers[i] = (struct worker) { .sleep_ns = sleep, .isolated = isolated };
	confine(0, first);
	pid = spawn(work, &workers[i]);
	confine(0, others);
	sleep_ns(5 * MSEC);
	confine(pid, mask);
	return pid;
}

/* More tasks than CPUs that are not isolated, and each may use all */
static void are_left_alone(const char *who, uint64_t sleep)
{
	uint64_t turns = 0, there = 0;
	pid_t pids[WORKERS];
	int i;

	for (i = 0; i < WORKERS; i++)
		pids[i] = hire(i, others, isolated | others, sleep);
	sleep_ns(WATCH_NS);
	finish_all(pids, WORKERS);
	for (i = 0; i < WORKERS; i++) {
		turns += workers[i].turns;
		there += workers[i].there;
	}
	ksft_test_result(turns && !there, "%s with all CPUs in their masks: %llu of %llu turns on isolated ones\n",
			 who, (unsigned long long)there, (unsigned long long)turns);
}

/* As many as there are isolated CPUs, from the first one on */
static void are_shared_out(void)
{
	uint64_t first = isolated & -isolated, most = 0, used;
	pid_t pids[WORKERS];
	int i;

	for (i = 0; i < nr_isolated; i++)
		pids[i] = hire(i, first, isolated, 0);
	sleep_ns(WATCH_NS / 5);
	most = time_of_all(pids, nr_isolated);
	sleep_ns(WATCH_NS);
	used = time_of_all(pids, nr_isolated) - most;
	finish_all(pids, nr_isolated);
	ksft_test_result(used > nr_isolated * WATCH_NS * 95 / 100,
			 "%d tasks for the isolated CPUs only have %.1f CPUs\n", nr_isolated,
			 (double)used / WATCH_NS);
}

/* Beside one that may use no other CPU */
static void may_leave(void)
{
	uint64_t first = isolated & -isolated;
	pid_t pinned = hire(0, first, first, 0), free = hire(1, first, first | others, 0);
	uint64_t used;

	sleep_ns(WATCH_NS / 5);
	used = cpu_time_within(free, WATCH_NS);
	finish(pinned);
	finish(free);
	ksft_test_result(used > WATCH_NS * 95 / 100,
			 "one that may leave an isolated CPU has %.2f of a CPU\n",
			 (double)used / WATCH_NS);
}

int main(void)
{
	int cpus = online_cpus(), first, last;
	FILE *file = fopen(ISOLATED, "r");

	ksft_print_header();
	if (!file || fscanf(file, "%d-%d", &first, &last) != 2)
		ksft_exit_skip("several CPUs in a row have to be isolated\n");
	fclose(file);
	nr_isolated = last - first + 1;
	isolated = ((1ULL << nr_isolated) - 1) << first;
	others = ((1ULL << cpus) - 1) & ~isolated;
	if (cpus >= 64 || !others || nr_isolated > WORKERS)
		ksft_exit_skip("no room for %d CPUs\n", cpus);
	ksft_set_plan(4);
	be_supervisor();
	confine(0, others);
	workers = shared(WORKERS * sizeof(*workers));
	are_left_alone("sleepers", MSEC / 5);
	are_left_alone("hogs", 0);
	/* Mainline leaves a task on the isolated CPU on which it is */
	if (under_vrq()) {
		are_shared_out();
		may_leave();
	} else {
		ksft_test_result_skip("tasks for the isolated CPUs only: fair\n");
		ksft_test_result_skip("one that may leave an isolated CPU: fair\n");
	}
	ksft_finished();
}
