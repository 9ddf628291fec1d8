// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of yield_to(), which only KVM calls: the task that it names goes next,
 * whichever of those that wait for the CPU has the earliest deadline.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#include "entity.h"

#define TRIALS	20
/* For how long a task that sleeps most of the time yields to another one, ms */
#define PULL_MS	2000

/* Two hogs and a task that yields, all on one CPU */
enum hog { NOBODY, NEAR, FAR, HOGS };

struct yield_test {
	int cpu;
	/* the first hog that runs after it was set to NOBODY */
	atomic_t first;
	struct task_struct *hogs[HOGS];
	struct task_struct *caller;
	/* what the caller counts */
	atomic_t trials;
	unsigned int yielded;
	unsigned int gone_to[HOGS];
};

static struct yield_test state;

static int hog(void *arg)
{
	enum hog me = (long)arg;

	while (!kthread_should_stop()) {
		atomic_cmpxchg(&state.first, NOBODY, me);
		cpu_relax();
		cond_resched();
	}

	return 0;
}

/* Yields to the hog @arg */
static int call(void *arg)
{
	enum hog to = (long)arg;

	while (atomic_read(&state.trials) < TRIALS && !kthread_should_stop()) {
		/* so that it has the CPU at once, with an early deadline */
		msleep(20);
		atomic_set(&state.first, NOBODY);
		state.yielded += yield_to(state.hogs[to], false) > 0;
		state.gone_to[atomic_read(&state.first)]++;
		atomic_inc(&state.trials);
	}
	/* kthread_stop() is to find it */
	while (!kthread_should_stop())
		msleep(20);

	return 0;
}

/* Sleeps, and yields to a hog whenever it wakes up */
static int pull(void *arg)
{
	enum hog to = (long)arg;

	while (!kthread_should_stop()) {
		usleep_range_state(2000, 2100, TASK_INTERRUPTIBLE);
		state.yielded += yield_to(state.hogs[to], false) > 0;
	}

	return 0;
}

static struct task_struct *start(struct kunit *test, int (*work)(void *),
				 void *arg, int nice)
{
	struct task_struct *p = kthread_create(work, arg, "yield_test");

	KUNIT_ASSERT_FALSE(test, IS_ERR(p));
	kthread_bind(p, state.cpu);
	set_user_nice(p, nice);
	wake_up_process(p);

	return p;
}

/* TRIALS times; the hog may be the one that the caller has just preempted */
static void try(struct kunit *test, enum hog to)
{
	int ms;

	state.hogs[NEAR] = start(test, hog, (void *)NEAR, 0);
	state.hogs[FAR] = start(test, hog, (void *)FAR, MAX_NICE);
	state.caller = start(test, call, (void *)(long)to, 0);
	for (ms = 0; ms < 10000 && atomic_read(&state.trials) < TRIALS; ms += 20)
		msleep(20);
	KUNIT_ASSERT_EQ(test, atomic_read(&state.trials), TRIALS);
	KUNIT_EXPECT_GE(test, state.yielded, TRIALS - 2);
	KUNIT_EXPECT_GE(test, state.gone_to[to], TRIALS - 2);
}

static void goes_to_an_early_deadline(struct kunit *test)
{
	try(test, NEAR);
}

static void goes_to_a_late_deadline(struct kunit *test)
{
	try(test, FAR);
}

/* It may give what is its own, not what others have a right to: a third is left */
static void earns_nobody_more_than_two_shares(struct kunit *test)
{
	u64 used[HOGS];
	enum hog i;

	state.hogs[NEAR] = start(test, hog, (void *)NEAR, 0);
	state.hogs[FAR] = start(test, hog, (void *)FAR, 0);
	state.caller = start(test, pull, (void *)(long)NEAR, 0);
	msleep(200);
	for (i = NEAR; i < HOGS; i++)
		used[i] = READ_ONCE(state.hogs[i]->se.sum_exec_runtime);
	msleep(PULL_MS);
	for (i = NEAR; i < HOGS; i++)
		used[i] = READ_ONCE(state.hogs[i]->se.sum_exec_runtime) - used[i];
	kunit_info(test, "%llu and %llu ns, yielded %u times\n", used[NEAR], used[FAR],
		   state.yielded);
	KUNIT_EXPECT_GE(test, state.yielded, PULL_MS / 10);
	/* With a copy of the deadline 276 are left of 1000 */
	KUNIT_EXPECT_GE(test, used[FAR] * 1000, 310 * (used[NEAR] + used[FAR]));
}

/* What the deadline of a task is afterwards that lent it to another one, both given */
static u64 lend(struct task_struct *from, struct task_struct *to, int nice_to,
		enum vrq_level level_to)
{
	from->prio = NICE_TO_PRIO(0);
	to->prio = NICE_TO_PRIO(nice_to);
	from->vrq.level = VRQ_NORMAL;
	to->vrq.level = level_to;
	from->vrq.deadline = 1000000;
	to->vrq.deadline = 1030000;
	vrq_lend_deadline(from, to);

	return from->vrq.deadline;
}

static void pays_by_weight(struct kunit *test)
{
	struct task_struct *from = kunit_kzalloc(test, sizeof(*from), GFP_KERNEL);
	struct task_struct *to = kunit_kzalloc(test, sizeof(*to), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, from);
	KUNIT_ASSERT_NOT_NULL(test, to);
	KUNIT_EXPECT_EQ(test, lend(from, to, 0, VRQ_NORMAL), 1030000);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, 1000000);
	/* 30000 / 1.1^19 are 4905, and weights are rounded */
	KUNIT_EXPECT_GE(test, lend(from, to, MAX_NICE, VRQ_NORMAL), 1004900);
	KUNIT_EXPECT_LE(test, from->vrq.deadline, 1004950);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, 1000000);
	KUNIT_EXPECT_GT(test, lend(from, to, -5, VRQ_NORMAL), 1030000);
}

/* Deadlines of two levels have nothing to do with each other */
static void lends_nothing_to_another_level(struct kunit *test)
{
	struct task_struct *from = kunit_kzalloc(test, sizeof(*from), GFP_KERNEL);
	struct task_struct *to = kunit_kzalloc(test, sizeof(*to), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, from);
	KUNIT_ASSERT_NOT_NULL(test, to);
	KUNIT_EXPECT_EQ(test, lend(from, to, 0, VRQ_IDLE), 1000000);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, 1030000);
}

static int yield_test_init(struct kunit *test)
{
	if (!sched_vrq_enabled())
		kunit_skip(test, "the fair class gives a hint only");

	memset(&state, 0, sizeof(state));
	state.cpu = cpumask_last(cpu_online_mask);

	return 0;
}

static void yield_test_exit(struct kunit *test)
{
	enum hog i;

	if (state.caller)
		kthread_stop(state.caller);
	for (i = 0; i < HOGS; i++) {
		if (state.hogs[i])
			kthread_stop(state.hogs[i]);
	}
}

static struct kunit_case yield_cases[] = {
	KUNIT_CASE_SLOW(goes_to_an_early_deadline),
	KUNIT_CASE_SLOW(goes_to_a_late_deadline),
	KUNIT_CASE_SLOW(earns_nobody_more_than_two_shares),
	KUNIT_CASE(pays_by_weight),
	KUNIT_CASE(lends_nothing_to_another_level),
	{}
};

static struct kunit_suite yield_suite = {
	.name = "vrq_yield_to",
	.init = yield_test_init,
	.exit = yield_test_exit,
	.test_cases = yield_cases,
};

kunit_test_suite(yield_suite);
