/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guest tests share: child processes that do a simple thing for a
 * while, and clocks.
 */
#ifndef _GUEST_H
#define _GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"

#include "../scheduler.h"

/* The C library does not know it */
#ifndef SCHED_ISO
#define SCHED_ISO	4
#endif
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE		62
#define PR_SCHED_CORE_CREATE	1
#endif

/* For sched_setattr(), as in the kernel; not all C libraries have it */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

#define NOBODY		65534

/* For how long a task waits for its CPU only, ms; -1: as the size of the cache says */
#define CACHE_NORMAL_MS	"/proc/sys/kernel/sched_vrq_cache_normal_ms"

/* How often VRQ took each path */
#define COUNTERS	"/sys/kernel/debug/sched/vrq"

#define MSEC	1000000ULL
#define SEC	1000000000ULL

/* What a slice takes by default, the tunable rr_interval */
#define RR_MS	3
#define RR_NS	(RR_MS * MSEC)

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of another process, ns */
static inline uint64_t cpu_time_of(pid_t pid)
{
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock))
		return 0;
	return clock_ns(clock);
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec ts = { ns / SEC, ns % SEC };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static inline void sleep_until(uint64_t ns)
{
	struct timespec ts = { ns / SEC, ns % SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/*
 * Time goes on for a guest in parallel mode while its host has stopped one of its
 * CPUs, for seconds if the host is busy: run_tests.py says so by a variable.
 */
static inline bool host_stops_cpus(void)
{
	return getenv("HOST_STOPS_CPUS");
}

/* The result of a test that measures time: no verdict on it where it is the host's */
#define timed_result(good, ...)						\
	do {								\
		if (host_stops_cpus())					\
			ksft_test_result_skip("the host's time: " __VA_ARGS__); \
		else							\
			ksft_test_result(good, __VA_ARGS__);		\
	} while (0)

/* The tests have room for so many CPUs */
#define MAX_CPUS	256

static inline int online_cpus(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (cpus > MAX_CPUS)
		ksft_exit_skip("no room for %d CPUs\n", cpus);
	return cpus;
}

/* The number behind the first @key, or the file's first if it is "", or -1 */
static inline long long number_after(const char *path, const char *key)
{
	char line[512], *at;
	long long value = -1;
	FILE *file = fopen(path, "r");

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, key);
		if (!at)
			continue;
		at += strlen(key);
		if (sscanf(at + strspn(at, " :=\t"), "%lld", &value) == 1)
			break;
	}
	if (file)
		fclose(file);
	return value;
}

/* Field @number, from 4 on, of what /proc/PID/stat tells of a process; false if there is none */
static inline bool stat_field(pid_t pid, int number, long long *value)
{
	char path[64], line[1024], *at;
	bool there = false;
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	/* the name, field 2, may have spaces and brackets */
	at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	for (i = 2; at && i < number; i++)
		at = strchr(at + 1, ' ');
	if (at)
		there = sscanf(at, "%lld", value) == 1;
	fclose(file);
	return there;
}

/* The state that /proc/PID/stat tells, 0: no such process */
static inline char state_of(pid_t pid)
{
	char path[64], line[512], *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return at ? at[2] : 0;
}

/* Print what the file /proc/PID/@name of a process has, if there is one */
static inline void print_proc(pid_t pid, const char *name)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		ksft_print_msg("%s: %s", path, line);
	if (file)
		fclose(file);
}

/* How many of the first @width CPUs have the last-level cache of @cpu */
static inline int sharing_cache_of(int cpu, int width)
{
	char line[4096] = "", path[80];
	char *last;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_map", cpu);
	file = fopen(path, "r");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = 0;
	if (file)
		fclose(file);
	if (!line[0])
		return width;
	/* of words with commas between them the last one has the first 32 CPUs */
	last = strrchr(line, ',');
	return __builtin_popcountll(strtoull(last ? last + 1 : line, NULL, 16) &
				    (~0ULL >> (64 - (width < 32 ? width : 32))));
}

/* How many of the first @width CPUs are in one domain, at the most */
static inline int widest_domain(int width)
{
	long long forced = number_after("/proc/cmdline", "sched_vrq_domain");
	int widest = 0, cpu, n;

	if (forced > 0)
		return forced < width ? forced : width;
	for (cpu = 0; cpu < width; cpu++) {
		n = sharing_cache_of(cpu, width);
		widest = n > widest ? n : widest;
	}
	return widest;
}

/* Write a file of the kernel's: true, or false and errno */
static inline bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	int err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return done;
}

/* The same, of a setting without which the test cannot go on */
static inline void must_put(const char *path, const char *text)
{
	if (!put(path, text))
		ksft_exit_fail_msg("%s to %s: %s\n", text, path, strerror(errno));
}

/* The length of slices, under VRQ */
static inline void set_rr_interval(int ms)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", ms);
	must_put("/proc/sys/kernel/rr_interval", text);
}

/* Memory that parent and children see, zeroed */
static inline void *shared(size_t size)
{
	void *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		ksft_exit_fail_msg("mmap: %s\n", strerror(errno));
	return area;
}

