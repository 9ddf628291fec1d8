// SPDX-License-Identifier: GPL-2.0-only
/*
 * Storms over all that runs in a guest beside this program: each is a process that changes
 * something again and again, by a chance of its own. Whoever has a normal policy and is in
 * this session may be hit. In the end all is as it was; that is checked.
 *
 * Usage: storms SEED SECONDS STORM...
 *        storms --list
 */
#include <dirent.h>
#include <sys/ptrace.h>

#include "../guest/changes.h"

#define POWER		"/sys/power/"
#define BOMB		"bomb"

#define VICTIMS		1024
/* So far behind a task's number its threads are looked for */
#define THREADS		16
/* So many are drawn before it is looked again who is there */
#define DRAWS		16
#define YIELDERS	(2 * cpus)
/* What a storm may take for its last turn: a suspend waits for 20 s for tasks to freeze */
#define PATIENCE	(40 * SEC)

/* --- who is hit ---------------------------------------------------------- */

static bool is_normal(pid_t pid)
{
	int policy = sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK;

	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE || policy == SCHED_ISO;
}

static bool is_ours(pid_t pid)
{
	return getsid(pid) == getsid(0) && is_normal(pid);
}

/* The numbers in a directory of /proc that are tasks of this session with a normal policy */
static int tasks_in(const char *path, pid_t *tasks, int room)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0;
	pid_t pid;

	while (dir && n < room && (entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (pid > 0 && is_ours(pid))
			tasks[n++] = pid;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* A task, or this one if there is no other */
static pid_t somebody(void)
{
	static pid_t victims[VICTIMS];
	static int n, draws;
	pid_t pid;

	if (!n || !draws--) {
		n = tasks_in("/proc", victims, VICTIMS);
		draws = DRAWS;
	}
	pid = n ? victims[rand() % n] : getpid();
	/*
	 * One of its threads, perhaps: they have the next numbers. Who opens /proc/PID of a
	 * task that ends goes round in d_walk() until another one has let its dentry go, for
	 * ever if that is a normal task, and we are a real-time one with the only CPU.
	 */
	if (!(rand() % 4) && is_ours(pid + 1))
		pid += 1 + rand() % THREADS;
	/* since then it may have become a real-time task or a bomb, which are none of ours */
	if (!is_ours(pid))
		pid = getpid();
	errno = 0;
	return pid;
}

/* --- storms: a turn is done, or is refused for a reason ------------------ */

static int hotplug(void)
{
	static bool away[MAX_CPUS];
	int cpu = 1 + rand() % (cpus > 1 ? cpus - 1 : 1), err;

	if (cpus < 2)
		return 0;
	err = set_online(cpu, away[cpu]);
	if (!err)
		away[cpu] = !away[cpu];
	return err;
}

static int live_switch(void)
{
	return put(ACTIVE, under_vrq() ? "fair" : "vrq") ? 0 : errno;
}

/*
 * Not for longer: under fair who is in such a group beside others has 3 parts of the CPU
 * where these have 1024 each, also within an RCU read-side critical section, for which hotplug,
 * suspend and the next switch then wait for a minute.
 */
static void be_idle_for_a_while(void)
{
	char name[GROUP_NAME];

	group_name(name, rand() % GROUPS);
	group_put(name, "cpu.idle", "1");
	sleep_ns((1 + rand() % 20) * MSEC);
	group_put(name, "cpu.idle", "0");
}

static int groups(void)
{
	static void (*const changes[])(void) = {
		move_somebody, move_somebody, change_weight, change_limit, be_idle_for_a_while, make_and_remove,
	};

	changes[rand() % ARRAY_SIZE(changes)]();
	return 0;
}

static int affinity(void)
{
	errno = 0;
	change_affinity();
	return errno;
}

static int policy(void)
{
	errno = 0;
	change_policy();
	return errno;
}

static int nice_level(void)
{
	pid_t pid = somebody();

	return setpriority(PRIO_PROCESS, pid, rand() % 40 - 20) ? errno : 0;
}

static int set_for_a_while(pid_t pid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority }, normal = {};

	if (pid == getpid())
		return ESRCH;
	if (sched_setscheduler(pid, policy, &param))
		return errno;
	sleep_ns((1 + rand() % 10) * MSEC);
	/* or it has ended */
	sched_setscheduler(pid, SCHED_OTHER, &normal);
	return 0;
}

static int iso(void)
{
	pid_t pid = somebody();
	struct sched_param none = {};

	if (rand() % 2)
		return set_for_a_while(pid, SCHED_ISO, 0);
	/* what it has is its children's too */
	return pid != getpid() && sched_setscheduler(pid, SCHED_ISO, &none) ? errno : 0;
}

static int real_time(void)
{
	int policy = rand() % 2 ? SCHED_FIFO : SCHED_RR;

	return set_for_a_while(somebody(), policy | SCHED_RESET_ON_FORK, 1 + rand() % 40);
}

/* A part of a CPU, up to a tenth; refused to a task that may not use all CPUs */
static int deadline(void)
{
	struct attributes attr = { .size = sizeof(attr), .policy = 6, .flags = 1 /* reset on fork */ };
	struct sched_param normal = {};
	pid_t pid = somebody();

	attr.runtime = (1 + rand() % 20) * MSEC / 10;
	attr.deadline = 20 * MSEC;
	attr.period = 20 * MSEC;
	if (pid == getpid() || syscall(SYS_sched_setattr, pid, &attr, 0))
		return errno ?: ESRCH;
	sleep_ns((1 + rand() % 50) * MSEC);
	sched_setscheduler(pid, SCHED_OTHER, &normal);
	return 0;
}

static void yield(void *arg)
{
	uint64_t i;

	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 1;; i++) {
		sched_yield();
		if (!(i % 256))
			sleep_ns(rand() % 3 * MSEC);
	}
}

