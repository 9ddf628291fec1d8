// SPDX-License-Identifier: GPL-2.0-only
/*
 * The length of a task's slices, sched_runtime of sched_setattr(): what is told of it,
 * that it is kept, and that a task's share does not depend on it. And what
 * /proc/PID/sched tells.
 */
#include "guest.h"

#define SHORT_NS	(MSEC / 10)
#define LONG_NS		(100 * MSEC)
/* No slice is longer than two of rr_interval */
#define LONGEST_NS	(2 * RR_NS)
#define WATCH_NS	(2 * SEC)

static uint64_t slice_of(pid_t pid)
{
	struct attributes attr = {};

	if (syscall(SYS_sched_getattr, pid, &attr, sizeof(attr), 0))
		return 0;
	return attr.runtime;
}

static void reads_back(void)
{
	static const struct {
		uint64_t set, told;
	} cases[] = {
		{ SHORT_NS, SHORT_NS },
		{ 3 * MSEC, 3 * MSEC },
		{ LONG_NS, LONG_NS },
		{ 1, SHORT_NS },
		{ SEC, LONG_NS },
	};
	uint64_t first;
	bool same = true;
	unsigned int i;

	be_normal();
	first = slice_of(0);

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		same &= set_slice(SCHED_OTHER, cases[i].set) &&
			slice_of(0) == cases[i].told &&
			set_slice(SCHED_BATCH, cases[i].set) &&
			slice_of(0) == cases[i].told;
	ksft_test_result(same, "a slice of 0.1 to 100 ms is told as it was set\n");
	same = first && set_slice(SCHED_OTHER, 0) && slice_of(0) == first;
	if (under_vrq())
		same &= first == RR_NS;
	ksft_test_result(same, "without one it is that of all others (%llu us)\n",
			 (unsigned long long)first / 1000);
}

static void hog_with_slice(void *ns)
{
	be_normal();
	if (!set_slice(SCHED_OTHER, *(uint64_t *)ns))
		_exit(1);
	hog(NULL);
}

static void pinned_hog_with_slice(void *ns)
{
	pin(0, 0);
	hog_with_slice(ns);
}

/* As many hogs of each kind as there are CPUs, or one of each pinned to CPU 0 */
static void equal_shares(const char *where, void (*work)(void *), int cpus)
{
	static uint64_t lengths[] = { SHORT_NS, 0, LONG_NS };
	uint64_t used[3 * MAX_CPUS], mean = WATCH_NS / 3, off, worst = 0;
	pid_t pids[3 * MAX_CPUS] = {};
	int i, n = 3 * cpus;

	for (i = 0; i < n; i++)
		pids[i] = spawn(work, &lengths[i % 3]);
	sleep_ns(500 * MSEC);
	for (i = 0; i < n; i++)
		used[i] = cpu_time_of(pids[i]);
	sleep_ns(WATCH_NS);
	for (i = 0; i < n; i++) {
		used[i] = cpu_time_of(pids[i]) - used[i];
		off = used[i] > mean ? used[i] - mean : mean - used[i];
		if (off > worst)
			worst = off;
		if (i < 3)
			ksft_print_msg("slices of %llu us: %.1f%% of a CPU\n",
				       (unsigned long long)lengths[i] / 1000,
				       100.0 * used[i] / WATCH_NS);
	}
	finish_all(pids, n);
	ksft_test_result(worst * 1000 <= mean * 30,
			 "%d hogs with slices of 0.1, 6 and 100 ms %s have equal shares within 30 permille (%llu)\n",
			 n, where, (unsigned long long)(worst * 1000 / mean));
}

static long long switches_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return number_after(path, "nonvoluntary_ctxt_switches");
}

/* How long one of two hogs on a CPU runs until the other has its turn, ns */
static uint64_t turn_of_two(uint64_t ns)
{
	pid_t pids[2];
	long long n;
	int i;

	for (i = 0; i < 2; i++)
		pids[i] = spawn(pinned_hog_with_slice, &ns);
	sleep_ns(200 * MSEC);
	n = -switches_of(pids[0]);
	sleep_ns(WATCH_NS);
	n += switches_of(pids[0]);
	finish_all(pids, 2);
	return n > 0 ? WATCH_NS / 2 / n : WATCH_NS;
}

