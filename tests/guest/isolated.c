// SPDX-License-Identifier: GPL-2.0-only
/*
 * Isolated CPUs (isolcpus=) are for those tasks that may run nowhere else. A task whose mask
 * has other CPUs too, as a kernel thread may have all, is not sent there, nor pulled there by
 * who wakes it up; it stays there if it begins there.
 */
#include "guest.h"

#define ISOLATED	"/sys/devices/system/cpu/isolated"
#define WATCH_NS	(500 * MSEC)
#define WORKERS		8

struct worker {
	uint64_t sleep_ns;		/* after each turn; 0: never */
	volatile uint64_t turns, there;	/* how many turns, and how many of these on isolated CPUs */
};

static struct worker *workers;
static uint64_t isolated, others;
static int nr_isolated;

static void note_turn(struct worker *me)
{
	me->turns++;
	me->there += isolated >> sched_getcpu() & 1;
}

static void work(void *arg)
{
	struct worker *me = arg;

	be_normal();
	for (;;) {
		use_ns(MSEC / 10);
		note_turn(me);
		if (me->sleep_ns)
			sleep_ns(me->sleep_ns);
	}
}

/* A worker that begins on the CPUs @first, and may use those of @mask then */
static pid_t hire(int i, uint64_t first, uint64_t mask, uint64_t sleep)
{
	pid_t pid;

	workers[i] = (struct worker) { .sleep_ns = sleep };
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

static int to[2];

static void write_bytes(void *unused)
{
	(void)unused;
	be_normal();
	for (;;) {
		if (write(to[1], "", 1) != 1)
			_exit(1);
		sleep_ns(MSEC / 5);
	}
}

static void read_bytes(void *arg)
{
	struct worker *me = arg;
	char byte;

	be_normal();
	while (read(to[0], &byte, 1) == 1)
		note_turn(me);
}

/* A pipe's writer tells that it is about to sleep, and takes the reader along elsewhere */
static void are_not_pulled(void)
{
	pid_t writer, reader;

	if (pipe(to))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	memset(workers, 0, sizeof(*workers));
	reader = spawn(read_bytes, workers);
	sleep_ns(5 * MSEC);
	confine(reader, isolated | others);
	confine(0, isolated & -isolated);
	writer = spawn(write_bytes, NULL);
	confine(0, others);
	sleep_ns(WATCH_NS);
	finish(writer);
	finish(reader);
	ksft_test_result(workers->turns && !workers->there,
			 "woken up from an isolated CPU: %llu of %llu turns there\n",
			 (unsigned long long)workers->there, (unsigned long long)workers->turns);
}

/* A hog, for a task that sleeps may be sent elsewhere by others */
static void may_stay(void)
{
	uint64_t first = isolated & -isolated;
	pid_t pid = hire(0, first, first | others, 0);

	sleep_ns(WATCH_NS / 5);
	finish(pid);
	ksft_test_result(workers->turns && workers->turns == workers->there,
			 "one that begins there: %llu of %llu turns there\n",
			 (unsigned long long)workers->there, (unsigned long long)workers->turns);
}

/* As many as there are isolated CPUs, from the first one on */
static void are_shared_out(void)
{
	uint64_t first = isolated & -isolated, before, used;
	pid_t pids[WORKERS];
	int i;

	for (i = 0; i < nr_isolated; i++)
		pids[i] = hire(i, first, isolated, 0);
	sleep_ns(WATCH_NS / 5);
	before = time_of_all(pids, nr_isolated);
	sleep_ns(WATCH_NS);
	used = time_of_all(pids, nr_isolated) - before;
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
	if (cpus >= 64 || nr_isolated >= cpus || nr_isolated > WORKERS)
		ksft_exit_skip("no room for %d CPUs, %d of them isolated\n", cpus, nr_isolated);
	isolated = ((1ULL << nr_isolated) - 1) << first;
	others = ((1ULL << cpus) - 1) & ~isolated;
	ksft_set_plan(6);
	be_supervisor();
	confine(0, others);
	workers = shared(WORKERS * sizeof(*workers));
	are_left_alone("sleepers", MSEC / 5);
	are_left_alone("hogs", 0);
	are_not_pulled();
	may_stay();
	/* Mainline leaves such a task on the isolated CPU on which it is */
	if (under_vrq()) {
		are_shared_out();
		may_leave();
	} else {
		ksft_test_result_skip("tasks for the isolated CPUs only: fair\n");
		ksft_test_result_skip("one that may leave an isolated CPU: fair\n");
	}
	ksft_finished();
}
