// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a context switch takes: processes in a ring pass on a token through
 * pipes, and each that gets it sums up an array of its own first. So does
 * lmbench's lat_ctx, by which the Really Fair Scheduler was announced.
 *
 * What the pipes and the sums take is measured in one process, by its CPU time,
 * and subtracted. The rest is the switches, and the cache misses they cause.
 * With several CPUs that can be less than nothing: together they cache more.
 */
#include "bench.h"

const char usage[] = "PROCESSES KIB ROUNDS";

static long processes, rounds;
static size_t words;		/* in each array */
static int (*pipes)[2];		/* each process' input, and its two ends */
static uint64_t *elapsed;

static uint64_t *new_array(void)
{
	uint64_t *array = zalloc(words + 1, sizeof(*array));
	size_t i;

	for (i = 0; i < words; i++)
		array[i] = i;
	return array;
}

static void sum_up(const uint64_t *array)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < words; i++)
		sum += array[i];
	__asm__ volatile("" : : "r"(sum) : "memory");
}

static void get(long process, uint64_t *token)
{
	read_all(pipes[process][0], token, sizeof(*token));
}

static void put(long process, uint64_t token)
{
	write_all(pipes[process % processes][1], &token, sizeof(token));
}

/* All processes but the first */
static void pass_on(void *arg)
{
	long me = (intptr_t)arg, round;
	uint64_t *array = new_array(), token;

	for (round = 0; round <= rounds; round++) {
		get(me, &token);
		sum_up(array);
		put(me + 1, token + 1);
	}
}

/* The first, which takes the time after a round to warm up */
static void lead(void *arg)
{
	uint64_t *array = new_array(), token = 0, start = 0;
	long round;

	(void)arg;
	for (round = 0; round <= rounds; round++) {
		if (round == 1)
			start = now_ns();
		put(1, token + 1);
		get(0, &token);
		sum_up(array);
	}
	*elapsed = now_ns() - start;
	if (token != (uint64_t)processes * (rounds + 1))
		fail("the token was lost");
}

/* The same in one process: no switches, and the arrays share one cache */
static void work_only(void *arg)
{
	uint64_t **arrays = zalloc(processes, sizeof(*arrays));
	uint64_t token = 0, start = 0;
	long round, i;

	(void)arg;
	for (i = 0; i < processes; i++)
		arrays[i] = new_array();
	for (round = 0; round <= rounds; round++) {
		if (round == 1)
			start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (i = 0; i < processes; i++) {
			put(0, token);
			get(0, &token);
			sum_up(arrays[i]);
		}
	}
	*elapsed = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

int main(int argc, char **argv)
{
	double switches, raw;
	uint64_t work;
	long i;

	if (argc != 4)
		bad_usage();
	processes = number("PROCESSES", argv[1], 2, 10000);
	words = number("KIB", argv[2], 0, 1 << 20) * 1024 / sizeof(uint64_t);
	rounds = number("ROUNDS", argv[3], 1, 1000000000);

	raise_file_limit();
	elapsed = shared(sizeof(*elapsed));
	pipes = zalloc(processes, sizeof(*pipes));
	for (i = 0; i < processes; i++) {
		if (pipe(pipes[i]))
			die("pipe");
	}

	spawn(work_only, NULL);
	reap(1);
	work = *elapsed;

	for (i = 1; i < processes; i++)
		spawn(pass_on, (void *)(intptr_t)i);
	spawn(lead, NULL);
	reap(processes);

	switches = (double)processes * rounds;
	raw = *elapsed / switches;
	row("switch-us", (raw - work / switches) / USEC);
	row("raw-us", raw / USEC);
	return 0;
}
