// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task never runs on a CPU that its mask does not name, whether the mask is
 * changed while it runs, while it is queued or while it sleeps; and it goes on
 * running.
 */
#include "guest.h"

struct worker {
	volatile uint64_t allowed;	/* mask that is in force */
	volatile uint64_t changing;	/* between two masks: anything goes */
	volatile uint64_t wrong;	/* times seen on a CPU not in it */
	volatile uint64_t turns;
	bool sleeps;
	char pad[24];
};

static void work(void *arg)
{
	struct worker *me = arg;
	uint64_t mask, cpu, i;

	be_normal();
	for (;;) {
		mask = me->allowed;
		if (!me->changing) {
			cpu = 1ULL << sched_getcpu();
			if (!(cpu & mask) && !me->changing && me->allowed == mask)
				me->wrong++;
		}
		me->turns++;
		if (me->sleeps)
			sleep_ns(200000);
		else
			for (i = 0; i < 1000; i++)
				__asm__ volatile("");
	}
}

static void set_mask(pid_t pid, struct worker *w, uint64_t mask)
{
	w->changing = 1;
	__sync_synchronize();
	confine(pid, mask);
	w->allowed = mask;
	__sync_synchronize();
	w->changing = 0;
}

static void storm(int cpus)
{
	int n = 3 * cpus + 2, rounds = 300, i, round;
	struct worker *workers = shared(n * sizeof(*workers));
	uint64_t all = cpus == 64 ? ~0ULL : (1ULL << cpus) - 1, mask, turns;
	uint64_t wrong = 0, stuck = 0;
	pid_t pids[64];

	for (i = 0; i < n; i++) {
		workers[i].allowed = all;
		workers[i].sleeps = i & 1;
		pids[i] = spawn(work, &workers[i]);
	}
	srand(1);
	for (round = 0; round < rounds; round++) {
		i = rand() % n;
		do
			mask = ((uint64_t)rand() << 16 ^ rand()) & all;
		while (!mask);
		if (round % 3 == 0)
			mask = 1ULL << rand() % cpus;
		set_mask(pids[i], &workers[i], mask);
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
	uint64_t *counters = shared(4096), before[2 * 64];
	pid_t pids[2 * 64], bystander = spawn(hog, counters + 128);
	int i, starved = 0;

	set_policy(bystander, SCHED_OTHER, 0);
	for (i = 0; i < 2 * cpus; i++) {
		pids[i] = spawn(hog, counters + i);
		set_policy(pids[i], SCHED_OTHER, 0);
		pin(pids[i], i % cpus);
	}
	sleep_ns(300 * MSEC);
	/* A second, as a busy host may stop a CPU of ours for a while */
	memcpy(before, counters, sizeof(before));
	sleep_ns(SEC);
	for (i = 0; i < 2 * cpus; i++)
		starved += counters[i] == before[i];
	for (i = 0; i < 2 * cpus; i++)
		finish(pids[i]);
	finish(bystander);
	ksft_test_result(!starved, "two pinned hogs on each CPU all run (%d do not)\n",
			 starved);
}

static void bad_masks(int cpus)
{
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	err = sched_setaffinity(0, sizeof(set), &set) ? errno : 0;
	ksft_test_result(err == EINVAL, "an empty mask is EINVAL (%s)\n",
			 strerror(err));
	CPU_SET(cpus + 200, &set);
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
	bad_masks(cpus);
	ksft_finished();
}
