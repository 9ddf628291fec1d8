// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is not to happen, and shows in VRQ's counters only: kicks for nothing, and
 * tasks in a shared queue that might as well wait for their CPU.
 */
#include "guest.h"

#define ISOLATED	"/sys/devices/system/cpu/isolated"
#define TURNS		200
#define HOGS_A_CPU	60

static void sleep_and_wake(void *unused)
{
	int i;

	(void)unused;
	be_normal();
	for (i = 0; i < TURNS; i++)
		sleep_ns(MSEC);
}

/* How many kicks it takes that two hogs which wait for this CPU may use idle ones */
static long long kicks_for_others(void)
{
	uint64_t all = mask_of(0);
	long long kicks;
	pid_t pids[2];
	int i;

	pin(0, 0);
	for (i = 0; i < 2; i++)
		pids[i] = spawn(normal_hog_on_cpu_0, NULL);
	sleep_ns(20 * MSEC);
	put(COUNTERS, "0");
	for (i = 0; i < 2; i++)
		confine(pids[i], all);
	kicks = number_after(COUNTERS, "kick");
	finish_all(pids, 2);
	confine(0, all);
	return kicks;
}

/* A CPU that is woken up for a task of its own was not kicked for one of others */
static void wake_idle_cpu(int cpus)
{
	long long kicks, woken, control;

	if (cpus < 2) {
		ksft_test_result_skip("one CPU\n");
		return;
	}
	/* the control: kicks do count */
	control = kicks_for_others();
	put(COUNTERS, "0");
	waitpid(spawn(sleep_and_wake, NULL), NULL, 0);
	kicks = number_after(COUNTERS, "kick");
	woken = number_after(COUNTERS, "wake_idle");
	ksft_test_result(woken >= TURNS && kicks <= TURNS / 10 && control > 0,
			 "%lld wake-ups of idle CPUs take %lld kicks, tasks of others %lld\n",
			 woken, kicks, control);
}

static void blips(void *unused)
{
	uint64_t end;
	int i;

	(void)unused;
	pin(0, 0);
	set_policy(0, SCHED_FIFO, 10);
	for (i = 0; i < TURNS; i++) {
		sleep_ns(MSEC);
		end = now_ns() + 20000;
		while (now_ns() < end)
			;
	}
}

/* How many tasks have been picked, wherever they waited */
static long long all_picks(void)
{
	static const char * const names[] = {
		"pick_curr", "pick_slot", "pick_pinned", "pick_queue", "pick_shared",
		"pick_pulled", "pick_far", "pick_stolen",
	};
	long long sum = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		sum += number_after(COUNTERS, names[i]);
	return sum;
}

/* A hog that makes room for a real-time task for 20 us waits for its own CPU */
static void beside_blips(int cpus)
{
	long long entries, picks;
	pid_t pids[MAX_CPUS];
	int i;

	/* A CPU of many waits for its turn in virtual time, and it would be no blip */
	if (cpus > 4) {
		ksft_test_result_skip("%d CPUs\n", cpus);
		return;
	}
	/* One for each CPU that they may use */
	cpus -= number_after(ISOLATED, "") >= 0;
	for (i = 0; i < cpus; i++)
		pids[i] = spawn(normal_hog, NULL);
	sleep_ns(200 * MSEC);
	put(COUNTERS, "0");
	waitpid(spawn(blips, NULL), NULL, 0);
	entries = number_after(COUNTERS, "shared_lock");
	picks = all_picks();
	finish_all(pids, cpus);
	/* One to enter and one to leave it for each blip would be twice as many */
	ksft_test_result(entries <= TURNS && picks >= TURNS,
			 "%d blips of a real-time task, %lld picks, take %lld looks into shared queues\n",
			 TURNS, picks, entries);
}

/*
 * How often a shared queue is entered for each slice that begins, in 1/100, beside hogs
 * that may use these CPUs: as often as not if so many count as confined that they may
 * not all wait for their CPU
 */
static long long entries_with(const cpu_set_t *mask)
{
	int n = HOGS_A_CPU * CPU_COUNT(mask), i;
	long long entries, picks;
	pid_t *pids = calloc(n, sizeof(*pids));

	for (i = 0; i < n; i++) {
		pids[i] = spawn(normal_hog, NULL);
		confine_to(pids[i], mask);
	}
	/* Until they are spread over the CPUs: all were started on this one */
	sleep_ns(2 * SEC);
	put(COUNTERS, "0");
	sleep_ns(SEC);
	entries = number_after(COUNTERS, "shared_lock");
	picks = number_after(COUNTERS, "pick_queue") +
		number_after(COUNTERS, "pick_shared") +
		number_after(COUNTERS, "pick_pulled");
	finish_all(pids, n);
	free(pids);
	if (picks < 100)
		ksft_exit_fail_msg("%d hogs are picked %lld times in a second\n", n, picks);
	return entries * 100 / picks;
}

/* Who may use all CPUs but one which is not there for it is not confined */
static void without_one(int cpus)
{
	long long without, control, isolated = number_after(ISOLATED, "");
	int gone = isolated >= 0 ? isolated : cpus - 1;
	cpu_set_t mask;

	/* Two have to be left for the control; and the hogs become many */
	if (cpus != 4) {
		ksft_test_result_skip("%d CPUs\n", cpus);
		return;
	}
	mask = set_of(~(1ULL << gone) & ((1ULL << cpus) - 1));
	if (isolated < 0 && set_online(gone, false))
		ksft_exit_fail_msg("CPU %d does not go offline\n", gone);
	without = entries_with(&mask);
	/* the control: one more is not for them, which is there for others */
	CPU_CLR(0, &mask);
	control = entries_with(&mask);
	if (isolated < 0)
		set_online(gone, true);
	ksft_test_result(without < 100 && control > 4 * without,
			 "CPU %d, %s, confines nobody: %lld of 100 picks look into a shared queue, %lld without CPU 0\n",
			 gone, isolated < 0 ? "offline" : "isolated", without, control);
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	if (!under_vrq() || number_after(COUNTERS, "kick") < 0)
		ksft_exit_skip("no counters of VRQ's\n");
	ksft_set_plan(3);
	be_supervisor();
	wake_idle_cpu(cpus);
	beside_blips(cpus);
	without_one(cpus);
	ksft_finished();
}
