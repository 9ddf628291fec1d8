// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer of what a scheduler can be asked for: system calls and files, by chance but
 * after a grammar, by workers that are root and workers that are nobody. What a worker
 * asks for depends on the seed, its number and the number of the call only; so in virtual
 * time all is repeated. Afterwards nobody is lost, and the machine works.
 *
 * Usage: fuzz [SEED [CALLS [WORKERS]]]
 */
#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/ptrace.h>

#include "cgroup.h"

#define FALLBACKS	"/sys/kernel/sched/fallbacks"
#define DEBUG		"/sys/kernel/debug/sched/"
#define SYSCTL		"/proc/sys/kernel/"

#define MAX_WORKERS	16
#define CHILDREN	4
/* Children that have not been waited for, of a worker */
#define LIVING		8
#define WORDS		4
#define LAST		16

/* No call of a worker takes longer, once it is normal and in no group */
#define LOST_NS		(120 * SEC)
/* When none of them has made a call for so long, it is told what all wait for */
#define STILL_NS	(15 * SEC)

/* As sched_setattr() has it, and room for what is not known yet */
union attr {
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
		uint32_t util_min, util_max;
	};
	char bytes[8192];
};

struct worker {
	volatile uint64_t calls;
	volatile pid_t pid, child[CHILDREN], thread[CHILDREN];
	volatile bool ended;
	volatile int wrong_kind, wrong_errno;
	volatile unsigned int wrong;
	volatile unsigned char last[LAST];	/* kinds of the last calls */
	uint64_t answers[2];			/* calls that failed, or not */
};

static struct area {
	struct worker workers[MAX_WORKERS];
	uint32_t words[WORDS];
	unsigned int preempt_changes;
	unsigned int looks, looks_under_wanted;	/* of the keeper's, at which scheduler is active */
} *area;

static struct worker *me;
static bool root;
/*
 * SCHED_DEADLINE is asked for, or futexes that lend a priority, by the seed. Not both, for mainline
 * does not survive a SCHED_DEADLINE task that lends. replenish_dl_entity() can find that the lender
 * has no runtime any more, and then turns for ever with the lock of a run queue. set_user_nice() of
 * the borrower queues a balance callback that nobody runs, which is a warning under that lock.
 */
static bool with_deadline;
static int cpus, n_workers;
static int living;
static pid_t supervisor;
static uint64_t state;