/* Some that do nothing but yield; the oldest is replaced */
static int yielders(void)
{
	static pid_t pids[2 * MAX_CPUS];
	static int turn;
	pid_t *pid = &pids[turn++ % YIELDERS];

	if (*pid)
		finish(*pid);
	*pid = spawn(yield, NULL);
	return 0;
}

/*
 * Fork for ever; the first children do it too. In a session of its own: another storm that
 * moved one out of the group would take it from under the limit.
 */
static void explode(void *arg)
{
	(void)arg;
	setsid();
	if (!move_to(BOMB, getpid()))
		return;
	for (;;)
		if (fork() < 0)
			use_ns(MSEC / 10);
}

static long long told_of_bomb(const char *file, const char *key)
{
	return group_number(BOMB, file, key);
}

/*
 * Until the limit is reached, and for a while; then they are killed, all at once. Those that
 * nobody has waited for count against the limit too, so all of them become our children.
 */
static int bomb(void)
{
	long long before = told_of_bomb("pids.events", "max");
	uint64_t end;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* with KASAN and lockdep a fork takes 10 ms and more */
	group_put_number(BOMB, "pids.max", 20 + rand() % 80);
	/* not spawn_in(): who is cloned into a group after cgroup.kill, 6.12 kills as well */
	spawn(explode, NULL);
	for (end = now_ns() + 10 * SEC; now_ns() < end && told_of_bomb("pids.events", "max") == before; )
		sleep_ns(10 * MSEC);
	sleep_ns(rand() % 20 * MSEC);
	if (!group_put(BOMB, "cgroup.kill", "1"))
		return errno;
	while (waitpid(-1, NULL, 0) > 0)
		;
	return told_of_bomb("pids.events", "max") == before ? EAGAIN : 0;
}

static int freezer(void)
{
	char name[GROUP_NAME];
	int i;

	for (i = 0; i < 3; i++)
		move_somebody();
	group_name(name, rand() % GROUPS);
	if (!group_put(name, "cgroup.freeze", "1"))
		return errno;
	sleep_ns(rand() % 50 * MSEC);
	return group_put(name, "cgroup.freeze", "0") ? 0 : errno;
}

