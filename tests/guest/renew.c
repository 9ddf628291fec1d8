// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks bound to a CPU that goes away get their masks back with it, whatever
 * they and others do meanwhile. With renew_affinity=off on the command line it
 * shows that mainline loses the mask of a task that had to run meanwhile.
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "guest.h"

#define MANY	100

/* What a task does all the time */
enum doing {
	RUNS,		/* uses its CPU */
	NAPS,		/* sleeps, 300 us at a time */
	SLEEPS,		/* sleeps until it is killed */
};

/* A task under test, and what it is told to do once */
struct subject {
	volatile uint64_t turns;
	volatile bool exit, fork, stop;
	volatile pid_t child;
	enum doing doing;
	int policy;
	pid_t pid;
};

static struct subject *subjects;
static int n_subjects;
static uint64_t all;	/* the mask of all CPUs */
static bool renews;	/* unless renew_affinity=off */
static int kmsg;

static void live(void *arg)
{
	struct subject *me = arg;
	pid_t pid;
	int i;

	set_policy(0, me->policy, me->policy == SCHED_FIFO || me->policy == SCHED_RR);
	for (;;) {
		me->turns++;
		if (me->exit)
			_exit(0);
		if (me->fork) {
			me->fork = false;
			pid = fork();
			if (pid)
				me->child = pid;
			else
				me = me + 1;
		}
		switch (me->doing) {
		case RUNS:
			for (i = 0; i < 1000; i++)
				__asm__ volatile("");
			break;
		case NAPS:
			sleep_ns(300000);
			break;
		case SLEEPS:
			pause();
		}
	}
}

/* One more task, bound to the CPUs of @mask */
static struct subject *subject(enum doing doing, int policy, uint64_t mask)
{
	struct subject *new = &subjects[n_subjects++];

	*new = (struct subject){ .doing = doing, .policy = policy };
	new->pid = spawn(live, new);
	confine(new->pid, mask);
	return new;
}

/* The child of @parent, which uses the next subject for its turns */
static struct subject *fork_subject(struct subject *parent)
{
	struct subject *child = &subjects[n_subjects++];
	int ms;

	*child = (struct subject){ .doing = NAPS };
	parent->fork = true;
	for (ms = 0; ms < 5000 && parent->child <= 0; ms++)
		sleep_ns(MSEC);
	if (parent->child <= 0)
		ksft_exit_fail_msg("no child came\n");
	child->pid = parent->child;
	return child;
}

/* Kill them all: children of subjects are init's to reap */
static void end_all(void)
{
	int i;

	for (i = 0; i < n_subjects; i++)
		kill(subjects[i].pid, SIGKILL);
	for (i = 0; i < n_subjects; i++)
		waitpid(subjects[i].pid, NULL, 0);
	n_subjects = 0;
}

/* Do all of them run, but those who sleep? */
static bool all_run(void)
{
	uint64_t turns;
	int i, ms;

	for (i = 0; i < n_subjects; i++) {
		turns = subjects[i].turns;
		if (subjects[i].doing == SLEEPS || subjects[i].exit)
			continue;
		for (ms = 0; ms < 5000 && subjects[i].turns < turns + 3; ms++)
			sleep_ns(MSEC);
		if (ms == 5000) {
			ksft_print_msg("subject %d does not run\n", i);
			return false;
		}
	}
	return true;
}

static bool has_mask(const struct subject *one, uint64_t mask)
{
	uint64_t is = mask_of(one->pid);

	if (is != mask)
		ksft_print_msg("%d has the mask %llx, not %llx\n",
			       (int)(one - subjects), (unsigned long long)is,
			       (unsigned long long)mask);
	return is == mask;
}

/* A mask that had to be broken: comes back, or is lost and lets all CPUs in */
static bool comes_back(const struct subject *one, uint64_t mask)
{
	return has_mask(one, renews ? mask : all);
}

/* Take a CPU away and let its tasks run elsewhere */
static bool away(int cpu)
{
	int err = set_online(cpu, false);

	if (err)
		ksft_print_msg("cpu%d offline: %s\n", cpu, strerror(err));
	return !err && all_run();
}

static void skip_log(void)
{
	lseek(kmsg, 0, SEEK_END);
}

