// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy and nice level change while tasks run, wait and sleep; nobody is lost,
 * nobody starves: a SCHED_IDLE task among hogs, and one that holds a lock,
 * included.
 */
#include <linux/futex.h>
#include "guest.h"

struct counter {
	volatile uint64_t count;
	char pad[56];
};

/* Tasks for so many CPUs, on a larger machine too */
#define BUSY_CPUS	32

static void sleeper(void *arg)
{
	struct counter *me = arg;

	for (;;) {
		me->count++;
		sleep_ns(300000);
	}
}

static void normal_sleeper(void *arg)
{
	be_normal();
	sleeper(arg);
}

/* setscheduler, nice and rr_interval at random, on tasks that run, wait or sleep */
static void storm(int cpus)
{
	static const int policies[] = {
		SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_RR, SCHED_ISO,
	};
	int known = ARRAY_SIZE(policies) - !under_vrq();
	int n = 3 * (cpus > BUSY_CPUS ? BUSY_CPUS : cpus) + 2;
	int i, round, policy, stuck = 0;
	struct counter *counters = shared(n * sizeof(*counters));
	pid_t pids[3 * BUSY_CPUS + 2];
	uint64_t count;

	for (i = 0; i < n; i++)
		pids[i] = spawn(i & 1 ? normal_sleeper : normal_hog, &counters[i]);
	srand(2);
	for (round = 0; round < 400; round++) {
		i = rand() % n;
		policy = policies[rand() % known];
		/* real-time only for sleepers, and briefly */
		if (policy == SCHED_RR && !(i & 1))
			policy = SCHED_OTHER;
		set_policy(pids[i], policy, policy == SCHED_RR);
		setpriority(PRIO_PROCESS, pids[i], rand() % 40 - 20);
		if (under_vrq() && round % 8 == 0)
			set_rr_interval(1 + rand() % 30);
		sleep_ns(MSEC);
	}
	if (under_vrq())
		set_rr_interval(RR_MS);
	for (i = 0; i < n; i++) {
		set_policy(pids[i], SCHED_OTHER, 0);
		setpriority(PRIO_PROCESS, pids[i], 0);
	}
	for (i = 0; i < n; i++) {
		count = counters[i].count;
		for (round = 0; round < 2000 && counters[i].count == count; round++)
			sleep_ns(MSEC);
		stuck += counters[i].count == count;
		finish(pids[i]);
	}
	ksft_test_result(!stuck, "400 changes of policy and nice: no task is stuck (%d are)\n",
			 stuck);
}

/* SCHED_IDLE gets little beside hogs, but not nothing */
static void idle_among_hogs(int cpus)
{
	struct counter *counters = shared((cpus + 1) * sizeof(*counters));
	uint64_t before, start, used, wall;
	pid_t pids[MAX_CPUS], idle;
	int i;

	for (i = 0; i < cpus; i++)
		pids[i] = spawn(normal_hog, &counters[i]);
	idle = spawn(idle_hog, &counters[cpus]);
	sleep_ns(200 * MSEC);
	before = cpu_time_of(idle);
	start = now_ns();
	sleep_ns(3 * SEC);
	used = cpu_time_of(idle) - before;
	wall = now_ns() - start;
	for (i = 0; i < cpus; i++)
		finish(pids[i]);
	finish(idle);
	ksft_test_result(used > 0, "SCHED_IDLE among hogs runs (%llu us in 3 s)\n",
			 (unsigned long long)used / 1000);
	timed_result(used * 100 <= wall * 5, "for no more than 5%% of a CPU\n");
}

/*
 * A pipe's mutex: an idle task that holds it half-way through a long write
 * keeps the readers' and writers' out until it gets the CPU. Whoever starves it
 * for good starves them too.
 */
static int pipe_ends[2];

static void idle_writer(void *arg)
{
	static char block[65536];
	struct counter *me = arg;

	set_policy(0, SCHED_IDLE, 0);
	for (;;) {
		if (write(pipe_ends[1], block, sizeof(block)) < 0)
			_exit(1);
		me->count++;
	}
}

static void normal_reader(void *arg)
{
	static char block[65536];
	struct counter *me = arg;

	be_normal();
	for (;;) {
		if (read(pipe_ends[0], block, sizeof(block)) < 0)
			_exit(1);
		me->count++;
	}
}

static void idle_holds_a_lock(int cpus)
{
	struct counter *counters = shared((cpus + 2) * sizeof(*counters));
	pid_t pids[MAX_CPUS], writer, reader;
	uint64_t before, count;
	int seconds = 0, i;

	if (pipe(pipe_ends))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	for (i = 0; i < cpus; i++)
		pids[i] = spawn(normal_hog, &counters[i]);
	writer = spawn(idle_writer, &counters[cpus]);
	reader = spawn(normal_reader, &counters[cpus + 1]);
	sleep_ns(500 * MSEC);
	before = counters[cpus + 1].count;
	/*
	 * A turn of 3 ms each second or two. A block takes less than 1 ms, but 2 of an emulator that
	 * meets this code for the first time, if its host has nothing else to do. If it has, there may
	 * be no turn in 5 s that is long enough.
	 */
	do {
		sleep_ns(5 * SEC);
		seconds += 5;
		count = counters[cpus + 1].count - before;
	} while (!count && host_stops_cpus() && seconds < 60);
	for (i = 0; i < cpus; i++)
		finish(pids[i]);
	finish(writer);
	finish(reader);
	ksft_test_result(count > 0, "a reader behind a SCHED_IDLE writer gets on (%llu blocks in %d s)\n",
			 (unsigned long long)count, seconds);
}

