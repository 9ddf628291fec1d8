// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariant 5: sched_yield() alone on the machine costs next to nothing; with
 * others waiting one of them runs first, whatever its nice level; and those who
 * yield again and again do not keep the CPU to themselves.
 */
#include "guest.h"

#define YIELDS	2000
#define HOGS	40

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

/* What the hog, those who wait for it and the test share */
struct wait_for_hog {
	volatile uint64_t rounds;	/* of the hog */
	volatile bool go;
	uint64_t ready, yields;
};

/* As those who want a lock that the hog has, and do not sleep meanwhile */
static void wait_for_hog(void *arg)
{
	struct wait_for_hog *wait = arg;
	uint64_t rounds = wait->rounds;

	be_normal();
	pin(0, 0);
	__sync_fetch_and_add(&wait->ready, 1);
	while (wait->rounds == rounds) {
		sched_yield();
		if (wait->go)
			__sync_fetch_and_add(&wait->yields, 1);
	}
}

/* Stop a hog when its turn has just ended, so that its next one is far away */
static void stop_after_turn(struct wait_for_hog *wait, pid_t pid)
{
	uint64_t rounds = wait->rounds;

	while (wait->rounds == rounds)
		sleep_ns(MSEC);
	do {
		rounds = wait->rounds;
		sleep_ns(2 * MSEC);
	} while (wait->rounds != rounds);
	kill(pid, SIGSTOP);
}

/*
 * Two tasks yield until a third gets on, whose deadline dates from a time when very
 * many were runnable
 */
static void third_gets_on(void)
{
	struct wait_for_hog *wait = shared(sizeof(*wait));
	pid_t third = spawn(normal_hog_on_cpu_0, (void *)&wait->rounds);
	pid_t others[HOGS], waiters[2];
	int i, status, ended = 0;

	for (i = 0; i < HOGS; i++)
		others[i] = spawn(normal_hog_on_cpu_0, NULL);
	sleep_ns(SEC);
	stop_after_turn(wait, third);
	finish_all(others, HOGS);
	/* It stops when it runs for the next time */
	waitpid(third, NULL, WUNTRACED);
	for (i = 0; i < 2; i++)
		waiters[i] = spawn(wait_for_hog, wait);
	while (*(volatile uint64_t *)&wait->ready < 2)
		sleep_ns(MSEC);
	kill(third, SIGCONT);
	wait->go = true;
	/* They end as they see that the third has run */
	for (i = 0; i < 2; i++)
		ended += waitpid(waiters[i], &status, 0) == waiters[i] && !status;
	finish(third);
	if (!under_vrq()) {
		ksft_test_result_skip("all who wait run after a yield: VRQ's promise\n");
		return;
	}
	ksft_test_result(ended == 2 && wait->yields <= 20,
			 "two tasks yield %llu times until a third gets on\n",
			 (unsigned long long)wait->yields);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(4);
	alone();
	be_supervisor();
	gives_way();
	third_gets_on();
	ksft_finished();
}
