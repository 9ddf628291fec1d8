/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPU's cache holds which line of memory.
 *
 * Caches are infinite and each CPU has one. A line has sharers, and an owner if
 * the last access to it was a write. A read of a line that other CPUs have and
 * this one has not moves it here, and so does a write of a line that any other
 * CPU has. A line that nobody has comes from memory, which is not counted.
 */
#ifndef _LINES_H
#define _LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_SHIFT	6
#define PAGE_SHIFT	12
#define LINES_PER_PAGE	(1 << (PAGE_SHIFT - LINE_SHIFT))
#define MAX_PAGES	(1UL << 26)	/* 256 GiB of guest memory */
#define MAX_WORDS	16		/* 1,024 CPUs */
#define MAX_CPUS	(MAX_WORDS * 64)

/* How far a line travels */
enum distance { SAME_LLC, SAME_NODE, OTHER_NODE, DISTANCES, HERE = -1 };

struct line {
	uint32_t	owner;		/* CPU + 1 that has written it, or 0 */
	uint64_t	sharers[];	/* the owner is one of them */
};

struct lines {
	int		cpus;
	int		words;		/* of a set of CPUs */
	size_t		size;		/* of a struct line */
	uint64_t	(*llc)[MAX_WORDS];	/* CPUs with the same cache */
	uint64_t	(*node)[MAX_WORDS];	/* CPUs of the same node */
	char		**pages;
};

static inline bool set_has(const uint64_t *set, int cpu)
{
	return set[cpu / 64] >> (cpu % 64) & 1;
}

static inline void set_add(uint64_t *set, int cpu)
{
	set[cpu / 64] |= 1ULL << (cpu % 64);
}

/* @llc and @node tell for each CPU which last-level cache and node it is in */
static inline bool lines_init(struct lines *lines, int cpus, const int *llc,
			      const int *node)
{
	int cpu, other;

	lines->cpus = cpus;
	lines->words = (cpus + 63) / 64;
	lines->size = sizeof(struct line) + lines->words * sizeof(uint64_t);
	lines->llc = calloc(cpus, sizeof(*lines->llc));
	lines->node = calloc(cpus, sizeof(*lines->node));
	lines->pages = mmap(NULL, MAX_PAGES * sizeof(char *),
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!lines->llc || !lines->node || lines->pages == MAP_FAILED)
		return false;
	for (cpu = 0; cpu < cpus; cpu++) {
		for (other = 0; other < cpus; other++) {
			if (llc[cpu] == llc[other])
				set_add(lines->llc[cpu], other);
			if (node[cpu] == node[other])
				set_add(lines->node[cpu], other);
		}
	}
	return true;
}

static inline enum distance cpu_distance(const struct lines *lines, int cpu,
					 int other)
{
	if (set_has(lines->llc[cpu], other))
		return SAME_LLC;
	return set_has(lines->node[cpu], other) ? SAME_NODE : OTHER_NODE;
}

/* A read is served by the nearest CPU that has the line */
static inline enum distance nearest(const struct lines *lines, int cpu,
				    const uint64_t *set)
{
	enum distance distance = OTHER_NODE;
	int word;

	for (word = 0; word < lines->words; word++) {
		if (set[word] & lines->llc[cpu][word])
			return SAME_LLC;
		if (set[word] & lines->node[cpu][word])
			distance = SAME_NODE;
	}
	return distance;
}

/* A write waits until the farthest CPU has given the line up */
static inline enum distance farthest(const struct lines *lines, int cpu,
				     const uint64_t *set)
{
	enum distance distance = SAME_LLC;
	int word;

	for (word = 0; word < lines->words; word++) {
		if (set[word] & ~lines->node[cpu][word])
			return OTHER_NODE;
		if (set[word] & ~lines->llc[cpu][word])
			distance = SAME_NODE;
	}
	return distance;
}

static inline struct line *line_at(struct lines *lines, uint64_t address)
{
	uint64_t page = address >> PAGE_SHIFT;
	int index = address >> LINE_SHIFT & (LINES_PER_PAGE - 1);

	if (page >= MAX_PAGES)
		return NULL;
	if (!lines->pages[page])
		lines->pages[page] = calloc(LINES_PER_PAGE, lines->size);
	if (!lines->pages[page])
		return NULL;
	return (struct line *)(lines->pages[page] + index * lines->size);
}

static inline enum distance line_read(struct lines *lines, struct line *line,
				      int cpu)
{
	enum distance distance = HERE;
	uint64_t any = 0;
	int word;

	if (set_has(line->sharers, cpu))
		return HERE;
	for (word = 0; word < lines->words; word++)
		any |= line->sharers[word];
	if (line->owner)
		distance = cpu_distance(lines, cpu, line->owner - 1);
	else if (any)
		distance = nearest(lines, cpu, line->sharers);
	line->owner = 0;
	set_add(line->sharers, cpu);
	return distance;
}

static inline enum distance line_write(struct lines *lines, struct line *line,
				       int cpu)
{
	enum distance distance = HERE;
	uint64_t others = 0;
	int word;

	if (line->owner == (uint32_t)cpu + 1)
		return HERE;
	for (word = 0; word < lines->words; word++) {
		if (word == cpu / 64)
			others |= line->sharers[word] & ~(1ULL << (cpu % 64));
		else
			others |= line->sharers[word];
	}
	if (others)
		distance = farthest(lines, cpu, line->sharers);
	memset(line->sharers, 0, lines->words * sizeof(uint64_t));
	set_add(line->sharers, cpu);
	line->owner = cpu + 1;
	return distance;
}

/* An access to a physical address; how far its line travels, or HERE */
static inline enum distance lines_access(struct lines *lines, uint64_t address,
					 int cpu, bool write)
{
	struct line *line = line_at(lines, address);

	if (!line)
		return HERE;
	return write ? line_write(lines, line, cpu) :
		       line_read(lines, line, cpu);
}

#endif /* _LINES_H */
