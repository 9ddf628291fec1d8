// SPDX-License-Identifier: GPL-2.0-only
/*
 * How near groups come to the parts of the machine that their weights promise, and to
 * their limits of CPU bandwidth. Groups are cgroups of version 2 below the root, which
 * is mounted if it is not, and removed at the end; in them are CPU hogs, which all begin
 * at once. A deviation is in percent of what the group should have had.
 *
 * A group's part is one of the machine: what a group leaves because it has too few
 * tasks is shared out among the others by their weights.
 */
#include <linux/magic.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "bench.h"

const char usage[] = "[weights|tasks|leaves|limits|nested|refill]...; all without one";

#define CGROUP		"/sys/fs/cgroup"
#define GROUP_NAME	64	/* room for a group's name: its path below the root */
#define GROUP_PATH	128	/* and for the path of one of its files */
#define CREWS		12
#define CREW		1024
#define PERIOD		(100 * MSEC)	/* of a limit */
#define PERIODS		10
#define SETTLED		(300 * MSEC)	/* by then it has been stopped more than once */
#define QUIET		(95 * MSEC)	/* so late in a period all quota is used up */

/* Processes in a group */
struct crew {
	char group[GROUP_NAME];
	int count;
	uint64_t used;
	pid_t pids[CREW];
};

static struct crew crews[CREWS];
static int nr_crews, cpus;
static _Atomic uint32_t *ready, *go;

static void group_path(char *path, const char *group, const char *file)
{
	snprintf(path, GROUP_PATH, "%s/%s/%s", CGROUP, group, file);
}

/* Write a file of a group */
static void set(const char *group, const char *file, const char *text)
{
	char path[GROUP_PATH];
	int fd;

	group_path(path, group, file);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail("%s to %s: %s", text, path, strerror(errno));
	close(fd);
}

static void set_weight(const char *group, int weight)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", weight);
	set(group, "cpu.weight", text);
}

static void set_limit(const char *group, int quota_ms)
{
	char text[32];

	snprintf(text, sizeof(text), "%d %llu", quota_ms * 1000, PERIOD / USEC);
	set(group, "cpu.max", text);
}

static void mount_cgroups(void)
{
	struct statfs fs;

	if (statfs(CGROUP, &fs))
		die(CGROUP);
	if (fs.f_type != CGROUP2_SUPER_MAGIC && mount("none", CGROUP, "cgroup2", 0, NULL))
		die("mount of cgroup2");
	set("", "cgroup.subtree_control", "+cpu");
}

/* What is above a group in another has no processes, and the CPU controller for it */
static void make_group(const char *group)
{
	char path[GROUP_PATH], parent[GROUP_NAME], *slash;

	snprintf(parent, sizeof(parent), "%s", group);
	slash = strrchr(parent, '/');
	if (slash) {
		*slash = 0;
		set(parent, "cgroup.subtree_control", "+cpu");
	}
	group_path(path, group, "");
	if (mkdir(path, 0755) && errno != EEXIST)
		die(path);
}

/* A task that has ended may be in its group for a moment longer */
static void drop_group(const char *group)
{
	char path[GROUP_PATH];
	int ms;

	group_path(path, group, "");
	for (ms = 0; rmdir(path) && errno != ENOENT; ms++) {
		if (errno != EBUSY || ms == 500)
			die(path);
		sleep_ns(MSEC);
	}
}

/* As spawn(), in a group from the first instruction on, and it waits for begin() */
static pid_t spawn_in(const char *group, void (*run)(void))
{
	struct clone_args how = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	char path[GROUP_PATH];
	pid_t pid;
	int fd;

	group_path(path, group, "");
	fd = open(path, O_PATH | O_DIRECTORY);
	if (fd < 0)
		die(path);
	how.cgroup = fd;
	pid = syscall(SYS_clone3, &how, sizeof(how));
	if (pid < 0)
		die("clone3");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		atomic_fetch_add(ready, 1);
		while (!atomic_load(go))
			futex_wait(go, 0, 0);
		run();
	}
	close(fd);
	return pid;
}

static void hog(void)
{
	for (;;)
		work(1 << 20);
}

static void sleeper(void)
{
	uint64_t end;

	for (;;) {
		end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + MSEC;
		while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
			;
		sleep_ns(5 * MSEC);
	}
}

static void hire(struct crew *crew, int count, void (*run)(void))
{
	if (crew->count + count > CREW)
		fail("no room for %d CPUs", cpus);
	while (count--)
		crew->pids[crew->count++] = spawn_in(crew->group, run);
}