/* Steele and others, "Fast splittable pseudorandom number generators", 2014 */
static uint64_t chance(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static unsigned int below(unsigned int n)
{
	return (chance() >> 32) % n;
}

#define one_of(array)	((array)[below(ARRAY_SIZE(array))])

/*
 * A process or thread: the worker, a child of its own, somebody else, or nobody. Who is
 * drawn does not depend on who is there.
 */
static pid_t somebody(void)
{
	unsigned int kind = below(100), who = below(n_workers), child = below(CHILDREN);
	const struct worker *other = &area->workers[who];

	if (kind < 30)
		return 0;
	if (kind < 65)
		return me->child[child] ?: 0;
	if (kind < 72)
		return me->thread[child] ?: 0;
	if (kind < 86)
		return other->child[child] ?: 0;
	if (kind < 95)
		return other->pid;
	if (kind < 97)
		return -1;
	if (kind < 98)
		return 0x7ffffff0;
	/* others of the system, whom nobody may change */
	return root ? 0 : kind < 99 ? supervisor : 2;
}

static pid_t child_of_mine(void)
{
	return me->child[below(CHILDREN)] ?: 0x7ffffff0;
}

/* A pointer that the kernel cannot use, now and then */
static void *spoilt(void *pointer)
{
	static void * const bad[] = { NULL, (void *)8, (void *)-4096 };
	unsigned int kind = below(100);

	return kind < 3 ? bad[kind] : pointer;
}

static int policy_by_chance(void)
{
	static const int policies[] = {
		SCHED_OTHER, SCHED_OTHER, SCHED_OTHER, SCHED_BATCH, SCHED_BATCH, SCHED_IDLE, SCHED_IDLE,
		SCHED_ISO, SCHED_ISO, SCHED_FIFO, SCHED_RR, 6, 7, -1,
	};
	int policy = one_of(policies);

	return policy == 6 && !with_deadline ? SCHED_RR : policy;
}

/* Below that of the supervisor, or none at all */
static int priority_for(int policy)
{
	static const int bad[] = { -1, 100, 1 << 20 };

	if (!below(12))
		return one_of(bad);
	return policy == SCHED_FIFO || policy == SCHED_RR ? 1 + (int)below(40) : 0;
}

static long set_scheduler(void)
{
	int policy = policy_by_chance();
	struct sched_param param = { .sched_priority = priority_for(policy) };

	if (!below(10))
		policy |= SCHED_RESET_ON_FORK;
	return syscall(SYS_sched_setscheduler, somebody(), policy, spoilt(&param));
}

static long set_param(void)
{
	struct sched_param param = { .sched_priority = priority_for(below(4) ? SCHED_OTHER : SCHED_FIFO) };

	return syscall(SYS_sched_setparam, somebody(), spoilt(&param));
}

static uint32_t clamp_by_chance(void)
{
	static const uint32_t clamps[] = { 0, 1, 100, 512, 1023, 1024, 1025, -1 };

	return one_of(clamps);
}

/* Of a struct sched_attr: as it was, as it is, and any other up to beyond that */
static uint32_t size_by_chance(void)
{
	static const uint32_t sizes[] = { 47, 48, 49, 55, 56, 57, 4096, 4097, -1 };

	return below(2) ? one_of(sizes) : below(130);
}

static void fill_attr(union attr *attr)
{
	static const uint64_t slices[] = { 0, 0, 1, 99999, 100000, 1000000, 3000000, 100000000, 100000001, -1 };
	static const uint64_t times[] = { 0, 1023, 1024, 500000, 20000000, 1ULL << 62, 1ULL << 63, -1 };
	bool zeros = below(4);

	memset(attr, zeros ? 0 : chance(), sizeof(*attr));
	attr->size = below(3) ? below(2) ? 56 : 48 : size_by_chance();
	attr->policy = policy_by_chance();
	/* each flag alone, and all together */
	attr->flags = below(3) ? 0 : below(2) ? 1ULL << below(9) : below(128);
	if (!below(50))
		attr->flags = below(2) ? 0x10000000 : chance();
	attr->nice = (int)below(44) - 22;
	attr->priority = priority_for(attr->policy);
	attr->runtime = one_of(slices);
	attr->deadline = 0;
	attr->period = 0;
	attr->util_min = clamp_by_chance();
	attr->util_max = clamp_by_chance();
	if (attr->policy != 6 || !below(4)) {
		if (attr->policy == 6 || !below(8)) {
			attr->runtime = one_of(times);
			attr->deadline = one_of(times);
			attr->period = one_of(times);
		}
		return;
	}
	attr->priority = 0;
	attr->nice = 0;
	attr->runtime = (1 + below(20)) * 100000;
	attr->deadline = 20000000 + below(5) * 5000000;
	attr->period = below(2) ? attr->deadline : attr->deadline + 10000000;
}

static long set_attr(void)
{
	static union attr attr;

	fill_attr(&attr);
	return syscall(SYS_sched_setattr, somebody(), spoilt(&attr), below(50) ? 0 : 1);
}

static long get_attr(void)
{
	static union attr attr;
	uint32_t size = below(2) ? 56 : size_by_chance();

	return syscall(SYS_sched_getattr, somebody(), spoilt(&attr), size, below(50) ? 0 : 1);
}

static const unsigned int mask_sizes[] = { 0, 1, 4, 8, 16, 64, 128, 1024 };

static long set_affinity(void)
{
	uint64_t mask[128] = {};
	unsigned int kind = below(8);

	/* any, one CPU, none that is there, all */
	if (kind < 3)
		mask[0] = chance() & ((1ULL << (cpus + 1)) - 1);
	else if (kind < 5)
		mask[0] = 1ULL << below(cpus);
	else if (kind < 6)
		mask[below(128)] = 1ULL << 63 >> below(32);
	else
		memset(mask, 0xff, sizeof(mask));
	return syscall(SYS_sched_setaffinity, somebody(), below(4) ? 128 : one_of(mask_sizes), spoilt(mask));
}

static long get_affinity(void)
{
	uint64_t mask[128];

	return syscall(SYS_sched_getaffinity, somebody(), below(2) ? 128 : one_of(mask_sizes), spoilt(mask));
}

static long yield(void)
{
	return syscall(SYS_sched_yield);
}

static long rr_get_interval(void)
{
	struct timespec ts;

	return syscall(SYS_sched_rr_get_interval, somebody(), spoilt(&ts));
}

static long ask_policy(void)
{
	struct sched_param param;

	switch (below(4)) {
	case 0:
		return syscall(SYS_sched_getscheduler, somebody());
	case 1:
		return syscall(SYS_sched_getparam, somebody(), spoilt(&param));
	case 2:
		return syscall(SYS_sched_get_priority_min, policy_by_chance());
	default:
		return syscall(SYS_sched_get_priority_max, policy_by_chance());
	}
}

static long set_nice(void)
{
	unsigned int kind = below(20);
	int nice = (int)below(50) - 25;

	switch (kind) {
	case 0:
		return syscall(SYS_setpriority, PRIO_PGRP, 0, nice);
	case 1:
		return syscall(SYS_setpriority, PRIO_USER, below(2) ? NOBODY : 12345, nice);
	case 2:
		return syscall(SYS_setpriority, 3 + below(3), 0, nice);
	case 3:
		return syscall(SYS_getpriority, PRIO_PROCESS, somebody());
	default:
		return syscall(SYS_setpriority, PRIO_PROCESS, somebody(), nice);
	}
}

/*
 * Without a library's part: the kernel takes it. Who dies with a lock leaves its number
 * there, which another worker wipes out, whoever waits meanwhile.
 */
static long futex(void)
{
	static const int asks[] = {
		FUTEX_WAKE, FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_LOCK_PI, FUTEX_UNLOCK_PI, FUTEX_UNLOCK_PI,
		FUTEX_UNLOCK_PI, FUTEX_TRYLOCK_PI, FUTEX_LOCK_PI2, FUTEX_CMP_REQUEUE_PI, FUTEX_WAIT_REQUEUE_PI,
	};
	int ask = asks[below(with_deadline ? 2 : ARRAY_SIZE(asks))];
	uint32_t *word = &area->words[below(WORDS)], *other = &area->words[below(WORDS)];
	uint64_t end = clock_ns(ask == FUTEX_LOCK_PI ? CLOCK_REALTIME : CLOCK_MONOTONIC) + below(2000000);
	struct timespec ts = { end / SEC, end % SEC };
	long got;

	if (ask == FUTEX_WAIT) {
		ts.tv_sec = 0;
		ts.tv_nsec = below(1000000);
	}
	got = syscall(SYS_futex, spoilt(word), ask, ask == FUTEX_CMP_REQUEUE_PI ? 1 : *(volatile uint32_t *)word,
		      ask == FUTEX_CMP_REQUEUE_PI ? (void *)1 : &ts, spoilt(other), *(volatile uint32_t *)word);
	if (got < 0 && errno == ESRCH) {
		*(volatile uint32_t *)word = 0;
		errno = ESRCH;
	}
	return got;
}

static long nap(void)
{
	struct timespec ts = { 0, below(300000) };

	return nanosleep(&ts, NULL);
}

/* --- children ------------------------------------------------------------ */

static void ignore(int signal)
{
	(void)signal;
}

/* A real-time task gives way to all others most of the time */
static void rest_if_real_time(void)
{
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	if (policy == SCHED_FIFO || policy == SCHED_RR || policy == 6)
		sleep_ns(3 * MSEC);
}

static void *thread(void *slot)
{
	me->thread[(long)slot] = syscall(SYS_gettid);
	for (;;) {
		use_ns(MSEC / 2);
		sleep_ns(MSEC);
	}
	return NULL;
}

static void __attribute__((noreturn)) be_child(unsigned int kind, unsigned int slot, unsigned int how)
{
	pthread_t id;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* with a session goes an autogroup */
	if (how & 1)
		setsid();
	if (kind == 0)
		_exit(0);
	if (kind == 1) {
		use_ns(how * 10000);
		_exit(1);
	}
	if (kind == 2)
		pthread_create(&id, NULL, thread, (void *)(long)slot);
	for (;;) {
		use_ns(kind < 4 ? 3 * MSEC : MSEC / 5);
		rest_if_real_time();
		switch (kind) {
		case 3:
			sched_yield();
			continue;
		case 4:
			futex();
			break;
		case 5:
			if (!fork())
				_exit(0);
			wait(NULL);
			break;
		}
		sleep_ns(4 * kind * MSEC);
	}
}

static const char * const groups[] = {
	"fz", "fz/a", "fz/b", "fz/c", "fz/a/x", "fz/a/y", "fz/b/t", "fz/b/t/u", "fz/n", "fz/n/p", "fz/n/q",
};

static long clone_into(const char *group)
{
	struct clone_args how = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	char path[GROUP_PATH];
	long pid;

	group_path(path, group, "");
	how.cgroup = open(path, O_PATH | O_DIRECTORY);
	if ((int)how.cgroup < 0)
		return -1;
	pid = syscall(SYS_clone3, &how, sizeof(how));
	close(how.cgroup);
	return pid;
}

static void reap(int options)
{
	while (waitpid(-1, NULL, options | __WALL) > 0)
		living--;
}

static long breed(void)
{
	unsigned int slot = below(CHILDREN), kind = below(8), how = below(64);
	const char *group = below(4) ? NULL : one_of(groups);
	long pid;

	reap(WNOHANG);
	if (me->child[slot])
		kill(me->child[slot], SIGKILL);
	me->child[slot] = 0;
	me->thread[slot] = 0;
	if (living >= LIVING) {
		errno = EAGAIN;
		return -1;
	}
	pid = group ? clone_into(group) : fork();
	if (!pid)
		be_child(kind, slot, how);
	if (pid > 0) {
		living++;
		me->child[slot] = pid;
	}
	return pid;
}

static long send(void)
{
	static const int signals[] = { SIGSTOP, SIGCONT, SIGCONT, SIGCONT, SIGUSR1, SIGUSR1, SIGKILL, 0, 99 };

	return kill(child_of_mine(), one_of(signals));
}

static long trace(void)
{
	static const int asks[] = {
		PTRACE_ATTACH, PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_CONT, PTRACE_CONT, PTRACE_SINGLESTEP,
		PTRACE_DETACH, PTRACE_DETACH,
	};
	int ask = one_of(asks);
	long got = ptrace(ask, child_of_mine(), 0, 0);
	int err = errno;

	reap(WNOHANG);
	errno = err;
	return got;
}

/* While somebody has a cookie VRQ cannot be switched to: the keeper takes them away */
static long core_sched(void)
{
	uint64_t cookie;

	/* where it is not to be told, the kernel wants none */
	return prctl(PR_SCHED_CORE, below(6), child_of_mine(), below(4), below(2) ? spoilt(&cookie) : NULL);
}

/* --- files --------------------------------------------------------------- */

static long put_text(const char *path, const char *text)
{
	return put(path, text) ? 0 : -1;
}

static long read_file(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY), err;
	long got, sum = 0;

	if (fd < 0)
		return -1;
	while ((got = read(fd, text, sizeof(text))) > 0 && sum < 1 << 16)
		sum += got;
	err = errno;
	close(fd);
	errno = err;
	return got < 0 ? -1 : 0;
}

