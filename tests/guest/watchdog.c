// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog of VRQ: it finds a task that is not run, tells the log which, and the fair
 * class takes over; and it does not take for stuck who only has to wait.
 *
 * Tasks are lost on purpose, which needs CONFIG_SCHED_VRQ_FAULT_INJECTION.
 */
#include <dirent.h>

#include "cgroup.h"
#include "workers.h"

#define FALLBACKS	"/sys/kernel/sched/fallbacks"
#define REASON		"/sys/kernel/sched/fallback_reason"
#define STALL		"/proc/sys/kernel/sched_vrq_stall_ms"
#define FAULT		"/sys/kernel/debug/sched/vrq_fault"
#define FAIR_SERVER	"/sys/kernel/debug/sched/fair_server/cpu%d/runtime"
#define STALL_MS	400

/* For how long nobody must be found stuck, s */
#define QUIET_S		3
#define MANY		150
/* What a task is charged with at once, ms */
#define DEBT_MS		500

static int cpus;

static void napper(void *me)
{
	count_naps(me, MSEC);
}

static bool goes_on(const struct counter *counter)
{
	uint64_t before = counter->count, end = now_ns() + SEC;

	while (counter->count == before && now_ns() < end)
		sleep_ns(MSEC);
	return counter->count != before;
}

static void set_stall(int ms)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", ms);
	must_put(STALL, text);
}

