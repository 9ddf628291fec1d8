// SPDX-License-Identifier: GPL-2.0-only
/*
 * A storm of changes to groups: they are made and removed, tasks are moved between them,
 * weights, limits and cpu.idle are written, affinities and policies changed and CPUs taken
 * away, all at the same time. Afterwards nobody is lost, and shares are what they should
 * be. And of many groups that come and go nothing is left.
 */
#include "changes.h"

#define WORKERS		24
#define STORM_NS	(6 * SEC)
/* How many groups come and go, and what memory may be lost meanwhile: 100 bytes of each */
#define PASSING		10000
#define LEAK_KIB	1000

struct worker {
	uint64_t count;
	volatile pid_t child;
	char pad[52];
};

static struct worker *workers;
static pid_t pids[WORKERS];

static pid_t somebody(void)
{
	return pids[rand() % WORKERS];
}

static void spin(void *arg)
{
	struct worker *worker = arg;

	for (;;)
		++*(volatile uint64_t *)&worker->count;
}

static void nap(void *arg)
{
	struct worker *worker = arg;

	for (;;) {
		use_ns(MSEC / 5);
		++*(volatile uint64_t *)&worker->count;
		sleep_ns(rand() % 3 * MSEC / 2);
	}
}

/* A child for each turn: fork, exec's sibling, and exit in groups that come and go */
static void breed(void *arg)
{
	struct worker *worker = arg;
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid) {
			use_ns(MSEC / 2);
			_exit(0);
		}
		worker->child = pid;
		if (pid > 0)
			waitpid(pid, NULL, 0);
		++*(volatile uint64_t *)&worker->count;
	}
}

static void start_workers(void)
{
	static void (*const kinds[])(void *) = { spin, nap, breed, nap };
	char name[GROUP_NAME];
	int i;

	for (i = 0; i < WORKERS; i++) {
		leaf_name(name);
		pids[i] = spawn_in(name, kinds[i % 4], &workers[i]);
	}
	start_all(pids, WORKERS);
}

static void take_cpu_away(void)
{
	int cpu = 1 + rand() % (cpus > 1 ? cpus - 1 : 1);

	if (cpus < 2 || rand() % 8)
		return;
	set_online(cpu, false);
	sleep_ns(5 * MSEC);
	set_online(cpu, true);
}

static void change_idle(void)
{
	char name[GROUP_NAME];

	group_name(name, rand() % GROUPS);
	group_put(name, "cpu.idle", rand() % 3 ? "0" : "1");
}

static void storm(void)
{
	static void (*const changes[])(void) = {
		move_somebody, change_weight, change_limit, change_idle, change_affinity,
		change_policy, make_and_remove, take_cpu_away,
	};
	uint64_t end = now_ns() + STORM_NS;

	while (now_ns() < end) {
		changes[rand() % 8]();
		if (!(rand() % 4))
			sleep_ns(MSEC);
	}
}

/*
 * All are in two groups of the same weight without a limit. The child of one that breeds may
 * still be SCHED_IDLE and bound to a CPU, in a group with a limit: its parent, who waits
 * for it, would do nothing for seconds. The next one has what its parent has.
 */
static void calm_down(void)
{
	char name[GROUP_NAME];
	int i;

	groups_as_made();
	for (i = 0; i < WORKERS; i++) {
		group_name(name, i % 2 ? 1 : 3);
		if (!settle_in(name, pids[i]))
			ksft_print_msg("move to %s: %s\n", name, strerror(errno));
	}
	/* Those that were being forked are there by now */
	sleep_ns(100 * MSEC);
	for (i = 0; i < WORKERS; i++) {
		group_name(name, i % 2 ? 1 : 3);
		if (workers[i].child > 0)
			settle_in(name, workers[i].child);
	}
}

/* Where a task is, and when its turn comes */
static void describe(pid_t pid)
{
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/sched", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "vrq") || strstr(line, "threads"))
			ksft_print_msg("%d: %s", pid, line);
	if (file)
		fclose(file);
}

