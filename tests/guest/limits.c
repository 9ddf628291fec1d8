// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of CPU bandwidth: cpu.max, nested limits, bursts, what cpu.stat tells of them; and
 * whatever may befall a task that its group's limit has stopped finds it and leaves it as
 * it should be.
 *
 * A task is stopped if it is in state R and its CPU clock stands still, though nothing else
 * runs on its CPU.
 */
#include <pthread.h>
#include <sys/ptrace.h>

#include "cgroup.h"
#include "gaps.h"
#include "naps.h"

#define MAX_HOGS	256
/* For shares */
#define PERIOD_NS	(100 * MSEC)
#define PERIODS		10
/* For what befalls a stopped task: most of it is over long before the next refill */
#define LONG_QUOTA_MS	20
#define LONG_PERIOD_MS	200
#define LONG_QUOTA_NS	(LONG_QUOTA_MS * MSEC)
#define LONG_PERIOD_NS	(LONG_PERIOD_MS * MSEC)
/* As what this program is executed again, see exec_again() */
#define AGAIN		"again"
#define CHAIN		20
#define CHAIN_WORK_NS	(5 * MSEC)
#define CHAIN_STATUS	7

static int cpus;
static uint64_t tick_ns;

static bool set_limit(const char *group, int quota_ms, int period_ms)
{
	char text[32];
	bool done;

	snprintf(text, sizeof(text), "%d %d", quota_ms * 1000, period_ms * 1000);
	done = group_put(group, "cpu.max", text);
	if (!done)
		ksft_print_msg("cpu.max of %s to '%s': %s\n", group, text, strerror(errno));
	return done;
}

static bool no_limit(const char *group)
{
	return group_put(group, "cpu.max", "max");
}

/* What processes use in ten periods of a group, from the beginning of one */
static uint64_t use_in_periods(const char *group, const pid_t *pids, int n)
{
	uint64_t used, start;

	await_period(group);
	start = now_ns();
	used = time_of_all(pids, n);
	sleep_until(start + PERIODS * PERIOD_NS);
	return time_of_all(pids, n) - used;
}

static void spawn_hogs(const char *group, pid_t *pids, int n)
{
	int i;

	for (i = 0; i < n; i++)
		pids[i] = spawn_in(group, hog, NULL);
}

/* Is that as it should be? Fair leaves slices of 5 ms on CPUs and takes more elsewhere */
static bool near(uint64_t used, uint64_t expected)
{
	uint64_t slack = expected * (under_vrq() ? 2 : 10) / 100 + cpus * tick_ns;

	return used && used + slack >= expected && used <= expected + slack;
}

static void limited(int n, int quota_ms, const pid_t *pids)
{
	uint64_t used, expected = quota_ms * MSEC * PERIODS, most;
	bool set = set_limit("limit", quota_ms, 100);

	most = PERIODS * PERIOD_NS * (n < cpus ? n : cpus);
	if (expected > most)
		expected = most;
	sleep_ns(250 * MSEC);
	used = use_in_periods("limit", pids, n);
	timed_result(set && near(used, expected),
		     "%d ms of 100, hogs: %d: %llu of %llu ms in %d periods\n", quota_ms, n,
		     (unsigned long long)(used / MSEC), (unsigned long long)(expected / MSEC),
		     PERIODS);
}

static void limits(int n)
{
	static const int quotas_ms[] = { 20, 50, 150, 350 };
	pid_t pids[MAX_HOGS];
	unsigned int i;

	make_group("limit");
	spawn_hogs("limit", pids, n);
	start_all(pids, n);
	for (i = 0; i < sizeof(quotas_ms) / sizeof(quotas_ms[0]); i++)
		limited(n, quotas_ms[i], pids);
	finish_all(pids, n);
	drop_group("limit");
}

/* Two groups in one: what they are given together, and one of them alone */
static void nested(void)
{
	uint64_t used, one;
	pid_t pids[2 * MAX_CPUS];
	bool set;

	make_group("limit");
	make_group("limit/a");
	make_group("limit/b");
	spawn_hogs("limit/a", pids, cpus);
	spawn_hogs("limit/b", pids + cpus, cpus);
	set = set_limit("limit", 50, 100) && set_limit("limit/a", 40, 100) &&
	      set_limit("limit/b", 40, 100);
	start_all(pids, 2 * cpus);
	sleep_ns(300 * MSEC);
	used = use_in_periods("limit", pids, 2 * cpus);
	timed_result(set && near(used, 500 * MSEC),
		     "of two groups of 40 ms in one of 50, both use %llu of 500 ms\n",
		     (unsigned long long)(used / MSEC));

	set = set_limit("limit/a", 10, 100) && no_limit("limit/b");
	sleep_ns(300 * MSEC);
	one = time_of_all(pids, cpus);
	used = use_in_periods("limit", pids, 2 * cpus);
	/* the time until the period began was the first one's too: 11 periods at most */
	one = time_of_all(pids, cpus) - one;
	timed_result(set && near(used, 500 * MSEC) && one >= 50 * MSEC &&
		     one <= 115 * MSEC + cpus * tick_ns,
		     "if one has 10 ms, it uses %llu ms, and both %llu\n",
		     (unsigned long long)(one / MSEC), (unsigned long long)(used / MSEC));
	finish_all(pids, 2 * cpus);
	drop_group("limit/a");
	drop_group("limit/b");
	drop_group("limit");
}

struct spurts {
	volatile uint64_t longest, count;
};

/*
 * Less than its limit in the mean, more in a period. How long does that take? It begins
 * now earlier, now later in a period.
 */
