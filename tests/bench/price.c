// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel does for one context switch and for one wake-up, in ns:
 *
 * switch: two processes on one CPU call sched_yield(). The time for each real
 * switch counts, whatever number of yields it takes.
 *
 * wake-local, wake-remote: a thread calls FUTEX_WAKE for one that sleeps, on
 * its own CPU or on another, which is idle. The call alone is timed, less what
 * it takes when nobody waits. The sleeper is under SCHED_BATCH, so that it
 * does not preempt the waker in the middle of it. Averages are over the middle
 * half of the samples: one that is interrupted would outweigh all others.
 */
#include "bench.h"

const char usage[] = "SWITCHES";

#define NAP	(50 * USEC)

/* What the two that yield share */
struct yielders {
	_Atomic bool ready, begin, end;
	long switches;		/* of the second one */
};

/* Of wakers and sleepers */
static _Atomic uint32_t bell, back, nobody;
static _Atomic bool done;

static long my_switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		die("getrusage");
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void yield_back(void *arg)
{
	struct yielders *both = arg;
	long before;

	atomic_store(&both->ready, true);
	while (!atomic_load(&both->begin))
		sched_yield();
	before = my_switches();
	while (!atomic_load(&both->end))
		sched_yield();
	both->switches = my_switches() - before;
}

static void price_of_switch(long count)
{
	struct yielders *both = shared(sizeof(*both));
	uint64_t start, elapsed;
	long before, switches, i;

	spawn(yield_back, both);
	while (!atomic_load(&both->ready)) {
		if (waitpid(-1, NULL, WNOHANG))
			fail("the child has ended");
		sleep_ns(MSEC);
	}
	atomic_store(&both->begin, true);
	before = my_switches();
	start = now_ns();
	for (i = 0; i < count; i++)
		sched_yield();
	elapsed = now_ns() - start;
	switches = my_switches() - before;
	atomic_store(&both->end, true);
	reap(1);
	if (!switches || !both->switches)
		fail("sched_yield() does not switch");
	row("switch-ns", (double)elapsed / (switches + both->switches));
}

static void *sleeper(void *arg)
{
	struct sched_param param = { .sched_priority = 0 };
	uint32_t rung = 0;

	pin((intptr_t)arg);
	if (sched_setscheduler(0, SCHED_BATCH, &param))
		die("sched_setscheduler");
	while (!atomic_load(&done)) {
		atomic_fetch_add(&back, 1);
		futex_wake(&back, 1);
		while (atomic_load(&bell) == rung)
			futex_wait(&bell, rung, 0);
		rung++;
	}
	return NULL;
}

/* Until the sleeper has come back @times, and then some, so it sleeps */
static void let_it_sleep(uint32_t times)
{
	uint32_t now;

	while ((now = atomic_load(&back)) != times)
		futex_wait(&back, now, 0);
	sleep_ns(NAP);
}

/* The time of one FUTEX_WAKE, and how many it woke */
static int timed_wake(_Atomic uint32_t *word, uint64_t *sample)
{
	uint64_t start = now_ns();
	int woken = futex_wake(word, 1);

	*sample = now_ns() - start;
	return woken;
}

static double average(uint64_t *samples, long count)
{
	double sum = 0;
	long i;

	qsort(samples, count, sizeof(*samples), compare_u64);
	for (i = count / 4; i < count - count / 4; i++)
		sum += samples[i];
	return sum / (count - count / 4 * 2);
}

static void price_of_wake(const char *name, long count, int cpu)
{
	uint64_t *hits = zalloc(count, sizeof(*hits));
	uint64_t *misses = zalloc(count, sizeof(*misses));
	long tries = 0, i = 0;
	pthread_t thread;

	atomic_store(&bell, 0);
	atomic_store(&back, 0);
	atomic_store(&done, false);
	thread = start_thread(sleeper, (void *)(intptr_t)cpu);
	while (i < count) {
		if (tries == 10 * count)
			fail("the sleeper does not sleep");
		let_it_sleep(++tries);
		timed_wake(&nobody, &misses[i]);
		let_it_sleep(tries);
		atomic_fetch_add(&bell, 1);
		/* If it was not asleep yet, once more */
		i += timed_wake(&bell, &hits[i]);
	}
	let_it_sleep(++tries);
	atomic_store(&done, true);
	atomic_fetch_add(&bell, 1);
	futex_wake(&bell, 1);
	join_thread(thread);
	row(name, average(hits, count) - average(misses, count));
	free(hits);
	free(misses);
}

int main(int argc, char **argv)
{
	int first, second = -1;
	long count;

	if (argc != 2)
		bad_usage();
	count = number("SWITCHES", argv[1], 1000, 1000000000);

	no_timer_slack();
	first = nth_cpu(0);
	if (cpu_count() > 1)
		second = nth_cpu(1);
	pin(first);
	price_of_switch(count);
	/* These take much longer, as the waker sleeps in between */
	count = count > 100000 ? 10000 : count / 10;
	price_of_wake("wake-local-ns", count, first);
	if (second >= 0)
		price_of_wake("wake-remote-ns", count, second);
	return 0;
}
