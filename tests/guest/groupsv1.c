// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of cgroup v1: the same controller behind its old files, cpu.shares,
 * cpu.cfs_quota_us, cpu.cfs_period_us, cpu.cfs_burst_us, cpu.stat and cpuacct.usage. For a
 * guest of its own, in which cgroup v2 has not taken the controller.
 */
#include "cgroup.h"

#define PERIOD_NS	(100 * MSEC)
#define PERIODS		10
#define MAX_CREW	64

static int cpus;

/* cgroup v1 has no CLONE_INTO_CGROUP: the child goes there itself, and stops */
static pid_t hire(const char *group)
{
	pid_t pid = fork();

	if (pid < 0)
		ksft_exit_fail_msg("fork: %s\n", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!move_to(group, getpid()))
			_exit(1);
		kill(getpid(), SIGSTOP);
		hog(NULL);
	}
	waitpid(pid, NULL, WUNTRACED);
	return pid;
}

static void hire_all(const char *group, pid_t *pids, int n)
{
	int i;

	for (i = 0; i < n; i++)
		pids[i] = hire(group);
}

/* make_group() writes files that are cgroup v2's */
static void make(const char *group)
{
	char path[GROUP_PATH];

	group_path(path, group, "");
	if (mkdir(path, 0755))
		ksft_exit_fail_msg("mkdir %s: %s\n", path, strerror(errno));
}

static void three_to_one(void)
{
	pid_t heavy[MAX_CREW], light[MAX_CREW];
	uint64_t used[2];
	double ratio;
	bool set;

	make("a");
	make("b");
	set = group_put("a", "cpu.shares", "3072");
	hire_all("a", heavy, cpus);
	hire_all("b", light, cpus);
	start_all(heavy, cpus);
	start_all(light, cpus);
	sleep_ns(SEC / 2);
	used[0] = time_of_all(heavy, cpus);
	used[1] = time_of_all(light, cpus);
	sleep_ns(2 * SEC);
	used[0] = time_of_all(heavy, cpus) - used[0];
	used[1] = time_of_all(light, cpus) - used[1];
	finish_all(heavy, cpus);
	finish_all(light, cpus);
	ratio = used[1] ? (double)used[0] / used[1] : 0;
	/* the fair class has been seen at 2.9 and 3.1 */
	timed_result(set && ratio >= 2.8 && ratio <= 3.2,
		     "cpu.shares 3072 beside 1024: %.2f to one\n", ratio);
	drop_group("a");
	drop_group("b");
}

/* What a group with hogs uses of ten periods, in thousandths of a limit of @limit_ms */
static int use_of(const char *group, int limit_ms, int hogs)
{
	long long used;
	pid_t pids[MAX_CREW];

	hire_all(group, pids, hogs);
	start_all(pids, hogs);
	sleep_ns(3 * PERIOD_NS);
	used = group_number(group, "cpuacct.usage", "");
	sleep_ns(PERIODS * PERIOD_NS);
	used = group_number(group, "cpuacct.usage", "") - used;
	finish_all(pids, hogs);
	return used / (limit_ms * MSEC / 1000) / PERIODS;
}

static void quota(void)
{
	bool set, seen;
	int use;

	make("limit");
	make("limit/in");
	set = group_put("limit", "cpu.cfs_quota_us", "50000");
	use = use_of("limit/in", 50, 4);
	timed_result(set && use >= 970 && use <= 1030,
		     "cpu.cfs_quota_us around a group: %d permille are used\n", use);
	seen = group_number("limit", "cpu.stat", "nr_throttled") >= 10 &&
	       group_number("limit", "cpu.stat", "throttled_time") >= 400000000LL;
	timed_result(seen, "cpu.stat counts what was throttled\n");
	set = group_put("limit/in", "cpu.cfs_quota_us", "20000");
	use = use_of("limit/in", 20, 4);
	timed_result(set && use >= 970 && use <= 1030,
		     "a lower one inside: %d permille are used\n", use);
	ksft_test_result(group_put_error("limit/in", "cpu.cfs_quota_us", "60000") == EINVAL,
			 "a higher one inside is refused\n");
	set = group_put("limit/in", "cpu.cfs_quota_us", "-1") &&
	      group_number("limit/in", "cpu.cfs_quota_us", "") == -1;
	ksft_test_result(set, "-1 takes it away\n");
	drop_group("limit/in");
	drop_group("limit");
}

static void values(void)
{
	static const struct {
		const char *file, *text;
		int error;
	} writes[] = {
		{ "cpu.shares", "2048", 0 },
		{ "cpu.shares", "many", EINVAL },
		{ "cpu.idle", "1", 0 },
		{ "cpu.shares", "1024", EINVAL },
		{ "cpu.idle", "0", 0 },
		{ "cpu.idle", "2", EINVAL },
		{ "cpu.cfs_quota_us", "999", EINVAL },
		{ "cpu.cfs_quota_us", "1000", 0 },
		{ "cpu.cfs_period_us", "999", EINVAL },
		{ "cpu.cfs_period_us", "1000001", EINVAL },
		{ "cpu.cfs_period_us", "10000", 0 },
		{ "cpu.cfs_burst_us", "1001", EINVAL },
		{ "cpu.cfs_burst_us", "1000", 0 },
	};
	unsigned int i;
	int error, wrong = 0;

	make("a");
	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		error = group_put_error("a", writes[i].file, writes[i].text);
		if (error == writes[i].error)
			continue;
		ksft_print_msg("'%s' to %s: %s\n", writes[i].text, writes[i].file,
			       strerror(error));
		wrong++;
	}
	ksft_test_result(!wrong, "values are taken and refused as ever\n");
	ksft_test_result(group_number("a", "cpu.shares", "") == 1024 &&
			 group_number("a", "cpu.cfs_quota_us", "") == 1000 &&
			 group_number("a", "cpu.cfs_period_us", "") == 10000 &&
			 group_number("a", "cpu.cfs_burst_us", "") == 1000,
			 "and read as they were written\n");
	drop_group("a");
}

int main(void)
{
	cpus = online_cpus();
	ksft_print_header();
	if (cpus > MAX_CREW)
		ksft_exit_skip("no room for %d hogs\n", cpus);
	if (mount("none", CGROUP, "cgroup", 0, "cpu,cpuacct"))
		ksft_exit_skip("cgroup v1 cannot be mounted: %s\n", strerror(errno));
	ksft_set_plan(8);
	be_supervisor_of_groups();

	three_to_one();
	quota();
	values();
	ksft_finished();
}