static void work_in_spurts(void *arg)
{
	struct spurts *spurts = arg;
	uint64_t start, took;

	for (;;) {
		sleep_ns(237 * MSEC);
		start = now_ns();
		use_ns(30 * MSEC);
		took = now_ns() - start;
		spurts->count++;
		if (took > spurts->longest)
			spurts->longest = took;
	}
}

/* The longest of some spurts, in ms */
static unsigned int longest_spurt(struct spurts *spurts)
{
	spurts->longest = 0;
	sleep_ns(2500 * MSEC);
	return spurts->longest / MSEC;
}

static void burst(void)
{
	struct spurts *spurts = shared(sizeof(*spurts));
	unsigned int without, with;
	long long bursts, usec;
	bool set;
	pid_t pid;

	make_group("limit");
	pid = spawn_in("limit", work_in_spurts, spurts);
	set = set_limit("limit", 20, 100);
	start_all(&pid, 1);
	without = longest_spurt(spurts);
	bursts = group_number("limit", "cpu.stat", "nr_bursts");
	timed_result(set && without >= 50 && !bursts,
		     "30 ms of work with 20 ms of 100, and no burst, take %u ms\n", without);
	set = set && group_put("limit", "cpu.max.burst", "20000");
	sleep_ns(700 * MSEC);
	with = longest_spurt(spurts);
	finish(pid);
	bursts = group_number("limit", "cpu.stat", "nr_bursts");
	usec = group_number("limit", "cpu.stat", "burst_usec");
	timed_result(set && with >= 25 && with < 45, "with a burst of 20 ms they take %u ms\n",
		     with);
	timed_result(set && bursts >= 4 && usec >= bursts * 4000 && usec <= bursts * 20000,
		     "nr_bursts is %lld, burst_usec %lld\n", bursts, usec);
	drop_group("limit");
}

struct throttling {
	long long periods, throttled, usec, local_usec;
};

static struct throttling stat_of(const char *group)
{
	struct throttling stat = {
		.periods = group_number(group, "cpu.stat", "nr_periods"),
		.throttled = group_number(group, "cpu.stat", "nr_throttled"),
		.usec = group_number(group, "cpu.stat", "throttled_usec"),
		.local_usec = group_number(group, "cpu.stat.local", "throttled_usec"),
	};

	return stat;
}

static void stat_of_a_hog(void)
{
	struct throttling before, after;
	long long waited;
	bool set, good;
	pid_t pid;

	make_group("limit");
	set = set_limit("limit", 20, 100);
	pid = spawn_in("limit", hog, NULL);
	/* cpu.pressure is a mean of the CPUs that were used: with two of them half as much */
	pin(pid, 0);
	start_all(&pid, 1);
	sleep_ns(300 * MSEC);
	await_period("limit");
	before = stat_of("limit");
	waited = group_number("limit", "cpu.pressure", "total");
	sleep_ns(PERIODS * PERIOD_NS);
	waited = group_number("limit", "cpu.pressure", "total") - waited;
	after = stat_of("limit");
	finish(pid);
	after.periods -= before.periods;
	after.throttled -= before.throttled;
	after.usec -= before.usec;
	after.local_usec -= before.local_usec;
	good = after.periods >= 9 && after.periods <= 11 && after.throttled >= 9 &&
	       after.throttled <= after.periods && after.usec >= 690000 && after.usec <= 890000;
	timed_result(set && good, "nr_periods %lld, nr_throttled %lld, throttled_usec %lld\n",
		     after.periods, after.throttled, after.usec);
	timed_result(set && after.local_usec >= 690000 && after.local_usec <= 890000,
		     "cpu.stat.local: throttled_usec %lld\n", after.local_usec);
	if (group_has("limit", "cpu.pressure"))
		timed_result(set && waited >= 690000 && waited <= 890000,
			     "cpu.pressure: %lld ms of a second\n", waited / 1000);
	else
		ksft_test_result_skip("no cpu.pressure\n");
	drop_group("limit");
}

static void nap(void *unused)
{
	(void)unused;
	for (;;) {
		use_ns(MSEC);
		sleep_ns(5 * MSEC);
	}
}

/* One that has no limit, and one that does not reach it */
static void stat_of_others(void)
{
	struct throttling none, some;
	long long usage;
	pid_t pids[2];
	bool set;

	make_group("none");
	make_group("limit");
	set = set_limit("limit", 90, 100);
	pids[0] = spawn_in("none", hog, NULL);
	pids[1] = spawn_in("limit", nap, NULL);
	start_all(pids, 2);
	sleep_ns(SEC);
	none = stat_of("none");
	some = stat_of("limit");
	usage = group_number("none", "cpu.stat", "usage_usec");
	finish_all(pids, 2);
	ksft_test_result((usage > 10000 || host_stops_cpus()) && !none.periods &&
			 !none.throttled && !none.usec,
			 "a group without a limit has no periods\n");
	timed_result(set && some.periods >= 8 && !some.throttled && !some.usec,
		     "one that does not reach its limit has %lld, throttled in %lld\n",
		     some.periods, some.throttled);
	drop_group("none");
	drop_group("limit");
}

#define PAIRS	20

static int pipes[2 * PAIRS][2];

/* Each of two writes to the other one, and waits for its answer */
static void exchange(void *arg)
{
	long i = (long)arg, in = i, out = i ^ 1;
	char c = 0;

	for (;;) {
		if (i % 2 == 0 && write(pipes[out][1], &c, 1) != 1)
			_exit(1);
		if (read(pipes[in][0], &c, 1) != 1)
			_exit(1);
		if (i % 2 && write(pipes[out][1], &c, 1) != 1)
			_exit(1);
	}
}

