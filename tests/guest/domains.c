// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several domains of CPUs, each with a queue of its own: what there is to do evens
 * out over all of them, and tasks stay where they are as long as it is even.
 */
#include "guest.h"

/* CPU time of each process, ns */
static void read_times(const pid_t *pids, int n, uint64_t *times)
{
	int i;

	for (i = 0; i < n; i++)
		times[i] = cpu_time_of(pids[i]);
}

/* The largest deviation of what each got within @ns from the mean, in 1/1000 of that */
static uint64_t deviation(const pid_t *pids, int n, uint64_t ns)
{
	uint64_t before[2 * MAX_CPUS], after[2 * MAX_CPUS], got, mean = 0, most = 0;
	int i;

	read_times(pids, n, before);
	sleep_ns(ns);
	read_times(pids, n, after);
	for (i = 0; i < n; i++)
		mean += (after[i] - before[i]) / n;
	for (i = 0; i < n; i++) {
		got = after[i] - before[i];
		got = got > mean ? got - mean : mean - got;
		most = got > most ? got : most;
	}
	return most * 1000 / mean;
}

static long long moves(void)
{
	return number_after(COUNTERS, "moved_domain") +
	       number_after(COUNTERS, "moved_node");
}

/*
 * Two hogs for each of the first @width CPUs and one for each of the others, all free
 * to go where they want from now on. Within one second a task may be off by up to 5% where a
 * domain is small, if it is there just when there is one task less than its part.
 */
static void evens_out(int cpus, int width)
{
	pid_t pids[2 * MAX_CPUS] = { 0 };
	long long before, moved;
	uint64_t per_mille;
	int cpu, n = 0, i;

	for (cpu = 0; cpu < cpus; cpu++) {
		for (i = 0; i < (cpu < width ? 2 : 1); i++) {
			pids[n] = spawn(normal_hog, NULL);
			pin(pids[n++], cpu);
		}
	}
	sleep_ns(300 * MSEC);
	before = moves();
	for (i = 0; i < n; i++)
		confine(pids[i], ~0ULL);
	sleep_ns(SEC);
	per_mille = deviation(pids, n, 3 * SEC);
	finish_all(pids, n);
	moved = moves() - before;
	timed_result(per_mille <= 20 && moved > 0,
		     "%d hogs, two for each of %d CPUs, one for the other %d, have equal shares from 1 s on, to %llu of 1,000, by %lld moves\n",
		     n, width, cpus - width, (unsigned long long)per_mille, moved);
}

/* As many hogs on each CPU: nobody has a reason to leave */
static void stay(int cpus)
{
	pid_t pids[2 * MAX_CPUS];
	long long before;
	int n = 2 * cpus, seconds = 2, i;

	for (i = 0; i < n; i++)
		pids[i] = spawn(normal_hog, NULL);
	sleep_ns(SEC);
	before = moves();
	sleep_ns(seconds * SEC);
	before = moves() - before;
	finish_all(pids, n);
	ksft_test_result(before < n * seconds,
			 "%d hogs on %d CPUs change the domain %lld times in %d s\n",
			 n, cpus, before, seconds);
}

#define CACHE_BATCH_MS	"/proc/sys/kernel/sched_vrq_cache_batch_ms"

/*
 * Two CPUs are a domain. A task may run on the first two and the fourth, others on the first
 * three; to their domain, they have the same mask. Once the fourth CPU is idle, it takes the
 * task, whoever is before it in the shared queue.
 */
static void beside_another_mask(int policy, const char *what)
{
	pid_t others[6], busy, one;
	uint64_t used;
	int i;

	if (widest_domain(4) != 2) {
		ksft_test_result_skip("domains of other than two CPUs\n");
		return;
	}
	set_rr_interval(1);
	must_put(CACHE_NORMAL_MS, "0");
	must_put(CACHE_BATCH_MS, "0");
	busy = spawn(normal_hog, NULL);
	pin(busy, 3);
	one = spawn(policy == SCHED_IDLE ? idle_hog : normal_hog, NULL);
	confine(one, 0xb);
	for (i = 0; i < 6; i++) {
		others[i] = spawn(normal_hog, NULL);
		confine(others[i], 0x7);
	}
	sleep_ns(100 * MSEC);
	finish(busy);
	sleep_ns(5 * MSEC);
	used = cpu_time_within(one, 500 * MSEC);
	finish(one);
	finish_all(others, 6);
	set_rr_interval(RR_MS);
	must_put(CACHE_NORMAL_MS, "-1");
	must_put(CACHE_BATCH_MS, "1000");
	timed_result(used * 100 >= 500 * MSEC * 95,
		     "%s task that waits behind others has the idle CPU that only it may use (%llu%%)\n",
		     what, (unsigned long long)(used * 100 / (500 * MSEC)));
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	if (cpus < 4 || cpus > MAX_CPUS || !under_vrq() || moves() < 0)
		ksft_exit_skip("%d CPUs, or no counters of VRQ's\n", cpus);
	ksft_set_plan(5);
	be_supervisor();
	evens_out(cpus, cpus / 4);
	evens_out(cpus, cpus / 2);
	stay(cpus);
	beside_another_mask(SCHED_OTHER, "a normal");
	beside_another_mask(SCHED_IDLE, "a SCHED_IDLE");
	ksft_finished();
}
