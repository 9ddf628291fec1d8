// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that only some CPUs may run: however many wait, they cost the other CPUs
 * next to nothing, and however many masks there are, each task gets its turns
 * and no CPU is idle that may run one.
 */
#include "guest.h"

#define CONFINED	400
#define TURNS		300
#define CHILDREN	160
#define TASKS_A_MASK	2
#define MASKS_MAX	60

#define YIELD_TYPE	"/proc/sys/kernel/yield_type"

/*
 * Each counter has a page of its own. Of one page for all, each hog that wants it for
 * the first time may have to wait for another one that has lost its CPU as it had the
 * page locked: then there are as many such waits, one after the other, as hogs.
 */
#define PAGE		(4096 / sizeof(uint64_t))

static uint64_t *counters;

static uint64_t *counter(int number)
{
	return counters + number * PAGE;
}

struct hog {
	uint64_t *counter;
	uint64_t mask;
};

/* Normal before anything else: else the test might have to wait for it for ever */
static void start_hog(void *arg)
{
	struct hog *me = arg;

	be_normal();
	confine(0, me->mask);
	hog(me->counter);
}

/* A hog that counts its turns in counter(@number) */
static pid_t confined_hog(int number, uint64_t mask)
{
	struct hog me = { counter(number), mask };

	return spawn(start_hog, &me);
}

static int to[2], from[2];

static void answer(void *unused)
{
	char byte;

	(void)unused;
	be_normal();
	pin(0, 3);
	while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
		;
}

