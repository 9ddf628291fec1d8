// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task never runs on a CPU that its mask does not name, whether the mask is
 * changed while it runs, while it is queued or while it sleeps; and it goes on
 * running.
 */
#include "guest.h"

struct worker {
	cpu_set_t allowed;		/* mask that is in force */
	volatile uint64_t changes;	/* odd between two masks: anything goes */
	volatile uint64_t wrong;	/* times seen on a CPU not in it */
	volatile uint64_t turns;
	uint64_t sleeps;		/* so long after each turn, ns; 0: never */
	char pad[32];
};

/* Each of many CPUs is a slow one in virtual time: as many turns for all of them together */
#define SLEEP_NS	50000
/* Tasks for so many CPUs, on a larger machine too */
#define BUSY_CPUS	32

static void work(void *arg)
{
	struct worker *me = arg;
	uint64_t changes, i;
	bool good;

	be_normal();
	for (;;) {
		changes = me->changes;
		good = changes & 1 || CPU_ISSET(sched_getcpu(), &me->allowed);
		__sync_synchronize();
		if (!good && me->changes == changes)
			me->wrong++;
		me->turns++;
		if (me->sleeps)
			sleep_ns(me->sleeps);
		else
			for (i = 0; i < 1000; i++)
				__asm__ volatile("");
	}
}

static void set_mask(pid_t pid, struct worker *w, const cpu_set_t *mask)
{
	w->changes++;
	__sync_synchronize();
	confine_to(pid, mask);
	w->allowed = *mask;
	__sync_synchronize();
	w->changes++;
}

/* Half of the CPUs, or, one time of three, one CPU */
static void random_mask(int cpus, bool one, cpu_set_t *mask)
{
	int cpu;

	CPU_ZERO(mask);
	for (cpu = 0; cpu < cpus && !one; cpu++)
		if (rand() & 1)
			CPU_SET(cpu, mask);
	if (!CPU_COUNT(mask))
		CPU_SET(rand() % cpus, mask);
}

static void storm(int cpus)
{
	int n = 3 * (cpus > BUSY_CPUS ? BUSY_CPUS : cpus) + 2;
	int rounds = 300, i, round;
	struct worker *workers = shared(n * sizeof(*workers));
	uint64_t wrong = 0, stuck = 0, turns;
	pid_t pids[3 * BUSY_CPUS + 2];
	cpu_set_t mask;

	for (i = 0; i < n; i++) {
		memset(&workers[i].allowed, 0xff, sizeof(mask));
		workers[i].sleeps = i & 1 ? SLEEP_NS * cpus : 0;
		pids[i] = spawn(work, &workers[i]);
	}
	srand(1);
	for (round = 0; round < rounds; round++) {
		i = rand() % n;
		random_mask(cpus, round % 3 == 0, &mask);
		set_mask(pids[i], &workers[i], &mask);
		sleep_ns(MSEC);
	}
	for (i = 0; i < n; i++) {
		turns = workers[i].turns;
		for (round = 0; round < 2000 && workers[i].turns == turns; round++)
			sleep_ns(MSEC);
		stuck += workers[i].turns == turns;
		wrong += workers[i].wrong;
		finish(pids[i]);
	}
	ksft_test_result(!wrong, "%d masks for %d tasks: all in force (%llu not)\n",
			 rounds, n, (unsigned long long)wrong);
	ksft_test_result(!stuck, "no task is stuck (%llu are)\n",
			 (unsigned long long)stuck);
}

static void pinned_hogs(int cpus)
{
	uint64_t *counters = shared((2 * cpus + 1) * sizeof(*counters));
	uint64_t before[2 * MAX_CPUS];
	pid_t pids[2 * MAX_CPUS], bystander = spawn(hog, counters + 2 * cpus);
	int i, starved = 0;

	set_policy(bystander, SCHED_OTHER, 0);
	for (i = 0; i < 2 * cpus; i++) {
		pids[i] = spawn(hog, counters + i);
		set_policy(pids[i], SCHED_OTHER, 0);
		pin(pids[i], i % cpus);
	}
	sleep_ns(300 * MSEC);
	/* A second, as a busy host may stop a CPU of ours for a while */
	memcpy(before, counters, 2 * cpus * sizeof(*before));
	sleep_ns(SEC);
	for (i = 0; i < 2 * cpus; i++)
		starved += counters[i] == before[i];
	for (i = 0; i < 2 * cpus; i++)
		finish(pids[i]);
	finish(bystander);
	ksft_test_result(!starved, "two pinned hogs on each CPU all run (%d do not)\n",
			 starved);
}

static void bad_masks(void)
{
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	err = sched_setaffinity(0, sizeof(set), &set) ? errno : 0;
	ksft_test_result(err == EINVAL, "an empty mask is EINVAL (%s)\n",
			 strerror(err));
	CPU_SET(MAX_CPUS + 200, &set);
	err = sched_setaffinity(0, sizeof(set), &set) ? errno : 0;
	ksft_test_result(err == EINVAL, "a mask of no CPU of ours is EINVAL (%s)\n",
			 strerror(err));
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	ksft_set_plan(5);
	be_supervisor();
	storm(cpus);
	pinned_hogs(cpus);
	bad_masks();
	ksft_finished();
}