static const char * const garbage[] = { "", "\n", "x", "-1", "99999999999999999999", "0x10", "1 2 3 4", " ", "1e3" };

/* A setting, values for it, and the range in which what is read must be at all times */
static const struct setting {
	const char *name;
	const char *values[8];
	long long min, max;
} settings[] = {
	{ "rr_interval", { "1", "3", "3", "6", "100", "1000", "0", "1001" }, 1, 1000 },
	{ "yield_type", { "0", "1", "1", "2", "3" }, 0, 2 },
	{ "interactive", { "0", "1", "1", "2" }, 0, 1 },
	{ "iso_cpu", { "0", "1", "70", "70", "99", "100", "101" }, 0, 100 },
	{ "smt_nice", { "0", "1", "2" }, 0, 1 },
	{ "sched_vrq_stall_ms", { "0", "20000", "30000", "30000", "3600000", "3600001", "99" }, 0, 3600000 },
	{ "sched_vrq_cache_normal_ms", { "-1", "0", "6", "1000", "60000", "60001", "-2" }, -1, 60000 },
	{ "sched_vrq_cache_batch_ms", { "0", "6", "1000", "60000", "60001", "-1" }, 0, 60000 },
	{ "sched_vrq_cache_scost_threshold", { "-1", "0", "3", "100", "1000000", "1000001" }, -1, 1000000 },
	{ "sched_autogroup_enabled", { "0", "1", "1", "2" }, 0, 1 },
	{ "sched_schedstats", { "0", "1", "2" }, 0, 1 },
	{ "sched_util_clamp_min", { "0", "512", "1024", "1025" }, 0, 1024 },
	{ "sched_util_clamp_max", { "0", "512", "1024", "1024", "1025" }, 0, 1024 },
	{ "sched_util_clamp_min_rt_default", { "0", "512", "1024", "1025" }, 0, 1024 },
	{ "sched_cfs_bandwidth_slice_us", { "1", "1000", "5000", "100000", "0" }, 1, 1 << 30 },
	{ "sched_rr_timeslice_ms", { "1", "10", "100", "0", "-1" }, 1, 1 << 30 },
	{ "sched_deadline_period_max_us", { "4194304", "1000000", "100" }, 100, 1 << 30 },
	{ "sched_deadline_period_min_us", { "100", "1000", "10000000" }, 1, 1 << 30 },
	/* what would keep the supervisor waiting is left out */
	{ "sched_rt_runtime_us", { "2000000", "-2" }, -1, 1000000 },
	{ "sched_rt_period_us", { "0", "-1", "1000000" }, 1, 1 << 30 },
	{ "numa_balancing", { "0", "1", "3" }, 0, 3 },
	{ "sched_energy_aware", { "0", "1", "2" }, 0, 1 },
};

