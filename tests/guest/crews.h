/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Crews of processes in groups that begin together, and what each of them uses.
 */
#ifndef _CREWS_H
#define _CREWS_H

#include "cgroup.h"

#define MAX_CREWS	16
#define MAX_CREW	512

/* Processes that do the same in a group */
struct crew {
	char group[32];
	int n;
	uint64_t used;
	pid_t pids[MAX_CREW];
};

static struct crew crews[MAX_CREWS];
static int nr_crews;

/* @n processes in a group of a weight, stopped; 0 and "": the root */
static inline struct crew *hire(const char *group, int weight, int n, void (*work)(void *),
				void *arg)
{
	struct crew *crew = &crews[nr_crews++];
	int i;

	snprintf(crew->group, sizeof(crew->group), "%s", group);
	if (*group)
		make_group(group);
	if (weight && !group_put_number(group, "cpu.weight", weight))
		ksft_exit_fail_msg("cpu.weight %d of %s: %s\n", weight, group, strerror(errno));
	crew->n = n;
	for (i = 0; i < n; i++)
		crew->pids[i] = spawn_in(group, work, arg);
	return crew;
}

static inline struct crew *hire_hogs(const char *group, int weight, int n)
{
	return hire(group, weight, n, hog, NULL);
}

static inline void begin(void)
{
	int i;

	for (i = 0; i < nr_crews; i++)
		start_all(crews[i].pids, crews[i].n);
}

/* What each crew uses in a while, and all of them */
static inline uint64_t watch(uint64_t ns)
{
	uint64_t sum = 0, start = now_ns();
	int i;

	/* to read many clocks takes a while, the same at the end as here */
	for (i = 0; i < nr_crews; i++)
		crews[i].used = time_of_all(crews[i].pids, crews[i].n);
	sleep_until(start + ns);
	for (i = 0; i < nr_crews; i++) {
		crews[i].used = time_of_all(crews[i].pids, crews[i].n) - crews[i].used;
		sum += crews[i].used;
	}
	return sum;
}

/* All end before the first group is removed: who runs meanwhile is in nobody's way */
static inline void dismiss(void)
{
	int i;

	for (i = 0; i < nr_crews; i++)
		finish_all(crews[i].pids, crews[i].n);
	while (nr_crews)
		if (*crews[--nr_crews].group)
			drop_group(crews[nr_crews].group);
}

static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* By how much @got is off, in percent of @want */
static inline double off(double got, double want)
{
	return want > got ? 100 * (want - got) / want : 100 * (got - want) / want;
}

#endif /* _CREWS_H */