static bool file_says(const char *path, const char *expected)
{
	char line[64] = "";
	FILE *file = fopen(path, "r");

	if (file && fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = 0;
	if (file)
		fclose(file);
	return !strcmp(line, expected);
}

static bool refused(const char *value)
{
	return !put(STALL, value) && errno == EINVAL;
}

static void setting(void)
{
	long long before = number_after(STALL, "");

	ksft_test_result(before == 30000, "after %lld ms by default\n", before);
	ksft_test_result(refused("99") && refused("3600001") && refused("-1") && refused("soon") &&
			 number_after(STALL, "") == before, "what is out of range: EINVAL\n");
	ksft_test_result(put(STALL, "0") && put(STALL, "100") && put(STALL, "3600000") &&
			 number_after(STALL, "") == 3600000, "0, 100 and 3600000 are good\n");
	set_stall(before);
}

/* Has the fair class taken over within so many ms? Fallbacks are counted since @before */
static bool falls_back(long long before, int ms)
{
	uint64_t end = now_ns() + ms * MSEC;

	while (under_vrq() && now_ns() < end)
		sleep_ns(5 * MSEC);
	/* It is counted once all tasks are handed over */
	while (number_after(FALLBACKS, "") == before && now_ns() < end)
		sleep_ns(5 * MSEC);
	return !under_vrq() && number_after(FALLBACKS, "") == before + 1;
}

static void sysrq(void)
{
	long long before = number_after(FALLBACKS, "");
	bool good;

	good = put("/proc/sysrq-trigger", "F") && falls_back(before, 2000) &&
	       file_says(REASON, "SysRq");
	/* Nothing to fall back from */
	good = good && put("/proc/sysrq-trigger", "F");
	sleep_ns(300 * MSEC);
	good = good && number_after(FALLBACKS, "") == before + 1 && put(ACTIVE, "vrq");
	sleep_ns(300 * MSEC);
	ksft_test_result(good && under_vrq(), "by SysRq, and back\n");
}

/* How many of the tasks do not run in the next @ns? */
static int not_run_within(const pid_t *pids, int n, uint64_t ns)
{
	uint64_t *before = calloc(n, sizeof(*before));
	int i, found = 0;

	for (i = 0; i < n; i++)
		before[i] = cpu_time_of(pids[i]);
	sleep_ns(ns);
	for (i = 0; i < n; i++)
		found += cpu_time_of(pids[i]) == before[i];
	free(before);
	return found;
}

/* Far more than a real-time class leaves room for */
static void fifo_hog(void *arg)
{
	int cpu = *(int *)arg;

	pin(0, cpu);
	set_policy(0, SCHED_FIFO, 40);
	hog(NULL);
}

static void nice_hog(void *arg)
{
	be_normal();
	setpriority(PRIO_PROCESS, 0, 19);
	hog(arg);
}

/* Many of them wait for long, each for a reason */
static void no_false_alarm(void)
{
	long long before = number_after(FALLBACKS, "");
	pid_t pids[MANY + 64], fifo;
	int n = 0, i, last = cpus - 1, waited;
	uint64_t spun;

	set_stall(STALL_MS);
	make_group("small");
	for (i = 0; i < MANY; i++)
		pids[n++] = spawn(i % 3 ? idle_hog : nice_hog, NULL);
	for (i = 0; i < 2 * cpus && n < MANY + 48; i++)
		pids[n++] = spawn(normal_hog, NULL);
	/* One that is stopped, and one in a group that has used up its limit */
	kill(pids[n - 1], SIGSTOP);
	if (group_has("small", "cpu.max")) {
		pids[n] = spawn_in("small", hog, NULL);
		group_put("small", "cpu.max", "2000 1000000");
		start_all(&pids[n++], 1);
	}
	/* One that waits for a real-time task */
	pids[n] = spawn(normal_hog, NULL);
	pin(pids[n++], last);
	fifo = spawn(fifo_hog, &last);
	sleep_ns(QUIET_S * SEC - 2 * STALL_MS * MSEC);
	waited = not_run_within(pids, MANY, 2 * STALL_MS * MSEC);
	spun = cpu_time_of(fifo);
	finish(fifo);
	sleep_ns(SEC);
	ksft_test_result(under_vrq() && number_after(FALLBACKS, "") == before && waited &&
			 spun > QUIET_S * SEC / 2,
			 "%d tasks wait for long, %d of them for %d ms, and none is taken for stuck\n",
			 n, waited, 2 * STALL_MS);
	set_stall(30000);
	finish_all(pids, n);
	drop_group("small");
}

/* Who runs as a hypervisor stops the CPU is charged for that time */
static void debtor(void *arg)
{
	be_normal();
	must_put(FAULT, arg);
	hog(NULL);
}

/* It has to wait until others have had as much, and is not stuck */
static void debt(void)
{
	long long before = number_after(FALLBACKS, "");
	pid_t pids[MANY + 1];
	char text[16];
	uint64_t had;
	int i, waited;

	set_stall(STALL_MS);
	for (i = 0; i < MANY; i++)
		pids[i] = spawn(normal_hog, NULL);
	snprintf(text, sizeof(text), "stop %d", DEBT_MS);
	pids[MANY] = spawn(debtor, text);
	sleep_ns(QUIET_S * SEC);
	had = cpu_time_of(pids[MANY]);
	waited = not_run_within(&pids[MANY], 1, QUIET_S * SEC);
	ksft_test_result(under_vrq() && number_after(FALLBACKS, "") == before && waited &&
			 had >= DEBT_MS * MSEC * 9 / 10,
			 "a task that owes half a second (%llu ms) waits for it, and is not taken for stuck\n",
			 (unsigned long long)(had / MSEC));
	set_stall(30000);
	finish_all(pids, MANY + 1);
}

static void eager_hog(void *arg)
{
	pin(0, 0);
	be_normal();
	setpriority(PRIO_PROCESS, 0, -20);
	hog(arg);
}

static void renice_a_quarter(const pid_t *pids, unsigned int n, int nice)
{
	unsigned int i;

	for (i = 0; i < n; i += 4)
		setpriority(PRIO_PROCESS, pids[i], nice);
}

/*
 * Each waits 57 ms for its turn. What is left of that counts 41 times as long at nice 19, so
 * that some wait for two seconds, with all right: two of five, on the average. Three of four
 * stay at nice -20: else those of nice 19 have their turns earlier.
 */
static void reniced(void)
{
	long long before = number_after(FALLBACKS, "");
	int waited = 0, round;
	pid_t pids[20];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pids); i++)
		pids[i] = spawn(eager_hog, NULL);
	sleep_ns(SEC / 2);
	set_stall(STALL_MS);
	for (round = 0; round < 4; round++) {
		renice_a_quarter(pids, ARRAY_SIZE(pids), 19);
		waited += not_run_within(pids, ARRAY_SIZE(pids), SEC);
		sleep_ns((QUIET_S - 1) * SEC);
		renice_a_quarter(pids, ARRAY_SIZE(pids), -20);
		sleep_ns(SEC / 2);
	}
	ksft_test_result(under_vrq() && number_after(FALLBACKS, "") == before && waited,
			 "nice levels of tasks that wait change from -20 to 19: none is taken for stuck, %d wait for a second\n",
			 waited);
	set_stall(30000);
	finish_all(pids, ARRAY_SIZE(pids));
}