/*
 * Without vrq_fault, which loses tasks on purpose. And not 0 for scan_size_mb: mainline's
 * task_scan_max() divides by it at the next fork, under either class.
 */
static const struct {
	const char *name;
	const char *values[6];
} debug_files[] = {
	{ "features", { "NO_TTWU_QUEUE", "TTWU_QUEUE", "NO_HRTICK", "NO_RUN_TO_PARITY", "RUN_TO_PARITY", "NO_SUCH" } },
	{ "preempt", { "none", "voluntary", "full", "full", "lazy" } },
	{ "verbose", { "N", "Y", "N" } },
	{ "base_slice_ns", { "100000", "3000000", "3000000", "100000000" } },
	{ "tunable_scaling", { "0", "1", "2", "3" } },
	{ "migration_cost_ns", { "0", "500000", "-1" } },
	{ "nr_migrate", { "1", "8", "32" } },
	/* not 0, with which real-time tasks keep all others from a CPU, as the kernel then says */
	{ "fair_server/cpu0/runtime", { "50000000", "10000000", "100000000", "2000000000" } },
	{ "fair_server/cpu1/runtime", { "50000000", "10000000", "50000000" } },
	{ "fair_server/cpu0/period", { "1000000000", "100000000", "1" } },
	{ "latency_warn_ms", { "0", "100", "1000", "-1" } },
	{ "latency_warn_once", { "0", "1", "2" } },
	{ "numa_balancing/scan_period_min_ms", { "1000", "100", "0" } },
	{ "numa_balancing/scan_size_mb", { "256", "1", "65536" } },
	{ "vrq", { "0", "1" } },
};

static const char *value_of(const char * const *values, int n)
{
	while (n > 1 && !values[n - 1])
		n--;
	return below(10) ? values[below(n)] : one_of(garbage);
}

static long sysctl(void)
{
	const struct setting *setting = &one_of(settings);
	char path[GROUP_PATH];

	snprintf(path, sizeof(path), SYSCTL "%s", setting->name);
	if (!below(4))
		return read_file(path);
	return put_text(path, value_of(setting->values, ARRAY_SIZE(setting->values)));
}

/*
 * A change of it rewrites the kernel in a thousand places: with KASAN it takes a minute. And where
 * QEMU runs CPUs at once, one of them may find a breakpoint later that is no longer there.
 */
#define PREEMPT_CHANGES		20

static long debugfs(void)
{
	static const char * const readable[] = {
		"debug", "vrq", "vrq_cache", "features", "preempt", "domains/cpu0/domain0/flags",
		"domains/cpu0/domain0/max_newidle_lb_cost",
	};
	unsigned int which = below(ARRAY_SIZE(debug_files));
	char path[GROUP_PATH];

	if (!below(8)) {
		snprintf(path, sizeof(path), DEBUG "%s", one_of(readable));
		return read_file(path);
	}
	snprintf(path, sizeof(path), DEBUG "%s", debug_files[which].name);
	if (!strcmp(debug_files[which].name, "preempt") &&
	    (host_stops_cpus() ||
	     __atomic_fetch_add(&area->preempt_changes, 1, __ATOMIC_RELAXED) >= PREEMPT_CHANGES))
		return read_file(path);
	return put_text(path, value_of(debug_files[which].values, ARRAY_SIZE(debug_files[which].values)));
}

