// SPDX-License-Identifier: GPL-2.0-only
/*
 * rr_interval, yield_type, interactive and iso_cpu in /proc/sys/kernel: defaults,
 * what is refused, and that a new value takes effect on tasks that run already
 * (iso_cpu: see iso.c).
 */
#include "guest.h"

#define SYSCTL		"/proc/sys/kernel/"

static const struct {
	const char *name;
	long long at_boot;
	const char *bad[6];
} files[] = {
	{ "rr_interval", RR_MS, { "0", "1001", "-1", "3ms", "4294967299" } },
	{ "yield_type", 1, { "3", "-1", "two", "4294967296" } },
	{ "interactive", 1, { "2", "-1", "yes", "4294967296" } },
	{ "iso_cpu", 70, { "101", "-1", "70%", "4294967296" } },
};

static const char *path_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), SYSCTL "%s", name);
	return path;
}

/* The next program in this guest finds what a boot has, whatever happens */
static void reset(void)
{
	char text[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(text, sizeof(text), "%lld", files[i].at_boot);
		put(path_of(files[i].name), text);
	}
}

static void set(const char *name, const char *value)
{
	if (!put(path_of(name), value))
		ksft_exit_fail_msg("%s to %s: %s\n", value, name, strerror(errno));
}

static void values(int i)
{
	const char *name = files[i].name;
	long long value = number_after(path_of(name), "");
	int taken = 0, k;

	ksft_test_result(value == files[i].at_boot, "%s is %lld at boot (%lld)\n",
			 name, files[i].at_boot, value);
	for (k = 0; files[i].bad[k]; k++)
		taken += put(path_of(name), files[i].bad[k]) || errno != EINVAL;
	ksft_test_result(!taken && number_after(path_of(name), "") == value,
			 "%s refuses %d bad values with EINVAL, and stays\n",
			 name, k);
}

