/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Children for spawn() that count what they do, by which one sees that they go on.
 */
#ifndef _WORKERS_H
#define _WORKERS_H

#include "guest.h"

/* A child's rounds, in a line of its own */
struct counter {
	_Atomic uint64_t count;
	char pad[56];
};

static inline void counting_hog(void *arg)
{
	struct counter *me = arg;

	be_normal();
	for (;;)
		me->count++;
}

/* Sleep again and again, for so long each time */
static inline void count_naps(struct counter *me, uint64_t ns)
{
	be_normal();
	for (;;) {
		me->count++;
		sleep_ns(ns);
	}
}

/* How many of the children do nothing in a second */
static inline int stuck(const struct counter *counters, int n)
{
	uint64_t *before = calloc(n, sizeof(*before));
	int i, found = 0;

	for (i = 0; i < n; i++)
		before[i] = counters[i].count;
	sleep_ns(SEC);
	for (i = 0; i < n; i++) {
		if (counters[i].count != before[i])
			continue;
		ksft_print_msg("child %d does nothing\n", i);
		found++;
	}
	free(before);
	return found;
}

#endif /* _WORKERS_H */
