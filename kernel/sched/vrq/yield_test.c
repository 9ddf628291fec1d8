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
	/* for how long it sleeps between, us */
	unsigned int nap_us;
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
		usleep_range_state(state.nap_us, state.nap_us + 100, TASK_INTERRUPTIBLE);
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

/* What the hog to which no task yields gets of the time of both hogs, in permille */
static u64 left_by_pull(struct kunit *test, unsigned int nap_us)
{
	u64 used[HOGS];
	enum hog i;

	state.yielded = 0;
	WRITE_ONCE(state.nap_us, nap_us);
	msleep(200);
	for (i = NEAR; i < HOGS; i++)
		used[i] = READ_ONCE(state.hogs[i]->se.sum_exec_runtime);
	msleep(PULL_MS);
	for (i = NEAR; i < HOGS; i++)
		used[i] = READ_ONCE(state.hogs[i]->se.sum_exec_runtime) - used[i];
	kunit_info(test, "naps of %u us: %llu and %llu ns, yielded %u times\n", nap_us,
		   used[NEAR], used[FAR], state.yielded);
	KUNIT_EXPECT_GE(test, state.yielded, PULL_MS / 40);

	return div64_u64(used[FAR] * 1000, used[NEAR] + used[FAR]);
}

/* The caller may give away its own share only: a third is left for the other hog */
static void earns_nobody_more_than_two_shares(struct kunit *test)
{
	u64 left;

	state.nap_us = 2000;
	state.hogs[NEAR] = start(test, hog, (void *)NEAR, 0);
	state.hogs[FAR] = start(test, hog, (void *)FAR, 0);
	state.caller = start(test, pull, (void *)(long)NEAR, 0);
	KUNIT_EXPECT_GE(test, left_by_pull(test, 2000), 310);
	/* With a copy of the deadline 276 are left, where nothing is lent 500 */
	left = left_by_pull(test, 20000);
	KUNIT_EXPECT_GE(test, left, 310);
	KUNIT_EXPECT_LE(test, left, 450);
}

#define NOW	(100ULL * NSEC_PER_SEC)

/* Two tasks as vrq_lend_deadline() gets them, of nice 0 and with 30 us between them */
static void two_tasks(struct kunit *test, struct task_struct **from,
		      struct task_struct **to)
{
	*from = kunit_kzalloc(test, sizeof(**from), GFP_KERNEL);
	*to = kunit_kzalloc(test, sizeof(**to), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *from);
	KUNIT_ASSERT_NOT_NULL(test, *to);
#ifdef CONFIG_CGROUP_SCHED
	(*from)->sched_task_group = &root_task_group;
	(*to)->sched_task_group = &root_task_group;
#endif
	(*from)->prio = NICE_TO_PRIO(0);
	(*to)->prio = NICE_TO_PRIO(0);
	(*from)->vrq.level = VRQ_NORMAL;
	(*to)->vrq.level = VRQ_NORMAL;
	(*from)->vrq.span = 20 * NSEC_PER_MSEC;
	(*from)->vrq.rr_ms = 5;
	(*from)->vrq.deadline = NOW;
	(*to)->vrq.deadline = NOW + 30 * NSEC_PER_USEC;
}

static void equals_exchange_their_deadlines(struct kunit *test)
{
	struct task_struct *from, *to;

	two_tasks(test, &from, &to);
	/* what it is favoured by is its own */
	from->vrq.favour = 32;
	vrq_lend_deadline(from, to, NOW);
	KUNIT_EXPECT_EQ(test, from->vrq.deadline, NOW + 30 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, NOW);

	/* Now @to is earlier: nothing to lend */
	vrq_lend_deadline(from, to, NOW);
	KUNIT_EXPECT_EQ(test, from->vrq.deadline, NOW + 30 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, NOW);
}

static void pays_by_weight(struct kunit *test)
{
	struct task_struct *from, *to;

	/* 30 us / 1.1^19 are 4905 ns, and weights are rounded */
	two_tasks(test, &from, &to);
	to->prio = NICE_TO_PRIO(MAX_NICE);
	vrq_lend_deadline(from, to, NOW);
	KUNIT_EXPECT_GE(test, from->vrq.deadline, NOW + 4900);
	KUNIT_EXPECT_LE(test, from->vrq.deadline, NOW + 4950);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, NOW);

	/* 30 us * 1.1^5 are 48315 ns */
	two_tasks(test, &from, &to);
	to->prio = NICE_TO_PRIO(-5);
	vrq_lend_deadline(from, to, NOW);
	KUNIT_EXPECT_GE(test, from->vrq.deadline, NOW + 48000);
	KUNIT_EXPECT_LE(test, from->vrq.deadline, NOW + 48600);

	/* One that is favoured gains four times as much */
	two_tasks(test, &from, &to);
	to->vrq.favour = 32;
	vrq_lend_deadline(from, to, NOW);
	KUNIT_EXPECT_EQ(test, from->vrq.deadline, NOW + 120 * NSEC_PER_USEC);
}

/* The deadline of @from dates from long ago: it does not pay for all of that time */
static void pays_three_turns_at_most(struct kunit *test)
{
	struct task_struct *from, *to;

	two_tasks(test, &from, &to);
	to->prio = NICE_TO_PRIO(MIN_NICE);
	from->vrq.deadline = 0;
	vrq_lend_deadline(from, to, NOW);
	KUNIT_EXPECT_EQ(test, from->vrq.deadline, NOW + 60 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, 0);
}

/* Half of its slice is left, and its deadline counts from a moment that is still to come */
static void lends_nothing_that_it_owes(struct kunit *test)
{
	struct task_struct *from, *to;

	two_tasks(test, &from, &to);
	to->vrq.deadline = NOW + 30 * NSEC_PER_MSEC;
	from->vrq.slice = 5 * NSEC_PER_MSEC / 2;
	from->vrq.deadline = NOW + 11 * NSEC_PER_MSEC;
	vrq_lend_deadline(from, to, NOW);
	KUNIT_EXPECT_EQ(test, from->vrq.deadline, NOW + 11 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, NOW + 30 * NSEC_PER_MSEC);
	vrq_lend_deadline(from, to, NOW + NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, from->vrq.deadline, NOW + 30 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, NOW + 11 * NSEC_PER_MSEC);
}

/* Deadlines of two levels have nothing to do with each other */
static void lends_nothing_to_another_level(struct kunit *test)
{
	struct task_struct *from, *to;

	two_tasks(test, &from, &to);
	to->vrq.level = VRQ_IDLE;
	vrq_lend_deadline(from, to, NOW);
	KUNIT_EXPECT_EQ(test, from->vrq.deadline, NOW);
	KUNIT_EXPECT_EQ(test, to->vrq.deadline, NOW + 30 * NSEC_PER_USEC);
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
	KUNIT_CASE(equals_exchange_their_deadlines),
	KUNIT_CASE(pays_by_weight),
	KUNIT_CASE(pays_three_turns_at_most),
	KUNIT_CASE(lends_nothing_that_it_owes),
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
