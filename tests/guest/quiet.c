// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that wait for long, and none is stuck: VRQ's watchdog must not fall back. For
 * scripts/quiet.py, which stops the guest and one of its CPUs as it is told to.
 *
 * Usage: quiet TASKS
 */
#include "workers.h"

#define FALLBACKS	"/sys/kernel/sched/fallbacks"
#define STALL		"/proc/sys/kernel/sched_vrq_stall_ms"
#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"
#define STALL_S		5
/* For how long the host may stop something, and for how long nobody must be found stuck then */
#define HOST_STOPS_S	20
#define QUIET_S		(3 * STALL_S)

static void nice_hog(void *arg)
{
	be_normal();
	setpriority(PRIO_PROCESS, 0, 19);
	hog(arg);
}

static void fifo_hog(void *arg)
{
	pin(0, *(int *)arg);
	set_policy(0, SCHED_FIFO, 40);
	hog(NULL);
}

static void nobody_is_stuck(const char *what)
{
	sleep_ns(QUIET_S * SEC);
	ksft_test_result(under_vrq() && !number_after(FALLBACKS, ""), "%s\n", what);
}

static void host_stops(const char *what)
{
	printf("host: stop %s\n", what);
	fflush(stdout);
	sleep_ns(HOST_STOPS_S * SEC);
	nobody_is_stuck(what);
}

int main(int argc, char **argv)
{
	int last = online_cpus() - 1, n = argc > 1 ? atoi(argv[1]) : 0, i;
	pid_t stopped, fifo;

	ksft_print_header();
	if (n <= 0)
		ksft_exit_fail_msg("quiet TASKS\n");
	ksft_set_plan(5);
	be_supervisor();
	must_put(STALL, "5000");
	for (i = 0; i < n; i++)
		spawn(i % 2 ? idle_hog : nice_hog, NULL);
	for (i = 0; i <= last; i++)
		spawn(normal_hog, NULL);
	stopped = spawn(normal_hog, NULL);
	kill(stopped, SIGSTOP);
	ksft_print_msg("%d tasks of nice 19 and SCHED_IDLE, %d of nice 0, and one that is stopped\n",
		       n, last + 1);
	nobody_is_stuck("many wait for long");
	fifo = spawn(fifo_hog, &last);
	nobody_is_stuck("a SCHED_FIFO task spins, and is throttled");
	must_put(RT_RUNTIME, "-1");
	nobody_is_stuck("a SCHED_FIFO task spins, and is not throttled");
	finish(fifo);
	host_stops("the guest");
	host_stops("a CPU");
	/* The others end with the guest: it would take them long */
	ksft_finished();
}