/* Many switches and wake-ups, and twice as much as all CPUs are worth */
static void pairs_below_their_limit(void)
{
	pid_t pids[2 * PAIRS];
	struct throttling stat;
	long long usage;
	char limit[32];
	bool set;
	long i;

	make_group("limit");
	snprintf(limit, sizeof(limit), "%d 100000", 2 * cpus * 100000);
	set = group_put("limit", "cpu.max", limit);
	for (i = 0; i < 2 * PAIRS; i++) {
		if (pipe(pipes[i]))
			ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	}
	for (i = 0; i < 2 * PAIRS; i++)
		pids[i] = spawn_in("limit", exchange, (void *)i);
	start_all(pids, 2 * PAIRS);
	sleep_ns(SEC);
	stat = stat_of("limit");
	usage = group_number("limit", "cpu.stat", "usage_usec");
	finish_all(pids, 2 * PAIRS);
	ksft_test_result(set && stat.periods > 0 && (usage > 10000 || host_stops_cpus()) &&
			 !stat.throttled && !stat.usec,
			 "%d that write to each other, for %lld ms, are not throttled below their limit (%lld)\n",
			 2 * PAIRS, usage / 1000, stat.throttled);
	drop_group("limit");
}

/* Of LONG_PERIOD_MS */
#define TOUR_QUOTA_MS	80

/* Use the CPU until the limit stops the task: what it has used by then, in all */
static uint64_t use_until_stopped(void)
{
	uint64_t now = now_ns(), last, used;

	do {
		last = now;
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		now = now_ns();
	} while (now - last < LONG_PERIOD_NS / 4);
	return used;
}

/* In one period a moment on each CPU, and then on the first one what the limit allows */
static void tour(void *arg)
{
	volatile uint64_t *used = arg;
	uint64_t before;
	int cpu;

	pin(0, 0);
	before = use_until_stopped();
	for (cpu = cpus - 1; cpu >= 0; cpu--) {
		pin(0, cpu);
		use_ns(MSEC / 10);
	}
	*used = use_until_stopped() - before;
	for (;;)
		pause();
}

/* What CPUs have drawn and do not use is a quarter of the quota at the most */
static void left_on_other_cpus(void)
{
	uint64_t *used = shared(sizeof(*used));
	pid_t pid;

	make_group("limit");
	set_limit("limit", TOUR_QUOTA_MS, LONG_PERIOD_MS);
	pid = spawn_in("limit", tour, used);
	start_all(&pid, 1);
	sleep_ns(5 * LONG_PERIOD_NS);
	finish_all(&pid, 1);
	timed_result(*used + 2 * tick_ns >= TOUR_QUOTA_MS * MSEC * 3 / 4 &&
		     *used <= TOUR_QUOTA_MS * MSEC + 2 * tick_ns,
		     "who was on all CPUs for a moment uses %.1f ms of %d\n",
		     (double)*used / MSEC, TOUR_QUOTA_MS);
	drop_group("limit");
}

/* Who is alone runs as soon as there is quota again */
static void wait_after_refill(void)
{
	struct gap *gap = shared(sizeof(*gap));
	uint64_t most = 80 * MSEC + 2 * tick_ns;
	bool set;
	pid_t pid;

	/* there it pays back what it overdrew */
	if (!under_vrq())
		most += 5 * MSEC;
	make_group("limit");
	set = set_limit("limit", 20, 100);
	pid = spawn_in("limit", watch_gaps, gap);
	start_all(&pid, 1);
	sleep_ns(300 * MSEC);
	gap->longest = 0;
	sleep_ns(PERIODS * PERIOD_NS);
	timed_result(set && gap->longest >= 70 * MSEC && gap->longest <= most,
		     "a hog with 20 ms of 100 waits %llu us at most\n",
		     (unsigned long long)(gap->longest / 1000));
	finish(pid);
	drop_group("limit");
}

#define CROWD_A_CPU	10

/*
 * When the limit of a group with many tasks is refilled, all of them have been stopped for a
 * while. They do not make up for that: who is outside is served as soon as beside a group
 * without a limit. In several domains, a nap may now and then be late all the same.
 */
static void beside_a_crowd(void)
{
	struct nappers nappers;
	int n = CROWD_A_CPU * cpus;
	pid_t hogs[MAX_HOGS];
	struct naps naps;
	uint64_t used;
	bool set;

	if (n > MAX_HOGS)
		n = MAX_HOGS;
	make_group("limit");
	set = set_limit("limit", 50 * cpus, 100);
	spawn_hogs("limit", hogs, n);
	start_all(hogs, n);
	nappers = start_nappers();
	sleep_ns(SEC);
	used = time_of_all(hogs, n);
	forget_naps(&nappers);
	sleep_ns(2 * SEC);
	naps = all_naps(&nappers);
	used = time_of_all(hogs, n) - used;
	timed_result(set && naps.n && naps.late * 100 <= naps.n && near(used, cpus * SEC),
		     "beside %d hogs with half of the CPUs, %u of %u naps end late, by %llu us at most\n",
		     n, naps.late, naps.n, (unsigned long long)(naps.latest / 1000));
	end_nappers(&nappers);
	finish_all(hogs, n);
	drop_group("limit");
}

#define CALL_BYTES	(1 << 20)
#define CALL_NS		(100 * MSEC)