/* Does the log, since @log was opened, name the process? */
static bool log_names(int log, pid_t pid)
{
	char record[1024], name[64];
	bool named = false;
	ssize_t size;

	snprintf(name, sizeof(name), "[%d] could run, and has not been run", pid);
	while ((size = read(log, record, sizeof(record) - 1)) > 0) {
		record[size] = 0;
		named = named || strstr(record, name);
	}
	return named;
}

static int open_log(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	if (log < 0 || lseek(log, 0, SEEK_END) < 0)
		ksft_exit_fail_msg("/dev/kmsg: %s\n", strerror(errno));
	return log;
}

static bool ask_for(const char *fault, pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%s %d", fault, pid);
	return put(FAULT, text);
}

/*
 * The watchdog finds the victim of a fault that has been asked for, and all go on: under
 * the fair class, and then under VRQ again.
 */
static void is_found(const char *fault, pid_t pid, int log, const struct counter *victim,
		     const struct counter *other)
{
	long long before = number_after(FALLBACKS, "");
	uint64_t start = now_ns(), took;
	bool good, named, fell_back, go_on;

	fell_back = falls_back(before, 10 * STALL_MS);
	took = (now_ns() - start) / MSEC;
	good = fell_back && took >= STALL_MS / 2 && took < STALL_MS + 1000 &&
	       file_says(REASON, "a task was not run");
	named = log_names(log, pid);
	go_on = goes_on(victim) && goes_on(other);
	good = good && named && go_on && put(ACTIVE, "vrq") && under_vrq() && goes_on(victim) &&
	       goes_on(other);
	if (!good)
		ksft_print_msg("fell back %d, named %d, went on %d\n", fell_back, named, go_on);
	ksft_test_result(good, "a %s that is lost: the fair class takes over after %llu ms\n", fault,
			 (unsigned long long)took);
}

/* A task or a preempt slot is lost */
static void lost(const char *fault, void (*work)(void *))
{
	struct counter *counters = shared(2 * sizeof(*counters));
	pid_t pids[2];
	int log = open_log();

	pids[0] = spawn(work, &counters[0]);
	pids[1] = spawn(counting_hog, &counters[1]);
	if (!goes_on(&counters[0]) || !goes_on(&counters[1]))
		ksft_exit_fail_msg("the children do nothing\n");
	set_stall(STALL_MS);
	if (!ask_for(fault, pids[0]))
		ksft_exit_fail_msg("%s: %s\n", FAULT, strerror(errno));
	is_found(fault, pids[0], log, &counters[0], &counters[1]);
	set_stall(30000);
	finish_all(pids, 2);
	close(log);
}

