// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of threads: those of one process are in two groups, with a weight and a limit.
 */
#include <pthread.h>

#include "cgroup.h"

#define MAX_THREADS	64
#define HALF_NS		(2 * SEC)

static int cpus;
static pid_t *tids;
static pid_t process;

static void *spin(void *place)
{
	*(volatile pid_t *)place = gettid();
	hog(NULL);
	return NULL;
}

/* A process of @cpus threads twice: the first half for one group, the others for another */
static void many_threads(void *unused)
{
	pthread_t thread;
	int i;

	(void)unused;
	for (i = 0; i < 2 * cpus; i++)
		pthread_create(&thread, NULL, spin, &tids[i]);
	pause();
}

static bool await_threads(void)
{
	int i, ms;

	for (i = 0; i < 2 * cpus; i++)
		for (ms = 0; !((volatile pid_t *)tids)[i]; ms++) {
			if (ms == 5000)
				return false;
			sleep_ns(MSEC);
		}
	return true;
}

/* The CPU time of some threads, ns */
static long long time_of_threads(const pid_t *threads)
{
	long long sum = 0;
	char path[64];
	int i;

	for (i = 0; i < cpus; i++) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", process, threads[i]);
		sum += number_after(path, "");
	}
	return sum;
}

static bool thread_groups(void)
{
	make_group("process");
	if (!group_put("process", "cgroup.type", "threaded"))
		ksft_print_msg("process: %s\n", strerror(errno));
	/* the controller may be given on once its parent is the root of a threaded subtree */
	if (!group_put("process", "cgroup.subtree_control", "+cpu"))
		return false;
	make_group("process/a");
	make_group("process/b");
	return group_put("process/a", "cgroup.type", "threaded") &&
	       group_put("process/b", "cgroup.type", "threaded");
}

static bool place_threads(void)
{
	int i, errors = 0;

	for (i = 0; i < 2 * cpus; i++)
		errors += !group_put_number(i < cpus ? "process/a" : "process/b",
					    "cgroup.threads", tids[i]);
	return !errors;
}

static void used_by_both(long long *a, long long *b, uint64_t ns)
{
	uint64_t start = now_ns();

	*a = time_of_threads(tids);
	*b = time_of_threads(tids + cpus);
	sleep_until(start + ns);
	*a = time_of_threads(tids) - *a;
	*b = time_of_threads(tids + cpus) - *b;
}

int main(void)
{
	long long a, b;
	bool good;

	cpus = online_cpus();
	ksft_print_header();
	if (2 * cpus > MAX_THREADS)
		ksft_exit_skip("no room for %d threads\n", 2 * cpus);
	need_groups();
	ksft_set_plan(3);
	be_supervisor_of_groups();
	tids = shared(MAX_THREADS * sizeof(*tids));

	good = thread_groups();
	process = spawn_in("process", many_threads, NULL);
	start_all(&process, 1);
	good = good && await_threads() && place_threads();
	ksft_test_result(good, "threads of a process are put into two groups\n");

	good &= group_put("process/a", "cpu.weight", "200");
	sleep_ns(SEC / 2);
	used_by_both(&a, &b, HALF_NS);
	timed_result(good && b > 0 && a + b >= (long long)HALF_NS * cpus / 2 &&
		     a >= 19 * b / 10 && a <= 21 * b / 10,
		     "twice the weight: %lld percent of the others\n", b ? 100 * a / b : 0);

	good &= group_put("process/a", "cpu.max", "30000 100000");
	sleep_ns(SEC / 2);
	/* To the middle of a period, where the quota is used up: ten whole ones follow */
	await_period("process/a");
	sleep_ns(50 * MSEC);
	used_by_both(&a, &b, SEC);
	/* The others have no limit */
	timed_result(good && a >= 291 * (long long)MSEC && a <= 309 * (long long)MSEC &&
		     b >= (long long)SEC * cpus / 2,
		     "a limit of 300 ms in a second: %lld ms, the others %lld\n",
		     a / (long long)MSEC, b / (long long)MSEC);
	finish(process);
	drop_group("process/a");
	drop_group("process/b");
	drop_group("process");
	ksft_finished();
}