/* Read so many random bytes, in one call: what that took, ns */
static uint64_t time_of_call(char *bytes, size_t size)
{
	int fd = open("/dev/urandom", O_RDONLY);
	uint64_t ns = now_ns();

	if (fd < 0 || read(fd, bytes, size) != (ssize_t)size)
		ksft_exit_fail_msg("/dev/urandom: %s\n", strerror(errno));
	close(fd);
	return now_ns() - ns;
}

struct calls {
	char *bytes;
	size_t size;
	uint64_t used;	/* by who made a debt, see hog_in_debt(), ns */
};

/* It is not stopped within a call */
static void stay_in_the_kernel(void *arg)
{
	struct calls *me = arg;

	for (;;)
		time_of_call(me->bytes, me->size);
}

/* The group "calls" gets 2 ms in each period, and a debt of a call */
static void make_debt(struct calls *calls, int period_ms)
{
	pid_t caller;

	caller = spawn_in("calls", stay_in_the_kernel, calls);
	start_all(&caller, 1);
	/* others may use up the limit before it is in its call */
	sleep_ns(CALL_NS / 10);
	set_limit("calls", 2, period_ms);
	sleep_ns(2 * CALL_NS);
	calls->used = cpu_time_of(caller);
	/* so it does not wait for the limit when it returns */
	move_to("", caller);
	finish(caller);
}

/* Returns a hog in that group, not started yet */
static pid_t hog_in_debt(struct calls *calls, int period_ms)
{
	pid_t other;

	make_group("calls");
	other = spawn_in("calls", hog, NULL);
	make_debt(calls, period_ms);
	return other;
}

/* It is also paid while nobody of the group wants to run */
static void debt_is_paid(struct calls *calls)
{
	uint64_t used;
	pid_t other;

	calls->size *= 3;
	other = hog_in_debt(calls, 20);
	sleep_ns(30 * CALL_NS);
	start_all(&other, 1);
	used = cpu_time_within(other, 200 * MSEC);
	finish(other);
	drop_group("calls");
	/* fair stops who is in a call, and there is no debt */
	timed_result(used >= 10 * MSEC && (calls->used >= CALL_NS / 2 || !under_vrq()),
		     "three seconds after a call of %llu ms another task has %llu of 20 ms\n",
		     (unsigned long long)(calls->used / MSEC), (unsigned long long)(used / MSEC));
}

/* A debt that takes 10 s to be paid keeps nobody who is killed */
static void killed_in_debt(struct calls *calls)
{
	pid_t other = hog_in_debt(calls, 100);
	uint64_t ns, used;

	start_all(&other, 1);
	used = cpu_time_within(other, 3 * CALL_NS);
	ns = now_ns();
	finish(other);
	ns = now_ns() - ns;
	drop_group("calls");
	if (!under_vrq()) {
		ksft_test_result_skip("a task that is killed while its group is in debt: fair\n");
		return;
	}
	timed_result(used <= CALL_NS / 4 && ns <= 3 * CALL_NS,
		     "a task that is killed while its group is in debt ends after %llu ms\n",
		     (unsigned long long)(ns / MSEC));
}

/* How long until one is in that state; a second if it is not by then */
static uint64_t time_to_state(pid_t pid, char state)
{
	uint64_t start = now_ns();

	while (state_of(pid) != state && now_ns() - start < SEC)
		sleep_ns(MSEC);
	return now_ns() - start;
}

static uint64_t time_to_frozen(const char *group)
{
	uint64_t start = now_ns();

	while (group_number(group, "cgroup.events", "frozen") != 1 && now_ns() - start < SEC)
		sleep_ns(MSEC);
	return now_ns() - start;
}

/* Nor does it keep job control, the freezer or a debugger waiting */
static void awaited_in_debt(struct calls *calls)
{
	pid_t other = hog_in_debt(calls, 100);
	uint64_t stop, freeze, trap, used;

	start_all(&other, 1);
	used = cpu_time_within(other, CALL_NS);
	kill(other, SIGSTOP);
	stop = time_to_state(other, 'T');
	kill(other, SIGCONT);
	sleep_ns(CALL_NS / 4);
	group_put("calls", "cgroup.freeze", "1");
	freeze = time_to_frozen("calls");
	group_put("calls", "cgroup.freeze", "0");
	sleep_ns(CALL_NS / 4);
	ptrace(PTRACE_SEIZE, other, 0, 0);
	ptrace(PTRACE_INTERRUPT, other, 0, 0);
	trap = time_to_state(other, 't');
	used += cpu_time_within(other, CALL_NS);
	finish(other);
	drop_group("calls");
	timed_result((used <= CALL_NS / 4 || !under_vrq()) && stop <= 300 * MSEC &&
		     freeze <= 300 * MSEC && trap <= 300 * MSEC,
		     "a task whose group is in debt stops after %llu ms, freezes after %llu, is trapped after %llu\n",
		     (unsigned long long)(stop / MSEC), (unsigned long long)(freeze / MSEC),
		     (unsigned long long)(trap / MSEC));
}

static void *hog_of_many(void *arg)
{
	hog(arg);
	return NULL;
}

/*
 * A signal for the process that only its leader will take, which waits in the kernel: its child
 * by vfork() does not end
 */
static void leave_sigstop_to_the_leader(void *arg)
{
	pthread_t id;
	int i;

	for (i = 0; i < 8; i++)
		if (pthread_create(&id, NULL, hog_of_many, arg))
			_exit(1);
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		kill(getppid(), SIGSTOP);
		for (;;)
			pause();
	}
}

