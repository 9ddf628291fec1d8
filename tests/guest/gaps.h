/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hogs that look at the clock all the time: a gap is how long one of them did not run.
 */
#ifndef _GAPS_H
#define _GAPS_H

#include "guest.h"

/* Of one hog, on a cache line of its own */
struct gap {
	uint64_t longest;	/* between two looks at the clock, ns */
	char pad[56];
};

/* For spawn(), with a struct gap in shared memory */
static inline void watch_gaps(void *arg)
{
	struct gap *gap = arg;
	uint64_t now, last = now_ns();

	for (;;) {
		now = now_ns();
		if (now - last > gap->longest)
			gap->longest = now - last;
		last = now;
	}
}

/* The longest gap of @n hogs in the next @ns. As they end others wait for less: ask before */
static inline uint64_t longest_gap_within(struct gap *gaps, int n, uint64_t ns)
{
	uint64_t longest = 0;
	int i;

	for (i = 0; i < n; i++)
		gaps[i].longest = 0;
	sleep_ns(ns);
	for (i = 0; i < n; i++) {
		if (gaps[i].longest > longest)
			longest = gaps[i].longest;
	}
	return longest;
}

#endif /* _GAPS_H */
