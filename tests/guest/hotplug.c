// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs go offline and come back under load: no task is lost or stuck, be it
 * free, bound to the CPU that goes, running or asleep, and work is conserved on
 * the CPUs that are left.
 */
#include "guest.h"

/*
 * Tasks for so many CPUs, on a larger machine too, where a round takes seconds: the
 * CPUs that go are among them
 */
#define BUSY_CPUS	16

struct worker {
	volatile uint64_t turns;
	uint64_t sleeps;
	char pad[48];
};

static void work(void *arg)
{
	struct worker *me = arg;
	int i;

	be_normal();
	for (;;) {
		me->turns++;
		if (me->sleeps)
			sleep_ns(300000);
		else
			for (i = 0; i < 1000; i++)
				__asm__ volatile("");
	}
}

/* Children that live for a moment, all the time */
static void forker(void *arg)
{
	struct worker *me = arg;
	pid_t pid;

	be_normal();
	for (;;) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		me->turns++;
	}
}

/* What the kernel tells of a task that does not get on */
static void describe(pid_t pid, int number)
{
	static const char * const kinds[] = {
		"works", "sleeps", "bound, works", "bound, sleeps",
	};

	ksft_print_msg("no turn for 2 s: task %d (%s), pid %d\n", number,
		       number == 2 ? "forks" : kinds[number % 4], pid);
	print_proc(pid, "sched");
}

/*
 * How many of the workers do not get on within two seconds? One that uses the CPU does: an
 * emulator of 64 CPUs may leave hardly an instruction to one of them beside its ticks.
 */
static int count_stuck(struct worker *workers, const pid_t *pids, int n)
{
	uint64_t turns, used;
	int i, ms, stuck = 0;

	for (i = 0; i < n; i++) {
		turns = workers[i].turns;
		used = cpu_time_of(pids[i]);
		for (ms = 0; ms < 2000 && workers[i].turns == turns; ms++)
			sleep_ns(MSEC);
		if (workers[i].turns == turns && cpu_time_of(pids[i]) == used) {
			describe(pids[i], i);
			stuck++;
		}
	}
	return stuck;
}

/* Time that each CPU has been idle, in ticks of 10 ms */
static void idle_ticks(unsigned long *ticks)
{
	unsigned long idle, iowait;
	FILE *file = fopen("/proc/stat", "r");
	char line[256];
	int cpu;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "cpu%d %*u %*u %*u %lu %lu", &cpu, &idle, &iowait) == 3 &&
		    cpu < MAX_CPUS)
			ticks[cpu] = idle + iowait;
	}
	if (file)
		fclose(file);
}

/*
 * As many hogs as CPUs use all of them: no CPU is forgotten after the domains
 * were rebuilt. Returns for how much of a second the idlest CPU was idle, in
 * percent: what a busy host does to the guest does not count as idle.
 */
static unsigned int idle_beside_hogs(int cpus)
{
	unsigned long before[MAX_CPUS] = {}, after[MAX_CPUS] = {}, idle, most = 0;
	pid_t pids[MAX_CPUS];
	int i;

	sleep_ns(200 * MSEC);
	for (i = 0; i < cpus; i++)
		pids[i] = spawn(normal_hog, NULL);
	sleep_ns(100 * MSEC);
	idle_ticks(before);
	sleep_ns(SEC);
	idle_ticks(after);
	for (i = 0; i < cpus; i++) {
		idle = after[i] - before[i];
		if (idle > 5)
			ksft_print_msg("cpu%d is idle for %lu0 ms\n", i, idle);
		if (idle > most)
			most = idle;
	}
	for (i = 0; i < cpus; i++)
		finish(pids[i]);
	return most;
}

int main(void)
{
	int cpus = online_cpus(), n = 4 * (cpus > BUSY_CPUS ? BUSY_CPUS : cpus);
	int rounds = cpus > BUSY_CPUS ? 4 : 10, round, i, err;
	int failed = 0, stuck = 0, left = 0;
	struct worker *workers;
	unsigned int percent;
	pid_t pids[4 * BUSY_CPUS];

	ksft_print_header();
	if (cpus < 2)
		ksft_exit_skip("one CPU only\n");
	ksft_set_plan(4);
	be_supervisor();
	workers = shared(n * sizeof(*workers));
	for (i = 0; i < n; i++) {
		workers[i].sleeps = i & 1;
		pids[i] = spawn(i == 2 ? forker : work, &workers[i]);
		/* a running and a sleeping one of each four are bound */
		if (i % 4 >= 2 && i != 2)
			pin(pids[i], i / 4 % cpus);
	}
	for (round = 0; round < rounds; round++) {
		int cpu = 1 + round % (cpus - 1);
		int other = 1 + (round + 1) % (cpus - 1);

		err = set_online(cpu, false);
		if (err)
			ksft_print_msg("cpu%d offline: %s\n", cpu, strerror(err));
		failed += !!err;
		if (other != cpu && round % 2)
			failed += !!set_online(other, false);
		left = online_cpus();
		stuck += count_stuck(workers, pids, n);
		failed += !!set_online(cpu, true);
		if (other != cpu && round % 2)
			failed += !!set_online(other, true);
		stuck += count_stuck(workers, pids, n);
	}
	ksft_test_result(!failed, "CPUs go and come %d times (%d failures)\n",
			 rounds, failed);
	ksft_test_result(!stuck, "no task is stuck (%d are)\n", stuck);
	ksft_test_result(online_cpus() == cpus && left < cpus,
			 "all %d CPUs are back\n", cpus);
	for (i = 0; i < n; i++)
		finish(pids[i]);
	percent = idle_beside_hogs(cpus);
	ksft_test_result(percent <= 5,
			 "and none of them idles beside hogs (%u%%)\n", percent);
	ksft_finished();
}
