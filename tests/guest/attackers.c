// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user without privilege can get by tricks. One task among hogs has no more than its
 * share, or than Documentation/scheduler/sched-vrq.rst promises to those that sleep, whatever
 * it does about ticks. A group that is delegated to the user has no more than its weight is
 * worth, and what SCHED_ISO may have. And a shell of root's does not wait for longer than
 * 100 ms meanwhile.
 */
#include "cgroup.h"

/* Honest hogs for each CPU, in one group with the attacker */
#define HOGS		5
/* Processes that the user may have */
#define BOMB		200
/* Where attackers are, so that all that they fork is found, counted and killed */
#define ATTACK		"attack"
#define INSIDE		"attack/in"
#define AUTOGROUPS	"/proc/sys/kernel/sched_autogroup_enabled"
/* Of its own, which it makes there */
#define GROUPS		8

static int cpus;

/* Those that sleep by themselves count for up to four, and no more than 7/8 of a CPU is for them */
#define FAVOUR		4

struct attack {
	const char *what;
	void (*work)(void *arg);
	int shares;	/* that it may have, of one task */
	/* and how much of that, for chance: a turn is a part in 40 of the time. Of a group: of all */
	int percent;
};

static void work_until(uint64_t ns)
{
	while (now_ns() < ns)
		;
}

/* Just before the next tick, if that is at whole milliseconds of this clock */
static uint64_t before_tick(uint64_t by)
{
	uint64_t now = now_ns(), tick = now - now % MSEC + MSEC - by;

	return tick > now ? tick : tick + MSEC;
}

/* Each child does a part of the work, and forks the next one before its slice ends */
static void fork_successors(void *arg)
{
	(void)arg;
	for (;;) {
		use_ns(2 * MSEC);
		if (fork() > 0)
			_exit(0);
	}
}

static void work_in_children(void *arg)
{
	(void)arg;
	let_children_work(MSEC);
}

static void yield_before_ticks(void *arg)
{
	(void)arg;
	for (;;) {
		work_until(before_tick(MSEC / 10));
		sched_yield();
	}
}

/* It needs about 7/8 of a CPU, so it counts as one that sleeps or not as it comes */
static void nap_before_ticks(void *arg)
{
	(void)arg;
	for (;;) {
		work_until(before_tick(MSEC / 10));
		sleep_ns(MSEC / 20);
	}
}

static void nap_for_half_of_the_time(void *arg)
{
	(void)arg;
	for (;;) {
		use_ns(MSEC);
		sleep_ns(MSEC);
	}
}

static void change_cpus(void *arg)
{
	int cpu = 0;

	(void)arg;
	for (;;) {
		pin(0, cpu++ % cpus);
		use_ns(MSEC / 2);
	}
}

static void change_policies(void *arg)
{
	int turn = 0;

	(void)arg;
	for (;;) {
		set_policy(0, turn++ % 2 ? SCHED_BATCH : SCHED_OTHER, 0);
		use_ns(MSEC / 2);
	}
}

static void change_slices(void *arg)
{
	int turn = 0;

	(void)arg;
	for (;;) {
		set_slice(SCHED_OTHER, turn++ % 2 ? 100 * MSEC : MSEC / 10);
		use_ns(MSEC / 2);
	}
}

/* A second process stops it and lets it go on, so seldom that this takes no CPU time to speak of */
static void stop_and_go_on(void *arg)
{
	pid_t pid = fork();

	(void)arg;
	if (!pid)
		hog(NULL);
	for (;;) {
		sleep_ns(10 * MSEC);
		kill(pid, SIGSTOP);
		kill(pid, SIGCONT);
	}
}

static void nothing(int signal)
{
	(void)signal;
}

