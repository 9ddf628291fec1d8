/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the benchmarks share: arguments, errors, rows of results, clocks,
 * calibrated work, futexes, children and threads.
 *
 * Figures go to stdout as "row NAME VALUE", and nothing else does. Errors are
 * one line on stderr, and exit status 2 for wrong arguments, 1 for the rest.
 */
#ifndef _BENCH_H
#define _BENCH_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
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

#include "../scheduler.h"

#define USEC	1000ULL
#define MSEC	1000000ULL
#define SEC	1000000000ULL

/* Each program's arguments, for its usage line */
extern const char usage[];

/* Flushed row by row, so _exit() loses none, nor does a child repeat any */
#define fail(format, ...) do {						\
	fprintf(stderr, "%s: " format "\n",				\
		program_invocation_short_name, ##__VA_ARGS__);		\
	_exit(1);							\
} while (0)

/* A system call has failed */
#define die(what)	fail("%s: %s", what, strerror(errno))

static inline void bad_usage(void)
{
	fprintf(stderr, "usage: %s %s\n", program_invocation_short_name, usage);
	_exit(2);
}

/* The argument @text, which the usage line calls @name */
static inline long number(const char *name, const char *text, long low,
			  long high)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end != text && !*end && !errno && value >= low && value <= high)
		return value;
	fprintf(stderr, "%s: %s must be %ld to %ld, not '%s'; usage: %s %s\n",
		program_invocation_short_name, name, low, high, text,
		program_invocation_short_name, usage);
	_exit(2);
}

static inline void row(const char *name, double value)
{
	if (printf("row %s %.3f\n", name, value) < 0 || fflush(stdout))
		die("stdout");
}

static inline void row_count(const char *name, uint64_t value)
{
	if (printf("row %s %llu\n", name, (unsigned long long)value) < 0 ||
	    fflush(stdout))
		die("stdout");
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		die("clock_gettime");
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SEC, .tv_nsec = ns % SEC };
}

static inline void sleep_until(uint64_t ns)
{
	struct timespec ts = timespec_of(ns);

	do {
		errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts,
					NULL);
	} while (errno == EINTR);
	if (errno)
		die("clock_nanosleep");
}

static inline void sleep_ns(uint64_t ns)
{
	sleep_until(now_ns() + ns);
}

/* Sleeps end when they should; threads and children inherit it */
static inline void no_timer_slack(void)
{
	if (prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL))
		die("prctl(PR_SET_TIMERSLACK)");
}

/* Keep the CPU busy, and touch no memory */
static __attribute__((noinline, unused)) void work(uint64_t iterations)
{
	uint64_t x = iterations | 1;

	while (iterations--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	__asm__ volatile("" : : "r"(x));
}

static inline uint64_t cpu_time_of_work(uint64_t iterations)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	work(iterations);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

/*
 * How many iterations of work() take @us. By CPU time and by the fastest of
 * several trials, so that neither preemption nor interrupts count.
 */
static inline uint64_t calibrate(uint64_t us)
{
	uint64_t trial = 1000, ns, best, iterations;
	int i;

	do {
		trial *= 2;
		best = cpu_time_of_work(trial);
	} while (best < MSEC);
	for (i = 0; i < 20; i++) {
		ns = cpu_time_of_work(trial);
		if (ns && ns < best)
			best = ns;
	}
	iterations = (double)trial * us * USEC / best;
	return iterations ? iterations : 1;
}

/* Of @count values in ascending order, the one @part (0 to 1) of the way up */
static inline uint64_t percentile(const uint64_t *sorted, size_t count,
				  double part)
{
	size_t i = part * count;

	return sorted[i < count ? i : count - 1];
}

static inline int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The CPUs we may run on: their number, and which the first, second... is */
static inline int cpu_count(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity");
	return CPU_COUNT(&set);
}

static inline int nth_cpu(int n)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set) && !n--)
			return cpu;
	}
	fail("too few CPUs");
}

/* The calling thread */
static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static inline void *zalloc(size_t count, size_t size)
{
	void *area = calloc(count, size);

	if (!area)
		die("calloc");
	return area;
}

/* Memory that parent and children see, zeroed */
static inline void *shared(size_t size)
{
	void *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		die("mmap");
	return area;
}

/* As many open files as we may have */
static inline void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		die("getrlimit");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
}

static inline void read_all(int fd, void *data, size_t size)
{
	ssize_t got;

	for (; size; size -= got, data = (char *)data + got) {
		got = read(fd, data, size);
		if (got < 0)
			die("read");
		if (!got)
			fail("read: unexpected end");
	}
}

static inline void write_all(int fd, const void *data, size_t size)
{
	ssize_t put;

	for (; size; size -= put, data = (const char *)data + put) {
		put = write(fd, data, size);
		if (put < 0)
			die("write");
	}
}

/* Wait while *@word is @value, at most until @until if it is not 0 */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value,
			      uint64_t until)
{
	struct timespec ts = timespec_of(until);

	if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value,
		    until ? &ts : NULL, NULL, FUTEX_BITSET_MATCH_ANY) &&
	    errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
		die("futex");
}

/* How many were woken */
static inline int futex_wake(_Atomic uint32_t *word, int count)
{
	int woken = syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);

	if (woken < 0)
		die("futex");
	return woken;
}

/* Run @run(@arg) in a child, which does not outlive us */
static inline pid_t spawn(void (*run)(void *), void *arg)
{
	pid_t parent = getpid(), pid;

	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		die("prctl(PR_SET_PDEATHSIG)");
	if (getppid() != parent)
		_exit(1);
	run(arg);
	_exit(0);
}

/* Wait for children to end; if one fails, so do we, which ends the others */
static inline void reap(int count)
{
	int status;

	while (count--) {
		if (wait(&status) < 0)
			die("wait");
		if (WIFSIGNALED(status))
			fail("a child was killed by signal %d",
			     WTERMSIG(status));
		if (WEXITSTATUS(status))
			_exit(1);
	}
}

static inline pthread_t start_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, arg);
	if (errno)
		die("pthread_create");
	return thread;
}

static inline void join_thread(pthread_t thread)
{
	errno = pthread_join(thread, NULL);
	if (errno)
		die("pthread_join");
}

#endif /* _BENCH_H */
