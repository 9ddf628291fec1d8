// SPDX-License-Identifier: GPL-2.0-only
/*
 * What else the kernel says about groups: the uclamp of their tasks, cpu.stat's times, and
 * how many tasks run while others are throttled.
 */
#include "cgroup.h"

#define HOGS	8

/* A value from /proc/PID/sched */
static long long of_task(pid_t pid, const char *key)
{
	char path[64], line[128];
	long long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/sched", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) && strchr(line, ':'))
			value = atoll(strchr(line, ':') + 1);
	if (file)
		fclose(file);
	return value;
}

static void clamps(void)
{
	long long least, most;
	bool set;
	pid_t pid;

	if (!group_has("a", "cpu.uclamp.max")) {
		ksft_test_result_skip("no cpu.uclamp.max\n");
		ksft_test_result_skip("no cpu.uclamp.max\n");
		return;
	}
	pid = spawn_in("a", hog, NULL);
	start_all(&pid, 1);
	sleep_ns(20 * MSEC);
	set = group_put("a", "cpu.uclamp.max", "50") && group_put("a", "cpu.uclamp.min", "25");
	sleep_ns(20 * MSEC);
	least = of_task(pid, "effective uclamp.min");
	most = of_task(pid, "effective uclamp.max");
	/* of 1024: what the task asks for itself, nothing to all, within what the group says */
	ksft_test_result(set && most == 512 && least == 256,
			 "cpu.uclamp holds for a task that runs: %lld to %lld\n", least, most);
	set = group_put("a", "cpu.uclamp.max", "max");
	sleep_ns(20 * MSEC);
	most = of_task(pid, "effective uclamp.max");
	ksft_test_result(set && most == 1024, "and is taken away: %lld\n", most);
	finish(pid);
}

/* Half in the kernel */
static void call(void *unused)
{
	(void)unused;
	for (;;) {
		syscall(SYS_getppid);
		use_ns(MSEC / 50);
	}
}

static void times(void)
{
	long long usage, user, system, all;
	uint64_t used;
	pid_t pids[2];
	int i;

	for (i = 0; i < 2; i++)
		pids[i] = spawn_in("a", i ? call : hog, NULL);
	usage = group_number("a", "cpu.stat", "usage_usec");
	used = time_of_all(pids, 2);
	start_all(pids, 2);
	sleep_ns(SEC);
	for (i = 0; i < 2; i++)
		kill(pids[i], SIGSTOP);
	sleep_ns(20 * MSEC);
	usage = group_number("a", "cpu.stat", "usage_usec") - usage;
	user = group_number("a", "cpu.stat", "user_usec");
	system = group_number("a", "cpu.stat", "system_usec");
	used = time_of_all(pids, 2) - used;
	all = group_number("a", "cpu.stat", "usage_usec");
	finish_all(pids, 2);
	ksft_test_result((usage > 100000 || host_stops_cpus()) &&
			 llabs(usage - (long long)(used / 1000)) <= 1000,
			 "cpu.stat: %lld us are used, %llu by the tasks\n", usage,
			 (unsigned long long)used / 1000);
	ksft_test_result(user > 0 && system > 0 && user + system <= all + 1 &&
			 user + system >= all - 1000,
			 "cpu.stat: %lld us for users, %lld for the system, %lld in all\n", user,
			 system, all);
}

/* How many tasks run, from the fourth field of /proc/loadavg, but for this one */
static int running(void)
{
	int now = 0;
	FILE *file = fopen("/proc/loadavg", "r");

	if (!file || fscanf(file, "%*f %*f %*f %d/", &now) != 1)
		ksft_exit_fail_msg("/proc/loadavg cannot be read\n");
	fclose(file);
	return now - 1;
}

static void load(void)
{
	pid_t pids[HOGS];
	int i, all, sum = 0;
	bool set;

	for (i = 0; i < HOGS; i++)
		pids[i] = spawn_in("a", hog, NULL);
	start_all(pids, HOGS);
	sleep_ns(20 * MSEC);
	/* All of them count as long as there is no limit */
	all = running();
	set = group_put("a", "cpu.max", "20000 100000");
	sleep_ns(300 * MSEC);
	/* no multiple of the period */
	for (i = 0; i < 100; i++) {
		sleep_ns(13 * MSEC);
		sum += running();
	}
	finish_all(pids, HOGS);
	/* on 4 CPUs they run for 5 ms of 100 */
	timed_result(set && all >= HOGS && sum < 100 * HOGS / 2,
		     "of %d throttled hogs %d.%02d count as running, %d without a limit\n",
		     HOGS, sum / 100, sum % 100, all);
	group_put("a", "cpu.max", "max");
}

int main(void)
{
	ksft_print_header();
	need_groups();
	ksft_set_plan(5);
	be_supervisor_of_groups();
	make_group("a");
	clamps();
	times();
	load();
	drop_group("a");
	ksft_finished();
}