/* Let all tasks that are not bound to a CPU run on those of @mask, new unbound workers too */
static void move_all(uint64_t mask)
{
	DIR *dir = opendir("/proc");
	cpu_set_t set = set_of(mask);
	struct dirent *entry;
	char text[17];
	pid_t pid;

	if (!dir)
		ksft_exit_fail_msg("/proc: %s\n", strerror(errno));
	while ((entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		/* EINVAL: a kernel thread of one CPU. ESRCH: it is gone */
		if (pid && sched_setaffinity(pid, sizeof(set), &set) && errno != EINVAL &&
		    errno != ESRCH)
			ksft_exit_fail_msg("affinity of %d: %s\n", pid, strerror(errno));
	}
	closedir(dir);
	snprintf(text, sizeof(text), "%llx", (unsigned long long)mask);
	must_put("/sys/devices/virtual/workqueue/cpumask", text);
}

/* It waits for a real-time task, and then may use an idle CPU, which is not told */
static void lost_kick(void)
{
	struct counter *counters = shared(2 * sizeof(*counters));
	int log = open_log(), held = cpus - 1, idle = cpus - 2;
	char server[80], served[24];
	uint64_t all = mask_of(0);
	pid_t pids[3];

	if (cpus < 4) {
		ksft_test_result_skip("%d CPUs\n", cpus);
		return;
	}
	/* Whoever runs on the idle CPU, as rcu_preempt, makes it look for work when that sleeps */
	move_all(1);
	pids[0] = spawn(counting_hog, &counters[0]);
	pin(pids[0], held);
	pids[1] = spawn(counting_hog, &counters[1]);
	pin(pids[1], 1);
	if (!goes_on(&counters[0]) || !goes_on(&counters[1]))
		ksft_exit_fail_msg("the children do nothing\n");
	/* What the class has of a CPU beside real-time tasks: none, or the victim may run by it */
	snprintf(server, sizeof(server), FAIR_SERVER, held);
	snprintf(served, sizeof(served), "%lld", number_after(server, ""));
	must_put(server, "0");
	pids[2] = spawn(fifo_hog, &held);
	sleep_ns(50 * MSEC);
	set_stall(STALL_MS);
	if (!ask_for("kick", pids[0]))
		ksft_exit_fail_msg("%s: %s\n", FAULT, strerror(errno));
	confine(pids[0], 1ULL << held | 1ULL << idle);
	is_found("kick", pids[0], log, &counters[0], &counters[1]);
	set_stall(30000);
	finish_all(pids, 3);
	close(log);
	must_put(server, served);
	move_all(all);
}

static void lock_up(void *fault)
{
	be_normal();
	pin(0, cpus - 1);
	must_put(FAULT, fault);
}

/* A CPU that does not switch tasks for longer than mainline's detector waits, and one that does */
static void lockup(void)
{
	struct counter *counter = shared(sizeof(*counter));
	long long before = number_after(FALLBACKS, "");
	pid_t hog = spawn(counting_hog, counter), pid;
	bool good, fell_back;
	uint64_t took;

	must_put("/proc/sys/kernel/watchdog_thresh", "1");
	took = now_ns();
	pid = spawn(lock_up, "lockup 1000");
	waitpid(pid, NULL, 0);
	took = now_ns() - took;
	sleep_ns(300 * MSEC);
	ksft_test_result(number_after(FALLBACKS, "") == before && under_vrq() && goes_on(counter) &&
			 took >= 9 * SEC / 10,
			 "a CPU that does not switch tasks for half of the time allowed: VRQ stays\n");

	pid = spawn(lock_up, "lockup 4000");
	fell_back = falls_back(before, 10000);
	waitpid(pid, NULL, 0);
	good = fell_back && file_says(REASON, "soft lockup") && goes_on(counter) &&
	       put(ACTIVE, "vrq") && under_vrq() && goes_on(counter);
	ksft_test_result(good, "a soft lockup: the fair class takes over, and VRQ again\n");
	must_put("/proc/sys/kernel/watchdog_thresh", "10");
	finish(hog);
}

static void bad_faults(void)
{
	ksft_test_result(!put(FAULT, "queue 1") && errno == EINVAL && !put(FAULT, "task") &&
			 errno == EINVAL && !put(FAULT, "task 0") && errno == EINVAL &&
			 !put(FAULT, "lockup 60001") && errno == EINVAL &&
			 !put(FAULT, "stop 60001") && errno == EINVAL,
			 "faults that do not exist: EINVAL\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(13);
	if (access(FAULT, F_OK))
		ksft_exit_skip("a kernel without faults\n");
	cpus = online_cpus();
	need_groups();
	be_supervisor_of_groups();
	/* For lost_kick(): vmstat wakes workers on idle CPUs too. Heeded after a second */
	if (cpus > 1)
		must_put("/proc/sys/vm/stat_interval", "3600");
	setting();
	sysrq();
	no_false_alarm();
	debt();
	reniced();
	bad_faults();
	lost("task", napper);
	if (cpus > 1)
		lost("slot", napper);
	else
		ksft_test_result_skip("one CPU, which has no slot\n");
	lost_kick();
	lockup();
	ksft_finished();
}
