// SPDX-License-Identifier: GPL-2.0-only
/*
 * On cores of several threads: who wakes up gets a core of its own while there
 * is one, and who shares one leaves it when another gets idle.
 */
#include "guest.h"

static struct shared_state {
	volatile bool busy[MAX_CPUS];
	volatile uint64_t wakeups, crowded;
	volatile int cpu[MAX_CPUS];	/* of each hog */
	volatile int hogs, cores;	/* how many there are, and in use */
	volatile uint64_t until;
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

static int cores_in_use(void)
{
	bool used[MAX_CPUS] = {};
	int i, core, cores = 0;

	for (i = 0; i < state->hogs; i++) {
		core = core_of[state->cpu[i]];
		cores += !used[core];
		used[core] = true;
	}
	return cores;
}

/*
 * Tells where it is, and the first one how many cores are in use: whoever woke up to look
 * would take a CPU from one of them
 */
static void telling_hog(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	be_normal();
	for (;;) {
		state->cpu[me] = sched_getcpu();
		if (!me && now_ns() < state->until)
			state->cores = cores_in_use();
	}
}

/* How many cores they use after a while, up to the end of it */
static int cores_after(uint64_t ns)
{
	state->until = now_ns() + ns;
	sleep_ns(ns);
	return state->cores;
}

/* Hogs on all threads of the first cores, as many as there are cores */
static void start_crowded(pid_t *pids, int cores)
{
	int core, cpu, n = 0;

	for (core = 0; core < cpus; core++)
		for (cpu = core; cpu < cpus && core_of[core] == core && n < cores; cpu++) {
			if (core_of[cpu] != core)
				continue;
			pids[n] = spawn(telling_hog, (void *)(uintptr_t)n);
			pin(pids[n++], cpu);
		}
}

static void spread(int cores)
{
	pid_t pids[MAX_CPUS];
	int before, after, i;

	state->hogs = cores;
	start_crowded(pids, cores);
	before = cores_after(100 * MSEC);
	for (i = 0; i < cores; i++)
		confine(pids[i], ~0ULL);
	after = cores_after(200 * MSEC);
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
