// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of caches that coherence.c counts with, for known patterns of
 * accesses: prints what is wrong, and nothing if all is right.
 */
#include <stdio.h>

#include "lines.h"

#define CPUS 128	/* 2 nodes of 4 caches of 16 CPUs */

static struct lines lines;
static int failures;

static void expect(const char *what, enum distance got, enum distance wanted)
{
	if (got == wanted)
		return;
	printf("%s: %d, not %d\n", what, got, wanted);
	failures++;
}

static enum distance reads(uint64_t address, int cpu)
{
	return lines_access(&lines, address, cpu, false);
}

static enum distance writes(uint64_t address, int cpu)
{
	return lines_access(&lines, address, cpu, true);
}

static void alone(void)
{
	expect("first read", reads(0x1000, 3), HERE);
	expect("read again", reads(0x1008, 3), HERE);
	expect("write what only I read", writes(0x103f, 3), HERE);
	expect("the next line", reads(0x1040, 5), HERE);
}

static void two(void)
{
	writes(0x2000, 0);
	expect("read what another wrote", reads(0x2000, 1), SAME_LLC);
	expect("read what both have", reads(0x2000, 1), HERE);
	expect("its writer reads", reads(0x2000, 0), HERE);
	expect("write what another has", writes(0x2000, 0), SAME_LLC);
	expect("write again", writes(0x2000, 0), HERE);
	expect("the other one has lost it", reads(0x2000, 1), SAME_LLC);
}

static void distances(void)
{
	writes(0x3000, 0);
	expect("another cache", reads(0x3000, 16), SAME_NODE);
	expect("another node", reads(0x3000, 127), OTHER_NODE);
	expect("the nearest has it", reads(0x3000, 17), SAME_LLC);
	expect("the farthest gives it up", writes(0x3000, 17), OTHER_NODE);
	expect("all have lost it", reads(0x3000, 127), OTHER_NODE);
	writes(0x4000, 70);
	expect("beyond 64 CPUs", writes(0x4000, 71), SAME_LLC);
	expect("and back", reads(0x4000, 70), SAME_LLC);
}

/* A counter that all write in turn moves each time, one that all read once a CPU */
static void patterns(void)
{
	int cpu, round, moved = 0, shared = 0;

	for (round = 0; round < 3; round++) {
		for (cpu = 0; cpu < CPUS; cpu++) {
			moved += writes(0x5000, cpu) != HERE;
			shared += reads(0x6000, cpu) != HERE;
		}
	}
	if (moved != 3 * CPUS - 1 || shared != CPUS - 1) {
		printf("written in turn %d, read in turn %d\n", moved, shared);
		failures++;
	}
}

int main(void)
{
	int llc[CPUS], node[CPUS], cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		llc[cpu] = cpu / 16;
		node[cpu] = cpu / 64;
	}
	if (!lines_init(&lines, CPUS, llc, node))
		return 1;
	alone();
	two();
	distances();
	patterns();
	return !!failures;
}