/* SIGSTOP that does not stop a thread does not let it go on either */
static void not_stopped_in_debt(struct calls *calls)
{
	uint64_t used;
	pid_t other;

	make_group("calls");
	other = spawn_in("calls", leave_sigstop_to_the_leader, NULL);
	start_all(&other, 1);
	sleep_ns(3 * CALL_NS);
	make_debt(calls, 100);
	sleep_ns(CALL_NS);
	used = cpu_time_within(other, SEC);
	finish(other);
	drop_group("calls");
	if (!under_vrq()) {
		ksft_test_result_skip("SIGSTOP while a group is in debt: fair\n");
		return;
	}
	timed_result(used <= 20 * MSEC,
		     "8 threads in debt, of whose process the leader has SIGSTOP to take, use %llu us in a second\n",
		     (unsigned long long)used / 1000);
}

/* What is used there is paid back, all of it */
static void long_calls(void)
{
	struct calls calls = { .bytes = shared(192 * CALL_BYTES), .size = CALL_BYTES };
	const uint64_t ns = 5 * SEC;
	uint64_t used;
	pid_t pid;

	time_of_call(calls.bytes, CALL_BYTES);
	calls.size *= CALL_NS / time_of_call(calls.bytes, CALL_BYTES);
	if (calls.size > 64 * CALL_BYTES)
		calls.size = 64 * CALL_BYTES;
	if (!calls.size)
		calls.size = CALL_BYTES;
	make_group("calls");
	set_limit("calls", 2, 20);
	pid = spawn_in("calls", stay_in_the_kernel, &calls);
	start_all(&pid, 1);
	sleep_ns(SEC);
	used = cpu_time_within(pid, ns);
	finish(pid);
	drop_group("calls");
	timed_result(used && used <= ns * 15 / 100,
		     "a limit of 10%%, in calls of 100 ms: %llu of %llu ms are used\n",
		     (unsigned long long)(used / MSEC), (unsigned long long)(ns / MSEC));
	debt_is_paid(&calls);
	killed_in_debt(&calls);
	awaited_in_debt(&calls);
	not_stopped_in_debt(&calls);
	munmap(calls.bytes, 192 * CALL_BYTES);
}

static char directory[] = "/dev/shm/limits-XXXXXX";

/* Make and remove a directory, for which the one above it is locked, all the time */
static void make_and_remove(void *arg)
{
	struct gap *gap = arg;
	char path[64];
	uint64_t start;

	snprintf(path, sizeof(path), "%s/%d", directory, getpid());
	for (;;) {
		start = now_ns();
		mkdir(path, 0700);
		rmdir(path);
		if (now_ns() - start > gap->longest)
			gap->longest = now_ns() - start;
	}
}

/* Nobody is stopped where others may wait for what it holds */
static void locks_in_the_kernel(void)
{
	struct gap *gaps = shared(2 * sizeof(*gaps));
	pid_t pids[5];
	bool set;
	int i;

	if (!mkdtemp(directory))
		ksft_exit_fail_perror("mkdtemp");
	make_group("limit");
	for (i = 0; i < 4; i++)
		pids[i] = spawn_in("limit", make_and_remove, &gaps[0]);
	pids[4] = spawn_in("", make_and_remove, &gaps[1]);
	set = set_limit("limit", 20, 100);
	start_all(pids, 5);
	sleep_ns(500 * MSEC);
	gaps[0].longest = 0;
	gaps[1].longest = 0;
	sleep_ns(2 * SEC);
	if (under_vrq())
		timed_result(set && gaps[0].longest > 50 * MSEC && gaps[1].longest &&
			     gaps[1].longest < 20 * MSEC,
			     "who locks what a limited group does waits %llu us at most (%llu)\n",
			     (unsigned long long)(gaps[1].longest / 1000),
			     (unsigned long long)(gaps[0].longest / 1000));
	else
		ksft_test_result_skip("fair stops tasks that hold locks: %llu us (%llu)\n",
				      (unsigned long long)(gaps[1].longest / 1000),
				      (unsigned long long)(gaps[0].longest / 1000));
	finish_all(pids, 5);
	for (i = 0; i < 5; i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%d", directory, pids[i]);
		rmdir(path);
	}
	rmdir(directory);
	drop_group("limit");
}

static int processor_of(pid_t pid)
{
	long long cpu;

	return stat_field(pid, 39, &cpu) ? cpu : -1;
}

/* Within two periods */
static bool await_state(pid_t pid, char state)
{
	return time_to_state(pid, state) <= 2 * LONG_PERIOD_NS;
}

static bool is_stopped(pid_t pid)
{
	return !cpu_time_within(pid, 2 * tick_ns + MSEC) && state_of(pid) == 'R';
}

/* Until it is stopped with most of a period to come */
static bool await_stopped(pid_t pid)
{
	uint64_t end;

	await_period("limit");
	end = now_ns() + LONG_PERIOD_NS / 2;
	while (now_ns() < end)
		if (is_stopped(pid))
			return true;
	ksft_print_msg("the limit does not stop the task, which is in state %c\n", state_of(pid));
	return false;
}

/* A hog in a group with a limit, and is it stopped? On one CPU, if it is not -1 */
static bool stop_a_hog(pid_t *pid, int cpu)
{
	make_group("limit");
	*pid = spawn_in("limit", hog, NULL);
	if (cpu >= 0)
		pin(*pid, cpu);
	if (!set_limit("limit", LONG_QUOTA_MS, LONG_PERIOD_MS))
		return false;
	start_all(pid, 1);
	return await_stopped(*pid);
}

