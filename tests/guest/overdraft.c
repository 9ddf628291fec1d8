// SPDX-License-Identifier: GPL-2.0-only
/*
 * A limit that is used up by all CPUs together before each has seen a tick holds in each
 * period, whenever that begins. Emulated CPUs have to take short turns: else what each of them
 * overdraws is the length of the turns of the others.
 */
#include "cgroup.h"

#define PERIOD_NS	(100 * MSEC)
#define PERIODS		5
#define ROUNDS		4

/* The most that processes use in one of some periods of a group; in its middle they are stopped */
static uint64_t most_in_a_period(const char *group, const pid_t *pids, int n)
{
	uint64_t middle, used, before, most = 0;
	int i;

	await_period(group);
	middle = now_ns() + PERIOD_NS / 2;
	sleep_until(middle);
	before = time_of_all(pids, n);
	for (i = 1; i <= PERIODS; i++) {
		sleep_until(middle + i * PERIOD_NS);
		used = time_of_all(pids, n);
		if (used - before > most)
			most = used - before;
		before = used;
	}
	return most;
}

int main(void)
{
	int cpus = online_cpus(), n = 2 * cpus, quota_ms, round, i;
	uint64_t used, most = 0;
	struct timespec tick;
	pid_t pids[2 * MAX_CPUS];

	ksft_print_header();
	need_groups();
	ksft_set_plan(1);
	be_supervisor_of_groups();
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	quota_ms = cpus * tick.tv_nsec / 2 / MSEC;
	if (quota_ms < 1)
		quota_ms = 1;
	make_group("limit");
	for (i = 0; i < n; i++)
		pids[i] = spawn_in("limit", hog, NULL);
	start_all(pids, n);
	for (round = 0; round < ROUNDS; round++) {
		group_put("limit", "cpu.max", "max");
		sleep_ns(tick.tv_nsec / 4);
		group_put_number("limit", "cpu.max", quota_ms * 1000);
		sleep_ns(5 * PERIOD_NS);
		used = most_in_a_period("limit", pids, n);
		most = used > most ? used : most;
	}
	finish_all(pids, n);
	drop_group("limit");
	timed_result(most >= quota_ms * MSEC / 2 && most <= quota_ms * MSEC * 3 / 2,
		     "%d hogs with %d ms of 100 use %.2f ms in a period at the most\n", n,
		     quota_ms, (double)most / MSEC);
	ksft_finished();
}