/* To a level of pm_test and back: the machine cannot be woken, see tests/suspend/init.c */
static int suspend(void)
{
	static const char * const levels[] = { "freezer", "devices", "platform", "processors", "core" };

	if (!put(POWER "pm_test", levels[rand() % ARRAY_SIZE(levels)]) || !put(POWER "state", "mem"))
		return errno;
	return 0;
}

/* A step over a system call that sleeps takes as long as that does, unless it is interrupted */
static pid_t await_stop(pid_t pid, int *status)
{
	pid_t found;
	int ms;

	for (ms = 0; ms < 200; ms++) {
		found = waitpid(pid, status, __WALL | WNOHANG);
		if (found)
			return found;
		sleep_ns(MSEC);
	}
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	return waitpid(pid, status, __WALL);
}

/* Wait for what a tracee does next: the signal to go on with, or -1 if it has ended */
static int next_stop(pid_t pid, bool *stepped)
{
	int status;

	if (await_stop(pid, &status) != pid || !WIFSTOPPED(status))
		return -1;
	*stepped = status >> 8 == SIGTRAP;
	return *stepped || status >> 16 ? 0 : WSTOPSIG(status);
}

/*
 * Stop somebody, let him take some steps, one instruction each, and let him go; but not while
 * the signal of the last step is on its way to him, of which he would die
 */
static int trace(void)
{
	int steps = rand() % 10, signal;
	pid_t pid = somebody();
	bool stepped;

	if (pid == getpid())
		return ESRCH;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return errno;
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		return errno;
	signal = next_stop(pid, &stepped);
	stepped = true;
	for (; signal >= 0 && (steps > 0 || !stepped); steps--) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (long)signal))
			break;
		signal = next_stop(pid, &stepped);
	}
	if (signal >= 0)
		ptrace(PTRACE_DETACH, pid, NULL, (long)signal);
	return 0;
}

static const struct storm {
	const char *name;
	int (*turn)(void);
	unsigned int ms;	/* between two turns; by chance up to that, if some */
	bool some;
} storms[] = {
	{ "hotplug", hotplug, 100, false },
	{ "switch", live_switch, 100, true },
	{ "groups", groups, 4, true },
	{ "affinity", affinity, 10, true },
	{ "policy", policy, 20, true },
	{ "nice", nice_level, 10, true },
	{ "iso", iso, 20, true },
	{ "realtime", real_time, 50, true },
	{ "deadline", deadline, 50, true },
	{ "yield", yielders, 100, true },
	{ "bombs", bomb, 400, true },
	{ "freezer", freezer, 50, true },
	{ "suspend", suspend, 3000, true },
	{ "ptrace", trace, 20, true },
};

/* --- all of them --------------------------------------------------------- */

struct weather {
	const struct storm *storm;
	uint64_t turns, refused;
	int reason;	/* of the last one that was refused */
	pid_t pid;
};

/*
 * One of @n storms. They are real-time tasks, and there may be but one CPU online. So that
 * all of them together leave half of it to others, even where a turn takes long, each rests
 * for so long after one.
 */
static void rage(struct weather *me, uint64_t end, int n)
{
	const struct storm *storm = me->storm;
	uint64_t pause, rest = 0, begun;
	int err;

	while (now_ns() < end) {
		pause = (storm->some ? 1 + rand() % storm->ms : storm->ms) * MSEC;
		sleep_ns(pause > rest ? pause : rest);
		begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		err = storm->turn();
		rest = 2 * n * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun);
		me->turns++;
		if (err) {
			me->refused++;
			me->reason = err;
		}
	}
	_exit(0);
}

static const struct storm *storm_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(storms); i++)
		if (!strcmp(storms[i].name, name))
			return &storms[i];
	ksft_exit_fail_msg("no storm named %s\n", name);
}

/* A group that a storm froze while it was killed would be so for ever */
static void thaw_groups(void)
{
	char name[GROUP_NAME];
	int i;

	for (i = 0; i < GROUPS; i++) {
		group_name(name, i);
		group_put(name, "cgroup.freeze", "0");
	}
}

/* What a task says of itself, where it comes to no end */
static void describe(pid_t pid)
{
	static const char * const files[] = { "stat", "wchan", "stack", "sched" };
	char path[64], line[256];
	unsigned int i;
	FILE *file;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			ksft_print_msg("%s: %s\n", files[i], strtok(line, "\n"));
		if (file)
			fclose(file);
	}
}