static long proc_file(void)
{
	static const char * const files[] = { "sched", "stat", "schedstat", "cgroup", "status", "autogroup" };
	pid_t pid = somebody() ?: me->pid;
	char path[64], text[16];

	if (below(3)) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, one_of(files));
		return read_file(path);
	}
	if (!below(4)) {
		snprintf(path, sizeof(path), "/proc/%d/sched", pid);
		return put_text(path, "0");
	}
	snprintf(path, sizeof(path), "/proc/%d/autogroup", pid);
	snprintf(text, sizeof(text), "%d", (int)below(44) - 22);
	return put_text(path, below(8) ? text : one_of(garbage));
}

/* More often to VRQ than away from it */
static long live_switch(void)
{
	static const char * const names[] = { "vrq", "vrq", "vrq\n", "fair", "fair", "cfs" };
	static const char * const readable[] = { "active", "switches", "fallbacks", "fallback_reason" };
	char path[GROUP_PATH];

	if (!below(4)) {
		snprintf(path, sizeof(path), "/sys/kernel/sched/%s", one_of(readable));
		return read_file(path);
	}
	return put_text(ACTIVE, below(10) ? one_of(names) : one_of(garbage));
}

static long cgroup_file(void)
{
	static const struct {
		const char *name;
		const char *values[8];
	} files[] = {
		{ "cpu.weight", { "1", "100", "100", "10000", "37", "0", "10001" } },
		{ "cpu.weight.nice", { "-20", "0", "19", "5", "-21", "20" } },
		{ "cpu.idle", { "0", "0", "1", "2" } },
		{ "cpu.max", { "max", "max 100000", "1000 10000", "50000 100000", "200000 100000", "1000 500000", "999 1000",
			       "1000 1000001" } },
		{ "cpu.max", { "max", "20000", "10000 20000", "max 1000", "5000 5000" } },
		{ "cpu.max.burst", { "0", "1000", "50000", "100000000" } },
		{ "cpu.uclamp.min", { "0", "10", "50.5", "max", "100.01" } },
		{ "cpu.uclamp.max", { "max", "10", "50.5", "0", "100.01" } },
		{ "cpu.pressure", { "some 150000 1000000", "full 50000 2000000", "some 0 0", "some 1 500000",
				    "some 100000 20000000" } },
		{ "cpuset.cpus", { "", "0", "0-1", "1", "0-3", "77" } },
		{ "cgroup.freeze", { "0", "0", "1", "2" } },
		{ "cgroup.type", { "threaded", "domain" } },
		{ "cgroup.subtree_control", { "+cpu", "-cpu", "+cpu +cpuset", "+cpuset -cpu", "+none" } },
		{ "cgroup.kill", { "0" } },
	};
	static const char * const readable[] = {
		"cpu.stat", "cpu.stat.local", "cpu.max", "cpu.max.burst", "cpu.weight", "cpu.weight.nice", "cpu.idle",
		"cpu.uclamp.min", "cgroup.procs", "cgroup.events", "cpu.pressure",
	};
	const char *group = one_of(groups);
	unsigned int which = below(ARRAY_SIZE(files));
	char path[GROUP_PATH];

	if (!below(8)) {
		group_path(path, group, one_of(readable));
		return read_file(path);
	}
	group_path(path, group, files[which].name);
	return put_text(path, value_of(files[which].values, ARRAY_SIZE(files[which].values)));
}

static long cgroup_move(void)
{
	const char *group = below(4) ? one_of(groups) : "";
	char path[GROUP_PATH], text[16];

	group_path(path, group, below(3) ? "cgroup.procs" : "cgroup.threads");
	snprintf(text, sizeof(text), "%d", somebody());
	return put_text(path, text);
}

static long cgroup_make(void)
{
	const char *group = groups[1 + below(ARRAY_SIZE(groups) - 1)];
	char path[GROUP_PATH];

	group_path(path, group, "");
	return below(3) ? mkdir(path, 0755) : rmdir(path);
}

static long hotplug(void)
{
	int cpu = 1 + below(cpus > 1 ? cpus - 1 : 1), err;

	if (cpus < 2 || !root) {
		errno = EINVAL;
		return -1;
	}
	err = set_online(cpu, false);
	set_online(cpu, true);
	errno = err;
	return err ? -1 : 0;
}

/* --- the grammar --------------------------------------------------------- */

