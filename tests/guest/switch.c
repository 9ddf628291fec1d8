// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler is changed while the machine runs: /sys/kernel/sched/active. Nobody is
 * lost, what was set for tasks and groups stays, and shares are right soon afterwards.
 */
#include <linux/futex.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "naps.h"
#include "workers.h"

#define SWITCHES	100
#define PAIRS		4
#define NAPPERS		16

static int cpus;

/* Until a child has begun: its policy is its own until then */
#define await_begin(counter)			\
	while (!(counter)->count)		\
		sleep_ns(MSEC)

static bool switch_to(bool vrq)
{
	return put(ACTIVE, vrq ? "vrq" : "fair");
}

/* The other one than now, and is it that one then? */
static bool switch_over(void)
{
	bool vrq = under_vrq();

	return switch_to(!vrq) && under_vrq() == !vrq;
}

static void file(void)
{
	struct stat st;
	bool vrq = under_vrq();

	ksft_test_result(!stat(ACTIVE, &st) && (st.st_mode & 07777) == 0644, "%s: mode 0644\n", ACTIVE);
	ksft_test_result(!put(ACTIVE, "cfs") && errno == EINVAL && under_vrq() == vrq,
			 "an unknown name: EINVAL\n");
	ksft_test_result(switch_to(vrq) && under_vrq() == vrq, "the one that is active: nothing happens\n");
	ksft_test_result(switch_over() && switch_over(), "to the other one, and back\n");
}

static void napper(void *me)
{
	count_naps(me, 300000);
}

/* Children that end at once, one after the other */
static void forker(void *arg)
{
	struct counter *me = arg;
	pid_t pid;

	be_normal();
	for (;;) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
		me->count++;
	}
}