/* A signal of a timer each 200 us */
static void timers(void *arg)
{
	struct itimerspec often = { { 0, MSEC / 5 }, { 0, MSEC / 5 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	(void)arg;
	signal(SIGUSR1, nothing);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &often, NULL);
	hog(NULL);
}

/* Two processes, of which one works and the other sleeps */
static void take_turns(void *arg)
{
	int ab[2], ba[2], *in, *out;
	char token = 0;
	pid_t pid;

	(void)arg;
	if (pipe(ab) || pipe(ba))
		_exit(1);
	pid = fork();
	in = pid ? ba : ab;
	out = pid ? ab : ba;
	for (;;) {
		if (pid || token) {
			use_ns(MSEC);
			if (write(out[1], "x", 1) != 1)
				_exit(1);
		}
		if (read(in[0], &token, 1) != 1)
			_exit(1);
	}
}

/* Each second child is as nice as can be, and does half of the work */
static void be_nice_in_children(void *arg)
{
	int turn;
	pid_t pid;

	(void)arg;
	for (turn = 0;; turn++) {
		pid = fork();
		if (!pid) {
			setpriority(PRIO_PROCESS, 0, turn % 2 ? 19 : 0);
			use_ns(MSEC);
			_exit(0);
		}
		use_ns(MSEC / 2);
		waitpid(pid, NULL, 0);
	}
}

/* Numerical Recipes' generator: of its bits the upper ones are of use */
static unsigned int below(unsigned int *seed, unsigned int n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 16) % n;
}

/* All of it by chance; nice in a child only, as there is no way back */
static void anything(void *arg)
{
	unsigned int seed = arg ? *(int *)arg : 1;
	pid_t pid;

	signal(SIGALRM, nothing);
	for (;;) {
		switch (below(&seed, 20)) {
		case 0:
			sched_yield();
			break;
		case 1:
			sleep_ns(below(&seed, 256) * 2000);
			break;
		case 2:
			pin(0, below(&seed, cpus));
			break;
		case 3:
			set_policy(0, below(&seed, 2) ? SCHED_BATCH : SCHED_OTHER, 0);
			break;
		case 4:
			set_slice(SCHED_OTHER, (1 + below(&seed, 1000)) * MSEC / 10);
			break;
		case 5:
			if (fork() > 0)
				_exit(0);
			break;
		case 6:
			pid = fork();
			if (!pid) {
				setpriority(PRIO_PROCESS, 0, below(&seed, 20));
				use_ns(below(&seed, 256) * 10000);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
			break;
		case 7:
			/* with an autogroup of its own, if there are any */
			setsid();
			break;
		case 8:
			ualarm(1 + below(&seed, 3000), 0);
			break;
		case 9:
			pid = fork();
			if (!pid)
				hog(NULL);
			if (pid < 0)
				break;
			sleep_ns(below(&seed, 256) * 10000);
			kill(pid, SIGSTOP);
			sleep_ns(below(&seed, 256) * 10000);
			kill(pid, SIGCONT);
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			break;
		default:
			use_ns(below(&seed, 256) * 10000);
		}
	}
}

/* From here on it can do what everybody can */
static void drop_privilege(void)
{
	static const struct rlimit some = { BOMB, BOMB };

	be_normal();
	if (setrlimit(RLIMIT_NPROC, &some) || !become_nobody())
		_exit(1);
}

static void attack(void *arg)
{
	const struct attack *me = arg;

	drop_privilege();
	me->work(NULL);
}

static uint64_t used_by(const char *group)
{
	return group_number(group, "cpu.stat", "usage_usec") * 1000;
}

/* The user may do in a group what the owner of its directory can */
static void delegate(const char *group)
{
	static const char * const files[] = { "", "cgroup.procs", "cgroup.subtree_control" };
	char path[GROUP_PATH];
	unsigned int i;

	make_group(group);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		group_path(path, group, files[i]);
		if (chown(path, NOBODY, NOBODY))
			ksft_exit_fail_msg("chown %s: %s\n", path, strerror(errno));
	}
}

/* Stopped until start_all(), in a group that is new: see kill_attackers() */
static pid_t spawn_attack(const char *group, const struct attack *what)
{
	delegate(ATTACK);
	if (strcmp(group, ATTACK))
		delegate(group);
	return spawn_in(group, attack, (void *)what);
}

/*
 * With all that they have forked, also those that are being forked. The groups go too: what
 * is cloned into one that has been killed is killed as well in 6.12, where
 * cgroup_css_set_fork() compares kill_seq of two groups.
 */
