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

/* A nap that ends later than this is late, ns */
#define NAP_LATE_NS	(2 * RR_NS)

struct naps {
	uint64_t latest;	/* how late one ended at the most, ns */
	unsigned int n, late;	/* how many there were, and how many of them were late */
};

struct nappers {
	volatile struct naps *naps;	/* of each */
	pid_t pids[WATCHED];
};

static inline void nap_and_work(void *arg)
{
	volatile struct naps *naps = arg;
	uint64_t due, late;

	be_normal();
	for (;;) {
		due = now_ns() + NAP_NS;
		sleep_until(due);
		late = now_ns() - due;
		if (late > naps->latest)
			naps->latest = late;
		naps->n++;
		naps->late += late > NAP_LATE_NS;
		use_ns(NAP_WORK_NS);
	}
}

static inline struct nappers start_nappers(void)
{
	struct nappers nappers = { .naps = shared(WATCHED * sizeof(*nappers.naps)) };
	int i;

	for (i = 0; i < WATCHED; i++)
		nappers.pids[i] = spawn(nap_and_work, (void *)&nappers.naps[i]);
	return nappers;
}

/* Count from now on */
static inline void forget_naps(struct nappers *nappers)
{
	int i;

	for (i = 0; i < WATCHED; i++)
		nappers->naps[i] = (struct naps) { 0 };
}

/* What they all had since then; n is 0 if one of them had none */
static inline struct naps all_naps(const struct nappers *nappers)
{
	struct naps all = { 0 }, one;
	int i;

	for (i = 0; i < WATCHED; i++) {
		one = nappers->naps[i];
		if (!one.n)
			return (struct naps) { 0 };
		all.n += one.n;
		all.late += one.late;
		if (one.latest > all.latest)
			all.latest = one.latest;
	}
	return all;
}

static inline void end_nappers(struct nappers *nappers)
{
	finish_all(nappers->pids, WATCHED);
}

#endif /* _NAPS_H */
