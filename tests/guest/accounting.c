// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's accounting sees what happens: CPU time of a process and of its
 * cgroup, PSI, the load average, schedstats, context switches.
 */
#include <dirent.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "guest.h"

static char cgroup_root[] = "/tmp/vrq-cgroup-XXXXXX";

static void process_time(int cpus)
{
	uint64_t start = now_ns(), used;
	pid_t pid = spawn(normal_hog, NULL);

	sleep_ns(500 * MSEC);
	used = cpu_time_of(pid);
	start = now_ns() - start;
	finish(pid);
	ksft_test_result(used <= start + 10 * MSEC && used > start / (cpus > 1 ? 3 : 4),
			 "a lone hog's CPU time is its time on the CPU (%llu%%)\n",
			 (unsigned long long)(used * 100 / start));
}

/* Stop a task; us that its cgroup has used, and in @cpu that it has */
static long long both_at_rest(pid_t pid, const char *stat, long long *cpu)
{
	kill(pid, SIGSTOP);
	sleep_ns(50 * MSEC);
	*cpu = cpu_time_of(pid) / 1000;
	return number_after(stat, "usage_usec");
}

static void cgroup_time(void)
{
	char group[128], path[160], text[32];
	long long before, after, used, cpu;
	pid_t pid;

	if (!mkdtemp(cgroup_root) ||
	    mount("none", cgroup_root, "cgroup2", 0, NULL)) {
		ksft_test_result_skip("cgroup2 cannot be mounted\n");
		ksft_test_result_skip("cgroup2 cannot be mounted\n");
		return;
	}
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", cgroup_root);
	put(path, "+cpu");
	snprintf(group, sizeof(group), "%s/a", cgroup_root);
	mkdir(group, 0755);
	pid = spawn(normal_hog, NULL);
	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	snprintf(text, sizeof(text), "%d", pid);
	put(path, text);
	snprintf(path, sizeof(path), "%s/cpu.stat", group);
	sleep_ns(50 * MSEC);
	before = both_at_rest(pid, path, &cpu);
	kill(pid, SIGCONT);
	sleep_ns(500 * MSEC);
	used = both_at_rest(pid, path, &after) - before;
	kill(pid, SIGCONT);
	ksft_test_result(before >= 0 && used > 100000 &&
			 llabs(used - (after - cpu)) < 5000,
			 "cpu.stat of its cgroup says the same (%lld us, %lld us)\n",
			 used, after - cpu);

	snprintf(path, sizeof(path), "%s/cpu.max", group);
	ksft_test_result(put(path, "50000 100000") && put(path, "max"),
			 "a limit in cpu.max is taken\n");
	finish(pid);
	rmdir(group);
	umount(cgroup_root);
	rmdir(cgroup_root);
}

static void pressure(int cpus)
{
	long long before = number_after("/proc/pressure/cpu", "total"), after;
	pid_t pids[2 * MAX_CPUS];
	int i;

	for (i = 0; i < 2 * cpus; i++)
		pids[i] = spawn(normal_hog, NULL);
	sleep_ns(SEC);
	after = number_after("/proc/pressure/cpu", "total");
	for (i = 0; i < 2 * cpus; i++)
		finish(pids[i]);
	ksft_test_result(before >= 0 && after - before > 200000,
			 "PSI sees that hogs wait for CPUs (%lld us)\n",
			 after - before);
}

static void sleep_often(void *switches)
{
	struct rusage before, after;
	int i;

	be_normal();
	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < 50; i++)
		sleep_ns(2 * MSEC);
	getrusage(RUSAGE_SELF, &after);
	*(long *)switches = after.ru_nvcsw - before.ru_nvcsw;
}

/* A normal task sleeps: this one is of a real-time class */
static void switches(void)
{
	long *voluntary = shared(sizeof(*voluntary));

	waitpid(spawn(sleep_often, voluntary), NULL, 0);
	/* a timer that expires before its task has got to sleep is no switch */
	ksft_test_result(*voluntary >= 40 && *voluntary <= 60,
			 "50 sleeps are 50 voluntary switches (%ld)\n", *voluntary);
}

/* /proc/PID/schedstat: time on the CPU, time waiting, slices */
static void waiting(int cpus)
{
	struct schedstat stat = {};
	pid_t pids[2 * MAX_CPUS];
	int i;

	for (i = 0; i < 2 * cpus; i++)
		pids[i] = spawn(normal_hog, NULL);
	sleep_ns(SEC);
	if (!read_schedstat(pids[0], &stat))
		ksft_print_msg("/proc/%d/schedstat cannot be read\n", pids[0]);
	for (i = 0; i < 2 * cpus; i++)
		finish(pids[i]);
	ksft_test_result(stat.waited > 200 * MSEC && stat.ran > 200 * MSEC && stat.slices > 2,
			 "schedstat: ran %llu ms, waited %llu ms, %llu slices\n",
			 stat.ran / MSEC, stat.waited / MSEC, stat.slices);
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	ksft_set_plan(6);
	be_supervisor();
	process_time(cpus);
	cgroup_time();
	pressure(cpus);
	switches();
	waiting(cpus);
	ksft_finished();
}