static void turns_take_as_long(void)
{
	uint64_t usual = turn_of_two(0), longest = turn_of_two(LONG_NS);
	uint64_t two = turn_of_two(2 * MSEC);

	ksft_print_msg("a turn takes %llu us, with slices of 100 ms %llu us, of 2 ms %llu us\n",
		       (unsigned long long)usual / 1000,
		       (unsigned long long)longest / 1000,
		       (unsigned long long)two / 1000);
	ksft_test_result(usual > RR_NS * 9 / 10 && usual < RR_NS * 12 / 10 &&
			 longest > LONGEST_NS * 9 / 10 && longest < LONGEST_NS * 12 / 10 &&
			 two > 2 * MSEC * 9 / 10 && two < 2 * MSEC * 12 / 10,
			 "two hogs take turns of the length that was set\n");
}

#define CROWD		100
#define BURST_NS	(9 * 1000)
#define NAP_NS		(MSEC / 10 * 3)
/* One of them works over a tick if the tick is due after 1 to 2 times this */
#define LONGER_NS	(MSEC / 16)

/* How long it took to work over a tick */
struct longer {
	uint64_t tick, tick_ns;	/* when there was one, and the time between two */
	uint64_t longest;
	unsigned int n;
};

static void find_ticks(struct longer *longer)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC_COARSE);
	struct timespec length;

	clock_getres(CLOCK_MONOTONIC_COARSE, &length);
	longer->tick_ns = length.tv_nsec;
	while (clock_ns(CLOCK_MONOTONIC_COARSE) == before)
		;
	longer->tick = now_ns();
}

static void short_bursts(void *arg)
{
	uint64_t start, end, took, next = 0, nap = NAP_NS;
	struct longer *longer = arg;

	be_normal();
	pin(0, 0);
	for (;; sleep_ns(nap)) {
		use_ns(BURST_NS);
		if (!longer)
			continue;
		/* Naps of different lengths, because all of them may fall into step with the ticks */
		nap = NAP_NS + (nap + BURST_NS) % MSEC;
		start = now_ns();
		end = start + longer->tick_ns - (start - longer->tick) % longer->tick_ns;
		if (start < next || end < start + LONGER_NS || end > start + 2 * LONGER_NS)
			continue;
		while (now_ns() < end + BURST_NS)
			;
		took = now_ns() - start;
		next = now_ns() + 20 * MSEC;
		longer->n++;
		if (took > longer->longest)
			longer->longest = took;
	}
}

/*
 * A tick finds that a task needs more than it usually does. The task waits for as long as that
 * takes at its share, not as if it needed all of the time until the next tick, for which it
 * would wait for 100 ms here.
 */
static void a_little_more(void)
{
	struct longer *longer = shared(sizeof(*longer));
	pid_t pids[CROWD];
	int i;

	find_ticks(longer);
	for (i = 0; i < CROWD; i++)
		pids[i] = spawn(short_bursts, i ? NULL : longer);
	sleep_ns(SEC / 2);
	longer->longest = 0;
	longer->n = 0;
	sleep_ns(SEC);
	ksft_test_result(longer->n >= 4 && longer->longest <= 60 * MSEC,
			 "of %d tasks with short bursts, one that works over a tick takes %llu us at most, %u times\n",
			 CROWD, (unsigned long long)(longer->longest / 1000), longer->n);
	finish_all(pids, CROWD);
}

static void proc_tells(void)
{
	static const char * const rows[] = {
		"vrq.deadline", "vrq.slice", "vrq.slice_left", "vrq.span", "vrq.burst",
	};
	unsigned int i, there = 0;
	char path[64];
	pid_t pid = spawn(normal_hog, NULL);

	sleep_ns(50 * MSEC);
	snprintf(path, sizeof(path), "/proc/%d/sched", pid);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		there += number_after(path, rows[i]) != -1;
	ksft_test_result(there == (under_vrq() ? i : 0) &&
			 (!under_vrq() || number_after(path, "vrq.slice") == RR_NS),
			 "/proc/PID/sched has %u of %u rows about VRQ\n", there, i);
	finish(pid);
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	ksft_set_plan(7);
	be_supervisor();
	reads_back();
	be_supervisor();
	if (under_vrq()) {
		equal_shares("on one CPU", pinned_hog_with_slice, 1);
		equal_shares("on all CPUs", hog_with_slice, cpus);
		turns_take_as_long();
		a_little_more();
	} else {
		ksft_test_result_skip("on one CPU: VRQ's promise\n");
		ksft_test_result_skip("on all CPUs: VRQ's promise\n");
		ksft_test_result_skip("length of turns: VRQ's rule\n");
		ksft_test_result_skip("a little more: VRQ's promise\n");
	}
	proc_tells();
	ksft_finished();
}
