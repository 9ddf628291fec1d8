// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who sleeps by itself may have more than an equal share, up to a bound; and nobody
 * gains by looking like one that does.
 *
 * Each test runs beside three hogs a CPU. A share is what one of these would get if
 * all were equal.
 */
#include <sys/prctl.h>

#include "guest.h"

#define HOGS_A_CPU	3
#define WATCH_NS	(2 * SEC)
#define FRAME_NS	16666667ULL
#define MOMENT_NS	(2 * MSEC)
#define INTERACTIVE	"/proc/sys/kernel/interactive"
#define IDLE_CROWD	100
/* Who has less than this part of a share has not done what is tested */
#define LEAST		0.25
/* As what this program is executed again, see become_another() */
#define ANOTHER		"another"

static int cpus;
static pid_t hogs[HOGS_A_CPU * MAX_CPUS];

static void start_hogs(void)
{
	int i;

	for (i = 0; i < HOGS_A_CPU * cpus; i++)
		hogs[i] = spawn(normal_hog, NULL);
	sleep_ns(500 * MSEC);
}

static void end_hogs(void)
{
	finish_all(hogs, HOGS_A_CPU * cpus);
}

/* CPU time of all children of a process that have been waited for, and its own, ns */
static uint64_t family_time_of(pid_t pid)
{
	long long ticks = 0, more;
	int field;

	/* utime, stime, cutime, cstime */
	for (field = 14; field <= 17; field++)
		if (stat_field(pid, field, &more))
			ticks += more;
	return ticks * (SEC / sysconf(_SC_CLK_TCK));
}

/* What @n processes, each running @work, get in WATCH_NS, in percent of as many shares */
static unsigned int percent_of_shares(void (*work)(void *), void *arg, int n)
{
	uint64_t used = 0, shares = WATCH_NS * cpus / (HOGS_A_CPU * cpus + n) * n;
	pid_t pids[MAX_CPUS];
	int i;

	for (i = 0; i < n; i++)
		pids[i] = spawn(work, arg);
	sleep_ns(500 * MSEC);
	for (i = 0; i < n; i++)
		used -= family_time_of(pids[i]);
	sleep_ns(WATCH_NS);
	for (i = 0; i < n; i++)
		used += family_time_of(pids[i]);
	finish_all(pids, n);
	return used * 100 / shares;
}

/* A video: half of a CPU's time, in frames. One that is late drops those that are due */
static void play(void *unused)
{
	uint64_t due, now;

	(void)unused;
	be_normal();
	for (due = now_ns() + 100 * MSEC; ; due += FRAME_NS) {
		now = now_ns();
		if (due > now)
			sleep_ns(due - now);
		else
			due += (now - due) / FRAME_NS * FRAME_NS;
		use_ns(FRAME_NS / 2);
	}
}

/*
 * What it waits makes its sleep shorter, by which it is told from a hog: is it still, after
 * some seconds? The least that several get, one after the other, in percent of a share.
 */
static unsigned int least_of_long_videos(void)
{
	unsigned int least = ~0, got;
	uint64_t used;
	pid_t pid;
	int i;

	for (i = 0; i < 10; i++) {
		pid = spawn(play, NULL);
		sleep_ns(5 * SEC / 2);
		used = cpu_time_within(pid, SEC / 2);
		finish(pid);
		got = used * (HOGS_A_CPU * cpus + 1) * 100 / (SEC / 2 * cpus);
		least = got < least ? got : least;
	}
	return least;
}

static void nap_before_ticks(void *unused)
{
	(void)unused;
	be_normal();
	for (;;) {
		use_ns(MSEC);
		sleep_ns(50000);
	}
}

/* A value of /proc/PID/sched in ms */
static double of_task(pid_t pid, const char *key)
{
	char path[64], line[128];
	double value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/sched", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) && strchr(line, ':'))
			value = atof(strchr(line, ':') + 1);
	if (file)
		fclose(file);
	return value;
}

/* By how much more a task counts that needs this part of a CPU, see weight.c */
static double favour_of(double demand)
{
	return demand >= 7 / 8.0 ? 1 : demand <= 5 / 8.0 ? 4 : 1 + 1.5 * (7 - 8 * demand);
}

/*
 * It gets no more than it counts for. In virtual time the timer of a CPU may be late by
 * more than such a nap, each time: then it sleeps for longer, and may count for more.
 */