/* Two hand a byte to and fro */
static void pair(void *arg)
{
	struct counter *me = arg;
	int there[2], back[2];
	char byte = 0;

	be_normal();
	if (pipe(there) || pipe(back))
		_exit(1);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	while (write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
		me->count++;
	_exit(1);
}

static void storm(void)
{
	int n = NAPPERS + PAIRS + 2 + 2 * cpus, i, switched = 0, lost;
	struct counter *counters = shared(n * sizeof(*counters));
	pid_t *pids = calloc(n, sizeof(*pids));
	void (*work)(void *);

	for (i = 0; i < n; i++) {
		work = i < NAPPERS ? napper : i < NAPPERS + PAIRS ? pair :
		       i < NAPPERS + PAIRS + 2 ? forker : counting_hog;
		pids[i] = spawn(work, &counters[i]);
	}
	for (i = 0; i < SWITCHES; i++) {
		sleep_ns(10 * MSEC);
		switched += switch_over();
	}
	lost = stuck(counters, n);
	ksft_test_result(switched == SWITCHES && !lost,
			 "%d switches of %d, beside %d processes: %d of these are stuck\n",
			 switched, SWITCHES, n, lost);
	finish_all(pids, n);
	free(pids);
}

/* Is this still what was set for a process? */
static bool has(pid_t pid, int policy, int nice, uint64_t mask)
{
	int got = sched_getscheduler(pid), got_nice = getpriority(PRIO_PROCESS, pid);

	if (got == policy && got_nice == nice && mask_of(pid) == mask)
		return true;
	ksft_print_msg("policy %d, not %d; nice %d, not %d; CPUs %llx, not %llx\n", got, policy,
		       got_nice, nice, (unsigned long long)mask_of(pid), (unsigned long long)mask);
	return false;
}

static void attributes(void)
{
	static const struct {
		int policy, nice;
	} set[] = {
		{ SCHED_OTHER, 0 }, { SCHED_OTHER, -7 }, { SCHED_BATCH, 5 }, { SCHED_IDLE, 0 },
		{ SCHED_OTHER, 19 },
	};
	uint64_t all = mask_of(0), mask;
	bool good = true;
	unsigned int i;
	int turn;
	struct counter *counters = shared(ARRAY_SIZE(set) * sizeof(*counters));
	pid_t pids[ARRAY_SIZE(set)];

	for (i = 0; i < ARRAY_SIZE(set); i++) {
		pids[i] = spawn(i & 1 ? napper : counting_hog, &counters[i]);
		await_begin(&counters[i]);
		set_policy(pids[i], set[i].policy, 0);
		setpriority(PRIO_PROCESS, pids[i], set[i].nice);
		confine(pids[i], 1ULL << i % cpus);
	}
	for (turn = 0; turn < 3; turn++) {
		good = switch_over() && good;
		for (i = 0; i < ARRAY_SIZE(set); i++) {
			mask = 1ULL << i % cpus & all;
			good = has(pids[i], set[i].policy, set[i].nice, mask) && good;
		}
	}
	switch_over();
	ksft_test_result(good, "policies, nice levels and affinities stay\n");
	finish_all(pids, ARRAY_SIZE(set));
}

static void iso(void)
{
	bool vrq = under_vrq(), good;
	struct counter *counter = shared(sizeof(*counter));
	uint64_t all = mask_of(0);
	pid_t pid;

	good = switch_to(true);
	pid = spawn(napper, counter);
	await_begin(counter);
	set_policy(pid, SCHED_ISO, 0);
	good = has(pid, SCHED_ISO, 0, all) && switch_to(false) && good;
	good = has(pid, SCHED_OTHER, 0, all) && switch_to(true) && good;
	good = has(pid, SCHED_ISO, 0, all) && good;
	ksft_test_result(switch_to(vrq) && good, "SCHED_ISO is SCHED_NORMAL under fair, and comes back\n");
	finish(pid);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

struct one {
	int nice, cpu;
};

/*
 * It sets all of that itself: sched_setscheduler() keeps the nice level that it reads at
 * its beginning, whatever somebody else sets until its end
 */
static void hog_as(void *arg)
{
	struct one *me = arg;

	be_normal();
	setpriority(PRIO_PROCESS, 0, me->nice);
	pin(0, me->cpu);
	hog(NULL);
}

/* Two hogs, of nice 0 and 5, on each CPU: who has what from half a second after a switch on */
static void shares(bool vrq)
{
	struct one *hogs = shared(2 * cpus * sizeof(*hogs));
	uint64_t used[2], before[2];
	pid_t *pids = calloc(2 * cpus, sizeof(*pids));
	double part, ideal = vrq ? 61.7 : 75.4;
	int i;

	switch_to(!vrq);
	for (i = 0; i < 2 * cpus; i++) {
		hogs[i].nice = i < cpus ? 0 : 5;
		hogs[i].cpu = i % cpus;
		pids[i] = spawn(hog_as, &hogs[i]);
	}
	sleep_ns(300 * MSEC);
	switch_to(vrq);
	sleep_ns(500 * MSEC);
	before[0] = time_of_all(pids, cpus);
	before[1] = time_of_all(pids + cpus, cpus);
	sleep_ns(SEC);
	used[0] = time_of_all(pids, cpus) - before[0];
	used[1] = time_of_all(pids + cpus, cpus) - before[1];
	part = percent(used[0], used[0] + used[1]);
	timed_result(part > ideal - 3 && part < ideal + 3,
		     "after a switch to %s a hog of nice 0 has %.1f%% beside one of nice 5, of %.1f\n",
		     vrq ? "vrq" : "fair", part, ideal);
	finish_all(pids, 2 * cpus);
	free(pids);
}

/* A hog with a limit has what the limit allows for */
static void limits(void)
{
	uint64_t used[3];
	bool good = true;
	pid_t pid;
	int turn;

	make_group("limit");
	if (!group_has("limit", "cpu.max")) {
		drop_group("limit");
		ksft_test_result_skip("no limits\n");
		return;
	}
	pid = spawn_in("limit", hog, NULL);
	good = group_put("limit", "cpu.max", "20000 100000");
	start_all(&pid, 1);
	for (turn = 0; turn < 3; turn++) {
		sleep_ns(300 * MSEC);
		used[turn] = cpu_time_within(pid, SEC);
		good = good && used[turn] > 170 * MSEC && used[turn] < 230 * MSEC && switch_over();
	}
	if (turn & 1)
		switch_over();
	timed_result(good, "a limit of 200 ms a second, before and after: %llu, %llu, %llu ms\n",
		     (unsigned long long)(used[0] / MSEC), (unsigned long long)(used[1] / MSEC),
		     (unsigned long long)(used[2] / MSEC));
	finish(pid);
	drop_group("limit");
}

/* Groups with weights, made under fair, which VRQ knew nothing of if it never ran */
static void weights(void)
{
	uint64_t a, b;
	pid_t *pids = calloc(2 * cpus, sizeof(*pids));
	bool vrq = under_vrq();
	double ratio;
	int i;

	switch_to(false);
	make_group("a");
	make_group("b");
	group_put_number("a", "cpu.weight", 300);
	for (i = 0; i < 2 * cpus; i++)
		pids[i] = spawn_in(i < cpus ? "a" : "b", hog, NULL);
	start_all(pids, 2 * cpus);
	sleep_ns(200 * MSEC);
	switch_to(true);
	sleep_ns(500 * MSEC);
	a = time_of_all(pids, cpus);
	b = time_of_all(pids + cpus, cpus);
	sleep_ns(SEC);
	a = time_of_all(pids, cpus) - a;
	b = time_of_all(pids + cpus, cpus) - b;
	ratio = b ? (double)a / b : 0;
	timed_result(ratio > 2.8 && ratio < 3.2, "groups of 300 and 100 have %.2f to one under vrq\n",
		     ratio);
	finish_all(pids, 2 * cpus);
	free(pids);
	drop_group("a");
	drop_group("b");
	switch_to(vrq);
}

/* What is told of a task's time goes on where it was */
static void accounting(void)
{
	struct counter *counter = shared(sizeof(*counter));
	pid_t pid = spawn(normal_hog, counter);
	uint64_t before, after, start;
	bool good = true;
	int turn;

	for (turn = 0; turn < 4; turn++) {
		sleep_ns(50 * MSEC);
		start = now_ns();
		before = cpu_time_of(pid);
		good = switch_over() && good;
		after = cpu_time_of(pid);
		good = good && after >= before && after - before <= now_ns() - start + MSEC;
	}
	timed_result(good, "the CPU time of a task does not jump\n");
	finish(pid);
}

/* What is told of two hogs on one CPU, ns */
struct told {
	uint64_t ran, waited, group_used, pressure;
};

static void tell_of(const pid_t *pids, struct told *told)
{
	struct schedstat stats[2] = {};
	int i;

	for (i = 0; i < 2; i++)
		if (!read_schedstat(pids[i], &stats[i]))
			ksft_print_msg("/proc/%d/schedstat cannot be read\n", pids[i]);
	told->ran = stats[0].ran + stats[1].ran;
	told->waited = stats[0].waited + stats[1].waited;
	told->group_used = group_number("told", "cpu.stat", "usage_usec") * 1000;
	told->pressure = group_number("told", "cpu.pressure", "total=") * 1000;
}

/* One of two hogs on a CPU runs and the other one waits, whoever schedules them */
static void statistics(void)
{
	struct told before, after;
	uint64_t ns, low, high;
	pid_t pids[2];
	int i;

	make_group("told");
	for (i = 0; i < 2; i++) {
		pids[i] = spawn_in("told", hog, NULL);
		pin(pids[i], 0);
	}
	start_all(pids, 2);
	sleep_ns(100 * MSEC);
	ns = now_ns();
	tell_of(pids, &before);
	for (i = 0; i < 20; i++) {
		sleep_ns(30 * MSEC);
		switch_over();
	}
	tell_of(pids, &after);
	ns = now_ns() - ns;
	finish_all(pids, 2);
	drop_group("told");

	/* A task's wait is told when it is over: a turn, and what CPU 0 has to do for others */
	low = ns * 90 / 100;
	high = ns * 105 / 100;
	after.ran -= before.ran;
	after.waited -= before.waited;
	after.group_used -= before.group_used;
	after.pressure -= before.pressure;
	timed_result(after.ran > low && after.ran < high && after.waited > low && after.waited < high,
		     "two hogs have run for %llu and waited for %llu of %llu ms in 20 switches\n",
		     (unsigned long long)(after.ran / MSEC), (unsigned long long)(after.waited / MSEC),
		     (unsigned long long)(ns / MSEC));
	timed_result(after.group_used > low && after.group_used < high,
		     "their group has used %llu ms\n", (unsigned long long)(after.group_used / MSEC));
	if (!before.pressure && !after.pressure)
		ksft_test_result_skip("there is no cpu.pressure\n");
	else
		timed_result(after.pressure > low && after.pressure < high,
			     "and somebody in it waited for %llu ms\n",
			     (unsigned long long)(after.pressure / MSEC));
}

/* A hog on CPU 0 with a session, and so an autogroup, of its own, and two more in there */
static void hogs_of_a_session(void *arg)
{
	int *n = arg, i;

	be_normal();
	setsid();
	for (i = 1; i < *n; i++)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	normal_hog_on_cpu_0(NULL);
}

#define AUTOGROUP	"/proc/sys/kernel/sched_autogroup_enabled"

/* One hog and three, in a session each, have half of a CPU each before and after */
static void autogroups(void)
{
	static int one = 1, three = 3;
	long long enabled = number_after(AUTOGROUP, ""), nice = 0;
	double part[3];
	bool good = true;
	pid_t pids[2];
	char path[64];
	int turn;

	if (!put(AUTOGROUP, "1")) {
		ksft_test_result_skip("no autogroups\n");
		return;
	}
	pids[0] = spawn(hogs_of_a_session, &one);
	pids[1] = spawn(hogs_of_a_session, &three);
	sleep_ns(200 * MSEC);
	snprintf(path, sizeof(path), "/proc/%d/autogroup", pids[0]);
	for (turn = 0; turn < 3; turn++) {
		sleep_ns(300 * MSEC);
		part[turn] = percent(cpu_time_within(pids[0], SEC), SEC);
		good = good && part[turn] > 45 && part[turn] < 55 && switch_over();
	}
	/* Three times it was changed; once more, and that of the test is active again */
	switch_over();
	/* The nice level of an autogroup stays as well */
	good = put(path, "5") && switch_over() && switch_over() && good;
	nice = number_after(path, "nice");
	timed_result(good && nice == 5,
		     "a session has half of a CPU, before and after: %.1f%%, %.1f%%, %.1f%%; nice %lld\n",
		     part[0], part[1], part[2], nice);
	finish_all(pids, 2);
	put(AUTOGROUP, enabled ? "1" : "0");
}

/* Threads of a core are for tasks with one cookie: under fair only */
static void core_scheduling(void)
{
	bool vrq = under_vrq(), refused, busy, freed = false;
	pid_t pid = spawn(normal_hog, NULL);
	int ms, error;

	switch_to(false);
	error = prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, pid, 0, 0) ? errno : 0;
	busy = !switch_to(true) && errno == EBUSY && !under_vrq();
	finish(pid);
	/* The last task with a cookie is gone; the kernel puts it away some time later */
	for (ms = 0; ms < 1000 && !freed; ms++) {
		freed = switch_to(true);
		sleep_ns(MSEC);
	}
	pid = spawn(normal_hog, NULL);
	refused = prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, pid, 0, 0) && errno == EOPNOTSUPP;
	finish(pid);
	if (error)
		ksft_test_result_skip("no core scheduling: %s\n", strerror(error));
	else
		ksft_test_result(busy && freed && refused,
				 "core scheduling in use refuses vrq (%d), which comes after it (%d), and refuses it (%d)\n",
				 busy, freed, refused);
	switch_to(vrq);
}