static int lost_workers(void)
{
	uint64_t before[WORKERS];
	int i, lost = 0;

	for (i = 0; i < WORKERS; i++)
		before[i] = workers[i].count;
	sleep_ns(3 * SEC);
	for (i = 0; i < WORKERS; i++) {
		if (workers[i].count != before[i])
			continue;
		describe(pids[i]);
		lost++;
	}
	return lost;
}

/* Each group has a part for each CPU */
static long long percpu_kib(void)
{
	return number_after("/proc/meminfo", "Percpu:") + number_after("/proc/meminfo", "SUnreclaim:");
}

/* Two groups of hogs, one with twice the weight, after all that */
static void shares_afterwards(void)
{
	uint64_t used[2] = {}, before[2];
	pid_t hogs[2][MAX_CPUS];
	int i;

	make_group("a");
	make_group("b");
	group_put_number("a", "cpu.weight", 200);
	for (i = 0; i < cpus; i++) {
		hogs[0][i] = spawn_in("a", spin, &workers[0]);
		hogs[1][i] = spawn_in("b", spin, &workers[1]);
	}
	start_all(hogs[0], cpus);
	start_all(hogs[1], cpus);
	sleep_ns(SEC);
	for (i = 0; i < 2; i++)
		before[i] = time_of_all(hogs[i], cpus);
	sleep_ns(2 * SEC);
	for (i = 0; i < 2; i++) {
		used[i] = time_of_all(hogs[i], cpus) - before[i];
		finish_all(hogs[i], cpus);
	}
	drop_group("a");
	drop_group("b");
	timed_result(used[1] && used[0] * 100 / used[1] >= 180 && used[0] * 100 / used[1] <= 220,
		     "twice the weight is %llu percent afterwards\n",
		     (unsigned long long)(used[1] ? used[0] * 100 / used[1] : 0));
}

/*
 * What so many groups cost that have come and gone, KiB: nothing. Each has a weight, a
 * limit and a task for a moment. Their memory is freed some time after they are removed.
 */
static void leaks(void)
{
	pid_t pid = spawn_in("", nap, &workers[0]);
	long long before = 0, lost = 0;
	char name[GROUP_NAME];
	int i, ms;

	start_all(&pid, 1);
	for (i = 0; i < PASSING; i++) {
		if (i == PASSING / 10)
			before = percpu_kib();
		snprintf(name, sizeof(name), "p%d", i % 4);
		make_group(name);
		group_put_number(name, "cpu.weight", 1 + i % 1000);
		group_put(name, "cpu.max", "50000 100000");
		if (!move_to(name, pid) || !move_to("", pid) || !drop_group(name))
			break;
	}
	finish(pid);
	for (ms = 0; ms < 5000; ms += 100) {
		lost = percpu_kib() - before;
		if (lost <= LEAK_KIB)
			break;
		sleep_ns(100 * MSEC);
	}
	ksft_test_result(i == PASSING && lost <= LEAK_KIB,
			 "%d of %d groups came and went, %lld KiB are lost\n", i, PASSING, lost);
}

int main(void)
{
	char name[GROUP_NAME];
	int i, lost;

	cpus = online_cpus();
	ksft_print_header();
	need_groups();
	ksft_set_plan(3);
	be_supervisor_of_groups();
	workers = shared(WORKERS * sizeof(*workers));
	srand(1);
	for (i = 0; i < GROUPS; i++) {
		group_name(name, i);
		make_group(name);
	}
	start_workers();
	storm();
	calm_down();
	lost = lost_workers();
	finish_all(pids, WORKERS);
	remove_groups();
	ksft_test_result(!lost, "nobody is lost in a storm of changes to groups (%d of %d)\n", lost,
			 WORKERS);
	shares_afterwards();
	leaks();
	ksft_finished();
}