static void end_hog(pid_t pid)
{
	finish(pid);
	drop_group("limit");
}

static bool runs_at_once(pid_t pid)
{
	uint64_t used = cpu_time_within(pid, 50 * MSEC);

	if (used >= 25 * MSEC)
		return true;
	ksft_print_msg("used %llu us in 50 ms, state %c\n", (unsigned long long)(used / 1000),
		       state_of(pid));
	return false;
}

/* Mainline tells the CPU of it with the next refill only, see sched_move_task() */
static bool runs_once_moved(pid_t pid)
{
	if (!under_vrq())
		sleep_ns(LONG_PERIOD_NS);
	return runs_at_once(pid);
}

static bool stays_stopped(pid_t pid)
{
	uint64_t used = cpu_time_within(pid, 50 * MSEC);

	if (used <= tick_ns)
		return true;
	ksft_print_msg("used %llu us in 50 ms, state %c\n", (unsigned long long)(used / 1000),
		       state_of(pid));
	return false;
}

/* It has its quota in two periods, and no more than is in three */
static bool goes_on(pid_t pid)
{
	uint64_t used = cpu_time_within(pid, 2 * LONG_PERIOD_NS);

	if (used >= LONG_QUOTA_NS && used <= 3 * LONG_QUOTA_NS + 2 * tick_ns)
		return true;
	ksft_print_msg("used %llu us in two periods, state %c\n",
		       (unsigned long long)(used / 1000), state_of(pid));
	return false;
}

static void affinity_changes(void)
{
	pid_t pid;
	bool good = stop_a_hog(&pid, 0);

	pin(pid, cpus - 1);
	good = good && stays_stopped(pid) && goes_on(pid) && processor_of(pid) == cpus - 1;
	timed_result(good, "bound to another CPU while stopped, it runs there when it may\n");
	end_hog(pid);
}

static void nice_changes(void)
{
	pid_t pid;
	bool good = stop_a_hog(&pid, -1);

	good = !setpriority(PRIO_PROCESS, pid, 10) && good;
	good = good && stays_stopped(pid) && goes_on(pid);
	timed_result(good, "of another nice level, it runs when it may\n");
	end_hog(pid);
}

static void job_control(void)
{
	pid_t pid;
	bool good = stop_a_hog(&pid, -1);

	kill(pid, SIGSTOP);
	timed_result(good && await_state(pid, 'T'), "SIGSTOP finds it\n");
	/* the whole quota of a later period is left for it */
	sleep_ns(2 * LONG_PERIOD_NS);
	kill(pid, SIGCONT);
	timed_result(good && goes_on(pid), "SIGCONT lets it go on\n");
	end_hog(pid);
}

/* Has it ended within @ns? If not it is killed */
static bool ends_within(pid_t pid, uint64_t ns, int *status)
{
	uint64_t end = now_ns() + ns;

	do {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		sleep_ns(MSEC);
	} while (now_ns() < end);
	finish(pid);
	return false;
}

static void killed(void)
{
	pid_t pid;
	int status;
	bool good = stop_a_hog(&pid, -1);

	kill(pid, SIGKILL);
	good = ends_within(pid, 2 * LONG_PERIOD_NS, &status) && good;
	timed_result(good, "SIGKILL ends it within two periods\n");
	drop_group("limit");
}

static void becomes_real_time(void)
{
	struct sched_param fifo = { .sched_priority = 1 }, other = {};
	pid_t pid;
	bool good = stop_a_hog(&pid, -1);

	/* where RT_GROUP_SCHED is set, unless the time of real-time tasks has no limit */
	if (sched_setscheduler(pid, SCHED_FIFO, &fifo) && errno == EPERM) {
		ksft_test_result_skip("no real-time tasks in groups\n");
		ksft_test_result_skip("no real-time tasks in groups\n");
	} else {
		timed_result(good && runs_at_once(pid), "as a real-time task it runs at once\n");
		sched_setscheduler(pid, SCHED_OTHER, &other);
		timed_result(good && goes_on(pid), "and has its limit again as a normal one\n");
	}
	end_hog(pid);
}

static void traced(void)
{
	pid_t pid;
	int status = 0;
	bool good = stop_a_hog(&pid, -1), seen = false;
	uint64_t end = now_ns() + 2 * LONG_PERIOD_NS;

	good = good && !ptrace(PTRACE_SEIZE, pid, 0, 0) && !ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	while (good && !seen && now_ns() < end) {
		seen = waitpid(pid, &status, WNOHANG) == pid && WIFSTOPPED(status);
		sleep_ns(MSEC);
	}
	timed_result(good && seen, "a tracer interrupts it within two periods\n");
	good = good && seen && !ptrace(PTRACE_DETACH, pid, 0, 0);
	timed_result(good && goes_on(pid), "and without the tracer it goes on\n");
	end_hog(pid);
}

static void frozen(void)
{
	pid_t pid;
	bool good = stop_a_hog(&pid, -1);

	group_put("limit", "cgroup.freeze", "1");
	good = time_to_frozen("limit") <= 2 * LONG_PERIOD_NS && good;
	timed_result(good, "its group is frozen within two periods\n");
	group_put("limit", "cgroup.freeze", "0");
	timed_result(good && goes_on(pid), "and goes on when it is thawed\n");
	end_hog(pid);
}

