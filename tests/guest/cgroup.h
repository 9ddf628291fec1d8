/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups for the guest tests: cgroups below the root of cgroup v2, and processes that
 * are in them from their first instruction on.
 *
 * A group is named by its path below the root, which is "".
 */
#ifndef _CGROUP_H
#define _CGROUP_H

#include <linux/magic.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "guest.h"

#define CGROUP	"/sys/fs/cgroup"

/* Room for a group's name, and for the path of a file of a group */
#define GROUP_NAME	64
#define GROUP_PATH	128

static inline void group_path(char *path, const char *group, const char *file)
{
	snprintf(path, GROUP_PATH, "%s/%s/%s", CGROUP, group, file);
}

/* Write a file of a group: true, or false and errno */
static inline bool group_put(const char *group, const char *file, const char *text)
{
	char path[GROUP_PATH];

	group_path(path, group, file);
	return put(path, text);
}

/* The errno of that, or 0 */
static inline int group_put_error(const char *group, const char *file, const char *text)
{
	return group_put(group, file, text) ? 0 : errno;
}

static inline bool group_put_number(const char *group, const char *file, long long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", number);
	return group_put(group, file, text);
}

/* The number behind a key in a file of a group, see number_after() */
static inline long long group_number(const char *group, const char *file, const char *key)
{
	char path[GROUP_PATH];

	group_path(path, group, file);
	return number_after(path, key);
}

/* The first line of a file of a group, without its end */
static inline void group_line(const char *group, const char *file, char *line, int size)
{
	char path[GROUP_PATH];
	FILE *stream;

	group_path(path, group, file);
	stream = fopen(path, "r");
	if (!stream || !fgets(line, size, stream))
		line[0] = 0;
	line[strcspn(line, "\n")] = 0;
	if (stream)
		fclose(stream);
}

/* Does the group have such a file? */
static inline bool group_has(const char *group, const char *file)
{
	char path[GROUP_PATH];

	group_path(path, group, file);
	return !access(path, F_OK);
}

/* Groups in the root have the CPU controller from now on; or this program is skipped */
static inline void need_groups(void)
{
	struct statfs fs;

	if (statfs(CGROUP, &fs))
		ksft_exit_skip("no %s\n", CGROUP);
	if (fs.f_type != CGROUP2_SUPER_MAGIC && mount("none", CGROUP, "cgroup2", 0, NULL))
		ksft_exit_skip("cgroup2 cannot be mounted: %s\n", strerror(errno));
	if (!group_put("", "cgroup.subtree_control", "+cpu"))
		ksft_exit_skip("no CPU controller: %s\n", strerror(errno));
}

/*
 * As be_supervisor(), but the children are normal from the start: where RT_GROUP_SCHED is
 * set a real-time task cannot be in a group.
 */
static inline void be_supervisor_of_groups(void)
{
	set_policy(0, SCHED_FIFO | SCHED_RESET_ON_FORK, 50);
}

/* What is above a group in another has no processes, and the CPU controller for it */
static inline void make_group(const char *group)
{
	char path[GROUP_PATH], parent[GROUP_NAME];
	char *slash;

	snprintf(parent, sizeof(parent), "%s", group);
	slash = strrchr(parent, '/');
	if (slash) {
		*slash = 0;
		if (!group_put(parent, "cgroup.subtree_control", "+cpu"))
			ksft_exit_fail_msg("+cpu in %s: %s\n", parent, strerror(errno));
	}
	group_path(path, group, "");
	if (mkdir(path, 0755) && errno != EEXIST)
		ksft_exit_fail_msg("mkdir %s: %s\n", path, strerror(errno));
}

/* A task that has ended may be in its group for a moment longer */
static inline bool drop_group(const char *group)
{
	char path[GROUP_PATH];
	int ms;

	group_path(path, group, "");
	for (ms = 0; ms < 500; ms++) {
		if (!rmdir(path) || errno == ENOENT)
			return true;
		sleep_ns(MSEC);
	}
	ksft_print_msg("rmdir %s: %s\n", path, strerror(errno));
	return false;
}

static inline bool move_to(const char *group, pid_t pid)
{
	return group_put_number(group, "cgroup.procs", pid);
}

/*
 * As spawn(), in a group. It is stopped until start_all(), so that many can begin at once
 * and be set up before, and it ends with this program.
 */
static inline pid_t spawn_in(const char *group, void (*work)(void *), void *arg)
{
	struct clone_args how = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	char path[GROUP_PATH];
	pid_t pid;
	int fd;

	group_path(path, group, "");
	fd = open(path, O_PATH | O_DIRECTORY);
	if (fd < 0)
		ksft_exit_fail_msg("%s: %s\n", path, strerror(errno));
	how.cgroup = fd;
	pid = syscall(SYS_clone3, &how, sizeof(how));
	if (pid < 0)
		ksft_exit_fail_msg("clone3: %s\n", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* not raise(): what the library knows of the thread is its parent's */
		kill(getpid(), SIGSTOP);
		work(arg);
		_exit(0);
	}
	close(fd);
	waitpid(pid, NULL, WUNTRACED);
	return pid;
}

static inline void start_all(const pid_t *pids, int n)
{
	int i;

	for (i = 0; i < n; i++)
		kill(pids[i], SIGCONT);
}

/* Until a period of a group begins that has a limit and is not idle */
static inline void await_period(const char *group)
{
	long long now = group_number(group, "cpu.stat", "nr_periods");
	int ms;

	for (ms = 0; ms < 300; ms++) {
		sleep_ns(MSEC);
		if (group_number(group, "cpu.stat", "nr_periods") != now)
			break;
	}
}

/* A process is normal, may use all CPUs, and is in a group: false if the last is not so */
static inline bool settle_in(const char *group, pid_t pid)
{
	struct sched_param param = { .sched_priority = 0 };
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setscheduler(pid, SCHED_OTHER, &param);
	setpriority(PRIO_PROCESS, pid, 0);
	sched_setaffinity(pid, sizeof(all), &all);
	return move_to(group, pid);
}

#endif /* _CGROUP_H */