/*
 * Priority inheritance: a real-time task waits for a PI futex whose owner is
 * a nice 19 task beside hogs. The owner is boosted: once it sees that, the hogs
 * do not run until it gives the futex up. Before that they may, for as long as the
 * host stops the CPU of the one that waits, or theirs.
 */
#define PI_HOGS		4

struct pi {
	volatile uint32_t futex;
	volatile uint32_t owned;
	pid_t hogs[PI_HOGS];
	bool boosted;
	uint64_t hogs_ran;	/* from then on until the owner gives the futex up, ns */
};

static uint64_t cpu_time_of_hogs(const struct pi *pi)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < PI_HOGS; i++)
		sum += cpu_time_of(pi->hogs[i]);

	return sum;
}

/* Field 18 is below 0 for a real-time priority, lent or not */
static bool has_rt_priority(void)
{
	long long priority;

	if (!stat_field(getpid(), 18, &priority))
		ksft_exit_fail_msg("no priority in stat\n");
	return priority < 0;
}

static void pi_owner(void *arg)
{
	struct pi *pi = arg;
	uint64_t end, before;

	be_normal();
	setpriority(PRIO_PROCESS, 0, 19);
	pin(0, 0);
	pi->futex = syscall(SYS_gettid);
	pi->owned = 1;
	for (end = now_ns() + 10 * SEC; !pi->boosted && now_ns() < end;)
		pi->boosted = has_rt_priority();
	before = cpu_time_of_hogs(pi);
	/* 20 ms of work: at its share beside the hogs that would take a second */
	for (end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 20 * MSEC;
	     clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end;)
		;
	pi->hogs_ran = cpu_time_of_hogs(pi) - before;
	if (!__sync_bool_compare_and_swap(&pi->futex, syscall(SYS_gettid), 0))
		syscall(SYS_futex, &pi->futex, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
	pause();
}

static void inheritance(void)
{
	struct pi *pi = shared(sizeof(*pi));
	pid_t owner;
	long ret;
	int i;

	for (i = 0; i < PI_HOGS; i++)
		pi->hogs[i] = spawn(normal_hog_on_cpu_0, NULL);
	owner = spawn(pi_owner, pi);
	for (i = 0; i < 20000 && !pi->owned; i++)
		sleep_ns(MSEC);
	ret = syscall(SYS_futex, &pi->futex, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
	for (i = 0; i < PI_HOGS; i++)
		finish(pi->hogs[i]);
	finish(owner);
	/* a real-time task that the host stops for a second is throttled */
	timed_result(!ret && pi->boosted && pi->hogs_ran < MSEC,
		     "the owner of a PI futex is boosted (the hogs ran for %llu us)\n",
		     (unsigned long long)pi->hogs_ran / 1000);
}

/*
 * A real-time task that becomes normal leaves the CPU to a real-time task that
 * has waited for it, even if that is of lower priority than it was itself. It
 * takes a millisecond, or until the spinning task gives up after two seconds.
 */
struct demotion {
	volatile uint64_t ran;		/* by the waiting one */
	volatile uint64_t delay;	/* until then, ns */
};

static void waiting_fifo(void *arg)
{
	struct demotion *demotion = arg;

	demotion->ran = 1;
	pause();
}

static void demoted(void *arg)
{
	struct demotion *demotion = arg;
	uint64_t start;
	pid_t other;

	pin(0, 0);
	set_policy(0, SCHED_FIFO, 40);
	other = fork();
	if (!other) {
		set_policy(0, SCHED_FIFO, 10);
		waiting_fifo(arg);
	}
	/* until it is queued behind this task */
	sleep_ns(0);
	start = now_ns();
	set_policy(other, SCHED_FIFO, 10);
	be_normal();
	while (!demotion->ran && now_ns() - start < 2 * SEC)
		;
	demotion->delay = now_ns() - start;
	finish(other);
}

static void gives_way_to_real_time(void)
{
	struct demotion *demotion = shared(sizeof(*demotion));
	pid_t pid = spawn(demoted, demotion);

	waitpid(pid, NULL, 0);
	timed_result(demotion->ran && demotion->delay < SEC,
		     "a task demoted to normal gives way to a waiting FIFO task (%llu us)\n",
		     (unsigned long long)demotion->delay / 1000);
}

static void slice_is_told(void)
{
	struct timespec ts = {};
	int ret;

	be_normal();
	ret = sched_rr_get_interval(0, &ts);
	if (!under_vrq()) {
		ksft_test_result_skip("sched_rr_get_interval() tells VRQ's slice\n");
		return;
	}
	/* in whole ticks */
	ksft_test_result(!ret && !ts.tv_sec && ts.tv_nsec >= (long)RR_NS &&
			 ts.tv_nsec <= 10000000,
			 "sched_rr_get_interval() tells %d ms (%ld ns)\n",
			 RR_MS, ts.tv_nsec);
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	ksft_set_plan(7);
	be_supervisor();
	storm(cpus);
	idle_among_hogs(cpus);
	idle_holds_a_lock(cpus);
	inheritance();
	gives_way_to_real_time();
	slice_is_told();
	ksft_finished();
}
