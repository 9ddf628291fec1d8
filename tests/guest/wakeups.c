// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is woken by a real-time task, as by an interrupt, has waited for something from
 * outside, and does not take turns with its waker: it runs at once if its deadline is
 * earlier than that of a running task.
 */
#include "guest.h"

#define HOGS_A_CPU	3
#define WAKEUPS		100

struct sleeper {
	int pipe[2];
	uint64_t woken, delays, longest;
};

static void sleep_until_woken(void *arg)
{
	struct sleeper *me = arg;
	uint64_t delay;
	char byte;

	be_normal();
	while (read(me->pipe[0], &byte, 1) == 1) {
		delay = now_ns() - me->woken;
		me->delays += delay;
		if (delay > me->longest)
			me->longest = delay;
	}
}

int main(void)
{
	int cpus = online_cpus(), n = HOGS_A_CPU * cpus, i;
	struct sleeper *sleeper = shared(sizeof(*sleeper));
	pid_t hogs[HOGS_A_CPU * MAX_CPUS], pid;

	ksft_print_header();
	if (!under_vrq())
		ksft_exit_skip("fair does not promise it\n");
	ksft_set_plan(1);
	be_supervisor();
	if (pipe(sleeper->pipe))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	for (i = 0; i < n; i++)
		hogs[i] = spawn(normal_hog, NULL);
	pid = spawn(sleep_until_woken, sleeper);
	sleep_ns(300 * MSEC);
	for (i = 0; i < WAKEUPS; i++) {
		sleep_ns(7 * MSEC);
		sleeper->woken = now_ns();
		if (write(sleeper->pipe[1], "", 1) != 1)
			ksft_exit_fail_msg("write: %s\n", strerror(errno));
	}
	sleep_ns(100 * MSEC);
	finish(pid);
	finish_all(hogs, n);
	timed_result(sleeper->delays < WAKEUPS * MSEC / 2,
		     "woken by a real-time task one runs after %llu us on the mean, %llu at the most\n",
		     (unsigned long long)sleeper->delays / WAKEUPS / 1000,
		     (unsigned long long)sleeper->longest / 1000);
	ksft_finished();
}