static void kill_attackers(void)
{
	char name[GROUP_NAME];
	int ms, i;

	for (ms = 0; ms < 2000 && group_number(ATTACK, "cgroup.events", "populated"); ms++) {
		group_put(ATTACK, "cgroup.kill", "1");
		sleep_ns(MSEC);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	for (i = 0; i < GROUPS; i++) {
		snprintf(name, sizeof(name), "%s/%d", ATTACK, i);
		drop_group(name);
	}
	drop_group(INSIDE);
	drop_group(ATTACK);
}

static void one_among_hogs(const struct attack *what)
{
	int n = HOGS * cpus, i;
	pid_t hogs[HOGS * MAX_CPUS], pid;
	uint64_t used, ns, bound;

	pid = spawn_attack(ATTACK, what);
	for (i = 0; i < n; i++)
		hogs[i] = spawn(normal_hog, NULL);
	start_all(&pid, 1);
	sleep_ns(500 * MSEC);
	ns = now_ns();
	used = used_by(ATTACK);
	sleep_ns(2 * SEC);
	used = used_by(ATTACK) - used;
	ns = now_ns() - ns;
	finish_all(hogs, n);
	kill_attackers();

	bound = ns * cpus * what->shares / (n + what->shares) * what->percent / 100;
	ksft_test_result(used && used <= bound,
			 "who %s has %llu ms of CPU time, not more than %d%% of %d task%s (%llu ms)\n",
			 what->what, (unsigned long long)(used / MSEC), what->percent, what->shares,
			 what->shares > 1 ? "s" : "", (unsigned long long)(bound / MSEC));
}

/* Hogs, as many as are allowed */
static void fork_bomb(void *arg)
{
	(void)arg;
	for (;;)
		if (fork() < 0)
			hog(NULL);
}

/* Each in a session, for which there may be an autogroup */
static void hogs_in_sessions(void *arg)
{
	for (;;) {
		if (fork() > 0)
			continue;
		setsid();
		hog(arg);
	}
}

/* Groups of its own in the one that was delegated to it, of the greatest weight */
static void groups_of_its_own(void *arg)
{
	char name[GROUP_NAME];
	int i;

	(void)arg;
	for (i = 0; i < GROUPS; i++) {
		snprintf(name, sizeof(name), "%s/%d", ATTACK, i);
		make_group(name);
		group_put(name, "cpu.weight", "10000");
		if (fork())
			continue;
		move_to(name, getpid());
		if (i % 2)
			nap_for_half_of_the_time(NULL);
		if (i % 4)
			fork_successors(NULL);
		hog(NULL);
	}
	pause();
}

static void anything_by_many(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 40; i++)
		if (!fork())
			anything(&i);
	pause();
}

static void many_iso_hogs(void *arg)
{
	int i;

	for (i = 1; i < 40; i++)
		if (!fork())
			iso_hog(arg);
	iso_hog(arg);
}

/*
 * Where SCHED_ISO has a part of the CPUs a bomb has fewer processes: so each of them, and
 * root's shell, has as much as it has beside a bomb alone.
 */
static void smaller_fork_bomb(void *arg, int processes)
{
	const struct rlimit fewer = { processes, processes };

	setrlimit(RLIMIT_NPROC, &fewer);
	fork_bomb(arg);
}

/* For all of the time, for half of the CPUs is less than SCHED_ISO may have */
static void iso_on_half_and_a_bomb(void *arg)
{
	int i;

	for (i = 0; i < cpus / 2; i++) {
		if (fork())
			continue;
		pin(0, i);
		iso_hog(arg);
	}
	smaller_fork_bomb(arg, BOMB / 2);
}

static void iso_and_a_bomb(void *arg)
{
	int i;

	for (i = 0; i < 20; i++)
		if (!fork())
			iso_hog(arg);
	smaller_fork_bomb(arg, BOMB * 3 / 10);
}

/* All of it by chance, now SCHED_ISO, now not */
static void iso_by_chance(void *arg)
{
	unsigned int seed, i;

	for (i = 0; i < 40; i++) {
		if (fork())
			continue;
		for (seed = i;;) {
			set_policy(0, below(&seed, 2) ? SCHED_ISO : SCHED_OTHER, 0);
			use_ns(below(&seed, 256) * MSEC / 20);
			if (!below(&seed, 16))
				sleep_ns(MSEC);
		}
	}
	pause();
	(void)arg;
}

/*
 * Of two on each CPU one wakes the other, and keeps it waiting; and that one naps a hundred
 * times then. Beside hogs that have more the less their group seems to want.
 */
