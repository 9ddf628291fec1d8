// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariant 5: sched_yield() alone on the machine costs next to nothing; with
 * others waiting one of them runs first, whatever its nice level.
 */
#include "guest.h"

#define YIELDS	2000

static void hog_nice_19(void *counter)
{
	be_normal();
	setpriority(PRIO_PROCESS, 0, 19);
	pin(0, 0);
	hog(counter);
}

/* Yield for a while with a nice 19 hog beside it; how often did that run? */
static void yielder(void *arg)
{
	volatile uint64_t *shared_area = arg;
	uint64_t seen = 0, last;
	int i;

	be_normal();
	pin(0, 0);
	while (!shared_area[0])
		sched_yield();
	last = shared_area[0];
	for (i = 0; i < YIELDS / 10; i++) {
		sched_yield();
		if (shared_area[0] != last)
			seen++;
		last = shared_area[0];
	}
	shared_area[1] = seen;
}

static void alone(void)
{
	struct rusage before, after;
	uint64_t ns;
	int i;

	be_normal();
	sched_yield();
	getrusage(RUSAGE_SELF, &before);
	ns = now_ns();
	for (i = 0; i < YIELDS; i++)
		sched_yield();
	ns = (now_ns() - ns) / YIELDS;
	getrusage(RUSAGE_SELF, &after);
	/* A round through the scheduler and back, the emulator included */
	ksft_test_result(ns < 20000, "a yield alone takes %llu ns\n",
			 (unsigned long long)ns);
	ksft_test_result(after.ru_nvcsw - before.ru_nvcsw +
			 after.ru_nivcsw - before.ru_nivcsw < YIELDS / 20,
			 "and does not switch (%ld switches)\n",
			 after.ru_nvcsw - before.ru_nvcsw +
			 after.ru_nivcsw - before.ru_nivcsw);
}

static void gives_way(void)
{
	uint64_t *area = shared(4096);
	pid_t other = spawn(hog_nice_19, area);
	pid_t pid = spawn(yielder, area);

	waitpid(pid, NULL, 0);
	finish(other);
	if (!under_vrq()) {
		ksft_test_result_skip("a nice 19 task runs at every yield: VRQ's promise\n");
		return;
	}
	ksft_test_result(area[1] >= YIELDS / 10 * 95 / 100,
			 "a nice 19 task runs first at %llu of %d yields\n",
			 (unsigned long long)area[1], YIELDS / 10);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(3);
	alone();
	be_supervisor();
	gives_way();
	ksft_finished();
}