/* Become this program again, and again */
static void exec_again(int left)
{
	char number[16];
	char * const words[] = { "limits", AGAIN, number, NULL };

	use_ns(CHAIN_WORK_NS);
	if (!left)
		_exit(CHAIN_STATUS);
	snprintf(number, sizeof(number), "%d", left - 1);
	execv("/proc/self/exe", words);
	_exit(1);
}

static void exec_chain(void *unused)
{
	(void)unused;
	exec_again(CHAIN - 1);
}

static void exit_chain(void *unused)
{
	pid_t pid;
	int i;

	(void)unused;
	for (i = 0; i < CHAIN; i++) {
		pid = fork();
		if (!pid) {
			use_ns(CHAIN_WORK_NS);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(CHAIN_STATUS);
}

/* Five times the quota: the fifth period, or some more if the programs' start counts */
static void chain(const char *what, void (*work)(void *))
{
	uint64_t start;
	int status = 0;
	bool good;
	pid_t pid;

	make_group("limit");
	pid = spawn_in("limit", work, NULL);
	good = set_limit("limit", LONG_QUOTA_MS, LONG_PERIOD_MS);
	start = now_ns();
	start_all(&pid, 1);
	good = ends_within(pid, 20 * LONG_PERIOD_NS, &status) && good && WIFEXITED(status) &&
	       WEXITSTATUS(status) == CHAIN_STATUS;
	start = now_ns() - start;
	timed_result(good && start >= 3 * LONG_PERIOD_NS,
		     "%d times %s with five quotas' work end after %llu ms\n", CHAIN, what,
		     (unsigned long long)(start / MSEC));
	drop_group("limit");
}

static void moves_out(void)
{
	pid_t pid;
	bool good = stop_a_hog(&pid, -1);

	make_group("free");
	good = move_to("free", pid) && good;
	timed_result(good && runs_once_moved(pid), "in a group without a limit it runs at once\n");
	end_hog(pid);
	drop_group("free");
}

static void moves_in(void)
{
	pid_t pid, other;
	bool good;

	make_group("free");
	other = spawn_in("free", hog, NULL);
	good = stop_a_hog(&pid, 0);
	pin(other, 0);
	start_all(&other, 1);
	good = cpu_time_within(other, 10 * MSEC) && good;
	good = move_to("limit", other) && good;
	/* it may run to the end of a tick */
	sleep_ns(2 * tick_ns);
	timed_result(good && stays_stopped(other), "one that comes into its group stops there\n");
	finish(other);
	timed_result(good && goes_on(pid), "and the first one goes on when that has ended\n");
	end_hog(pid);
	drop_group("free");
}

static void limit_goes(void)
{
	pid_t pid;
	bool good = stop_a_hog(&pid, -1);

	good = no_limit("limit") && good;
	timed_result(good && runs_at_once(pid), "if the limit goes it runs at once\n");
	end_hog(pid);
	good = stop_a_hog(&pid, -1);
	good = set_limit("limit", LONG_PERIOD_MS - 10, LONG_PERIOD_MS) && good;
	timed_result(good && runs_at_once(pid), "so it does if the limit is raised\n");
	end_hog(pid);
}

/* A limit above its group */
static void limit_above(void)
{
	pid_t pid;
	bool good;

	make_group("limit");
	make_group("limit/a");
	pid = spawn_in("limit/a", hog, NULL);
	good = set_limit("limit", LONG_QUOTA_MS, LONG_PERIOD_MS);
	start_all(&pid, 1);
	good = good && await_stopped(pid);
	make_group("free");
	good = move_to("free", pid) && good;
	timed_result(good && runs_once_moved(pid),
		     "stopped by a limit above its group, it runs at once elsewhere\n");
	finish(pid);
	drop_group("limit/a");
	drop_group("limit");
	drop_group("free");
}

/* Its CPU goes; it may use others, or, if it is bound, has to */
static void cpu_goes(bool bound)
{
	int cpu = cpus - 1;
	cpu_set_t set;
	pid_t pid;
	bool good;

	if (cpus < 2) {
		ksft_test_result_skip("one CPU only\n");
		return;
	}
	good = stop_a_hog(&pid, cpu);
	memset(&set, 0xff, sizeof(set));
	if (!bound)
		confine_to(pid, &set);
	good = !set_online(cpu, false) && good;
	/* what fair lets it use at once, for which it pays later */
	sleep_ns(LONG_PERIOD_NS);
	good = good && goes_on(pid) && processor_of(pid) != cpu;
	timed_result(good, "it goes on if its CPU does not%s\n",
		     bound ? ", to which it is bound" : "");
	set_online(cpu, true);
	end_hog(pid);
}

struct inherited {
	pthread_mutex_t mutex;
	volatile uint64_t waited;
};

/* Twice as much work with the lock as the quota allows for */
static void hold_lock(void *arg)
{
	struct inherited *inherited = arg;

	be_normal();
	pthread_mutex_lock(&inherited->mutex);
	raise(SIGSTOP);
	use_ns(2 * LONG_QUOTA_NS);
	pthread_mutex_unlock(&inherited->mutex);
	hog(NULL);
}

static void want_lock(void *arg)
{
	struct inherited *inherited = arg;
	uint64_t start = now_ns();

	set_policy(0, SCHED_FIFO, 20);
	pthread_mutex_lock(&inherited->mutex);
	inherited->waited = now_ns() - start;
}

static struct inherited *inherited_lock(void)
{
	struct inherited *inherited = shared(sizeof(*inherited));
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) ||
	    pthread_mutex_init(&inherited->mutex, &attr))
		ksft_exit_fail_msg("no mutex with priority inheritance\n");
	return inherited;
}

