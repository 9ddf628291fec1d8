// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fork, exec, threads and exit: all of them end. Forking earns no CPU time.
 */
#include <pthread.h>
#include "guest.h"

static void __attribute__((noreturn)) tree(int depth)
{
	pid_t pids[3];
	int i, status;

	for (i = 0; i < 3; i++) {
		pids[i] = fork();
		if (!pids[i] && depth > 1)
			tree(depth - 1);
		if (!pids[i])
			_exit(0);
	}
	for (i = 0; i < 3; i++)
		if (waitpid(pids[i], &status, 0) < 0 || status)
			_exit(1);
	_exit(0);
}

static void fork_storm(void)
{
	int i, status, bad = 0;
	pid_t pids[8];

	for (i = 0; i < 8; i++) {
		pids[i] = fork();
		if (!pids[i])
			tree(4);
	}
	for (i = 0; i < 8; i++) {
		waitpid(pids[i], &status, 0);
		bad += !!status;
	}
	ksft_test_result(!bad, "8 trees of 121 processes end (%d do not)\n", bad);
}

static void exec_storm(void)
{
	int i, status, bad = 0;
	pid_t pids[64];

	for (i = 0; i < 64; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
	}
	for (i = 0; i < 64; i++) {
		waitpid(pids[i], &status, 0);
		bad += !!status;
	}
	ksft_test_result(!bad, "64 programs are executed and end (%d do not)\n", bad);
}

static void *thread(void *arg)
{
	int i;

	for (i = 0; i < 100; i++)
		sched_yield();
	return arg;
}

static void threads(void)
{
	pthread_t ids[64];
	int i, bad = 0;

	for (i = 0; i < 64; i++)
		bad += !!pthread_create(&ids[i], NULL, thread, NULL);
	for (i = 0; i < 64; i++)
		bad += !!pthread_join(ids[i], NULL);
	ksft_test_result(!bad, "64 threads that yield end (%d do not)\n", bad);
}

/* Work in short-lived children, one after the other */
static void fork_bomb(void *arg)
{
	volatile uint64_t *used = arg;
	uint64_t end;
	pid_t pid;

	be_normal();
	pin(0, 0);
	for (;;) {
		pid = fork();
		if (!pid) {
			end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 3 * MSEC;
			while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
				;
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		*used += 3 * MSEC;
	}
}

static void pinned_hog(void *arg)
{
	be_normal();
	pin(0, 0);
	hog(arg);
}

static void forking_earns_nothing(void)
{
	volatile uint64_t *used = shared(4096);
	uint64_t bomb_ns, hog_ns;
	pid_t bomb, victim;

	be_supervisor();
	bomb = spawn(fork_bomb, (void *)used);
	victim = spawn(pinned_hog, NULL);
	sleep_ns(500 * MSEC);
	bomb_ns = *used;
	hog_ns = cpu_time_of(victim);
	sleep_ns(2 * SEC);
	bomb_ns = *used - bomb_ns;
	hog_ns = cpu_time_of(victim) - hog_ns;
	finish(victim);
	kill(bomb, SIGKILL);
	waitpid(bomb, NULL, 0);
	ksft_test_result(hog_ns * 100 >= 2 * SEC * 35,
			 "a hog beside a task that forks all the time gets %llu%% of their CPU\n",
			 (unsigned long long)(hog_ns * 100 / (2 * SEC)));
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(4);
	fork_storm();
	exec_storm();
	threads();
	forking_earns_nothing();
	ksft_finished();
}
