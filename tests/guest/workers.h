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

#endif /* _WORKERS_H */