static void wait_once_and_nap(void *arg)
{
	int ends[2], i, naps;
	char byte = 0;

	for (i = 0; i < 2 * cpus; i++)
		if (!fork())
			hog(arg);
	for (i = 0; i < cpus; i++) {
		if (pipe(ends))
			_exit(1);
		if (!fork()) {
			pin(0, i);
			prctl(PR_SET_TIMERSLACK, 1);
			while (read(ends[0], &byte, 1) == 1)
				for (naps = 0; naps < 100; naps++)
					sleep_ns(1000);
		}
		if (!fork()) {
			pin(0, i);
			while (write(ends[1], &byte, 1) == 1) {
				use_ns(3 * MSEC / 2);
				sleep_ns(3 * MSEC);
			}
		}
	}
	pause();
}

/*
 * Beside one of the same weight a group may have half of the CPUs. SCHED_ISO may have 70%, as
 * if there were no groups, and the group half of the rest.
 */
#define GROUP_PERCENT	50
#define ISO_PERCENT	(70 + 15)

static const struct attack swarms[] = {
	{ "a fork bomb", fork_bomb, 0, GROUP_PERCENT },
	{ "40 processes that do all of it by chance", anything_by_many, 0, GROUP_PERCENT },
	{ "40 hogs of SCHED_ISO", many_iso_hogs, 0, ISO_PERCENT },
	{ "hogs of SCHED_ISO on half of the CPUs, and a fork bomb", iso_on_half_and_a_bomb, 0, ISO_PERCENT },
	{ "20 hogs of SCHED_ISO, and a fork bomb", iso_and_a_bomb, 0, ISO_PERCENT },
	{ "40 processes that are SCHED_ISO by chance", iso_by_chance, 0, ISO_PERCENT },
	{ "hogs, and some that wait once and nap a hundred times", wait_once_and_nap, 0, GROUP_PERCENT },
	{ "hogs in sessions", hogs_in_sessions, 0, GROUP_PERCENT },
	/* the last one: it needs groups */
	{ "groups in it of weight 10000", groups_of_its_own, 0, GROUP_PERCENT },
};

/* A group of the user's has the same weight as one with two hogs a CPU */
static void a_group_among_two(const struct attack *what)
{
	pid_t hogs[2 * MAX_CPUS], pid;
	uint64_t used, honest;
	int i;

	make_group("honest");
	pid = spawn_attack(INSIDE, what);
	for (i = 0; i < 2 * cpus; i++)
		hogs[i] = spawn_in("honest", hog, NULL);
	start_all(hogs, 2 * cpus);
	start_all(&pid, 1);
	sleep_ns(SEC);
	used = used_by(ATTACK);
	honest = used_by("honest");
	sleep_ns(2 * SEC);
	used = used_by(ATTACK) - used;
	honest = used_by("honest") - honest;
	finish_all(hogs, 2 * cpus);
	kill_attackers();
	drop_group("honest");
	ksft_test_result(used && used * 100 <= (used + honest) * (what->percent + 5),
			 "a group with %s has %llu%% beside one of the same weight, not more than %d%%\n",
			 what->what, (unsigned long long)(used * 100 / (used + honest + 1)),
			 what->percent + 5);
}

struct shell {
	volatile uint64_t longest, rounds;
	volatile uint64_t since;	/* of the command that has not ended; 0 without one */
};

#define COMMAND_EACH	(100 * MSEC)

/*
 * As somebody who types: a command each 100 ms that takes half a millisecond, in a child.
 * What passes from the time at which it is to wake up until the child has ended is waited for.
 * Not each 30 ms: with fork and exit that takes a tenth of a CPU, where 200 processes and
 * this one have a fiftieth each. Who wants more than its share waits for it.
 */
