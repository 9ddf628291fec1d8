/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A few tasks that nap, and then work for a moment: how late do their naps end, whatever
 * others do meanwhile?
 */
#ifndef _NAPS_H
#define _NAPS_H

#include "guest.h"

#define WATCHED		4
#define NAP_NS		(7 * MSEC)
#define NAP_WORK_NS	(MSEC / 20)

struct nappers {
	volatile uint64_t *latest;	/* how late the naps of each ended at the most, ns */
	pid_t pids[WATCHED];
};

static inline void nap_and_work(void *arg)
{
	volatile uint64_t *latest = arg;
	uint64_t due, late;

	be_normal();
	for (;;) {
		due = now_ns() + NAP_NS;
		sleep_until(due);
		late = now_ns() - due;
		if (late > *latest)
			*latest = late;
		use_ns(NAP_WORK_NS);
	}
}

static inline struct nappers start_nappers(void)
{
	struct nappers nappers = { .latest = shared(WATCHED * sizeof(uint64_t)) };
	int i;

	for (i = 0; i < WATCHED; i++)
		nappers.pids[i] = spawn(nap_and_work, (void *)&nappers.latest[i]);
	return nappers;
}

/* Count from now on */
static inline void forget_naps(struct nappers *nappers)
{
	int i;

	for (i = 0; i < WATCHED; i++)
		nappers->latest[i] = 0;
}

/* How late a nap ended at the most since then, ns; 0 if one of them had none */
static inline uint64_t latest_nap(const struct nappers *nappers)
{
	uint64_t latest = 0;
	int i;

	for (i = 0; i < WATCHED; i++) {
		if (!nappers->latest[i])
			return 0;
		if (nappers->latest[i] > latest)
			latest = nappers->latest[i];
	}
	return latest;
}

static inline void end_nappers(struct nappers *nappers)
{
	finish_all(nappers->pids, WATCHED);
}

#endif /* _NAPS_H */