static int longer(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Ask on CPU 2, answer on CPU 3: at each turn a CPU goes idle. The median, ns */
static void ask(void *result)
{
	uint64_t took[TURNS], start;
	char byte = 0;
	int i;

	be_normal();
	pin(0, 2);
	for (i = 0; i < TURNS; i++) {
		start = now_ns();
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			_exit(1);
		took[i] = now_ns() - start;
	}
	qsort(took, TURNS, sizeof(*took), longer);
	*(uint64_t *)result = took[TURNS / 2];
}

static uint64_t turn_ns(void)
{
	pid_t other = spawn(answer, NULL), asker;
	uint64_t *ns = counter(CONFINED);
	int status;

	asker = spawn(ask, ns);
	waitpid(asker, &status, 0);
	if (status)
		ksft_exit_fail_msg("the ping-pong failed, status %d\n", status);
	finish(other);
	return *ns;
}

/*
 * In virtual time one CPU runs after the other, each until some timer expires, but
 * for milliseconds if there is none: then that is what a turn takes. At equal
 * intervals a turn may keep step with them, and take half as long again by chance.
 */
static void expire_timers(void *unused)
{
	uint64_t chance = 1;

	(void)unused;
	pin(0, 0);
	for (;;) {
		chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
		sleep_ns(10000 + (chance >> 32) % 20000);
	}
}

/* The same beside @n tasks that use CPUs 0 and 1 and may use no other */
static uint64_t turn_beside_ns(int n)
{
	pid_t pids[CONFINED], timers = spawn(expire_timers, NULL);
	uint64_t ns;
	int i;

	for (i = 0; i < n; i++)
		pids[i] = confined_hog(i, 3);
	sleep_ns(100 * MSEC);
	ns = turn_ns();
	finish_all(pids, n);
	finish(timers);
	return ns;
}

static void bystanders(int cpus)
{
	/* A CPU of another domain looks at the first few of them each time, a fixed number */
	unsigned int limit = widest_domain(cpus) == cpus ? 110 : 115;
	uint64_t few, many;

	if (cpus < 4) {
		ksft_test_result_skip("fewer than four CPUs\n");
		return;
	}
	if (pipe(to) || pipe(from))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	few = turn_beside_ns(4);
	many = turn_beside_ns(CONFINED);
	ksft_test_result(many * 100 < few * limit,
			 "beside %d tasks confined to other CPUs a turn takes %llu ns, beside 4 %llu\n",
			 CONFINED, (unsigned long long)many,
			 (unsigned long long)few);
}

/* As a real-time task it has CPU 0, as a normal one it waits beside all that wait there */
static void become_normal(void *ns)
{
	uint64_t start = now_ns();

	confine(0, ~0ULL);
	be_normal();
	*(uint64_t *)ns = now_ns() - start;
}

/*
 * A task that every CPU may run does not wait for one behind hundreds of tasks which
 * may use that one only, while others are idle.
 */
static void way_out(int cpus)
{
	uint64_t longest = 0, *ns = counter(CONFINED);
	pid_t pids[CONFINED];
	cpu_set_t all;
	int i;

	if (cpus < 4 || !under_vrq()) {
		ksft_test_result_skip("fewer than four CPUs, or fair, which does not promise it\n");
		return;
	}
	sched_getaffinity(0, sizeof(all), &all);
	for (i = 0; i < CONFINED; i++)
		pids[i] = confined_hog(i, 3);
	sleep_ns(100 * MSEC);
	pin(0, 0);
	for (i = 0; i < 10; i++) {
		waitpid(spawn(become_normal, ns), NULL, 0);
		longest = *ns > longest ? *ns : longest;
	}
	confine_to(0, &all);
	finish_all(pids, CONFINED);
	timed_result(longest < 10 * MSEC,
		     "behind %d tasks confined to its CPU a task waits %llu us for one of the others\n",
		     CONFINED, (unsigned long long)longest / 1000);
}

/*
 * Use the CPU until the children are there, give up the slice, and tell how long the next
 * takes to come, and in how many waits: the slice may end by itself just before. As long as
 * all children are on other CPUs there is none.
 */
static void wait_for_next_slice(void *cpu)
{
	volatile uint64_t *there = counter(0);
	struct rusage before, after;
	uint64_t start;
	int tries;

	be_normal();
	pin(0, *(int *)cpu);
	while (!*there)
		;
	for (tries = 0; tries < 100000 && !*counter(2); tries++) {
		getrusage(RUSAGE_SELF, &before);
		start = now_ns();
		sched_yield();
		*counter(1) = now_ns() - start;
		getrusage(RUSAGE_SELF, &after);
		*counter(2) = after.ru_nivcsw - before.ru_nivcsw;
	}
}

/*
 * A task that may not leave the CPU where a parent starts many children, which may:
 * they are on their way to the others, so they are not its load. Where they count as
 * that it waits for 150 to 160 ms, and for 230 where one of the CPUs is alone. Among more
 * CPUs, with as many children as a real-time task can start there, no such difference is
 * to be seen.
 */
static void beside_children(int cpus)
{
	int cpu = sched_getcpu(), i;
	/* Once around, and a little */
	uint64_t limit = RR_NS * (CHILDREN / cpus + 1) * 11 / 10;
	pid_t pids[CHILDREN], pinned;

	if (cpus != 4) {
		ksft_test_result_skip("not four CPUs\n");
		return;
	}
	if (under_vrq() && !put(YIELD_TYPE, "2"))
		ksft_exit_fail_msg("%s: %s\n", YIELD_TYPE, strerror(errno));
	*counter(0) = 0;
	*counter(2) = 0;
	pinned = spawn(wait_for_next_slice, &cpu);
	sleep_ns(100 * MSEC);
	/* a real-time task stays where it is, its children are normal ones */
	set_policy(0, SCHED_FIFO | SCHED_RESET_ON_FORK, 50);
	for (i = 0; i < CHILDREN; i++)
		pids[i] = spawn(hog, NULL);
	*counter(0) = 1;
	waitpid(pinned, NULL, 0);
	finish_all(pids, CHILDREN);
	be_supervisor();
	if (under_vrq())
		put(YIELD_TYPE, "1");
	if (*counter(2) > 1)
		limit *= *counter(2);
	/* without a wait it was not beside them */
	timed_result(*counter(2) && *counter(1) < limit,
		     "a pinned task waits %llu of %llu us, %llu times, for a slice beside %d new tasks of its CPU\n",
		     (unsigned long long)*counter(1) / 1000,
		     (unsigned long long)limit / 1000,
		     (unsigned long long)*counter(2), CHILDREN);
}

/* Masks of at least two CPUs, all different, for each CPU about as many */
static int make_masks(int cpus, uint64_t *masks)
{
	int width = cpus > 8 ? 8 : cpus, n = 0;
	uint64_t all = (1ULL << width) - 1, mask, i;

	/* an odd factor: each mask once */
	for (i = 0; i <= all && n < MASKS_MAX; i++) {
		mask = i * 77 & all;
		if (mask & (mask - 1))
			masks[n++] = mask;
	}
	return n;
}

/* Of @masks, how many differ within a domain of so many CPUs? At most, if not all of them */
static int differing(int masks, int domain, int width)
{
	int within = (1 << domain) - 1;

	return domain < width && within < masks ? within : masks;
}

/*
 * All in shared queues, as none waits for its CPU. Each domain's has room for 31 masks:
 * where CPUs of other domains make the difference it needs none
 */
static void many_masks(int cpus)
{
	long long full;
	uint64_t masks[MASKS_MAX], before[MASKS_MAX * TASKS_A_MASK], used = 0, ns;
	int width = cpus > 8 ? 8 : cpus, masks_made = make_masks(cpus, masks);
	int different = differing(masks_made, widest_domain(width), width);
	int n = masks_made * TASKS_A_MASK, i, starved = 0;
	pid_t pids[MASKS_MAX * TASKS_A_MASK] = {};

	if (cpus < 2) {
		ksft_test_result_skip("one CPU\n");
		ksft_test_result_skip("one CPU\n");
		ksft_test_result_skip("one CPU\n");
		return;
	}
	if (under_vrq() && !put(CACHE_NORMAL_MS, "0"))
		ksft_exit_fail_msg("%s: %s\n", CACHE_NORMAL_MS, strerror(errno));
	put(COUNTERS, "0");
	for (i = 0; i < n; i++)
		pids[i] = confined_hog(i, masks[i % masks_made]);
	sleep_ns(200 * MSEC);
	for (i = 0; i < n; i++) {
		before[i] = *counter(i);
		used -= cpu_time_of(pids[i]);
	}
	ns = now_ns();
	sleep_ns(SEC);
	ns = now_ns() - ns;
	full = number_after(COUNTERS, "shared_full");
	for (i = 0; i < n; i++)
		used += cpu_time_of(pids[i]);
	for (i = 0; i < n; i++)
		starved += *counter(i) == before[i];
	finish_all(pids, n);
	ksft_test_result(!starved, "%d tasks with %d masks all run (%d do not)\n",
			 n, masks_made, starved);
	if (under_vrq())
		put(CACHE_NORMAL_MS, "-1");
	if (under_vrq() && full >= 0)
		ksft_test_result((full > 0) == (different > 31),
				 "%d masks, %d in a domain, have room in the shared queue, or not (%lld times)\n",
				 masks_made, different, full);
	else
		ksft_test_result_skip("fair or no counters\n");
	ksft_test_result(used > width * ns / 100 * 97,
			 "and use all of %d CPUs (%llu%%)\n", width,
			 (unsigned long long)(used * 100 / (width * ns)));
}

#define SLEEPERS	4

static int bells[SLEEPERS + 1][2];

static void ring(int number)
{
	char byte = 0;

	if (write(bells[number][1], &byte, 1) != 1)
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
}

static bool await_bell(int number)
{
	char byte;

	return read(bells[number][0], &byte, 1) == 1;
}

struct sleeper {
	int number;
	uint64_t mask;
};

/* It does not preempt */
static void sleep_once(void *arg)
{
	struct sleeper *me = arg;

	set_policy(0, SCHED_BATCH, 0);
	confine(0, me->mask);
	await_bell(me->number);
}

struct guest {
	int cpu, found, missed;
};

static void take_any_cpu(void *arg)
{
	struct guest *me = arg;

	set_policy(0, SCHED_BATCH, 0);
	while (await_bell(SLEEPERS)) {
		if (sched_getcpu() == me->cpu)
			me->found++;
		else
			me->missed++;
	}
}

/*
 * A CPU comes online and is idle, all others have a hog. Tasks that sleep since before that,
 * and may not run there, wake up. It is still found by one that may.
 */
static void new_cpu_is_found(int cpus)
{
	struct guest *guest = shared(sizeof(*guest));
	pid_t pids[SLEEPERS + 1], hogs[MAX_CPUS];
	struct sleeper me;
	int i;

	if (cpus < 3 || cpus > 64 || !under_vrq() || set_online(cpus - 1, false)) {
		ksft_test_result_skip("%d CPUs, or not VRQ, or no hotplug\n", cpus);
		return;
	}
	pin(0, 0);
	for (i = 0; i <= SLEEPERS; i++)
		if (pipe(bells[i]))
			ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	guest->cpu = cpus - 1;
	me.mask = (1ULL << (cpus - 1)) - 1;
	for (i = 0; i < SLEEPERS; i++) {
		me.number = i;
		pids[i] = spawn(sleep_once, &me);
	}
	pids[SLEEPERS] = spawn(take_any_cpu, guest);
	confine(pids[SLEEPERS], ~0ULL);
	sleep_ns(50 * MSEC);
	set_online(cpus - 1, true);
	confine(pids[SLEEPERS], ~0ULL);
	for (i = 0; i < cpus - 1; i++)
		hogs[i] = confined_hog(i, 1ULL << i);
	sleep_ns(50 * MSEC);
	for (i = 0; i < SLEEPERS; i++) {
		ring(i);
		sleep_ns(200000);
		ring(SLEEPERS);
		sleep_ns(30 * MSEC);
	}
	finish_all(pids, SLEEPERS + 1);
	finish_all(hogs, cpus - 1);
	for (i = 0; i <= SLEEPERS; i++) {
		close(bells[i][0]);
		close(bells[i][1]);
	}
	confine(0, ~0ULL);
	ksft_test_result(guest->found == SLEEPERS,
			 "who wakes up finds a new CPU %d of %d times beside others that may not have it\n",
			 guest->found, guest->found + guest->missed);
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	ksft_set_plan(7);
	be_supervisor();
	counters = shared((CONFINED + 1) * PAGE * sizeof(*counters));
	bystanders(cpus);
	way_out(cpus);
	beside_children(cpus);
	many_masks(cpus);
	new_cpu_is_found(cpus);
	ksft_finished();
}
