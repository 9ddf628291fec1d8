// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a woken thread waits for a CPU, how long it takes from a request to its
 * answer, and how many requests are served, in the manner of Chris Mason's schbench:
 * messenger threads hand out requests to workers that sleep, a worker thinks for
 * THINK_US and asks for the next.
 *
 * Each worker gets a request once in a period that makes all of them together
 * use LOAD_PERCENT of all CPUs' time. One that asks for its next request later
 * than that gets it at once. So above 100 percent, or with fewer workers than
 * it takes, all get their requests as soon as they ask.
 */
#include "bench.h"

const char usage[] = "MESSENGERS WORKERS THINK_US LOAD_PERCENT SECONDS";

#define MAX_SAMPLES	(1UL << 18)

enum {
	WORKING,	/* has a request */
	OVERDUE,	/* the same, and its messenger waits for it to ask */
	ASKED,		/* sleeps */
	STOPPED,	/* gets no more requests */
};

/* What is timed: from when a worker is woken for a request until... */
enum {
	RUNS,		/* it runs */
	ANSWERS,	/* it has done the work */
	TIMED,
};

struct times {
	uint64_t *samples;
	size_t count;
};

struct worker {
	_Atomic uint32_t state;
	struct messenger *messenger;
	uint64_t stamp;		/* when it was woken; 0: no request */
	uint64_t due;		/* its next request; the messenger's own */
	uint64_t requests;	/* served */
	struct times times[TIMED];
	pthread_t thread;
} __attribute__((aligned(128)));

struct messenger {
	_Atomic uint32_t calls;	/* of workers that were overdue */
	struct worker *workers;
	pthread_t thread;
} __attribute__((aligned(128)));

static long messengers, workers;	/* of each messenger */
static uint64_t iterations, period, start, end;
static size_t max_samples;
static pthread_barrier_t barrier;

/* All threads are there; the start is set; go */
static void wait_for_start(void)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
}

static void note(struct times *times, uint64_t ns)
{
	if (times->count < max_samples)
		times->samples[times->count++] = ns;
}

static void *worker_thread(void *arg)
{
	struct worker *worker = arg;
	uint64_t now, stamp;

	wait_for_start();
	for (;;) {
		switch (atomic_exchange(&worker->state, ASKED)) {
		case OVERDUE:
			atomic_fetch_add(&worker->messenger->calls, 1);
			futex_wake(&worker->messenger->calls, 1);
			break;
		case STOPPED:
			return NULL;
		}
		while (atomic_load(&worker->state) == ASKED)
			futex_wait(&worker->state, ASKED, 0);
		stamp = worker->stamp;
		if (!stamp)
			return NULL;
		now = now_ns();
		note(&worker->times[RUNS], now - stamp);
		worker->stamp = 0;
		if (now >= end)
			return NULL;
		work(iterations);
		now = now_ns();
		if (now >= end)
			return NULL;
		note(&worker->times[ANSWERS], now - stamp);
		worker->requests++;
	}
}

/* A request for a worker, if it has asked; otherwise it is going to call */
static bool hand_out(struct worker *worker)
{
	uint32_t state = WORKING;

	if (!atomic_compare_exchange_strong(&worker->state, &state, OVERDUE) &&
	    state == ASKED) {
		worker->stamp = now_ns();
		atomic_store(&worker->state, WORKING);
		futex_wake(&worker->state, 1);
		return true;
	}
	return false;
}

static void *messenger_thread(void *arg)
{
	struct messenger *messenger = arg;
	struct worker *worker;
	uint64_t now, next;
	uint32_t calls;
	long i;

	wait_for_start();
	for (;;) {
		calls = atomic_load(&messenger->calls);
		now = now_ns();
		if (now >= end)
			break;
		next = end;
		for (i = 0; i < workers; i++) {
			worker = &messenger->workers[i];
			if (worker->due <= now) {
				if (!hand_out(worker))
					continue;
				worker->due += period;
			}
			if (worker->due < next)
				next = worker->due;
		}
		if (next > now)
			futex_wait(&messenger->calls, calls, next);
	}
	for (i = 0; i < workers; i++) {
		worker = &messenger->workers[i];
		if (atomic_exchange(&worker->state, STOPPED) == ASKED)
			futex_wake(&worker->state, 1);
	}
	return NULL;
}

