// SPDX-License-Identifier: GPL-2.0-only
/*
 * smt_nice: beside a task of much better nice level or policy on the other thread
 * of the core one runs for a part of the time only; not beside an equal one, and
 * not where another core is free. On cores of several threads, under VRQ.
 */
#include "guest.h"

#define FILE_NAME	"/proc/sys/kernel/smt_nice"

static int sibling;	/* of CPU 0 */

struct work {
	int cpu;	/* -1: any */
	int policy, nice;
};

static void run(void *arg)
{
	struct work *work = arg;

	set_policy(0, work->policy, 0);
	setpriority(PRIO_PROCESS, 0, work->nice);
	if (work->cpu >= 0)
		pin(0, work->cpu);
	hog(NULL);
}

static pid_t start(int cpu, int policy, int nice)
{
	struct work work = { cpu, policy, nice };

	return spawn(run, &work);
}

/* What a task gets of a CPU in the next half second, percent */
static unsigned int share(pid_t pid)
{
	uint64_t begin = now_ns(), used = cpu_time_within(pid, 500 * MSEC);

	return used * 100 / (now_ns() - begin);
}

static void set(const char *value)
{
	if (!put(FILE_NAME, value))
		ksft_exit_fail_msg("%s to smt_nice: %s\n", value, strerror(errno));
}

static void values(void)
{
	static const char *const bad[] = { "2", "-1", "on", "4294967296" };
	unsigned int i, taken = 0;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		taken += put(FILE_NAME, bad[i]) || errno != EINVAL;
	ksft_test_result(!taken && !number_after(FILE_NAME, ""),
			 "smt_nice is 0 at boot, and refuses bad values with EINVAL\n");
}

static bool full(unsigned int percent)
{
	return percent >= 95;
}

/* What @low gets if @high has a CPU to itself meanwhile, percent; else 0 */
static unsigned int share_beside(pid_t low, pid_t high)
{
	uint64_t used = cpu_time_of(high);
	unsigned int percent = share(low);

	used = cpu_time_of(high) - used;
	if (full(used * 100 / (500 * MSEC)))
		return percent;
	ksft_print_msg("the other one has %llu of 500 ms\n", (unsigned long long)(used / MSEC));
	return 0;
}

static void gives_way(void)
{
	pid_t high = start(0, SCHED_OTHER, 0), low = start(sibling, SCHED_OTHER, 19);
	unsigned int one, other;

	sleep_ns(100 * MSEC);
	one = share_beside(low, high);
	ksft_test_result(full(one), "0: nice 19 has its thread to itself (%u%%)\n", one);

	set("1");
	sleep_ns(100 * MSEC);
	one = share(low);
	other = share(high);
	ksft_test_result(one >= 6 && one <= 20 && full(other),
			 "1: beside nice 0 it has an eighth (%u%%, the other %u%%)\n", one, other);

	set("0");
	one = share_beside(low, high);
	ksft_test_result(full(one), "0: it has it back at once (%u%%)\n", one);

	set("1");
	sleep_ns(100 * MSEC);
	finish(high);
	one = share(low);
	ksft_test_result(full(one), "1: and when the other is gone (%u%%)\n", one);
	finish(low);
}

static void others(void)
{
	pid_t high = start(0, SCHED_OTHER, 0), low = start(sibling, SCHED_IDLE, 0);
	unsigned int percent;

	sleep_ns(100 * MSEC);
	percent = share(low);
	ksft_test_result(percent >= 2 && percent <= 12, "SCHED_IDLE has a sixteenth (%u%%)\n", percent);
	finish(low);

	low = start(sibling, SCHED_OTHER, 5);
	sleep_ns(100 * MSEC);
	percent = share_beside(low, high);
	ksft_test_result(full(percent), "nice 5 has its thread to itself (%u%%)\n", percent);
	finish(low);

	low = start(-1, SCHED_OTHER, 19);
	sleep_ns(100 * MSEC);
	percent = share_beside(low, high);
	ksft_test_result(full(percent), "nice 19 that may use another core does (%u%%)\n", percent);
	finish(low);
	finish(high);
}

int main(void)
{
	ksft_print_header();
	if (!under_vrq())
		ksft_exit_skip("VRQ's file\n");
	sibling = number_after("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-");
	if (sibling < 0)
		sibling = number_after("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,");
	if (sibling < 0)
		ksft_exit_skip("one thread a core\n");
	ksft_set_plan(8);
	be_supervisor();
	values();
	gives_way();
	others();
	set("0");
	ksft_finished();
}
