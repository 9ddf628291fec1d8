// SPDX-License-Identifier: GPL-2.0-only
/*
 * What somebody at a desktop waits for, each in a process of its own: a video's frame,
 * a period of sound, a keystroke in an editor; and a browser, whose threads have
 * something to do for a time by chance, and then nothing for longer. For each the delay:
 * by how much later than on an idle machine the work was done. Beside it whatever the
 * caller likes, say a compile.
 *
 * "calibrate" tells, on the machine at rest, how many iterations of the work a
 * millisecond is, to be given as ITERATIONS once the load runs.
 */
#include "bench.h"

const char usage[] = "SECONDS ITERATIONS, or: desktop calibrate";

#define THREADS		8	/* of the browser */
#define SHORTEST_US	200	/* of its bursts */
#define LONGEST_US	20000
#define PAUSES		10	/* as long as its burst; on the mean */
#define SAMPLES		(1 << 16)

struct part {
	const char *name;
	uint64_t period_us, work_us;	/* of the browser by chance */
	int threads;
};

static const struct part parts[] = {
	{ "video", 16667, 5000, 1 },
	{ "audio", 5000, 300, 1 },
	{ "editor", 120000, 3000, 1 },
	{ "browser", 0, 0, THREADS },
};

#define PARTS	(sizeof(parts) / sizeof(*parts))

/* What one of them has seen; a place in @delays for each thread in turns */
struct seen {
	_Atomic uint32_t count;
	uint64_t delays[SAMPLES];
};

static uint64_t iterations, begin, end;

struct worker {
	const struct part *part;
	struct seen *seen;
	uint64_t seed;
};

/* Do the work of @us, which was due at @due, and note the delay */
static void do_work(struct worker *me, uint64_t due, uint64_t us)
{
	uint64_t now, done = due + us * USEC;
	uint32_t i;

	work(iterations * us / 1000);
	now = now_ns();
	i = atomic_fetch_add(&me->seen->count, 1);
	if (i >= SAMPLES)
		fail("more than %d delays", SAMPLES);
	me->seen->delays[i] = now > done ? now - done : 0;
}

static void periodic(struct worker *me)
{
	uint64_t period = me->part->period_us * USEC, due = begin, now;

	while (due < end) {
		sleep_until(due);
		do_work(me, due, me->part->work_us);
		/* What has gone by entirely is lost */
		now = now_ns();
		due += now > due + period ? (now - due) / period * period : period;
	}
}

/* The same numbers each time, but not for each thread */
static uint64_t next(struct worker *me)
{
	me->seed = me->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return me->seed >> 33;
}

/* Most bursts are short: each power of two is as likely as the next */
static uint64_t burst_us(struct worker *me)
{
	uint64_t us = SHORTEST_US, doublings = next(me) % 7;

	us <<= doublings;
	us += next(me) % us;
	return us < LONGEST_US ? us : LONGEST_US;
}

static void by_chance(struct worker *me)
{
	uint64_t due, us;

	for (due = begin; due < end; due = now_ns() + us * USEC * (next(me) % (2 * PAUSES) + 1)) {
		sleep_until(due);
		us = burst_us(me);
		do_work(me, due, us);
	}
}

static void *run(void *arg)
{
	struct worker *me = arg;

	if (me->part->period_us)
		periodic(me);
	else
		by_chance(me);
	return NULL;
}

static void start(void *arg)
{
	struct worker *first = arg, workers[THREADS];
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < first->part->threads; i++) {
		workers[i] = *first;
		workers[i].seed = i + 1;
		threads[i] = start_thread(run, workers + i);
	}
	for (i = 0; i < first->part->threads; i++)
		join_thread(threads[i]);
}

static void figure(const char *part, const char *what, uint64_t ns)
{
	char name[64];

	snprintf(name, sizeof(name), "%s-%s-us", part, what);
	row(name, (double)ns / USEC);
}

static void report(const struct part *part, struct seen *seen)
{
	uint32_t count = atomic_load(&seen->count), i;
	uint64_t sum = 0;

	if (!count)
		fail("%s: nothing was done", part->name);
	for (i = 0; i < count; i++)
		sum += seen->delays[i];
	qsort(seen->delays, count, sizeof(*seen->delays), compare_u64);
	figure(part->name, "avg", sum / count);
	figure(part->name, "p99", percentile(seen->delays, count, 0.99));
	figure(part->name, "max", seen->delays[count - 1]);
}

int main(int argc, char **argv)
{
	struct seen *seen;
	long seconds;
	size_t i;

	if (argc == 2 && !strcmp(argv[1], "calibrate")) {
		row_count("iterations", calibrate(1000));
		return 0;
	}
	if (argc != 3)
		bad_usage();
	seconds = number("SECONDS", argv[1], 1, 3600);
	iterations = number("ITERATIONS", argv[2], 1000, LONG_MAX);

	no_timer_slack();
	seen = shared(PARTS * sizeof(*seen));
	begin = now_ns() + 100 * MSEC;
	end = begin + seconds * SEC;
	for (i = 0; i < PARTS; i++)
		spawn(start, &(struct worker){ .part = parts + i, .seen = seen + i });
	reap(PARTS);
	for (i = 0; i < PARTS; i++)
		report(parts + i, seen + i);
	return 0;
}
