// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that may run in a few of many domains is sent to an idle CPU there, however many
 * domains with idle CPUs there are that it may not use.
 */
#include "guest.h"

static void two_hogs(int cpus, uint64_t mask)
{
	pid_t pids[2];
	uint64_t used;
	int i;

	for (i = 0; i < 2; i++) {
		pids[i] = spawn(normal_hog, NULL);
		confine(pids[i], 1ULL << (cpus - 1));
	}
	sleep_ns(50 * MSEC);
	for (i = 0; i < 2; i++)
		confine(pids[i], mask);
	sleep_ns(50 * MSEC);
	used = time_of_all(pids, 2);
	sleep_ns(SEC);
	used = time_of_all(pids, 2) - used;
	finish_all(pids, 2);
	timed_result(used >= 19 * SEC / 10, "two hogs for two of %d CPUs, mask %llx, have %.2f CPUs\n",
		     cpus, (unsigned long long)mask, (double)used / SEC);
}

int main(void)
{
	int cpus = online_cpus(), i;

	ksft_print_header();
	if (cpus < 6 || cpus > 64)
		ksft_exit_skip("%d CPUs\n", cpus);
	ksft_set_plan(3);
	be_supervisor();
	/* Near ones and far ones, by their numbers */
	for (i = 2; i <= cpus; i = i == 2 ? cpus / 2 : 2 * i)
		two_hogs(cpus, 1ULL << (cpus - 1) | 1ULL << (cpus - i));
	ksft_finished();
}