/* The number in the log's lines about a CPU since skip_log(), 0 if none */
static unsigned int logged(int cpu)
{
	unsigned int n, sum = 0;
	char line[1024], *at;
	ssize_t length;
	int to;

	while ((length = read(kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		if (length <= 0)
			continue;
		line[length] = '\0';
		at = strchr(line, ';');
		if (at && sscanf(at + 1, "Renew affinity for %u processes to cpu %d\n",
				 &n, &to) == 2 && to == cpu)
			sum += n;
	}
	return sum;
}

/* Bring a CPU back: does the log count as many tasks as it should? */
static bool back(int cpu, unsigned int expected)
{
	int err;
	unsigned int n;

	skip_log();
	err = set_online(cpu, true);
	n = logged(cpu);
	if (err)
		ksft_print_msg("cpu%d online: %s\n", cpu, strerror(err));
	if (n != (renews ? expected : 0))
		ksft_print_msg("the log counts %u for cpu%d\n", n, cpu);
	return !err && n == (renews ? expected : 0);
}

static const char *come_back(void)
{
	return renews ? "come back" : "are lost, as in mainline";
}

/* Whatever a task is doing when its CPU goes, if it has to run meanwhile */
static void test_states(void)
{
	struct subject *running[3], *napping, *sleeping;
	bool gone, counted, good = true;
	int i;

	for (i = 0; i < 3; i++)
		running[i] = subject(RUNS, SCHED_OTHER, 2);
	napping = subject(NAPS, SCHED_OTHER, 2);
	sleeping = subject(SLEEPS, SCHED_OTHER, 2);
	gone = all_run() && away(1);
	for (i = 0; i < 3; i++)
		good &= mask_of(running[i]->pid) == (all & ~2ULL);
	counted = back(1, 4);
	ksft_test_result(gone && good, "bound tasks run elsewhere meanwhile\n");
	for (i = 0, good = gone; i < 3; i++)
		good &= comes_back(running[i], 2);
	ksft_test_result(good, "masks of one running and two queued tasks %s\n",
			 come_back());
	ksft_test_result(gone && comes_back(napping, 2),
			 "masks of tasks that wake %s\n", come_back());
	ksft_test_result(has_mask(sleeping, 2),
			 "a task that sleeps all the time keeps its mask\n");
	ksft_test_result(counted, "the log counts the former, %d\n", renews ? 4 : 0);
	good = all_run();
	for (i = 0; i < 3 && renews; i++)
		good &= has_mask(running[i], 2);
	ksft_test_result(good, "and all go on\n");
	end_all();
}

static void test_policies(void)
{
	static const struct {
		const char *name;
		int policy;
	} policies[] = {
		{ "SCHED_OTHER", SCHED_OTHER }, { "SCHED_BATCH", SCHED_BATCH },
		{ "SCHED_IDLE", SCHED_IDLE }, { "SCHED_FIFO", SCHED_FIFO },
		{ "SCHED_RR", SCHED_RR },
	};
	bool gone, counted;
	int i;

	for (i = 0; i < 5; i++)
		subject(NAPS, policies[i].policy, 2);
	gone = all_run() && away(1);
	counted = back(1, 5);
	for (i = 0; i < 5; i++)
		ksft_test_result(gone && comes_back(&subjects[i], 2) &&
				 sched_getscheduler(subjects[i].pid) == policies[i].policy,
				 "masks of %s %s\n", policies[i].name, come_back());
	ksft_test_result(counted, "one of each policy is counted\n");
	end_all();
}

/* Who asks for a mask meanwhile has it for good */
static void test_user(void)
{
	struct subject *moved = subject(NAPS, SCHED_OTHER, 2);
	struct subject *freed = subject(NAPS, SCHED_OTHER, 2);
	bool gone = all_run() && away(1), counted;

	confine(moved->pid, 1);
	/* this is the mask that it has already */
	confine(freed->pid, all);
	counted = back(1, 0);
	ksft_test_result(gone && has_mask(moved, 1) && has_mask(freed, all),
			 "a mask asked for meanwhile stays\n");
	ksft_test_result(counted, "and is not counted\n");
	end_all();
}

static void test_exit(void)
{
	struct subject *zombie = subject(NAPS, SCHED_OTHER, 2);
	struct subject *gone_for_good = subject(NAPS, SCHED_OTHER, 2);
	bool gone = all_run() && away(1);
	siginfo_t info;

	zombie->exit = true;
	gone_for_good->exit = true;
	waitid(P_PID, zombie->pid, &info, WEXITED | WNOWAIT);
	waitpid(gone_for_good->pid, NULL, 0);
	ksft_test_result(back(1, 0) && gone,
			 "tasks that exit meanwhile are not counted\n");
	end_all();
}

static void test_fork(void)
{
	struct subject *parent = subject(NAPS, SCHED_OTHER, 2), *child;
	bool gone = all_run() && away(1), counted;

	child = fork_subject(parent);
	gone &= all_run();
	counted = back(1, 2);
	ksft_test_result(gone && comes_back(parent, 2) && comes_back(child, 2),
			 "masks of a task that forks meanwhile and of its child %s\n",
			 come_back());
	ksft_test_result(counted, "and both are counted\n");
	end_all();
}

static void test_several_away(void)
{
	struct subject *both = subject(NAPS, SCHED_OTHER, 6);
	struct subject *second = subject(NAPS, SCHED_OTHER, 4);
	bool gone = all_run() && away(1) && away(2), good, counted;

	counted = back(1, 1);
	good = has_mask(both, renews ? 2 : all & ~4ULL) &&
	       has_mask(second, all & ~4ULL);
	ksft_test_result(gone && good,
			 "of two CPUs away, the first to come serves its tasks\n");
	counted &= back(2, 1);
	ksft_test_result(comes_back(both, 6) && comes_back(second, 4),
			 "and masks %s with the second\n", come_back());
	ksft_test_result(counted, "each task is counted once\n");
	end_all();
}

static void test_many(void)
{
	bool gone, counted;
	int i, good = 0;

	for (i = 0; i < MANY; i++)
		subject(NAPS, SCHED_OTHER, 2);
	gone = all_run() && away(1);
	counted = back(1, MANY);
	for (i = 0; i < MANY; i++)
		good += comes_back(&subjects[i], 2);
	ksft_test_result(gone && good == MANY, "masks of %d tasks %s\n", good,
			 come_back());
	ksft_test_result(counted, "and all are counted\n");
	end_all();
}

/* Do something with every kernel thread that is bound to one CPU: PF_KTHREAD, in field 9 */
static int for_each_bound_kthread(int (*look)(pid_t pid, uint64_t mask))
{
	long long flags;
	int sum = 0;
	pid_t pid;

	for (pid = 2; pid < 2000; pid++) {
		uint64_t mask = mask_of(pid);

		if (mask && !(mask & (mask - 1)) &&
		    stat_field(pid, 9, &flags) && flags & 0x00200000)
			sum += look(pid, mask);
	}
	return sum;
}

static uint64_t kthread_masks[2000];

static int remember(pid_t pid, uint64_t mask)
{
	kthread_masks[pid] = mask;
	return mask == 2;
}

static int is_same(pid_t pid, uint64_t mask)
{
	return mask == 2 && kthread_masks[pid] == mask;
}

/* cpuhp, migration and ksoftirqd at least; workers may come and go */
static void test_kthreads(void)
{
	int before = for_each_bound_kthread(remember), same;
	bool gone;

	subject(NAPS, SCHED_OTHER, 2);
	gone = all_run() && away(1);
	gone &= back(1, 1);
	same = for_each_bound_kthread(is_same);
	ksft_test_result(gone && before >= 3 && same >= 3,
			 "threads of the kernel stay on their CPU (%d, %d)\n",
			 before, same);
	end_all();
}

static char cgroup[] = "/tmp/renew-XXXXXX";

static bool cgroup_put(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", cgroup, name);
	if (put(path, text))
		return true;
	ksft_print_msg("'%s' to %s: %s\n", text, name, strerror(errno));
	return false;
}

static bool move(struct subject *who, const char *where)
{
	char name[64], pid[16];

	snprintf(name, sizeof(name), "%s/cgroup.procs", where);
	snprintf(pid, sizeof(pid), "%d", who->pid);
	return cgroup_put(name, pid);
}

static bool set_up_cpusets(void)
{
	char path[128];

	if (!mkdtemp(cgroup) || mount("none", cgroup, "cgroup2", 0, NULL))
		return false;
	if (!cgroup_put("cgroup.subtree_control", "+cpuset"))
		return false;
	snprintf(path, sizeof(path), "%s/renew", cgroup);
	return !mkdir(path, 0755);
}

static void tear_down_cpusets(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/renew", cgroup);
	rmdir(path);
	cgroup_put("cgroup.subtree_control", "-cpuset");
	umount(cgroup);
	rmdir(cgroup);
}

/* In a cpuset of cpu1 and cpu2 that has one CPU in common with the mask */
static void test_narrow_cpuset(void)
{
	struct subject *one = subject(NAPS, SCHED_OTHER, 3);
	bool good = cgroup_put("renew/cpuset.cpus", "1-2") && move(one, "renew") &&
		    has_mask(one, 2) && all_run() && away(1) && has_mask(one, 4);

	set_online(1, true);
	/* mainline loses it only if the task woke before the cpuset noticed */
	good &= renews ? has_mask(one, 2) : !(mask_of(one->pid) & ~6ULL);
	ksft_test_result(good, "a mask in a narrower cpuset %s\n",
			 renews ? "comes back" : "stays in it");
	end_all();
}

/* In a cpuset that the CPU of the mask is not in */
static void test_other_cpuset(void)
{
	struct subject *one = subject(NAPS, SCHED_OTHER, 2);
	bool good = cgroup_put("renew/cpuset.cpus", "2") && all_run() && away(1) &&
		    move(one, "renew") && has_mask(one, 4);

	good &= back(1, 0) && has_mask(one, 4);
	ksft_test_result(good, "a cpuset without the CPU keeps its task\n");
	good = move(one, ".") && comes_back(one, 2);
	ksft_test_result(good, "which %s in the root's\n",
			 renews ? "has its mask back" : "has lost its mask");
	end_all();
}

/* Out of a cpuset while the CPU is away. Mainline may refuse, with a warning */
static void test_leave_cpuset(void)
{
	struct subject *one;
	bool good;

	if (!renews) {
		ksft_test_result_skip("mainline warns of that\n");
		return;
	}
	one = subject(NAPS, SCHED_OTHER, 2);
	good = cgroup_put("renew/cpuset.cpus", "1-2") && move(one, "renew") &&
	       all_run() && away(1) && has_mask(one, 4) && move(one, ".") &&
	       has_mask(one, all & ~2ULL);
	good &= back(1, 1);
	ksft_test_result(good && has_mask(one, 2),
			 "a task moved to the root's has its mask back\n");
	end_all();
}

/* Reserves as much of a CPU as it can get */
static void reserve(void *arg)
{
	struct attributes attr = {
		.size = sizeof(attr), .policy = 6 /* SCHED_DEADLINE */,
		.runtime = 94 * MSEC, .deadline = 100 * MSEC, .period = 100 * MSEC,
	};
	volatile uint64_t *done = arg;

	while (attr.runtime > 5 * MSEC && syscall(SYS_sched_setattr, 0, &attr, 0))
		attr.runtime -= 5 * MSEC;
	*done = true;
	for (;;)
		pause();
}

/* A CPU that cannot go because of what deadline tasks have reserved */
static void test_refused(int cpus)
{
	volatile uint64_t *done = shared(cpus * sizeof(*done));
	bool good = true;
	pid_t pids[64];
	int i, err;

	for (i = 0; i < 8; i++)
		subject(NAPS, SCHED_OTHER, 2);
	for (i = 0; i < cpus; i++) {
		pids[i] = spawn(reserve, (void *)&done[i]);
		while (!done[i])
			sleep_ns(MSEC);
	}
	good = all_run();
	err = set_online(1, false);
	if (!err)
		set_online(1, true);
	for (i = 0; i < 8 && renews; i++)
		good &= has_mask(&subjects[i], 2);
	ksft_test_result(good && err == EBUSY,
			 "a CPU that may not go loses no task (%s)\n", strerror(err));
	finish_all(pids, cpus);
	end_all();
	/* until the bandwidth is free again */
	sleep_ns(500 * MSEC);
}

/* Binds its subject to cpu0 and cpu1 by turns; the last that worked is in @child */
static void change(void *arg)
{
	struct subject *subject = arg;
	cpu_set_t set;
	int cpu;

	be_normal();
	for (cpu = 0; !subject->stop; cpu = !cpu) {
		set = set_of(1ULL << cpu);
		if (!sched_setaffinity(subject->pid, sizeof(set), &set))
			subject->child = cpu;
		sleep_ns(100000);
	}
}

/* Forks all the time until told to stop; the last child, in @child, stays */
static void fork_on(void *arg)
{
	struct subject *me = arg;
	bool last = false;
	pid_t pid;

	be_normal();
	while (!last) {
		last = me->stop;
		pid = fork();
		if (!pid && !last)
			_exit(0);
		if (pid > 0 && !last)
			waitpid(pid, NULL, 0);
		if (pid > 0 && last)
			me->child = pid;
		me->turns++;
	}
	for (;;)
		sleep_ns(MSEC);
}

/* Forks, and masks that change, while a CPU comes and goes */
static void test_storm(void)
{
	struct subject *changed = subject(NAPS, SCHED_OTHER, 2), *forks[4];
	pid_t changer = spawn(change, changed), last;
	bool good = true;
	int i, round;

	for (i = 0; i < 4; i++) {
		forks[i] = &subjects[n_subjects++];
		*forks[i] = (struct subject){ 0 };
		forks[i]->pid = spawn(fork_on, forks[i]);
		confine(forks[i]->pid, 2);
	}
	for (round = 0; round < 10; round++) {
		good &= away(1);
		good &= !set_online(1, true);
	}
	/* their last children are forked in the last round */
	good &= away(1);
	for (i = 0; i < 4; i++)
		forks[i]->stop = true;
	good &= !set_online(1, true);
	for (i = 0; i < 4; i++) {
		while (!forks[i]->child)
			sleep_ns(MSEC);
		last = forks[i]->child;
		good &= comes_back(forks[i], 2);
		if (renews && mask_of(last) != 2) {
			ksft_print_msg("a last child has the mask %llx\n",
				       (unsigned long long)mask_of(last));
			good = false;
		}
		kill(last, SIGKILL);
	}
	ksft_test_result(good, "masks of tasks that fork all the time %s\n",
			 come_back());
	sleep_ns(50 * MSEC);
	changed->stop = true;
	waitpid(changer, NULL, 0);
	ksft_test_result(has_mask(changed, 1ULL << changed->child),
			 "one that changes all the time is what was asked for last\n");
	end_all();
}

static bool on_command_line(const char *word)
{
	char line[4096] = "";
	FILE *file = fopen("/proc/cmdline", "r");

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	return strstr(line, word);
}

int main(void)
{
	int cpus = online_cpus(), i;

	ksft_print_header();
	if (cpus < 2 || cpus > 64)
		ksft_exit_skip("%d CPUs: from 2 to 64 are tested\n", cpus);
	ksft_set_plan(30);
	be_supervisor();
	all = cpus == 64 ? ~0ULL : (1ULL << cpus) - 1;
	renews = !on_command_line("renew_affinity=off");
	subjects = shared(2 * MANY * sizeof(*subjects));
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (kmsg < 0)
		ksft_exit_fail_msg("/dev/kmsg: %s\n", strerror(errno));

	test_states();			/* 6 */
	test_policies();		/* 6 */
	test_user();			/* 2 */
	test_exit();			/* 1 */
	test_fork();			/* 2 */
	test_many();			/* 2 */
	test_kthreads();		/* 1 */
	test_refused(cpus);		/* 1 */
	test_storm();			/* 2 */
	if (cpus >= 3) {
		test_several_away();	/* 3 */
	} else {
		for (i = 0; i < 3; i++)
			ksft_test_result_skip("two CPUs only\n");
	}
	if (cpus >= 3 && set_up_cpusets()) {
		test_narrow_cpuset();	/* 1 */
		test_other_cpuset();	/* 2 */
		test_leave_cpuset();	/* 1 */
		tear_down_cpusets();
	} else {
		for (i = 0; i < 4; i++)
			ksft_test_result_skip("no cpusets of cgroup v2, or two CPUs only\n");
	}
	ksft_finished();
}