static long long interval_ms(pid_t pid)
{
	struct timespec ts;

	if (sched_rr_get_interval(pid, &ts))
		ksft_exit_fail_msg("sched_rr_get_interval: %s\n", strerror(errno));
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* How often the task has been preempted */
static long long preemptions(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return number_after(path, "nonvoluntary_ctxt_switches");
}

struct child {
	void (*work)(void *);
	int policy;
};

/* Its policy before anything else: else the test might wait for it for ever */
static void start(void *arg)
{
	struct child *me = arg;

	set_policy(0, me->policy, 0);
	pin(0, 0);
	me->work(NULL);
}

static pid_t on_cpu_0(void (*work)(void *), int policy)
{
	struct child child = { work, policy };

	return spawn(start, &child);
}

/* Two hogs on a CPU take turns: how many, within 400 ms? */
static long long turns(pid_t pid)
{
	long long before = preemptions(pid);

	sleep_ns(400 * MSEC);
	return preemptions(pid) - before;
}

/*
 * In how many of 15 windows of 100 ms do both run? A window sees both if a slice ends in
 * it. The first slices of the two are parts of what their parent had left of its own, of
 * any length; the next is a whole one.
 */
static int windows_of_both(pid_t pid)
{
	uint64_t before, ran;
	int i, both = 0;

	for (i = 0; i < 15; i++) {
		before = cpu_time_of(pid);
		sleep_ns(100 * MSEC);
		ran = cpu_time_of(pid) - before;
		both += ran > 10 * MSEC && ran < 90 * MSEC;
	}
	return both;
}

static void slices(void)
{
	pid_t one, other;
	long long n, ms;

	set_rr_interval(1000);
	one = on_cpu_0(hog, SCHED_OTHER);
	other = on_cpu_0(hog, SCHED_OTHER);
	sleep_ns(100 * MSEC);
	ms = interval_ms(one);
	ksft_test_result(ms == 1000, "sched_rr_get_interval() tells 1000 ms (%lld)\n", ms);
	n = windows_of_both(one);
	ksft_test_result(n <= 3, "1000 ms: of 15 windows of 100 ms 3 at most see both run (%lld)\n", n);
	/* One of them may have most of its second left */
	set_rr_interval(2);
	n = turns(one);
	ksft_test_result(n > 80 && n < 125, "2 ms: at once about 100 turns in 400 ms (%lld)\n", n);
	set_rr_interval(20);
	n = turns(one);
	ksft_test_result(n > 7 && n < 20, "20 ms: about 10 (%lld)\n", n);
	ms = interval_ms(one);
	ksft_test_result(ms == 20, "sched_rr_get_interval() tells 20 ms (%lld)\n", ms);
	set_rr_interval(RR_MS);
	finish(one);
	finish(other);
}

static void yields(void *unused)
{
	(void)unused;
	for (;;)
		sched_yield();
}

/* What a task that yields all the time gets of its CPU beside a hog, percent */
static unsigned int share_of_yielder(const char *yield_type, int hog_policy)
{
	pid_t yielder, other;
	uint64_t time;

	set("yield_type", yield_type);
	yielder = on_cpu_0(yields, SCHED_OTHER);
	other = on_cpu_0(hog, hog_policy);
	sleep_ns(100 * MSEC);
	time = cpu_time_within(yielder, 500 * MSEC);
	finish(yielder);
	finish(other);
	set("yield_type", "1");
	return time * 100 / (500 * MSEC);
}

static void yield_types(void)
{
	unsigned int share = share_of_yielder("0", SCHED_OTHER);

	ksft_test_result(share >= 40, "yield_type 0: a yield gives nothing away (%u%%)\n",
			 share);
	share = share_of_yielder("1", SCHED_OTHER);
	ksft_test_result(share <= 10, "1: it gives way to an equal task (%u%%)\n", share);
	share = share_of_yielder("1", SCHED_IDLE);
	ksft_test_result(share >= 95, "1: not to SCHED_IDLE (%u%%)\n", share);
	share = share_of_yielder("2", SCHED_OTHER);
	ksft_test_result(share <= 10, "2: it ends the slice (%u%%)\n", share);
}

static void works_and_sleeps(void *number)
{
	uint64_t end;

	be_normal();
	for (;;) {
		end = now_ns() + (3 + (intptr_t)number % 5) * MSEC;
		while (now_ns() < end)
			;
		sleep_ns(MSEC);
	}
}

/*
 * How many tasks leave their CPU because they are overdue, in four seconds of CPU
 * time. A few always do: at a tick that interrupts this test.
 */
static long long overdue(const char *interactive, int cpus)
{
	pid_t pids[4 * 16];
	int n = 4 * (cpus > 16 ? 16 : cpus), i;
	long long moved;

	set("interactive", interactive);
	for (i = 0; i < n; i++)
		pids[i] = spawn(works_and_sleeps, (void *)(intptr_t)i);
	sleep_ns(200 * MSEC);
	put(COUNTERS, "0");
	sleep_ns(4 * SEC / cpus);
	moved = number_after(COUNTERS, "expired");
	finish_all(pids, n);
	set("interactive", "1");
	return moved;
}

static void interactivity(int cpus)
{
	long long with, without;

	if (cpus < 2 || access(COUNTERS, R_OK)) {
		ksft_test_result_skip("one CPU, or no counters\n");
		return;
	}
	with = overdue("1", cpus);
	without = overdue("0", cpus);
	ksft_test_result(without < with / 2,
			 "interactive 0: overdue tasks stay on their CPU (%lld move, %lld with 1)\n",
			 without, with);
}

int main(void)
{
	unsigned int i;

	ksft_print_header();
	if (!under_vrq())
		ksft_exit_skip("VRQ's files\n");
	ksft_set_plan(2 * ARRAY_SIZE(files) + 5 + 4 + 1);
	be_supervisor();
	atexit(reset);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		values(i);
	slices();
	yield_types();
	interactivity(online_cpus());
	ksft_finished();
}
