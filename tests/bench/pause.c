// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler is changed, and back, beside TASKS threads that want to run, or that sleep:
 * how long are all CPUs stopped for it? The kernel measures that itself, and tells it in
 * its log.
 */
#include <sys/klog.h>

#include "bench.h"

const char usage[] = "run|sleep TASKS";

#define STACK		(16 << 10)
/* What of the log is looked at: its last bytes */
#define LOG		4096
/* SYSLOG_ACTION_READ_ALL of the kernel, which glibc does not name */
#define READ_ALL	3
/* For this long the tasks settle, and what a switch leaves to be done is done */
#define SETTLE		(300 * MSEC)

static _Atomic uint32_t gate;

static void *spin(void *arg)
{
	(void)arg;
	while (!atomic_load(&gate))
		futex_wait(&gate, 0, 0);
	for (;;)
		work(1000);
	return NULL;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

/* The last switch's pause, in us */
static uint64_t pause_told(void)
{
	static const char words[] = "all CPUs were stopped for ";
	static char text[LOG + 1];
	char *at, *last = NULL;
	int size = klogctl(READ_ALL, text, LOG);

	if (size < 0)
		die("klogctl");
	text[size] = 0;
	for (at = text; (at = strstr(at, words)); at += strlen(words))
		last = at;
	if (!last)
		fail("the log tells of no switch");
	return strtoull(last + strlen(words), NULL, 10);
}

static void switch_to(bool vrq)
{
	put(ACTIVE, vrq ? "vrq" : "fair");
	if (under_vrq() != vrq)
		fail("the scheduler is not %s", vrq ? "vrq" : "fair");
	row_count(vrq ? "to-vrq-us" : "to-fair-us", pause_told());
}

/* They begin as normal tasks, for we are a real-time one, and can be started meanwhile */
static void start(long count)
{
	char *stacks = mmap(NULL, count * STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct sched_param param = { .sched_priority = 0 };
	pthread_attr_t attr;
	pthread_t thread;

	if (stacks == MAP_FAILED)
		die("mmap");
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &param);
	for (; count; count--, stacks += STACK) {
		pthread_attr_setstack(&attr, stacks, STACK);
		errno = pthread_create(&thread, &attr, spin, NULL);
		if (errno)
			die("pthread_create");
	}
}

int main(int argc, char **argv)
{
	struct sched_param param = { .sched_priority = 1 };
	bool run, vrq = under_vrq();
	char limit[32];
	long count;

	if (argc != 3 || (strcmp(argv[1], "run") && strcmp(argv[1], "sleep")))
		bad_usage();
	run = !strcmp(argv[1], "run");
	count = number("TASKS", argv[2], 1, 1000000);

	snprintf(limit, sizeof(limit), "%ld", count + 10000);
	put("/proc/sys/kernel/threads-max", limit);
	put("/proc/sys/kernel/pid_max", "4194304");
	/* To start so many takes more than a second */
	put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	start(count);
	/* Each has to come as far as its futex */
	sleep_ns(SETTLE + count * 200 * USEC);
	if (run) {
		atomic_store(&gate, 1);
		if (futex_wake(&gate, INT_MAX) != count)
			fail("they do not sleep");
		sleep_ns(SETTLE);
	}
	switch_to(!vrq);
	sleep_ns(SETTLE);
	switch_to(vrq);
	_exit(0);
}