static void shell(void *arg)
{
	struct shell *me = arg;
	uint64_t at = now_ns(), waited;
	pid_t pid;

	be_normal();
	for (;;) {
		at += COMMAND_EACH;
		me->since = at;
		sleep_until(at);
		pid = fork();
		if (!pid) {
			use_ns(MSEC / 2);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		waited = now_ns() - at;
		if (waited > me->longest)
			me->longest = waited;
		me->since = 0;
		me->rounds++;
		if (waited > COMMAND_EACH)
			at = now_ns();
	}
}

static void root_does_not_wait(const char *group, const struct attack *what, const char *where)
{
	struct shell *me = shared(sizeof(*me));
	pid_t pid = spawn_attack(group, what);
	pid_t root = spawn(shell, me);
	uint64_t start = now_ns(), now, since, used;

	start_all(&pid, 1);
	/* its first ones, while processes are forked, count too */
	sleep_ns(3 * SEC);
	now = now_ns();
	used = used_by(ATTACK) * 100 / ((now - start) * cpus);
	/* and the last one, which may not have ended */
	since = me->since;
	if (since && now > since && now - since > me->longest)
		me->longest = now - since;
	finish(root);
	kill_attackers();
	ksft_test_result(me->rounds >= 15 && me->longest <= 100 * MSEC && used >= 50,
			 "beside %s%s, who use %llu%% of the CPUs, a shell of root's waits for %llu ms in %llu rounds\n",
			 what->what, where, (unsigned long long)used, (unsigned long long)(me->longest / MSEC),
			 (unsigned long long)me->rounds);
}

static void sit_in_a_session(void *arg)
{
	(void)arg;
	setsid();
	pause();
}

/*
 * A session has memory for each CPU. While mainline gets more of that (pcpu_alloc()) a user's task
 * may hold a mutex, and lose the CPU with it. A shell of root's that forks has waited for that
 * mutex for 445 ms. So there is enough of it, from the first test on.
 */
static void as_many_sessions_as_ever(void)
{
	pid_t pids[BOMB];
	int i;

	for (i = 0; i < BOMB; i++)
		pids[i] = spawn(sit_in_a_session, NULL);
	sleep_ns(SEC / 2);
	finish_all(pids, BOMB);
}

static const struct attack attacks[] = {
	/* 8 to 15% more, under fair 45% */
	{ "forks a successor for each 2 ms", fork_successors, 1, 120 },
	{ "works in children of 1 ms", work_in_children, 1, 110 },
	{ "yields before each tick", yield_before_ticks, 1, 110 },
	{ "naps for a moment before each tick", nap_before_ticks, FAVOUR, 110 },
	{ "naps for as long as it works", nap_for_half_of_the_time, FAVOUR, 110 },
	{ "is on another CPU each 0.5 ms", change_cpus, 1, 110 },
	{ "changes its policy each 0.5 ms", change_policies, 1, 110 },
	{ "changes its slice each 0.5 ms", change_slices, 1, 110 },
	{ "is stopped and goes on each 10 ms", stop_and_go_on, 1, 110 },
	{ "gets a signal each 200 us", timers, 1, 110 },
	{ "works in turns with another task", take_turns, 2, 110 },
	{ "has children of nice 19 and 0", be_nice_in_children, 2, 110 },
	{ "does all of it by chance", anything, FAVOUR, 110 },
};

/* Groups share nothing out: all tasks count alike, and are only counted together */
static void without_groups(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attacks); i++)
		one_among_hogs(&attacks[i]);
	for (i = 0; i < ARRAY_SIZE(swarms) - 1; i++)
		root_does_not_wait(ATTACK, &swarms[i], "");
}

static void with_autogroups(void)
{
	unsigned int i;

	put(AUTOGROUPS, "1");
	for (i = 0; i < ARRAY_SIZE(swarms) - 1; i++)
		root_does_not_wait(ATTACK, &swarms[i], " with autogroups");
	put(AUTOGROUPS, "0");
}

static void with_groups(void)
{
	unsigned int i;

	need_groups();
	for (i = 0; i < ARRAY_SIZE(swarms); i++)
		a_group_among_two(&swarms[i]);
	for (i = 0; i < ARRAY_SIZE(swarms); i++)
		root_does_not_wait(INSIDE, &swarms[i], " in a group");
}

int main(void)
{
	cpus = online_cpus();
	ksft_print_header();
	need_groups();
	if (!group_put("", "cgroup.subtree_control", "-cpu"))
		ksft_exit_skip("groups have the CPU controller: %s\n", strerror(errno));
	put(AUTOGROUPS, "0");
	ksft_set_plan(ARRAY_SIZE(attacks) + 4 * ARRAY_SIZE(swarms) - 2);
	be_supervisor_of_groups();
	as_many_sessions_as_ever();
	without_groups();
	with_autogroups();
	with_groups();
	ksft_finished();
}