static void a_hog_that_naps(void)
{
	double used, slept, demand, share = WATCH_NS / 1e6 * cpus / (HOGS_A_CPU * cpus + 1);
	pid_t pid = spawn(nap_before_ticks, NULL);

	must_put("/proc/sys/kernel/sched_schedstats", "1");
	sleep_ns(500 * MSEC);
	used = of_task(pid, "se.sum_exec_runtime");
	slept = of_task(pid, "sum_sleep_runtime");
	sleep_ns(WATCH_NS);
	used = of_task(pid, "se.sum_exec_runtime") - used;
	slept = of_task(pid, "sum_sleep_runtime") - slept;
	finish(pid);
	must_put("/proc/sys/kernel/sched_schedstats", "0");
	demand = slept > 0 ? used / (used + slept) : 0;
	timed_result(slept > 0 && used > LEAST * share && used < 1.1 * favour_of(demand) * share,
		     "a hog that naps, and needs %.1f%% of a CPU, gets %.0f%% of a share\n",
		     100 * demand, 100 * used / share);
}

static int begin[2];

static void hog_once_told(void *unused)
{
	char c;

	be_normal();
	if (read(begin[0], &c, 1) == 1)
		hog(unused);
}

/* To sleep until a real-time task ends it is not to sleep for a time or a user */
static void woken_by_real_time(void)
{
	uint64_t watch_ns = SEC / 2, share = watch_ns * cpus / (HOGS_A_CPU * cpus + 1), used;
	pid_t pid;

	if (pipe(begin))
		ksft_exit_fail_perror("pipe");
	pid = spawn(hog_once_told, NULL);
	sleep_ns(300 * MSEC);
	if (write(begin[1], "", 1) != 1)
		ksft_exit_fail_perror("write");
	sleep_ns(watch_ns);
	used = cpu_time_of(pid);
	finish(pid);
	timed_result(used > LEAST * share && used * 100 / share < 130,
		     "a hog that a real-time task wakes gets %llu%% of a share\n",
		     (unsigned long long)(used * 100 / share));
}

/* A hog that is another program, of another name, on another CPU, every 20 ms */
static void become_another(void *unused)
{
	static char * const again[] = { "favour", ANOTHER, NULL };
	char name[16];

	(void)unused;
	be_normal();
	use_ns(10 * MSEC);
	snprintf(name, sizeof(name), "hog%d", rand() % 1000);
	prctl(PR_SET_NAME, name);
	pin(0, rand() % online_cpus());
	use_ns(10 * MSEC);
	execv("/proc/self/exe", again);
	_exit(1);
}

/* Looks like a sleeper, then lets children work */
static void fork_for_moments(void *unused)
{
	(void)unused;
	be_normal();
	sleep_ns(300 * MSEC);
	let_children_work(MOMENT_NS);
}

/* How many pairs are looked at, one after the other */
#define PAIRS	4

static int turn[2][2];
static uint64_t turn_ns;
static bool turns_are_pinned;

/* Two of these do the work of one hog */
static void take_turns(void *number)
{
	int me = *(int *)number;
	char byte;

	be_normal();
	if (turns_are_pinned)
		pin(0, me ? cpus - 1 : 0);
	for (;;) {
		if (read(turn[me][0], &byte, 1) != 1)
			_exit(1);
		use_ns(turn_ns);
		if (write(turn[!me][1], &byte, 1) != 1)
			_exit(1);
	}
}

static void hand_on(void *unused)
{
	static int me, other = 1;

	(void)unused;
	be_normal();
	if (pipe(turn[0]) || pipe(turn[1]) || write(turn[0][1], "", 1) != 1)
		_exit(1);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		take_turns(&other);
	}
	take_turns(&me);
}

/*
 * Each has what it works for in half of the time only. How much a pair gets depends on how
 * its turns and those of the hogs fall: most have 94 to 106% of a share, one in five 122 to
 * 126%. So it is the mean of some pairs that counts.
 */
static void hand_on_work(uint64_t ns, bool pinned)
{
	unsigned int got = 0, i;

	turn_ns = ns;
	turns_are_pinned = pinned;
	/* only one of the two is counted */
	for (i = 0; i < PAIRS; i++)
		got += 2 * percent_of_shares(hand_on, NULL, 1) / PAIRS;
	timed_result(got > 100 * LEAST && got < 120,
		     "two %sthat hand on %llu ms of work get %u%% of a share\n",
		     pinned ? "on the first and the last CPU " : "",
		     (unsigned long long)(ns / MSEC), got);
}

static void videos_and_hogs(void)
{
	int i, n = 4 * cpus;
	uint64_t used, part, played;
	pid_t pids[4 * MAX_CPUS];

	for (i = 0; i < n; i++)
		pids[i] = spawn(play, NULL);
	sleep_ns(500 * MSEC);
	used = time_of_all(hogs, HOGS_A_CPU * cpus);
	played = time_of_all(pids, n);
	sleep_ns(WATCH_NS);
	used = time_of_all(hogs, HOGS_A_CPU * cpus) - used;
	played = time_of_all(pids, n) - played;
	finish_all(pids, n);
	/* a quarter of what they would have if all were equal */
	part = WATCH_NS * cpus * HOGS_A_CPU / (HOGS_A_CPU + 4) / 4;
	timed_result(used > part - part / 10 && played > part,
		     "%d videos leave %d hogs %llu of %llu ms, and have %llu\n", n,
		     HOGS_A_CPU * cpus, (unsigned long long)(used / MSEC),
		     (unsigned long long)(part / MSEC), (unsigned long long)(played / MSEC));
}