/* A group with so many hogs in it */
static struct crew *hire_hogs(const char *group, int count)
{
	struct crew *crew = crews + nr_crews++;

	snprintf(crew->group, sizeof(crew->group), "%s", group);
	crew->count = 0;
	make_group(group);
	hire(crew, count, hog);
	return crew;
}

static void begin(void)
{
	uint32_t all = 0;
	int i;

	for (i = 0; i < nr_crews; i++)
		all += crews[i].count;
	while (atomic_load(ready) < all) {
		if (waitpid(-1, NULL, WNOHANG))
			fail("a child has ended");
		sleep_ns(MSEC);
	}
	atomic_store(go, 1);
	futex_wake(go, INT_MAX);
}

/* All end before the first group is removed */
static void dismiss(void)
{
	struct crew *crew;
	int i;

	if (waitpid(-1, NULL, WNOHANG))
		fail("a child has ended");
	for (crew = crews; crew < crews + nr_crews; crew++)
		for (i = 0; i < crew->count; i++)
			kill(crew->pids[i], SIGKILL);
	for (crew = crews; crew < crews + nr_crews; crew++)
		for (i = 0; i < crew->count; i++)
			waitpid(crew->pids[i], NULL, 0);
	while (nr_crews)
		drop_group(crews[--nr_crews].group);
	atomic_store(ready, 0);
	atomic_store(go, 0);
}

static uint64_t cpu_time_of(const struct crew *crew)
{
	uint64_t sum = 0;
	clockid_t clock;
	int i;

	for (i = 0; i < crew->count; i++) {
		errno = clock_getcpuclockid(crew->pids[i], &clock);
		if (errno)
			die("clock_getcpuclockid");
		sum += clock_ns(clock);
	}
	return sum;
}

static void look(void)
{
	int i;

	for (i = 0; i < nr_crews; i++)
		crews[i].used = cpu_time_of(crews + i);
}

/* What each crew uses from now on, and all of them; to look takes as long each time */
static double use_until(uint64_t end)
{
	uint64_t before[CREWS];
	double sum = 0;
	int i;

	look();
	for (i = 0; i < nr_crews; i++)
		before[i] = crews[i].used;
	sleep_until(end);
	look();
	for (i = 0; i < nr_crews; i++) {
		crews[i].used -= before[i];
		sum += crews[i].used;
	}
	if (sum <= 0)
		fail("the hogs got no CPU time");
	return sum;
}

/* The same from the moment when they begin */
static double begin_and_use(uint64_t ns)
{
	uint64_t start = now_ns();

	begin();
	return use_until(start + ns);
}

/* By how much @got is off, in percent of @ideal; and the worst of several */
static double off(double got, double ideal)
{
	return 100 * (got > ideal ? got - ideal : ideal - got) / ideal;
}

static double worse(double a, double b)
{
	return a > b ? a : b;
}

/* As many hogs as CPUs each: the ratio after 2 s */
static void weights(void)
{
	struct crew *a = hire_hogs("a", cpus), *b = hire_hogs("b", cpus);

	set_weight("a", 300);
	set_weight("b", 100);
	begin_and_use(2 * SEC);
	row("weights-percent", off((double)a->used / b->used, 3));
	dismiss();
}

/* The part of @a, of weight 300, in what it and @b, of 100, used: none has more than its cap */
static double ideal_part(double sum, double cap_a, double cap_b)
{
	double part = sum * 300 / 400;

	if (part > cap_a)
		return cap_a;
	return sum - part > cap_b ? sum - cap_b : part;
}

static double unlike(int in_a, int in_b)
{
	struct crew *a = hire_hogs("a", in_a), *b = hire_hogs("b", in_b);
	double sum, part, worst, wall = 2 * SEC;
	char name[64];

	set_weight("a", 300);
	set_weight("b", 100);
	sum = begin_and_use(wall);
	part = ideal_part(sum, wall * (in_a < cpus ? in_a : cpus),
			  wall * (in_b < cpus ? in_b : cpus));
	worst = worse(off(a->used, part), off(b->used, sum - part));
	dismiss();
	snprintf(name, sizeof(name), "tasks-%d-%d-percent", in_a, in_b);
	row(name, worst);
	return worst;
}

static void tasks(void)
{
	double worst = unlike(1, 16);

	worst = worse(worst, unlike(3, 8));
	row("tasks-percent", worse(worst, unlike(20, 4)));
}

#define LEAVES	12