/* What can be asked for, how often in 10000 calls, and how it may fail */
static const struct kind {
	const char *name;
	long (*call)(void);
	unsigned int often;
	int errors[12];
} kinds[] = {
	{ "sched_setscheduler", set_scheduler, 1300, { EINVAL, EPERM, ESRCH, EFAULT, EBUSY } },
	{ "sched_setparam", set_param, 500, { EINVAL, EPERM, ESRCH, EFAULT, EBUSY } },
	{ "sched_setattr", set_attr, 1700, { EINVAL, EPERM, ESRCH, EFAULT, EBUSY, E2BIG, EOPNOTSUPP } },
	{ "sched_getattr", get_attr, 800, { EINVAL, ESRCH, EFAULT } },
	{ "sched_setaffinity", set_affinity, 1300, { EINVAL, EPERM, ESRCH, EFAULT, EBUSY } },
	{ "sched_getaffinity", get_affinity, 300, { EINVAL, ESRCH, EFAULT } },
	{ "sched_yield", yield, 1000, {} },
	{ "sched_rr_get_interval", rr_get_interval, 300, { EINVAL, ESRCH, EFAULT } },
	{ "sched_getscheduler", ask_policy, 300, { EINVAL, ESRCH, EFAULT } },
	{ "setpriority", set_nice, 700, { EINVAL, EPERM, EACCES, ESRCH } },
	{ "futex", futex, 700, { EINVAL, EPERM, EFAULT, EAGAIN, ESRCH, EDEADLK, ETIMEDOUT, ENOSYS, ENOMEM, EINTR } },
	{ "nanosleep", nap, 50, { EINTR } },
	{ "fork", breed, 80, { EAGAIN, ENOENT, EACCES, EBUSY, EOPNOTSUPP, ENODEV, EINVAL, ENOMEM, EPERM } },
	{ "kill", send, 150, { EINVAL, ESRCH, EPERM } },
	{ "ptrace", trace, 100, { ESRCH, EPERM, EIO, EBUSY } },
	{ "prctl", core_sched, 60, { EINVAL, ESRCH, EPERM, ENODEV, EOPNOTSUPP, EBUSY, EFAULT, ENOMEM } },
	{ "sysctl", sysctl, 150, { EINVAL, EACCES, EPERM, ENOENT, EBUSY, ERANGE, EOPNOTSUPP } },
	{ "debugfs", debugfs, 60, { EINVAL, EACCES, EPERM, ENOENT, EBUSY, ERANGE, EFAULT } },
	{ "proc", proc_file, 100, { EINVAL, EACCES, EPERM, ENOENT, EAGAIN, ESRCH, ERANGE } },
	{ "active", live_switch, 4, { EINVAL, EACCES, EBUSY, ENOENT } },
	{ "cgroup file", cgroup_file, 150, { EINVAL, EACCES, EPERM, ENOENT, EBUSY, ERANGE, EOPNOTSUPP, ENODEV, ENOSPC,
					     EFAULT, EOVERFLOW } },
	{ "cgroup move", cgroup_move, 120, { EINVAL, EACCES, EPERM, ENOENT, EBUSY, ESRCH, EOPNOTSUPP, ENODEV, ENOSPC,
					     EAGAIN } },
	{ "cgroup", cgroup_make, 60, { EACCES, EPERM, ENOENT, EEXIST, EBUSY, ENOTEMPTY, EAGAIN, EOPNOTSUPP } },
	{ "hotplug", hotplug, 1, { EINVAL, EBUSY } },
};

static unsigned int kind_by_chance(void)
{
	unsigned int at, i, sum = 0;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		sum += kinds[i].often;
	at = below(sum);
	for (i = 0; at >= kinds[i].often; i++)
		at -= kinds[i].often;
	return i;
}

static bool may_fail_so(const struct kind *kind, int err)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kind->errors); i++)
		if (kind->errors[i] == err)
			return true;
	return false;
}

static void ask(void)
{
	unsigned int i = kind_by_chance();
	bool failed;

	me->last[me->calls % LAST] = i;
	errno = 0;
	failed = kinds[i].call() < 0 && errno;
	me->answers[failed]++;
	if (failed && !may_fail_so(&kinds[i], errno)) {
		me->wrong_kind = i;
		me->wrong_errno = errno;
		me->wrong++;
	}
	me->calls++;
}

static void __attribute__((noreturn)) work(int number, uint64_t seed, uint64_t calls)
{
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	state = seed * 1000003 + number;
	me = &area->workers[number];
	/* each second one has no privilege */
	root = !(number & 1);
	if (!root && !become_nobody())
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	signal(SIGXCPU, SIG_IGN);
	signal(SIGUSR1, ignore);
	setpgid(0, 0);
	me->pid = getpid();
	while (me->calls < calls) {
		ask();
		if (!(me->calls % 32))
			rest_if_real_time();
	}
	for (i = 0; i < CHILDREN; i++)
		if (me->child[i])
			kill(me->child[i], SIGKILL);
	me->ended = true;
	_exit(0);
}

/* --- the supervisor ------------------------------------------------------ */

/* What stands in the kernel's log is found next to what it says of a fault */
static void tell(const char *text)
{
	ksft_print_msg("%s\n", text);
	fflush(stdout);
	put("/dev/kmsg", text);
}

static void thaw_groups(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++)
		group_put(groups[i], "cgroup.freeze", "0");
}

static void for_each_process(void (*what)(pid_t pid))
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc)
		return;
	while ((entry = readdir(proc)))
		if (atoi(entry->d_name))
			what(atoi(entry->d_name));
	closedir(proc);
}

/* Of all its threads, as far as we may */
static void take_cookie(pid_t pid)
{
	prctl(PR_SCHED_CORE, 2, pid, 1, 0);
}

/* What runs beside the supervisor, and before all that it looks at */
static void be_helper(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	set_policy(0, SCHED_FIFO, 90);
}

/*
 * Goes back to the scheduler that is wanted, each 2 s, and tells how much of the time it was
 * active. It waits for nobody: the supervisor writes to files of cgroups, whose mutex a worker
 * may hold, and under the fair class with cookies a worker may wait for minutes.
 */
static void keep_active(void *wanted)
{
	bool vrq = *(bool *)wanted;
	unsigned int turn;

	be_helper();
	for (turn = 0; ; turn++) {
		if (turn % 20 == 0) {
			/* under VRQ no cookie has an effect, and the kernel says so in its log each time */
			if (!under_vrq())
				for_each_process(take_cookie);
			put(ACTIVE, vrq ? "vrq" : "fair");
		}
		area->looks++;
		area->looks_under_wanted += under_vrq() == vrq;
		sleep_ns(100 * MSEC);
	}
}

