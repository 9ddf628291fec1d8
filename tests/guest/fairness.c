// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariant 3: shares follow nice at 1.1 a step, across all CPUs.
 * Invariant 1: while there are more hogs than CPUs, no CPU idles.
 * Invariant 4: and none of them waits for longer than one round.
 * And forking earns no CPU time.
 *
 * Under the fair class only what it promises too is tested: equal shares, and
 * work conservation. Its weights are 1.25 a step, and hogs that do not divide
 * evenly among the CPUs take it longer to even out.
 */
#include "gaps.h"

#define MAX	256	/* hogs */
#define FAULT	"/sys/kernel/debug/sched/vrq_fault"
#define CACHE_BATCH	"/proc/sys/kernel/sched_vrq_cache_batch_ms"

struct kind {
	int policy, nice;
};

static void hog_of_kind(void *arg)
{
	const struct kind *kind = arg;

	set_policy(0, kind->policy, 0);
	setpriority(PRIO_PROCESS, 0, kind->nice);
	hog(NULL);
}

/* Start hogs, let them settle, measure for a while; shares in ns */
static uint64_t measure(int n, struct kind *kinds, uint64_t settle, uint64_t ns,
			uint64_t *share)
{
	uint64_t before[MAX], start;
	pid_t pids[MAX];
	int i;

	for (i = 0; i < n; i++)
		pids[i] = spawn(hog_of_kind, &kinds[i]);
	sleep_ns(settle);
	start = now_ns();
	for (i = 0; i < n; i++)
		before[i] = cpu_time_of(pids[i]);
	sleep_ns(ns);
	for (i = 0; i < n; i++)
		share[i] = cpu_time_of(pids[i]) - before[i];
	start = now_ns() - start;
	for (i = 0; i < n; i++)
		finish(pids[i]);
	return start;
}

/* The largest deviation from the ideal share, in 1 / 1000 of it */
static unsigned int deviation(int n, const double *weight, int cpus,
			      const uint64_t *share, uint64_t wall)
{
	double sum = 0, ideal, off, worst = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += weight[i];
	for (i = 0; i < n; i++) {
		ideal = weight[i] / sum * cpus * wall;
		off = share[i] > ideal ? share[i] - ideal : ideal - share[i];
		ksft_print_msg("hog %d: %.1f%% of a CPU, ideal %.1f%%\n", i,
			       100.0 * share[i] / wall, 100.0 * ideal / wall);
		if (off / ideal > worst)
			worst = off / ideal;
	}
	return worst * 1000;
}

static void equal_shares(int cpus, int policy, const char *name)
{
	int n = cpus + 1, i;
	uint64_t share[MAX], wall, used = 0;
	double weight[MAX] = {};
	struct kind kinds[MAX] = {};
	unsigned int off, limit = under_vrq() || cpus == 1 ? 20 : 600;

	for (i = 0; i < n; i++) {
		weight[i] = 1;
		kinds[i].policy = policy;
	}
	wall = measure(n, kinds, 200 * MSEC, SEC, share);
	off = deviation(n, weight, cpus, share, wall);
	for (i = 0; i < n; i++)
		used += share[i];
	ksft_test_result(off <= limit,
			 "%d equal %s hogs on %d CPUs have equal shares within %u permille (%u)\n",
			 n, name, cpus, limit, off);
	ksft_test_result(used * 100 >= wall * cpus * 98,
			 "no CPU idles while a hog waits (%llu%% used)\n",
			 (unsigned long long)(used * 100 / (wall * cpus)));
}

/*
 * One CPU has room for one more. Who has it for itself gives it to those that share the
 * others in turns, though none of these has more to do than the rest. From one domain to
 * another that takes longer, for tasks leave their cache.
 */
static unsigned int deviation_of_one_less(int cpus)
{
	int n = 2 * cpus - 1, i;
	struct kind kinds[MAX] = {};
	uint64_t share[MAX], wall;
	double weight[MAX];

	for (i = 0; i < n; i++)
		weight[i] = 1;
	wall = measure(n, kinds, 500 * MSEC, SEC, share);
	return deviation(n, weight, cpus, share, wall);
}

static void room_for_one(int cpus)
{
	unsigned int off, limit = widest_domain(cpus) == cpus ? 40 : 60;

	if (!under_vrq() || cpus == 1) {
		ksft_test_result_skip("one hog less than two for each CPU: VRQ's promise, on 2 CPUs or more\n");
		return;
	}
	off = deviation_of_one_less(cpus);
	ksft_test_result(off <= limit,
			 "one hog less than two for each CPU: equal shares within %u permille (%u)\n",
			 limit, off);
}

/*
 * Slices may end at the same ticks on all CPUs. Each of them then tries the lock of
 * another one's run queue while that one holds it, and must look again.
 */
