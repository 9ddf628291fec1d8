// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs of processes that pass a token to and fro through two pipes, all pairs
 * at once. What many of them do to each other is what perf bench sched pipe,
 * with its one pair, does not show.
 */
#include "bench.h"

const char usage[] = "PAIRS ROUNDS";

static long rounds;
static int (*pipes)[2];		/* of each process: where it reads, and the other writes */

/* Who has an even number begins */
static void play(void *arg)
{
	long me = (intptr_t)arg, round;
	char token = 0;

	for (round = 0; round < rounds; round++) {
		if (me % 2 == 0)
			write_all(pipes[me + 1][1], &token, 1);
		read_all(pipes[me][0], &token, 1);
		if (me % 2)
			write_all(pipes[me - 1][1], &token, 1);
	}
}

int main(int argc, char **argv)
{
	long pairs, i;

	if (argc != 3)
		bad_usage();
	pairs = number("PAIRS", argv[1], 1, 10000);
	rounds = number("ROUNDS", argv[2], 1, 1000000000);

	raise_file_limit();
	pipes = zalloc(2 * pairs, sizeof(*pipes));
	for (i = 0; i < 2 * pairs; i++) {
		if (pipe(pipes[i]))
			die("pipe");
	}
	for (i = 0; i < 2 * pairs; i++)
		spawn(play, (void *)(intptr_t)i);
	reap(2 * pairs);
	return 0;
}
