// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers of io_uring, which never return to user space, keep the limit of their group: also if
 * their process is to stop, for which they look when they have no work left.
 */
#include <linux/io_uring.h>

#include "cgroup.h"

#define GROUP		"uring"
#define FILE_NAME	"/dev/shm/uring"
#define READS		2048
#define READ_BYTES	(1 << 20)
/* So much may they use in a period */
#define QUOTA_US	2000
#define PERIOD_US	20000

struct job {
	bool stops;
	volatile bool asked;
};

static void *map(int fd, size_t size, uint64_t offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);

	if (at == MAP_FAILED)
		_exit(2);
	return at;
}

/* Have workers read a file again and again, all into the same place */
static void ask_for_reads(void)
{
	struct io_uring_params params = {};
	int ring = syscall(SYS_io_uring_setup, READS, &params), file = open(FILE_NAME, O_RDONLY);
	struct io_uring_sqe *entries;
	unsigned int *array, *tail, i;
	char *queue, *bytes = shared(READ_BYTES);

	if (ring < 0 || file < 0)
		_exit(1);
	queue = map(ring, params.sq_off.array + READS * sizeof(*array), IORING_OFF_SQ_RING);
	entries = map(ring, READS * sizeof(*entries), IORING_OFF_SQES);
	array = (void *)(queue + params.sq_off.array);
	tail = (void *)(queue + params.sq_off.tail);
	for (i = 0; i < READS; i++) {
		entries[i] = (struct io_uring_sqe) {
			.opcode = IORING_OP_READ, .flags = IOSQE_ASYNC, .fd = file,
			.addr = (uintptr_t)bytes, .len = READ_BYTES,
		};
		array[i] = i;
	}
	__atomic_store_n(tail, READS, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, READS, 0, 0, NULL, 0) != READS)
		_exit(3);
}

static void work(void *arg)
{
	struct job *job = arg;

	be_normal();
	ask_for_reads();
	job->asked = true;
	if (job->stops)
		raise(SIGSTOP);
	for (;;)
		pause();
}

static void keeps_its_limit(bool stops, const char *what)
{
	struct job *job = shared(sizeof(*job));
	char text[32];
	long long before = 0, used = 0;
	bool made = false;
	pid_t pid;
	int ms;

	job->stops = stops;
	make_group(GROUP);
	pid = spawn_in(GROUP, work, job);
	start_all(&pid, 1);
	for (ms = 0; ms < 10000 && !job->asked && !waitpid(pid, NULL, WNOHANG); ms++)
		sleep_ns(MSEC);
	if (job->asked) {
		/* not before: with a limit it may wait for its workers, each time it asks */
		snprintf(text, sizeof(text), "%d %d", QUOTA_US, PERIOD_US);
		made = group_put(GROUP, "cpu.max", text);
		sleep_ns(SEC / 2);
		before = group_number(GROUP, "cpu.stat", "usage_usec");
		sleep_ns(SEC);
		used = group_number(GROUP, "cpu.stat", "usage_usec") - before;
	}
	/*
	 * A tenth of a second, and work that was begun. Nothing if many workers began at once, and
	 * still owe that
	 */
	timed_result(made && job->asked && before + used >= 20000 && used <= 200000,
		     "workers of io_uring%s use %lld us in a second of %d\n", what, used,
		     QUOTA_US * (int)(SEC / 1000) / PERIOD_US);
	finish(pid);
	drop_group(GROUP);
}

int main(void)
{
	static char bytes[READ_BYTES];
	int file = open(FILE_NAME, O_RDWR | O_CREAT, 0600);

	ksft_print_header();
	need_groups();
	if (write(file, bytes, sizeof(bytes)) != sizeof(bytes))
		ksft_exit_skip("%s: %s\n", FILE_NAME, strerror(errno));
	ksft_set_plan(2);
	be_supervisor_of_groups();
	keeps_its_limit(false, "");
	keeps_its_limit(true, ", whose process is to stop,");
	unlink(FILE_NAME);
	ksft_finished();
}