/* Weights of a group by turns, for as long as it lives */
static void change_weights(void *unused)
{
	(void)unused;
	for (;;) {
		group_put("left", "cpu.weight", "100");
		group_put("left", "cpu.weight", "200");
	}
}

/*
 * A switch leaves groups of the fair class in its run queues, without tasks. When somebody
 * changes their weights, the class must not account for the tasks of VRQ's that run: then
 * neither their slices nor their limits would come to an end.
 */
static void weights_of_what_is_left(void)
{
	static const char * const groups[] = { "left/a", "left/b", "left/c", "left/d" };
	pid_t hogs[ARRAY_SIZE(groups) * MAX_CPUS], limited[MAX_CPUS], changer;
	int n = ARRAY_SIZE(groups) * cpus, i;
	unsigned int g;
	uint64_t used;
	bool good;

	switch_to(false);
	make_group("left");
	group_put("left", "cgroup.subtree_control", "+cpu");
	for (g = 0; g < ARRAY_SIZE(groups); g++)
		make_group(groups[g]);
	make_group("limit");
	for (i = 0; i < n; i++) {
		hogs[i] = spawn_in(groups[i % ARRAY_SIZE(groups)], hog, NULL);
		pin(hogs[i], i / ARRAY_SIZE(groups));
	}
	start_all(hogs, n);
	sleep_ns(100 * MSEC);
	good = switch_to(true);
	finish_all(hogs, n);
	for (i = 0; i < cpus; i++) {
		limited[i] = spawn_in("limit", hog, NULL);
		pin(limited[i], i);
	}
	good = good && group_put("limit", "cpu.max", "10000 100000");
	changer = spawn(change_weights, NULL);
	start_all(limited, cpus);
	sleep_ns(200 * MSEC);
	used = time_of_all(limited, cpus);
	sleep_ns(SEC);
	used = time_of_all(limited, cpus) - used;
	finish(changer);
	finish_all(limited, cpus);
	drop_group("limit");
	for (g = 0; g < ARRAY_SIZE(groups); g++)
		drop_group(groups[g]);
	drop_group("left");
	timed_result(good && used && used <= 115 * MSEC,
		     "a limit of 100 ms a second beside changes of weights: %llu\n",
		     (unsigned long long)(used / MSEC));
}