static const struct leaf {
	const char *group;
	int top, middle, weight;
	int hogs, sleepers;	/* hogs for four CPUs */
} leaf_table[LEAVES] = {
	{ "x/p/a", 100, 100, 100, 1, 2 },
	{ "x/p/b", 100, 100, 150, 2, 0 },
	{ "x/p/c", 100, 100, 120, 3, 2 },
	{ "x/q/a", 100, 100, 80, 1, 0 },
	{ "x/q/b", 100, 100, 100, 2, 2 },
	{ "x/q/c", 100, 100, 120, 3, 0 },
	{ "y/p/a", 150, 100, 100, 1, 2 },
	{ "y/p/b", 150, 100, 200, 2, 0 },
	{ "y/p/c", 150, 100, 150, 3, 2 },
	{ "y/q/a", 150, 150, 100, 1, 0 },
	{ "y/q/b", 150, 150, 90, 2, 2 },
	{ "y/q/c", 150, 150, 140, 3, 0 },
};

/* A leaf's part of the whole: its weight beside its like, on three levels */
static double leaf_part(int i)
{
	const struct leaf *leaf = leaf_table + i, *beside = leaf_table + i / 3 * 3;
	const struct leaf *half = leaf_table + i / 6 * 6;
	double part = leaf->weight;

	part /= beside[0].weight + beside[1].weight + beside[2].weight;
	part *= (double)leaf->middle / (half[0].middle + half[3].middle);
	return part * leaf->top / (leaf_table[0].top + leaf_table[6].top);
}

/* For each group that is named by so many letters of a leaf: for some more than once */
static void for_inner(int letters, void (*do_it)(const char *group))
{
	char group[GROUP_NAME];
	int i;

	for (i = 0; i < LEAVES; i++) {
		snprintf(group, sizeof(group), "%.*s", letters, leaf_table[i].group);
		do_it(group);
	}
}

/* Nice levels within a leaf are none of the others' business */
static void hire_leaf(const struct leaf *leaf)
{
	static const int nice_levels[] = { 0, 5, -5 };
	struct crew *crew = hire_hogs(leaf->group, leaf->hogs * ((cpus + 3) / 4));
	char group[GROUP_NAME];
	int i;

	snprintf(group, sizeof(group), "%.1s", leaf->group);
	set_weight(group, leaf->top);
	snprintf(group, sizeof(group), "%.3s", leaf->group);
	set_weight(group, leaf->middle);
	set_weight(leaf->group, leaf->weight);
	for (i = 0; i < crew->count; i++)
		if (setpriority(PRIO_PROCESS, crew->pids[i], nice_levels[i % 3]))
			die("setpriority");
	hire(crew, leaf->sleepers, sleeper);
}

static void leaves(void)
{
	double sum, worst = 0;
	int i;

	for_inner(1, make_group);
	for_inner(3, make_group);
	for (i = 0; i < LEAVES; i++)
		hire_leaf(leaf_table + i);
	sum = begin_and_use(5 * SEC);
	for (i = 0; i < LEAVES; i++)
		worst = worse(worst, off(crews[i].used, sum * leaf_part(i)));
	dismiss();
	for_inner(3, drop_group);
	for_inner(1, drop_group);
	row("leaves-percent", worst);
}

/* How many periods of a group have begun in which it was not idle */
static long periods_of(const char *group)
{
	char path[GROUP_PATH], line[128];
	long count = -1;
	FILE *file;

	group_path(path, group, "cpu.stat");
	file = fopen(path, "r");
	if (!file)
		die(path);
	while (count < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "nr_periods %ld", &count);
	fclose(file);
	return count;
}

/* Until a period has begun; by which time it has, to a ms if this gets a CPU in time */
static uint64_t await_period(const char *group)
{
	long count = periods_of(group);
	int ms;

	for (ms = 0; periods_of(group) == count; ms++) {
		if (ms == 500)
			fail("%s: no period begins", group);
		sleep_ns(MSEC);
	}
	return now_ns();
}

/*
 * When a period began: before that, by no more than it takes to look. It looks all the time
 * just before; await_period() may be late by some ms, for many CPUs that are busy leave it
 * little of the virtual time.
 */
static uint64_t period_begin(const char *group)
{
	uint64_t before, now = await_period(group);
	long count;

	sleep_until(now + PERIOD - 10 * MSEC);
	now = now_ns();
	count = periods_of(group);
	do {
		before = now;
		now = now_ns();
	} while (periods_of(group) == count);
	return before;
}

/* What the crews use in ten periods, from a moment on when all quota is used up */
static double use_in_periods(const char *group)
{
	uint64_t start;

	sleep_ns(SETTLED);
	start = period_begin(group) + QUIET;
	sleep_until(start);
	return use_until(start + PERIODS * PERIOD);
}