/* Long after the time at which SCHED_IDLE tasks may have a turn among others */
static void idle_crowd(void)
{
	uint64_t used, all = WATCH_NS * cpus;
	pid_t pids[IDLE_CROWD];
	int i;

	for (i = 0; i < IDLE_CROWD; i++)
		pids[i] = spawn(idle_hog, NULL);
	sleep_ns(2 * SEC);
	used = time_of_all(pids, IDLE_CROWD);
	sleep_ns(WATCH_NS);
	used = time_of_all(pids, IDLE_CROWD) - used;
	finish_all(pids, IDLE_CROWD);
	/* a slice of 3 ms in 20, which ends at a tick: the third one or, by a hair, the fourth */
	timed_result(used * 1000 <= 68 * all && used * 1000 >= 20 * all,
		     "%d SCHED_IDLE hogs beside others have 2 to 6.8%% together (%llu permille)\n",
		     IDLE_CROWD, (unsigned long long)(used * 1000 / all));
}

struct waits {
	uint64_t slept_at, shortest;
};

/*
 * 20 ms of work, as a normal task so that it takes no long, and sleep as a SCHED_IDLE
 * one: how long until it runs again?
 */
static void sleep_as_idle(void *arg)
{
	struct waits *waits = arg;
	uint64_t wait;

	for (;;) {
		be_normal();
		use_ns(20 * MSEC);
		set_policy(0, SCHED_IDLE, 0);
		waits->slept_at = now_ns();
		sleep_ns(3 * SEC / 2);
		wait = now_ns() - waits->slept_at - 3 * SEC / 2;
		if (wait < waits->shortest)
			waits->shortest = wait;
	}
}

/* What it sleeps does not count as waiting */
static void idle_sleeper(void)
{
	struct waits *waits = shared(sizeof(*waits));
	pid_t pid;

	waits->shortest = SEC * 1000;
	pid = spawn(sleep_as_idle, waits);
	sleep_ns(8 * SEC);
	finish(pid);
	timed_result(waits->shortest > SEC / 2 && waits->shortest < 8 * SEC,
		     "a SCHED_IDLE task that slept waits as long as one that did not (%llu ms)\n",
		     (unsigned long long)(waits->shortest / MSEC));
}

int main(int argc, char **argv)
{
	unsigned int got;

	if (argc > 1 && !strcmp(argv[1], ANOTHER)) {
		srand(now_ns());
		become_another(NULL);
	}

	cpus = online_cpus();
	ksft_print_header();
	if (!under_vrq())
		ksft_exit_skip("fair has no favours\n");
	ksft_set_plan(15);
	be_supervisor();
	start_hogs();

	/* 48% of a CPU is 1.9 shares beside 3 hogs a CPU */
	got = percent_of_shares(play, NULL, 1);
	timed_result(got > 140, "a video gets what it needs, %u%% of a share\n", got);
	got = least_of_long_videos();
	timed_result(got > 140, "and after 3 s, the least of ten %u%%\n", got);
	a_hog_that_naps();
	got = percent_of_shares(fork_for_moments, NULL, 1);
	timed_result(got > 100 * LEAST && got < 120,
		     "one that forks children gets %u%% of a share\n", got);
	/* The others go where there is room, so its CPU has a share for it */
	got = percent_of_shares(normal_hog_on_cpu_0, NULL, 1);
	timed_result(got > 90 && got < 110,
		     "one that is bound to a CPU gets %u%% of a share\n", got);
	got = percent_of_shares(become_another, NULL, 1);
	timed_result(got > 70 && got < 110,
		     "one that becomes another task gets %u%% of a share\n", got);
	woken_by_real_time();
	/* the time of most forks, and more than one of these slices */
	set_rr_interval(1);
	got = percent_of_shares(fork_for_moments, NULL, 1);
	timed_result(got > 100 * LEAST && got < 120, "with short slices, %u%% of a share\n", got);
	set_rr_interval(RR_MS);
	hand_on_work(MOMENT_NS, false);
	hand_on_work(5 * MSEC, false);
	/* Where these have caches of their own, a wake-up is left to an interrupt of the other */
	hand_on_work(5 * MSEC, true);
	videos_and_hogs();
	must_put(INTERACTIVE, "0");
	got = percent_of_shares(play, NULL, 1);
	must_put(INTERACTIVE, "1");
	timed_result(got > 100 * LEAST && got < 115,
		     "with interactive at 0 a video gets %u%% of a share\n", got);

	idle_crowd();
	idle_sleeper();

	end_hogs();
	ksft_finished();
}
