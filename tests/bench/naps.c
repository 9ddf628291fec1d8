// SPDX-License-Identifier: GPL-2.0-only
/*
 * TASKS short sleepers take turns on one CPU: each works for WORK_US and naps for
 * NAP_US, again and again. Together they want more than the CPU has. How long does one
 * go without a turn, at the most, and how even are their numbers of turns?
 *
 * Where a task that naps keeps its place before the others until it has used a whole
 * time slice, some run freely while the rest waits.
 */
#include "bench.h"

const char usage[] = "TASKS WORK_US NAP_US SECONDS";

#define MAX	1000

struct napper {
	uint64_t turns, longest;
};

static uint64_t iterations, nap_ns, start, begin, end;

static void note_turn(struct napper *me, uint64_t last, uint64_t now)
{
	if (now - last > me->longest)
		me->longest = now - last;
	me->turns++;
}

static void take_turns(void *arg)
{
	struct napper *me = arg;
	uint64_t last, now;

	/* Who starts them is not to take turns with those that are there already */
	sleep_until(start);
	last = now_ns();
	while (last < end) {
		work(iterations);
		now = now_ns();
		/* What all of them fault in at first is not to count */
		if (now >= begin)
			note_turn(me, last > begin ? last : begin, now);
		last = now;
		sleep_ns(nap_ns);
	}
}

static void report(const struct napper *nappers, long count)
{
	uint64_t longest = 0, least = UINT64_MAX, most = 0, sum = 0;
	long i;

	for (i = 0; i < count; i++) {
		if (nappers[i].longest > longest)
			longest = nappers[i].longest;
		if (nappers[i].turns < least)
			least = nappers[i].turns;
		if (nappers[i].turns > most)
			most = nappers[i].turns;
		sum += nappers[i].turns;
	}
	row("gap-max-us", (double)longest / USEC);
	row("turns-per-s", (double)sum * SEC / (end - begin));
	row("least-percent", 100.0 * least * count / sum);
	row("most-percent", 100.0 * most * count / sum);
}

int main(int argc, char **argv)
{
	struct napper *nappers;
	long count, seconds, i;

	if (argc != 5)
		bad_usage();
	count = number("TASKS", argv[1], 1, MAX);
	iterations = calibrate(number("WORK_US", argv[2], 1, 1000000));
	nap_ns = number("NAP_US", argv[3], 1, 1000000) * USEC;
	seconds = number("SECONDS", argv[4], 1, 3600);

	no_timer_slack();
	pin(nth_cpu(0));
	nappers = shared(count * sizeof(*nappers));
	start = now_ns() + SEC;
	begin = start + SEC;
	end = begin + seconds * SEC;
	for (i = 0; i < count; i++)
		spawn(take_turns, nappers + i);
	reap(count);
	report(nappers, count);
	return 0;
}
