/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes by chance, one each: tasks are moved between groups, weights and limits are
 * written, groups are made and removed, affinities and policies changed. Who includes
 * this says how many CPUs there are, and gives a task to be changed.
 */
#ifndef _CHANGES_H
#define _CHANGES_H

#include "cgroup.h"

#define GROUPS		6
#define PASSING_GROUPS	8

static int cpus;
static pid_t somebody(void);

static void group_name(char *name, int i)
{
	/* each second one is in the one before it */
	if (i % 2)
		snprintf(name, GROUP_NAME, "s%d/in", i - 1);
	else
		snprintf(name, GROUP_NAME, "s%d", i);
}

/* Those that tasks can be in: a group with the controller for groups in it has none */
static void leaf_name(char *name)
{
	group_name(name, rand() % (GROUPS / 2) * 2 + 1);
}

static void move_somebody(void)
{
	char name[GROUP_NAME];

	leaf_name(name);
	move_to(rand() % 8 ? name : "", somebody());
}

static void change_weight(void)
{
	char name[GROUP_NAME];

	group_name(name, rand() % GROUPS);
	group_put_number(name, "cpu.weight", 1 + rand() % 1000);
}

static void change_limit(void)
{
	/*
	 * Where a host stops CPUs mainline warns of shorter periods, with a lock held that lockdep
	 * does not want held as something is printed
	 */
	static const char * const limits[] = { "max", "20000 100000", "50000 100000", "10000 100000" };
	char name[GROUP_NAME];

	group_name(name, rand() % GROUPS);
	group_put(name, "cpu.max", limits[rand() % 4]);
}

static void change_affinity(void)
{
	cpu_set_t set = set_of(rand() % 3 ? ~0ULL : 1ULL << rand() % cpus);

	/* its CPU may be offline just now */
	sched_setaffinity(somebody(), sizeof(set), &set);
}

static void change_policy(void)
{
	static const int policies[] = { SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_OTHER };
	struct sched_param param = { .sched_priority = 0 };
	pid_t pid = somebody();

	/* Who changes others stays what it is */
	if (pid == getpid())
		return;
	sched_setscheduler(pid, policies[rand() % 4], &param);
	setpriority(PRIO_PROCESS, pid, rand() % 20);
}

static void make_and_remove(void)
{
	char name[GROUP_NAME];

	snprintf(name, sizeof(name), "t%d", rand() % PASSING_GROUPS);
	make_group(name);
	group_put(name, "cpu.max", "20000 100000");
	move_to(name, somebody());
	move_somebody();
	/* stays if somebody is in it, and is tried again */
	char path[GROUP_PATH];

	group_path(path, name, "");
	rmdir(path);
}

/* No limits, and the same weight for all */
static void groups_as_made(void)
{
	char name[GROUP_NAME];
	int i;

	for (i = 0; i < GROUPS; i++) {
		group_name(name, i);
		group_put(name, "cpu.max", "max");
		group_put(name, "cpu.idle", "0");
		group_put_number(name, "cpu.weight", 100);
	}
}

static bool remove_groups(void)
{
	char name[GROUP_NAME];
	bool good = true;
	int i;

	for (i = 0; i < PASSING_GROUPS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		good = drop_group(name) && good;
	}
	for (i = GROUPS - 1; i >= 0; i--) {
		group_name(name, i);
		good = drop_group(name) && good;
	}
	return good;
}

#endif /* _CHANGES_H */