/* By itself, and not because something failed */
static bool has_ended(struct weather *storm, uint64_t end)
{
	int status;

	while (waitpid(storm->pid, &status, WNOHANG) != storm->pid) {
		if (now_ns() > end) {
			describe(storm->pid);
			kill(storm->pid, SIGKILL);
			return false;
		}
		sleep_ns(10 * MSEC);
	}
	if (status)
		ksft_print_msg("%s: status %#x\n", storm->storm->name, status);
	return !status;
}

/* A new child has what its parent had: it takes some passes until all are normal */
static void calm_down(void)
{
	static pid_t tasks[VICTIMS], threads[VICTIMS];
	int pass, i, j, n, found;
	char path[64];

	for (i = 1; i < cpus; i++)
		set_online(i, true);
	groups_as_made();
	for (pass = 0; pass < 5; pass++) {
		n = tasks_in("/proc", tasks, VICTIMS);
		for (i = 0; i < n; i++) {
			settle_in("", tasks[i]);
			snprintf(path, sizeof(path), "/proc/%d/task", tasks[i]);
			found = tasks_in(path, threads, VICTIMS);
			for (j = 0; j < found; j++)
				settle_in("", threads[j]);
		}
		sleep_ns(50 * MSEC);
	}
}

int main(int argc, char **argv)
{
	bool vrq = under_vrq(), good;
	char name[GROUP_NAME];
	struct weather *all;
	uint64_t end;
	pid_t pid;
	int n, i;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (i = 0; i < (int)ARRAY_SIZE(storms); i++)
			puts(storms[i].name);
		return 0;
	}
	if (argc < 3)
		ksft_exit_fail_msg("storms SEED SECONDS STORM...\n");
	n = argc - 3;
	cpus = online_cpus();
	ksft_print_header();
	need_groups();
	ksft_set_plan(n + 2);
	/* The storms are real-time tasks from the first moment on, so that none hits another */
	set_policy(0, SCHED_FIFO, 60);
	/* what a bomb leaves behind is not init's */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	group_put("", "cgroup.subtree_control", "+pids");
	put("/sys/module/suspend/parameters/pm_test_delay", "0");
	for (i = 0; i < GROUPS; i++) {
		group_name(name, i);
		make_group(name);
	}
	make_group(BOMB);
	all = shared((n + 1) * sizeof(*all));
	end = now_ns() + strtoul(argv[2], NULL, 10) * SEC;
	for (i = 0; i < n; i++) {
		all[i].storm = storm_named(argv[3 + i]);
		pid = fork();
		if (pid < 0)
			ksft_exit_fail_msg("fork: %s\n", strerror(errno));
		if (pid) {
			all[i].pid = pid;
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		set_policy(0, SCHED_FIFO | SCHED_RESET_ON_FORK, 50);
		srand(strtoul(argv[1], NULL, 10) * 1009 + (all[i].storm - storms));
		rage(&all[i], end, n);
	}
	sleep_until(end);
	for (i = 0; i < n; i++) {
		thaw_groups();
		good = has_ended(&all[i], end + PATIENCE) && all[i].turns > all[i].refused;
		ksft_test_result(good, "%s: %llu turns, %llu refused%s%s\n", all[i].storm->name,
				 (unsigned long long)all[i].turns, (unsigned long long)all[i].refused,
				 all[i].reason ? ", the last one: " : "",
				 all[i].reason ? strerror(all[i].reason) : "");
	}
	group_put(BOMB, "cgroup.kill", "1");
	thaw_groups();
	good = put(ACTIVE, vrq ? "vrq" : "fair") || errno == ENOENT;
	calm_down();
	ksft_test_result(good && under_vrq() == vrq && online_cpus() == cpus,
			 "the scheduler is the one it was, and all CPUs are there\n");
	ksft_test_result(remove_groups() & drop_group(BOMB), "groups are gone\n");
	/* children that ended meanwhile are not waited for: this is their end too */
	ksft_finished();
}
