// SPDX-License-Identifier: GPL-2.0-only
/*
 * How near CPU hogs of the given nice values come to their ideal shares of the
 * CPU time all of them got, while SLEEPERS more processes work for 1 ms and
 * sleep for 9 ms in turn. This is what the fair schedulers were compared by,
 * from RSDL and CFS on.
 *
 * A nice step is a factor of 1.1 under VRQ, 1.25 under the fair class (whose
 * table of weights is rounded: by up to 2 percent, the most at nice 15 to 19).
 * None can use more than one CPU; what such a hog leaves goes to the others.
 */
#include "bench.h"

const char usage[] = "SECONDS SLEEPERS NICE...";

#define MAX	1024

struct children {
	int hogs, count;	/* the hogs first, then the sleepers */
	pid_t pids[MAX];
	double weight[MAX];	/* of the hogs */
	uint64_t before[MAX];	/* CPU time that each had at the start */
	uint64_t used[MAX];	/* and since */
};

static _Atomic uint32_t *ready, *go;
static uint64_t iterations;

static void wait_for_start(void)
{
	atomic_fetch_add(ready, 1);
	while (!atomic_load(go))
		futex_wait(go, 0, 0);
}

static void hog(void *arg)
{
	(void)arg;
	wait_for_start();
	for (;;)
		work(1 << 20);
}

static void sleeper(void *arg)
{
	(void)arg;
	wait_for_start();
	for (;;) {
		work(iterations);
		sleep_ns(9 * MSEC);
	}
}

static uint64_t cpu_time_of(pid_t pid)
{
	clockid_t clock;

	errno = clock_getcpuclockid(pid, &clock);
	if (errno)
		die("clock_getcpuclockid");
	return clock_ns(clock);
}

static double weight_of(int nice)
{
	double step = under_vrq() ? 1.1 : 1.25, weight = 1;

	for (; nice > 0; nice--)
		weight /= step;
	for (; nice < 0; nice++)
		weight *= step;
	return weight;
}

/* The children wait until all are there, and have their nice values */
static void start(struct children *all, const long *nice)
{
	struct sched_param other = { .sched_priority = 0 };
	struct sched_param first = { .sched_priority = 1 };
	int i;

	for (i = 0; i < all->count; i++) {
		all->pids[i] = spawn(i < all->hogs ? hog : sleeper, NULL);
		if (sched_setscheduler(all->pids[i], SCHED_OTHER, &other))
			die("sched_setscheduler");
		if (i >= all->hogs)
			continue;
		if (setpriority(PRIO_PROCESS, all->pids[i], nice[i]))
			die("setpriority");
		all->weight[i] = weight_of(nice[i]);
	}
	while (atomic_load(ready) < (uint32_t)all->count) {
		if (waitpid(-1, NULL, WNOHANG))
			fail("a child has ended");
		sleep_ns(MSEC);
	}
	/* Look on time, if we may */
	sched_setscheduler(0, SCHED_FIFO, &first);
	for (i = 0; i < all->count; i++)
		all->before[i] = cpu_time_of(all->pids[i]);
}

static void look(struct children *all)
{
	int i;

	for (i = 0; i < all->count; i++)
		all->used[i] = cpu_time_of(all->pids[i]) - all->before[i];
}

static void stop(struct children *all)
{
	int i;

	if (waitpid(-1, NULL, WNOHANG))
		fail("a child has ended");
	for (i = 0; i < all->count; i++)
		kill(all->pids[i], SIGKILL);
	for (i = 0; i < all->count; i++)
		waitpid(all->pids[i], NULL, 0);
}

/* The hogs' ideal shares; none is above @limit */
static void find_ideal(const struct children *all, double limit, double *ideal)
{
	bool capped[MAX] = {}, more = true;
	double left = 0, weights = 0;
	int i;

	for (i = 0; i < all->hogs; i++) {
		left += all->used[i];
		weights += all->weight[i];
	}
	while (more) {
		more = false;
		for (i = 0; i < all->hogs; i++) {
			if (capped[i])
				continue;
			ideal[i] = left * all->weight[i] / weights;
			if (ideal[i] > limit) {
				more = true;
				capped[i] = true;
				ideal[i] = limit;
				left -= limit;
				weights -= all->weight[i];
				break;
			}
		}
	}
}

/* The largest deviation of a hog from its ideal share, in percent of that */
static double deviation(const struct children *all, uint64_t wall)
{
	double ideal[MAX], off, worst = 0;
	int i;

	find_ideal(all, wall, ideal);
	for (i = 0; i < all->hogs; i++) {
		if (ideal[i] <= 0)
			fail("the hogs got no CPU time");
		off = all->used[i] - ideal[i];
		if (off < 0)
			off = -off;
		if (off / ideal[i] > worst)
			worst = off / ideal[i];
	}
	return 100 * worst;
}

/* The part of all CPUs' time that the children could have used and did not */
static double idle(const struct children *all, uint64_t wall)
{
	double all_time = (double)wall * cpu_count(), used = 0;
	int i;

	for (i = 0; i < all->count; i++)
		used += all->used[i];
	if (all->hogs < cpu_count() || used > all_time)
		return 0;
	return 100 * (1 - used / all_time);
}

int main(int argc, char **argv)
{
	static struct children all;
	double after_one_second;
	long nice[MAX], seconds;
	uint64_t begin;
	int i;

	if (argc < 4)
		bad_usage();
	seconds = number("SECONDS", argv[1], 1, 3600);
	all.count = number("SLEEPERS", argv[2], 0, MAX / 2);
	all.hogs = argc - 3;
	if (all.hogs > MAX / 2)
		bad_usage();
	all.count += all.hogs;
	for (i = 0; i < all.hogs; i++)
		nice[i] = number("NICE", argv[3 + i], -20, 19);

	iterations = calibrate(1000);
	ready = shared(2 * sizeof(*ready));
	go = ready + 1;
	start(&all, nice);
	begin = now_ns();
	atomic_store(go, 1);
	futex_wake(go, INT_MAX);

	sleep_until(begin + SEC);
	look(&all);
	after_one_second = deviation(&all, now_ns() - begin);
	sleep_until(begin + seconds * SEC);
	look(&all);
	begin = now_ns() - begin;
	stop(&all);

	row("deviation-1s-percent", after_one_second);
	row("deviation-percent", deviation(&all, begin));
	row("idle-percent", idle(&all, begin));
	return 0;
}
