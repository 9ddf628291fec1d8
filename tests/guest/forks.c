// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fork, exec, threads and exit: all of them end.
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
			execl("/proc/self/exe", "true", NULL);
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

int main(int argc, char **argv)
{
	/* What exec_storm() executes: there need not be another program */
	if (argc && !strcmp(argv[0], "true"))
		return 0;
	ksft_print_header();
	ksft_set_plan(3);
	fork_storm();
	exec_storm();
	threads();
	ksft_finished();
}
