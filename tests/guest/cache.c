// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task caching can be tuned: values follow the machine, bad ones are refused,
 * and those in force have an effect.
 */
#include "guest.h"

#define IN_FORCE	"/sys/kernel/debug/sched/vrq_cache"
#define PREEMPT		"/sys/kernel/debug/sched/preempt"
#define SYSCTL		"/proc/sys/kernel/sched_vrq_cache_"

/* KiB of the highest level of data cache of CPU 0, as sysfs shows it */
static long long llc_kib(void)
{
	long long level, highest = 0, kib = 0;
	char path[128], type[32] = "";
	FILE *file;
	int i;

	for (i = 0; i < 16; i++) {
		sprintf(path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
		file = fopen(path, "r");
		if (!file)
			break;
		if (fscanf(file, "%31s", type) != 1)
			type[0] = 0;
		fclose(file);
		sprintf(path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
		level = number_after(path, "");
		sprintf(path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
		if (strcmp(type, "Instruction") && level > highest) {
			highest = level;
			kib = number_after(path, "");
		}
	}
	return kib;
}

static void automatic_values(void)
{
	long long kib = llc_kib(), threshold;

	if (!kib) {
		ksft_test_result_skip("sysfs does not show the size of the cache\n");
		return;
	}
	must_put(SYSCTL "scost_threshold", "-1");
	threshold = number_after(IN_FORCE, "scost_threshold");
	ksft_test_result(threshold == kib * 3 / 512,
			 "the threshold of scost follows the last-level cache (%lld, %lld KiB)\n",
			 threshold, kib);
}

static void preemption_model(void)
{
	long long none, full;

	if (access(PREEMPT, W_OK)) {
		ksft_test_result_skip("no choice of preemption models\n");
		return;
	}
	put(PREEMPT, "none");
	none = number_after(IN_FORCE, "normal_ms");
	put(PREEMPT, "full");
	full = number_after(IN_FORCE, "normal_ms");
	ksft_test_result(none == 1000 && full == 6,
			 "the time-out follows the preemption model (%lld ms, %lld ms)\n",
			 none, full);
}

static void bad_values(void)
{
	static const struct {
		const char *path, *bad[3];
	} files[] = {
		{ SYSCTL "scost_threshold", { "-2", "1000001", "many" } },
		{ SYSCTL "normal_ms", { "-2", "60001", "long" } },
		{ SYSCTL "batch_ms", { "-1", "60001", "6.5" } },
	};
	long long before;
	int i, k;

	for (i = 0; i < 3; i++) {
		before = number_after(files[i].path, "");
		for (k = 0; k < 3; k++) {
			if (put(files[i].path, files[i].bad[k]) || errno != EINVAL ||
			    number_after(files[i].path, "") != before)
				break;
		}
		ksft_test_result(k == 3, "%s refuses what is out of range%s%s\n",
				 files[i].path, k < 3 ? ": " : "",
				 k < 3 ? files[i].bad[k] : "");
	}
}

/* Works for a while, sleeps for a while */
static void worker(void *arg)
{
	uint64_t end;

	(void)arg;
	be_normal();
	for (;;) {
		for (end = now_ns() + MSEC / 2; now_ns() < end;)
			;
		sleep_ns(MSEC / 4);
	}
}

/* How many picks of a cached task there are within a second, and of one in a shared queue */
static long long cached_picks(int cpus, long long *shared_picks)
{
	pid_t pids[128];
	long long picks;
	int i;

	for (i = 0; i < 3 * cpus; i++)
		pids[i] = spawn(worker, NULL);
	sleep_ns(100 * MSEC);
	put(COUNTERS, "0");
	sleep_ns(SEC);
	picks = number_after(COUNTERS, "pick_queue");
	*shared_picks = number_after(COUNTERS, "pick_shared") +
			number_after(COUNTERS, "pick_pulled");
	for (i = 0; i < 3 * cpus; i++)
		finish(pids[i]);
	return picks;
}

static void effect(int cpus)
{
	long long on, off, shared_on, shared_off;

	if (cpus == 1) {
		ksft_test_result_skip("on one CPU every task is bound to it\n");
		return;
	}
	on = cached_picks(cpus, &shared_on);
	must_put(SYSCTL "normal_ms", "0");
	off = cached_picks(cpus, &shared_off);
	must_put(SYSCTL "normal_ms", "-1");
	ksft_test_result(on > 100 && off == 0 && shared_off > 100,
			 "a time-out of 0 turns caching off (%lld cached tasks picked, %lld; of others %lld, %lld)\n",
			 on, off, shared_on, shared_off);
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	if (!under_vrq())
		ksft_exit_skip("there is no task caching under fair\n");
	ksft_set_plan(6);
	be_supervisor();
	automatic_values();
	preemption_model();
	bad_values();
	effect(cpus > 40 ? 40 : cpus);
	ksft_finished();
}