static void inherits(void)
{
	struct inherited *inherited = inherited_lock();
	pid_t pid = spawn(hold_lock, inherited), other, waiter;
	uint64_t end;
	int status;
	bool good;

	waitpid(pid, NULL, WUNTRACED);
	make_group("limit");
	good = move_to("limit", pid) && set_limit("limit", LONG_QUOTA_MS, LONG_PERIOD_MS);
	/* with the next refill it could do its work: it begins as a period does */
	other = spawn_in("limit", hog, NULL);
	start_all(&other, 1);
	await_period("limit");
	finish(other);
	start_all(&pid, 1);
	end = now_ns() + 2 * LONG_QUOTA_NS;
	while (!is_stopped(pid) && now_ns() < end)
		;
	good = good && is_stopped(pid);
	waiter = spawn(want_lock, inherited);
	good = ends_within(waiter, LONG_PERIOD_NS, &status) && good;
	/* it was stopped with the lock, so the other one does wait for it */
	timed_result(good && inherited->waited >= LONG_QUOTA_NS / 4 &&
		     inherited->waited < LONG_PERIOD_NS / 2,
		     "with a lock that a real-time task waits for it runs at once (%llu us)\n",
		     (unsigned long long)inherited->waited / 1000);
	end_hog(pid);
}

static void bad_limits(void)
{
	static const struct {
		const char *file, *text;
		int error;
	} bad[] = {
		{ "cpu.max", "1000 100", EINVAL },
		{ "cpu.max", "999 100000", EINVAL },
		{ "cpu.max", "20000 999", EINVAL },
		{ "cpu.max", "20000 1000001", EINVAL },
		{ "cpu.max", "0 100000", EINVAL },
		{ "cpu.max", "-1 100000", EINVAL },
		{ "cpu.max", "much", EINVAL },
		{ "cpu.max", "max 999", EINVAL },
		{ "cpu.max.burst", "20001", EINVAL },
		{ "cpu.max.burst", "much", EINVAL },
		{ "cpu.max.burst", "-1", EINVAL },
	};
	unsigned int i, wrong = 0;
	bool set;
	int error;
	char line[64];

	make_group("limit");
	set = group_put("limit", "cpu.max", "20000 100000");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error = group_put_error("limit", bad[i].file, bad[i].text);
		if (error == bad[i].error)
			continue;
		ksft_print_msg("'%s' to %s: %s\n", bad[i].text, bad[i].file, strerror(error));
		wrong++;
	}
	group_line("limit", "cpu.max", line, sizeof(line));
	ksft_test_result(set && !wrong && !strcmp(line, "20000 100000"),
			 "bad limits are refused, and change nothing (%s)\n", line);
	ksft_test_result(!group_has("", "cpu.max"), "the root has no limit\n");
	drop_group("limit");
}

static bool reads(const char *file, const char *text, const char *expected)
{
	char line[64];

	if (text && !group_put("limit", file, text))
		ksft_print_msg("'%s' to %s: %s\n", text, file, strerror(errno));
	group_line("limit", file, line, sizeof(line));
	if (strcmp(line, expected))
		ksft_print_msg("%s is '%s', not '%s'\n", file, line, expected);
	return !strcmp(line, expected);
}

static void good_limits(void)
{
	bool good;

	make_group("limit");
	good = reads("cpu.max", NULL, "max 100000");
	good &= reads("cpu.max", "1000", "1000 100000");
	good &= reads("cpu.max", "20000 1000", "20000 1000");
	good &= reads("cpu.max", "max 1000000", "max 1000000");
	good &= reads("cpu.max.burst", NULL, "0");
	good &= reads("cpu.max", "20000 100000", "20000 100000");
	good &= reads("cpu.max.burst", "20000", "20000");
	good &= reads("cpu.max", "max", "max 100000");
	ksft_test_result(good, "limits read as they were written\n");
	drop_group("limit");
}

/* In cgroup v2 what is inside may be allowed more than what is around it */
static void more_inside(void)
{
	bool good;

	make_group("limit");
	make_group("limit/a");
	good = set_limit("limit/a", 80, 100) && set_limit("limit", 40, 100) &&
	       set_limit("limit/a", 90, 100) && set_limit("limit", 20, 200);
	ksft_test_result(good, "a limit may be less than those inside\n");
	drop_group("limit/a");
	drop_group("limit");
}

static void stopped_tasks(void)
{
	affinity_changes();
	nice_changes();
	job_control();
	killed();
	becomes_real_time();
	traced();
	frozen();
	chain("exec", exec_chain);
	chain("fork and exit", exit_chain);
	moves_out();
	moves_in();
	limit_goes();
	limit_above();
	cpu_goes(false);
	cpu_goes(true);
	inherits();
}

int main(int argc, char **argv)
{
	struct timespec tick;

	if (argc > 2 && !strcmp(argv[1], AGAIN))
		exec_again(atoi(argv[2]));

	cpus = online_cpus();
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	tick_ns = tick.tv_nsec;
	ksft_print_header();
	need_groups();
	ksft_set_plan(58);
	be_supervisor_of_groups();

	limits(1);
	limits(4);
	limits(64);
	nested();
	burst();
	stat_of_a_hog();
	stat_of_others();
	pairs_below_their_limit();
	left_on_other_cpus();
	wait_after_refill();
	beside_a_crowd();
	long_calls();
	locks_in_the_kernel();
	stopped_tasks();
	bad_limits();
	good_limits();
	more_inside();
	ksft_finished();
}