static void room_for_one_behind_locks(int cpus)
{
	long long missed, pulled;
	unsigned int off;

	if (!under_vrq() || cpus == 1 || widest_domain(cpus) != cpus || access(FAULT, F_OK)) {
		ksft_test_result_skip("locks that seem to be taken: VRQ with faults, 2 CPUs or more of one domain\n");
		return;
	}
	must_put(FAULT, "locks 2000");
	missed = -number_after(COUNTERS, "shared_missed");
	pulled = -number_after(COUNTERS, "pick_pulled");
	off = deviation_of_one_less(cpus);
	missed += number_after(COUNTERS, "shared_missed");
	pulled += number_after(COUNTERS, "pick_pulled");
	/*
	 * Some are taken without the fault, too. But with it a CPU gets a lock only in the tick in
	 * which it has missed one, or in the next
	 */
	ksft_test_result(off <= 40 && missed > 0 && 2 * missed >= pulled,
			 "the same where locks seem to be taken at the first try, %lld times: within 40 permille (%u)\n",
			 missed, off);
}

static void nice_shares(int cpus, int policy, const char *name)
{
	static const int pattern[] = { 0, 5, 0, -5, 10 };
	int n = 5 * cpus, i, step;
	struct kind kinds[MAX] = {};
	uint64_t share[MAX], wall;
	double weight[MAX];
	unsigned int off;

	if (!under_vrq()) {
		ksft_test_result_skip("shares follow nice at 1.1 a step: VRQ's promise\n");
		return;
	}
	for (i = 0; i < n; i++) {
		kinds[i].policy = policy;
		kinds[i].nice = pattern[i % 5];
		weight[i] = 1;
		for (step = kinds[i].nice; step > 0; step--)
			weight[i] /= 1.1;
		for (step = kinds[i].nice; step < 0; step++)
			weight[i] *= 1.1;
	}
	wall = measure(n, kinds, SEC, 3 * SEC, share);
	off = deviation(n, weight, cpus, share, wall);
	ksft_test_result(off <= 60,
			 "shares of %d %s hogs follow nice at 1.1 a step within 60 permille (%u)\n",
			 n, name, off);
}

static void normal_watch_gaps(void *gap)
{
	be_normal();
	watch_gaps(gap);
}

static void bounded_wait(int cpus)
{
	int n = 4 * cpus, i, late = 0;
	struct gap *gaps = shared(n * sizeof(*gaps));
	uint64_t longest, last, bound;
	pid_t pids[MAX];

	/* Three tasks ahead for each CPU, and as much again for what else runs */
	bound = under_vrq() ? 2 * 4 * RR_NS : SEC;
	/* A CPU of another domain takes what is late by the margin, half a turn: sched-vrq.rst */
	if (under_vrq() && widest_domain(cpus) != cpus)
		bound += 4 * RR_NS / 2;
	for (i = 0; i < n; i++)
		pids[i] = spawn(normal_watch_gaps, &gaps[i]);
	sleep_ns(300 * MSEC);
	longest = longest_gap_within(gaps, n, SEC - bound);
	last = longest_gap_within(gaps, n, bound);
	/* A wait that has not ended is in no gap: in the last of these times each hog runs */
	for (i = 0; i < n; i++)
		late += !gaps[i].longest;
	finish_all(pids, n);
	longest = last > longest ? last : longest;
	ksft_test_result(longest <= bound && !late,
			 "none of %d hogs waits longer than %llu ms (%llu ms, %d still wait)\n",
			 n, (unsigned long long)(bound / MSEC),
			 (unsigned long long)(longest / MSEC), late);
}

/* Work in short-lived children, one after the other */
static void fork_bomb(void *arg)
{
	uint64_t end;
	pid_t pid;

	(void)arg;
	be_normal();
	pin(0, 0);
	for (;;) {
		pid = fork();
		if (!pid) {
			end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 3 * MSEC;
			while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
				;
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void forking_earns_nothing(void)
{
	pid_t bomb = spawn(fork_bomb, NULL);
	pid_t victim = spawn(normal_hog_on_cpu_0, NULL);
	uint64_t hog_ns;

	sleep_ns(500 * MSEC);
	hog_ns = cpu_time_within(victim, 2 * SEC);
	finish(victim);
	finish(bomb);
	/* The other one is there, too */
	ksft_test_result(hog_ns * 100 >= 2 * SEC * 35 && hog_ns * 100 <= 2 * SEC * 90,
			 "a hog beside a task that forks all the time gets %llu%% of their CPU\n",
			 (unsigned long long)(hog_ns * 100 / (2 * SEC)));
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	if (5 * cpus > MAX)
		ksft_exit_skip("no room for %d hogs\n", 5 * cpus);
	ksft_set_plan(13);
	be_supervisor();
	equal_shares(cpus, SCHED_OTHER, "normal");
	equal_shares(cpus, SCHED_BATCH, "batch");
	equal_shares(cpus, SCHED_IDLE, "idle");
	room_for_one(cpus);
	room_for_one_behind_locks(cpus);
	nice_shares(cpus, SCHED_OTHER, "normal");
	nice_shares(cpus, SCHED_BATCH, "batch");
	/*
	 * Else, where there are several domains, one of them may be late by what it is to
	 * make up for when the second is over in which they spread
	 */
	put(CACHE_BATCH, "2");
	nice_shares(cpus, SCHED_IDLE, "idle");
	put(CACHE_BATCH, "1000");
	bounded_wait(cpus);
	forking_earns_nothing();
	ksft_finished();
}
