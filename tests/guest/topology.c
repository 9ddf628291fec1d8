// SPDX-License-Identifier: GPL-2.0-only
/*
 * On cores of several threads: who wakes up gets a core of its own while there
 * is one, and who shares one leaves it when another gets idle.
 */
#include "guest.h"

static struct shared_state {
	volatile bool busy[MAX_CPUS];
	volatile uint64_t wakeups, crowded;
} *state;

static int core_of[MAX_CPUS];
static int cpus;

/* The first thread of a CPU's core stands for it */
static int first_sibling(int cpu)
{
	char path[128];
	int first = cpu;
	FILE *file;

	sprintf(path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	file = fopen(path, "r");
	if (file && fscanf(file, "%d", &first) != 1)
		first = cpu;
	if (file)
		fclose(file);
	return first;
}

static int busy_on_core(int core, int but)
{
	int cpu, busy = 0;

	for (cpu = 0; cpu < cpus; cpu++)
		busy += core_of[cpu] == core && cpu != but && state->busy[cpu];
	return busy;
}

static bool some_core_is_idle(void)
{
	int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		if (core_of[cpu] == cpu && !busy_on_core(cpu, -1))
			return true;
	return false;
}

static void worker(void *arg)
{
	uint64_t end;
	int cpu;

	be_normal();
	for (;;) {
		/* each with a period of its own, so that they meet in all ways */
		sleep_ns((2000 + 170 * (uintptr_t)arg) * 1000);
		cpu = sched_getcpu();
		if (busy_on_core(core_of[cpu], cpu) && some_core_is_idle())
			__sync_fetch_and_add(&state->crowded, 1);
		__sync_fetch_and_add(&state->wakeups, 1);
		state->busy[cpu] = true;
		for (end = now_ns() + 2 * MSEC; now_ns() < end;)
			;
		state->busy[cpu] = false;
	}
}

/* Hogs on all threads of the first cores, as many as there are cores */
static void start_crowded(pid_t *pids, int cores)
{
	int core, cpu, n = 0;

	for (core = 0; core < cpus; core++)
		for (cpu = core; cpu < cpus && core_of[core] == core && n < cores; cpu++) {
			if (core_of[cpu] != core)
				continue;
			pids[n] = spawn(normal_hog, NULL);
			pin(pids[n++], cpu);
		}
}

static int cores_in_use(const pid_t *pids, int n)
{
	bool used[MAX_CPUS] = {};
	int i, cores = 0;

	for (i = 0; i < n; i++) {
		long long cpu;

		/* that it was on last */
		if (!stat_field(pids[i], 39, &cpu) || cpu < 0 || cpu >= cpus)
			ksft_exit_fail_msg("no CPU in stat\n");
		cores += !used[core_of[cpu]];
		used[core_of[cpu]] = true;
	}
	return cores;
}

static void spread(int cores)
{
	pid_t pids[MAX_CPUS];
	int before, after, i;

	start_crowded(pids, cores);
	sleep_ns(100 * MSEC);
	before = cores_in_use(pids, cores);
	for (i = 0; i < cores; i++)
		confine(pids[i], ~0ULL);
	sleep_ns(200 * MSEC);
	after = cores_in_use(pids, cores);
	finish_all(pids, cores);
	ksft_test_result(before < cores && after == cores,
			 "%d hogs that share %d cores have one each, of %d, within 200 ms (%d)\n",
			 cores, before, cores, after);
}

int main(void)
{
	int cpu, cores = 0, i;
	pid_t pids[MAX_CPUS];

	ksft_print_header();
	cpus = online_cpus();
	state = shared(sizeof(*state));
	for (cpu = 0; cpu < cpus; cpu++) {
		core_of[cpu] = first_sibling(cpu);
		cores += core_of[cpu] == cpu;
	}
	if (cores == cpus || cores < 2 || cpus > 64)
		ksft_exit_skip("%d CPUs, %d cores\n", cpus, cores);
	ksft_set_plan(2);
	be_supervisor();
	for (i = 0; i < cores; i++)
		pids[i] = spawn(worker, (void *)(uintptr_t)i);
	sleep_ns(3 * SEC);
	for (i = 0; i < cores; i++)
		finish(pids[i]);
	ksft_test_result(state->wakeups > 300 && state->crowded < state->wakeups / 10,
			 "idle cores come before idle threads of busy ones (%llu of %llu wake-ups did not)\n",
			 (unsigned long long)state->crowded,
			 (unsigned long long)state->wakeups);
	spread(cores);
	ksft_finished();
}