static double limited(int count, int quota_ms)
{
	int most = count < cpus ? count : cpus;

	if (quota_ms * MSEC > most * PERIOD)
		return 0;
	set_limit("limit", quota_ms);
	return off(use_in_periods("limit"), quota_ms * MSEC * PERIODS);
}

static double limits_of(int count)
{
	static const int quotas_ms[] = { 20, 50, 150, 350 };
	double worst = 0;
	char name[64];
	size_t i;

	hire_hogs("limit", count);
	begin();
	for (i = 0; i < sizeof(quotas_ms) / sizeof(*quotas_ms); i++)
		worst = worse(worst, limited(count, quotas_ms[i]));
	dismiss();
	snprintf(name, sizeof(name), "limits-%d-percent", count);
	row(name, worst);
	return worst;
}

static void limits(void)
{
	double worst = limits_of(1);

	worst = worse(worst, limits_of(4));
	row("limits-percent", worse(worst, limits_of(64)));
}

/* Two groups in one: limited by what is around them, and then one of them by itself */
static void nested(void)
{
	struct crew *a;
	double worst;

	make_group("limit");
	a = hire_hogs("limit/a", cpus);
	hire_hogs("limit/b", cpus);
	set_limit("limit", 50);
	set_limit("limit/a", 40);
	set_limit("limit/b", 40);
	begin();
	worst = off(use_in_periods("limit"), 50 * MSEC * PERIODS);
	set_limit("limit/a", 10);
	set("limit/b", "cpu.max", "max");
	worst = worse(worst, off(use_in_periods("limit"), 50 * MSEC * PERIODS));
	worst = worse(worst, off(a->used, 10 * MSEC * PERIODS));
	dismiss();
	drop_group("limit");
	row("nested-percent", worst);
}

/* When a hog was back on its CPU */
struct watch {
	_Atomic uint32_t count;
	uint64_t back[4 * PERIODS];
};

static struct watch *watched;

static void watch(void)
{
	uint64_t now, last;

	pin(nth_cpu(1));
	for (last = now_ns();; last = now) {
		now = now_ns();
		if (now - last < PERIOD / 2 || watched->count >= 4 * PERIODS)
			continue;
		watched->back[watched->count] = now;
		atomic_fetch_add(&watched->count, 1);
	}
}

/* It has a CPU of its own, which nobody else keeps it from */
static void refill(void)
{
	struct crew *crew;
	uint64_t wait, longest = 0, first;
	cpu_set_t all;
	uint32_t i;

	if (cpus < 2)
		return;
	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	watched = shared(sizeof(*watched));
	crew = hire_hogs("limit", 0);
	hire(crew, 1, watch);
	pin(nth_cpu(0));
	set_limit("limit", 20);
	begin();
	sleep_ns(SETTLED);
	first = period_begin("limit");
	i = watched->count;
	sleep_until(first + PERIODS * PERIOD + QUIET);
	if (watched->count < i + PERIODS / 2)
		fail("a limit of 20 ms does not stop a hog");
	for (; i < watched->count; i++) {
		wait = (watched->back[i] - first) % PERIOD;
		longest = wait > longest ? wait : longest;
	}
	dismiss();
	if (sched_setaffinity(0, sizeof(all), &all))
		die("sched_setaffinity");
	row("refill-wait-ms", (double)longest / MSEC);
}

static const struct part {
	const char *name;
	void (*measure)(void);
} parts[] = {
	{ "weights", weights },
	{ "tasks", tasks },
	{ "leaves", leaves },
	{ "limits", limits },
	{ "nested", nested },
	{ "refill", refill },
};

#define PARTS	(sizeof(parts) / sizeof(*parts))

static const struct part *part_of(const char *name)
{
	size_t i;

	for (i = 0; i < PARTS; i++)
		if (!strcmp(parts[i].name, name))
			return parts + i;
	bad_usage();
	return NULL;
}

/* What we start is normal: real-time tasks may not be in a group */
static void go_first(void)
{
	struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
		die("sched_setscheduler");
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 1; i < (size_t)argc; i++)
		part_of(argv[i]);
	cpus = cpu_count();
	ready = shared(2 * sizeof(*ready));
	go = ready + 1;
	mount_cgroups();
	no_timer_slack();
	go_first();
	for (i = 1; i < (size_t)argc; i++)
		part_of(argv[i])->measure();
	for (i = 0; argc == 1 && i < PARTS; i++)
		parts[i].measure();
	return 0;
}