static void figures(struct worker *all, int timed, uint64_t *samples, const char *name)
{
	static const struct {
		const char *name;
		double part;
	} parts[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "p999", 0.999 }, { "max", 1 } };
	char text[64];
	size_t count = 0, part;
	long i;

	for (i = 0; i < messengers * workers; i++) {
		struct times *times = &all[i].times[timed];

		memcpy(samples + count, times->samples, times->count * sizeof(*samples));
		count += times->count;
	}
	if (!count)
		fail("%s: no worker got so far", name);
	qsort(samples, count, sizeof(*samples), compare_u64);
	for (part = 0; part < sizeof(parts) / sizeof(*parts); part++) {
		snprintf(text, sizeof(text), "%s-%s-us", name, parts[part].name);
		row(text, percentile(samples, count, parts[part].part) / 1e3);
	}
}

static void report(struct worker *all, uint64_t *samples, double seconds)
{
	uint64_t requests = 0;
	long i;

	for (i = 0; i < messengers * workers; i++)
		requests += all[i].requests;
	figures(all, RUNS, samples, "wakeup");
	figures(all, ANSWERS, samples, "request");
	row("requests-per-s", requests / seconds);
}

int main(int argc, char **argv)
{
	long think, load, seconds, total, i, j;
	struct messenger *messenger;
	struct worker *all;
	uint64_t *samples;

	if (argc != 6)
		bad_usage();
	messengers = number("MESSENGERS", argv[1], 1, 1000);
	workers = number("WORKERS", argv[2], 1, 1000);
	think = number("THINK_US", argv[3], 1, 1000000);
	load = number("LOAD_PERCENT", argv[4], 1, 1000);
	seconds = number("SECONDS", argv[5], 1, 3600);
	total = messengers * workers;

	no_timer_slack();
	iterations = calibrate(think);
	period = 1e5 * total * think / ((double)cpu_count() * load);

	/* What the workers can fill, touched now rather than then */
	max_samples = 2 * seconds * 1000000 / think + 1000;
	if (max_samples > MAX_SAMPLES)
		max_samples = MAX_SAMPLES;
	samples = malloc((TIMED + 1) * total * max_samples * sizeof(*samples));
	all = aligned_alloc(128, total * sizeof(*all));
	messenger = aligned_alloc(128, messengers * sizeof(*messenger));
	if (!samples || !all || !messenger)
		die("malloc");
	memset(samples, 1, (TIMED + 1) * total * max_samples * sizeof(*samples));
	memset(all, 0, total * sizeof(*all));
	memset(messenger, 0, messengers * sizeof(*messenger));

	errno = pthread_barrier_init(&barrier, NULL, messengers + total + 1);
	if (errno)
		die("pthread_barrier_init");
	for (i = 0; i < messengers; i++) {
		messenger[i].workers = &all[i * workers];
		messenger[i].thread = start_thread(messenger_thread,
						   &messenger[i]);
	}
	for (i = 0; i < total; i++) {
		all[i].messenger = &messenger[i / workers];
		for (j = 0; j < TIMED; j++)
			all[i].times[j].samples = samples + (j * total + i) * max_samples;
		all[i].thread = start_thread(worker_thread, &all[i]);
	}

	/* Requests are spread evenly over the period */
	pthread_barrier_wait(&barrier);
	start = now_ns();
	end = start + seconds * SEC;
	for (i = 0; i < total; i++)
		all[i].due = start + period / total *
			     (i % workers * messengers + i / workers);
	pthread_barrier_wait(&barrier);

	for (i = 0; i < messengers; i++)
		join_thread(messenger[i].thread);
	for (i = 0; i < total; i++)
		join_thread(all[i].thread);
	report(all, samples + TIMED * total * max_samples, seconds);
	free(messenger);
	free(all);
	free(samples);
	return 0;
}