#define CROWD_A_CPU	15
#define CROWD_TIMES	8

/*
 * What tasks did not get while they were under the fair class they do not make up for under
 * VRQ, and they are not taken to be alone: others are served as soon as ever.
 */
static void crowd(void)
{
	int n = CROWD_A_CPU * cpus, soon = 0, i;
	pid_t *pids = calloc(n, sizeof(*pids));
	struct nappers nappers;
	bool switched = true;
	struct naps naps;

	make_group("crowd");
	for (i = 0; i < n; i++)
		pids[i] = spawn_in("crowd", hog, NULL);
	start_all(pids, n);
	nappers = start_nappers();
	for (i = 0; i < CROWD_TIMES; i++) {
		switched = switch_to(false) && switched;
		sleep_ns(SEC);
		forget_naps(&nappers);
		switched = switch_to(true) && switched;
		sleep_ns(SEC / 4);
		naps = all_naps(&nappers);
		soon += naps.n && naps.latest <= 4 * RR_NS;
		ksft_print_msg("a switch to VRQ beside %d hogs: naps end %llu us late at most\n", n,
			       (unsigned long long)(naps.latest / 1000));
	}
	timed_result(switched && soon == CROWD_TIMES,
		     "after %d switches of %d, naps go on in time\n", soon, CROWD_TIMES);
	end_nappers(&nappers);
	finish_all(pids, n);
	drop_group("crowd");
	free(pids);
}

int main(void)
{
	bool vrq = under_vrq();

	ksft_print_header();
	ksft_set_plan(19);
	cpus = online_cpus();
	need_groups();
	be_supervisor_of_groups();
	/* Its groups are made before the first switch */
	weights();
	file();
	attributes();
	iso();
	accounting();
	shares(true);
	shares(false);
	limits();
	statistics();
	autogroups();
	core_scheduling();
	weights_of_what_is_left();
	crowd();
	storm();
	switch_to(vrq);
	ksft_finished();
}
