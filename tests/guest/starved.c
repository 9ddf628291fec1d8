// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that starve behind those of better levels get a twentieth of each CPU together,
 * whoever has been due for longest first: one that may run anywhere is not to wait for
 * ever beside more than a CPU's twentieth can serve that are bound to it. Under the fair
 * class weights see to that.
 */
#include <linux/futex.h>

#include "workers.h"

/* Bound to each CPU. At a slice in 20 each has its turn once in 2.4 s */
#define BOUND		40
#define CPUS_MAX	4
#define ISO_CPU		"/proc/sys/kernel/iso_cpu"

struct hog {
	struct counter counter;
	int policy, cpu;	/* -1 for any */
};

static void start_hog(void *arg)
{
	struct hog *me = arg;

	if (me->cpu >= 0)
		pin(0, me->cpu);
	set_policy(0, me->policy, 0);
	hog(&me->counter.count);
}

static void free_one_runs(int cpus, int starved, int busy, const char *what)
{
	int n = cpus * (BOUND + 1) + 1, i, stuck = 0;
	struct hog *hogs = shared(n * sizeof(*hogs));
	struct hog *free_one = &hogs[n - 1];
	pid_t pids[CPUS_MAX * (BOUND + 1) + 1];
	uint64_t before[CPUS_MAX * (BOUND + 1) + 1], used;

	for (i = 0; i < n; i++) {
		hogs[i].cpu = i % cpus;
		hogs[i].policy = i < cpus ? busy : starved;
	}
	free_one->cpu = -1;
	for (i = 0; i < n; i++)
		pids[i] = spawn(start_hog, &hogs[i]);

	/* Until all of them have waited for a second, and had a turn */
	sleep_ns(4 * SEC);
	for (i = 0; i < n; i++)
		before[i] = hogs[i].counter.count;
	used = time_of_all(pids, cpus);
	sleep_ns(6 * SEC);
	used = time_of_all(pids, cpus) - used;
	for (i = 0; i < n - 1; i++)
		stuck += hogs[i].counter.count == before[i];
	/* Those for whose sake they starve have most of each CPU */
	ksft_test_result(free_one->counter.count != before[n - 1] && used > 3 * SEC * cpus,
			 "a %s task that may run anywhere runs beside %d starved ones bound to each CPU\n",
			 what, BOUND);
	ksft_test_result(!stuck, "and all of those do (%d do not)\n", stuck);
	finish_all(pids, n);
}

static void work_and_wait(void *unused)
{
	(void)unused;
	set_policy(0, SCHED_IDLE, 0);
	pin(0, 0);
	do
		use_ns(MSEC / 5);
	while (run_kernel_threads());
	_exit(1);
}

/* Once it has starved it has a slice as a normal task, however it uses that up */
static void starved_once(void)
{
	pid_t hogs[2], pid;
	uint64_t used;
	int i;

	for (i = 0; i < 2; i++)
		hogs[i] = spawn(normal_hog_on_cpu_0, NULL);
	pid = spawn(work_and_wait, NULL);
	sleep_ns(2 * SEC);
	used = cpu_time_within(pid, 3 * SEC);
	finish(pid);
	finish_all(hogs, 2);
	timed_result(used && used * 100 <= 3 * SEC * 6,
		     "a SCHED_IDLE task that sleeps uninterruptibly has %llu of 3000 ms beside hogs\n",
		     (unsigned long long)(used / MSEC));
}

/* However long slices are, starved ones have their turns soon: they may hold what others wait for */
static void in_time_with_long_slices(int cpus)
{
	int n = 4 * cpus, i, stuck = 0;
	struct hog *hogs = shared(n * sizeof(*hogs));
	uint64_t before[4 * CPUS_MAX];
	pid_t pids[4 * CPUS_MAX];

	set_rr_interval(1000);
	for (i = 0; i < n; i++) {
		hogs[i].cpu = i % cpus;
		hogs[i].policy = i < cpus ? SCHED_OTHER : SCHED_IDLE;
		pids[i] = spawn(start_hog, &hogs[i]);
	}
	sleep_ns(10 * SEC);
	for (i = 0; i < n; i++)
		before[i] = hogs[i].counter.count;
	sleep_ns(10 * SEC);
	for (i = cpus; i < n; i++)
		stuck += hogs[i].counter.count == before[i];
	finish_all(pids, n);
	set_rr_interval(RR_MS);
	ksft_test_result(!stuck, "%d of %d SCHED_IDLE tasks beside others do not run for 10 s, with slices of 1 s\n",
			 stuck, n - cpus);
}

/* To lend priority: one has the lock for ever, the other waits for it */
static void have_the_lock(void *arg)
{
	volatile uint32_t *lock = arg;

	set_policy(0, SCHED_IDLE, 0);
	pin(0, 0);
	setpriority(PRIO_PROCESS, 0, 1);
	*lock = getpid();
	hog(NULL);
}

static void wait_for_the_lock(void *arg)
{
	volatile uint32_t *lock = arg;

	set_policy(0, SCHED_IDLE, 0);
	while (!*lock)
		sleep_ns(MSEC);
	syscall(SYS_futex, lock, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
	_exit(1);
}

static void lent_by_one_of_them(void)
{
	volatile uint32_t *lock = shared(sizeof(*lock));
	pid_t hogs[2], lender = spawn(wait_for_the_lock, (void *)lock);
	pid_t pid = spawn(have_the_lock, (void *)lock);
	uint64_t used;
	bool lent;
	int i;

	sleep_ns(100 * MSEC);
	for (i = 0; i < 2; i++)
		hogs[i] = spawn(normal_hog_on_cpu_0, NULL);
	sleep_ns(SEC / 2);
	used = cpu_time_within(pid, 3 * SEC);
	lent = *lock & FUTEX_WAITERS;
	finish(pid);
	finish(lender);
	finish_all(hogs, 2);
	timed_result(lent && (used || !under_vrq()) && used * 100 <= 3 * SEC * 6,
		     "one to which another one lends priority has %llu of 3000 ms beside hogs\n",
		     (unsigned long long)(used / MSEC));
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	if (cpus > CPUS_MAX)
		ksft_exit_skip("no room for hogs on %d CPUs\n", cpus);
	ksft_set_plan(7);
	be_supervisor();
	free_one_runs(cpus, SCHED_IDLE, SCHED_OTHER, "SCHED_IDLE");
	if (under_vrq()) {
		must_put(ISO_CPU, "100");
		free_one_runs(cpus, SCHED_OTHER, SCHED_ISO, "normal");
		must_put(ISO_CPU, "70");
	} else {
		ksft_test_result_skip("there is no SCHED_ISO\n");
		ksft_test_result_skip("there is no SCHED_ISO\n");
	}
	starved_once();
	lent_by_one_of_them();
	if (under_vrq())
		in_time_with_long_slices(cpus);
	else
		ksft_test_result_skip("there is no rr_interval\n");
	ksft_finished();
}