static void describe(int number)
{
	const struct worker *worker = &area->workers[number];
	static const char * const files[] = { "sched", "stack", "wchan", "cgroup" };
	unsigned int i;

	for (i = 0; i < LAST; i++)
		ksft_print_msg("worker %d: call %llu: %s\n", number, (unsigned long long)(worker->calls - LAST + 1 + i),
			       kinds[worker->last[(worker->calls + 1 + i) % LAST]].name);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		print_proc(worker->pid, files[i]);
}

static uint64_t all_calls(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < n_workers; i++)
		sum += area->workers[i].calls;
	return sum;
}

/* With which policy it runs, wants to, or waits uninterruptibly, and for what */
static void describe_busy(pid_t pid)
{
	char state = state_of(pid);

	if (state != 'R' && state != 'D')
		return;
	print_proc(pid, "stat");
	print_proc(pid, "sched");
	print_proc(pid, "stack");
}

/* It waits for nobody either, and writes nothing: see what all wait for when nobody gets on */
static void look_for_standstill(void *unused)
{
	uint64_t sum, before = 0, since = now_ns();
	char text[80];

	(void)unused;
	be_helper();
	for (;;) {
		sleep_ns(SEC);
		sum = all_calls();
		if (sum == before && now_ns() - since < STILL_NS)
			continue;
		if (sum == before) {
			snprintf(text, sizeof(text), "fuzz: nobody makes a call; rr_interval is %lld",
				 number_after(SYSCTL "rr_interval", ""));
			tell(text);
			for_each_process(describe_busy);
			fflush(stdout);
		}
		before = sum;
		since = now_ns();
	}
}

/*
 * Until all have ended: groups are thawed, and one worker gets normal, on all CPUs, in no group,
 * again and again. One that has moved itself into a group with a low limit makes hardly any
 * calls until then. How many come to no end.
 */
static int supervise(uint64_t calls)
{
	uint64_t seen[MAX_WORKERS] = {}, seen_at[MAX_WORKERS], start = now_ns(), told = 0, sum;
	int turn, i, left = n_workers, lost = 0;
	char text[100];

	for (i = 0; i < n_workers; i++)
		seen_at[i] = start;
	for (turn = 0; left && !lost; turn++) {
		sleep_ns(100 * MSEC);
		if (turn % 5 == 0)
			thaw_groups();
		if (area->workers[turn % n_workers].pid)
			settle_in("", area->workers[turn % n_workers].pid);
		left = 0;
		for (i = 0; i < n_workers; i++) {
			if (area->workers[i].ended)
				continue;
			left++;
			if (seen[i] != area->workers[i].calls) {
				seen[i] = area->workers[i].calls;
				seen_at[i] = now_ns();
			} else if (now_ns() - seen_at[i] > LOST_NS) {
				describe(i);
				lost++;
			}
		}
		sum = all_calls();
		if (sum - told >= calls / 10) {
			told = sum;
			snprintf(text, sizeof(text), "fuzz: %llu calls after %llu s", (unsigned long long)sum,
				 (unsigned long long)((now_ns() - start) / SEC));
			tell(text);
		}
	}
	return lost;
}

/* The children of those that have ended are ours: none stays */
static int left_behind(void)
{
	uint64_t end = now_ns() + LOST_NS;
	pid_t pid;

	thaw_groups();
	while (now_ns() < end) {
		pid = waitpid(-1, NULL, WNOHANG | __WALL);
		if (pid < 0)
			return 0;
		if (!pid)
			sleep_ns(10 * MSEC);
	}
	return 1;
}

static long long values_before[ARRAY_SIZE(settings)];

static long long value_now(unsigned int i)
{
	char path[GROUP_PATH];

	snprintf(path, sizeof(path), SYSCTL "%s", settings[i].name);
	return access(path, F_OK) ? settings[i].min : number_after(path, "");
}

/*
 * One may bound another, so each is set twice. With a period and a runtime of 16 us neither can
 * be raised alone: the runtime has to fit, and to be enough for the deadline servers. Without
 * a limit the period can.
 */
static void restore_settings(void)
{
	char path[GROUP_PATH], text[24];
	unsigned int i, round;

	put(SYSCTL "sched_rt_runtime_us", "-1");
	for (round = 0; round < 2; round++) {
		for (i = 0; i < ARRAY_SIZE(settings); i++) {
			snprintf(path, sizeof(path), SYSCTL "%s", settings[i].name);
			snprintf(text, sizeof(text), "%lld", values_before[i]);
			if (!access(path, F_OK))
				put(path, text);
		}
	}
}

/* How many settings have a value that they may not have, or cannot be set to what they were */
static int bad_settings(void)
{
	long long left[ARRAY_SIZE(settings)];
	unsigned int i;
	int bad = 0;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		left[i] = value_now(i);
	restore_settings();
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		if (left[i] >= settings[i].min && left[i] <= settings[i].max &&
		    value_now(i) == values_before[i])
			continue;
		ksft_print_msg("%s was %lld, is %lld\n", settings[i].name, left[i], value_now(i));
		bad++;
	}
	return bad;
}