/* Run @work(@arg) in a child until it returns or is killed */
static inline pid_t spawn(void (*work)(void *), void *arg)
{
	pid_t pid = fork();

	if (pid < 0)
		ksft_exit_fail_msg("fork: %s\n", strerror(errno));
	if (!pid) {
		work(arg);
		_exit(0);
	}
	return pid;
}

static inline void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The same for many: none has to wait for its turn beside all the others */
static inline void finish_all(const pid_t *pids, int n)
{
	int i;

	for (i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
}

/* Use the CPU for ever; @counter, if given, shows that it runs */
static inline void hog(void *counter)
{
	volatile uint64_t idle, *count = counter ? counter : &idle;

	for (;;)
		++*count;
}

/* The CPUs that @mask has a bit for, the first 64 */
static inline cpu_set_t set_of(uint64_t mask)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < 64; cpu++)
		if (mask >> cpu & 1)
			CPU_SET(cpu, &set);
	return set;
}

static inline void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		ksft_exit_fail_msg("sched_setaffinity to %d: %s\n", cpu,
				   strerror(errno));
}

static inline void confine_to(pid_t pid, const cpu_set_t *set)
{
	if (sched_setaffinity(pid, sizeof(*set), set))
		ksft_exit_fail_msg("sched_setaffinity: %s\n", strerror(errno));
}

/* Let a process run on the CPUs that @mask has a bit for, see set_of() */
static inline void confine(pid_t pid, uint64_t mask)
{
	cpu_set_t set = set_of(mask);

	confine_to(pid, &set);
}

/* The CPUs that a process may use and that are there, of the first 64; 0: no process */
static inline uint64_t mask_of(pid_t pid)
{
	uint64_t mask = 0;
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(pid, sizeof(set), &set))
		return 0;
	for (cpu = 0; cpu < 64; cpu++)
		if (CPU_ISSET(cpu, &set))
			mask |= 1ULL << cpu;
	return mask;
}

/* Take a CPU away or bring it back: 0 or errno */
static inline int set_online(int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return put(path, online ? "1" : "0") ? 0 : errno;
}

/* Sleep uninterruptibly until a kernel thread of each CPU has run */
static inline bool run_kernel_threads(void)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_RDONLY);
	bool done;
	char byte;

	done = fd >= 0 && read(fd, &byte, 1) >= 0;
	close(fd);
	return done;
}

static inline void set_policy(pid_t pid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(pid, policy, &param))
		ksft_exit_fail_msg("sched_setscheduler to %d: %s\n", policy,
				   strerror(errno));
}

/* The test itself goes first, so that what it starts cannot keep it waiting */
static inline void be_supervisor(void)
{
	set_policy(0, SCHED_FIFO, 50);
}

/* For children of a supervisor */
static inline void be_normal(void)
{
	set_policy(0, SCHED_OTHER, 0);
}

/* Hogs for spawn() */
static inline void normal_hog(void *counter)
{
	be_normal();
	hog(counter);
}

static inline void iso_hog(void *arg)
{
	set_policy(0, SCHED_ISO, 0);
	hog(arg);
}

static inline void idle_hog(void *counter)
{
	set_policy(0, SCHED_IDLE, 0);
	hog(counter);
}

static inline void normal_hog_on_cpu_0(void *counter)
{
	be_normal();
	pin(0, 0);
	hog(counter);
}

/* Use @ns of the CPU's time */
static inline void use_ns(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* For ever, children that use @ns of the CPU's time each, one after the other */
static inline void let_children_work(uint64_t ns)
{
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid) {
			use_ns(ns);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* From here on the caller can do what everybody can */
static inline bool become_nobody(void)
{
	static const struct rlimit none;

	return !setrlimit(RLIMIT_RTPRIO, &none) && !setrlimit(RLIMIT_NICE, &none) &&
	       !setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY);
}

/* The length of the caller's slices, ns. 0: as long as those of others */
static inline bool set_slice(int policy, uint64_t ns)
{
	struct attributes attr = {
		.size = sizeof(attr),
		.policy = policy,
		.runtime = ns,
	};

	return !syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* /proc/PID/schedstat: time on a CPU and time waiting, ns, and how many slices */
struct schedstat {
	unsigned long long ran, waited, slices;
};

static inline bool read_schedstat(pid_t pid, struct schedstat *stat)
{
	char path[64];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	good = fscanf(file, "%llu %llu %llu", &stat->ran, &stat->waited, &stat->slices) == 3;
	fclose(file);

	return good;
}

/* What @n processes have used of the CPUs together, ns */
static inline uint64_t time_of_all(const pid_t *pids, int n)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += cpu_time_of(pids[i]);

	return sum;
}

/* What a process uses of the CPUs in the next @ns, ns */
static inline uint64_t cpu_time_within(pid_t pid, uint64_t ns)
{
	uint64_t before = cpu_time_of(pid);

	sleep_ns(ns);
	return cpu_time_of(pid) - before;
}

#endif /* _GUEST_H */