/* The least that one of two hogs a CPU gets in a second, in percent of its share */
static unsigned int least_share(void)
{
	uint64_t before[2 * MAX_CPUS], used, least = ~0ULL;
	int n = 2 * cpus, i;
	pid_t pids[2 * MAX_CPUS];

	for (i = 0; i < n; i++)
		pids[i] = spawn(normal_hog, NULL);
	sleep_ns(SEC);
	for (i = 0; i < n; i++)
		before[i] = cpu_time_of(pids[i]);
	sleep_ns(SEC);
	for (i = 0; i < n; i++) {
		used = cpu_time_of(pids[i]) - before[i];
		if (used < least)
			least = used;
	}
	finish_all(pids, n);
	return least * 200 / SEC;
}

static void hogs_run(const char *name)
{
	unsigned int least;

	if (access(ACTIVE, F_OK)) {
		ksft_test_result_skip("no %s\n", ACTIVE);
		return;
	}
	if (!put(ACTIVE, name)) {
		ksft_test_result_fail("switch to %s: %s\n", name, strerror(errno));
		return;
	}
	least = least_share();
	ksft_test_result(least > (host_stops_cpus() ? 0 : 50),
			 "each of two hogs a CPU has at least %u%% of its share under %s\n", least, name);
}

static void set_up_groups(void)
{
	static const char * const files[] = { "", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control" };
	char path[GROUP_PATH];
	unsigned int i;

	need_groups();
	group_put("", "cgroup.subtree_control", "+cpuset");
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		group_path(path, groups[i], "");
		mkdir(path, 0755);
		group_put(groups[i], "cgroup.subtree_control", "+cpu");
	}
	group_put("fz/b/t", "cgroup.type", "threaded");
	/* a part is delegated */
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		group_path(path, "fz/n", files[i]);
		if (chown(path, NOBODY, NOBODY))
			ksft_print_msg("chown %s: %s\n", path, strerror(errno));
	}
}

static bool remove_groups(void)
{
	bool good = true;
	int i;

	for (i = ARRAY_SIZE(groups) - 1; i >= 0; i--)
		good = drop_group(groups[i]) && good;
	return good;
}

/* By how many wrong answers workers have got; each tells of its last one */
static unsigned int wrong_answers(void)
{
	const struct worker *worker;
	unsigned int sum = 0;
	int i;

	for (i = 0; i < n_workers; i++) {
		worker = &area->workers[i];
		sum += worker->wrong;
		if (worker->wrong)
			ksft_print_msg("worker %d: %u wrong answers, the last of %s: %s\n", i, worker->wrong,
				       kinds[worker->wrong_kind].name, strerror(worker->wrong_errno));
	}
	return sum;
}

static uint64_t number_of(const char *text, uint64_t max)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	if (!number || *end || number > max)
		ksft_exit_fail_msg("%s: not a number from 1 to %llu\n", text, (unsigned long long)max);
	return number;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? number_of(argv[1], 1ULL << 40) : 1;
	uint64_t calls = argc > 2 ? number_of(argv[2], 1ULL << 40) : 20000, answers[2] = {};
	long long fallbacks = number_after(FALLBACKS, "");
	bool vrq = under_vrq(), no_groups;
	unsigned int wrong, wanted, i;
	int lost, left, bad;
	pid_t helpers[2];
	char text[100];

	n_workers = argc > 3 ? number_of(argv[3], MAX_WORKERS) : 6;
	with_deadline = seed & 1;
	cpus = online_cpus();
	ksft_print_header();
	ksft_set_plan(8);
	snprintf(text, sizeof(text), "fuzz: seed %llu, %llu calls, %d workers", (unsigned long long)seed,
		 (unsigned long long)calls, n_workers);
	tell(text);
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		values_before[i] = value_now(i);
	set_up_groups();
	set_policy(0, SCHED_FIFO | SCHED_RESET_ON_FORK, 90);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	supervisor = getpid();
	area = shared(sizeof(*area));
	helpers[0] = spawn(keep_active, &vrq);
	helpers[1] = spawn(look_for_standstill, NULL);
	for (i = 0; i < (unsigned int)n_workers; i++)
		if (!fork())
			work(i, seed, (calls + n_workers - 1) / n_workers);
	lost = supervise(calls);
	ksft_test_result(!lost, "%llu calls of %llu are made, nobody is lost (%d)\n", (unsigned long long)all_calls(),
			 (unsigned long long)calls, lost);
	finish_all(helpers, 2);
	wanted = area->looks ? area->looks_under_wanted * 100ULL / area->looks : 0;
	ksft_test_result(wanted > 50, "the scheduler of the start was active for %u%% of the time\n", wanted);
	left = left_behind();
	ksft_test_result(!left, "all processes come to an end\n");
	wrong = wrong_answers();
	for (i = 0; i < (unsigned int)n_workers; i++) {
		answers[0] += area->workers[i].answers[0];
		answers[1] += area->workers[i].answers[1];
	}
	ksft_test_result(!wrong, "%llu succeed, %llu fail, %u of these not as they may\n",
			 (unsigned long long)answers[0], (unsigned long long)answers[1], wrong);
	bad = bad_settings();
	no_groups = remove_groups();
	ksft_test_result(!bad && no_groups, "settings are valid, and take what they had (%d do not); groups are gone\n",
			 bad);
	hogs_run("fair");
	hogs_run("vrq");
	put(ACTIVE, vrq ? "vrq" : "fair");
	ksft_test_result(number_after(FALLBACKS, "") == fallbacks, "the watchdog found nothing\n");
	ksft_finished();
}
