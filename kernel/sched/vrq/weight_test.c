// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the favour for tasks that sleep by themselves.
 */
#include <kunit/test.h>

#include "weight.h"

#define MS	1000U
/* vrq_favour() counts in eighths */
#define ONE	8U
#define MOST	(4 * ONE)
/* What a task may have used or slept at the most: three windows */
#define MAX_US	(3 * 256 * MS)

static void who_does_not_sleep_has_none(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrq_favour(0, 0), ONE);
	KUNIT_EXPECT_EQ(test, vrq_favour(1, 0), ONE);
	KUNIT_EXPECT_EQ(test, vrq_favour(MAX_US, 0), ONE);
}

static void it_follows_the_demand(struct kunit *test)
{
	/* a demand of 7/8, 3/4, 5/8, 1/2, and of nothing */
	KUNIT_EXPECT_EQ(test, vrq_favour(70 * MS, 10 * MS), ONE);
	KUNIT_EXPECT_EQ(test, vrq_favour(60 * MS, 20 * MS), (ONE + MOST) / 2);
	KUNIT_EXPECT_EQ(test, vrq_favour(50 * MS, 30 * MS), MOST);
	KUNIT_EXPECT_EQ(test, vrq_favour(40 * MS, 40 * MS), MOST);
	KUNIT_EXPECT_EQ(test, vrq_favour(0, 80 * MS), MOST);
}

/* 50 us of each tick of 1, 4 and 10 ms */
static void a_hog_that_naps_has_none(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrq_favour(950, 50), ONE);
	KUNIT_EXPECT_EQ(test, vrq_favour(3950, 50), ONE);
	KUNIT_EXPECT_EQ(test, vrq_favour(9950, 50), ONE);
}

/* Neither does it wrap for the largest sums */
static void more_sleep_is_never_less_favour(struct kunit *test)
{
	unsigned int slept, favour, last = ONE;

	for (slept = 0; slept <= MAX_US; slept += MS) {
		favour = vrq_favour(MAX_US - slept, slept);
		KUNIT_EXPECT_GE(test, favour, last);
		KUNIT_EXPECT_LE(test, favour, MOST);
		last = favour;
	}
	KUNIT_EXPECT_EQ(test, last, MOST);
}

/* A parent and its children have slept no longer than the parent had */
static void forks_share_what_was_slept(struct kunit *test)
{
	struct task_struct *parent = kunit_kzalloc(test, sizeof(*parent), GFP_KERNEL);
	struct task_struct *child = kunit_kzalloc(test, sizeof(*child), GFP_KERNEL);
	unsigned int slept, i;

	KUNIT_ASSERT_NOT_NULL(test, parent);
	KUNIT_ASSERT_NOT_NULL(test, child);
	parent->vrq.used_us = 100 * MS;
	parent->vrq.slept_us = 100 * MS;
	slept = parent->vrq.slept_us;
	for (i = 0; i < 50; i++) {
		vrq_split_sleep(parent, child);
		slept -= child->vrq.slept_us;
		KUNIT_EXPECT_EQ(test, parent->vrq.slept_us, slept);
	}
	KUNIT_EXPECT_EQ(test, (unsigned int)parent->vrq.favour, ONE);
}

static void sleep_lies_back_after_a_wait(struct kunit *test)
{
	struct task_struct *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->vrq.slept_us = 64 * MS;
	vrq_note_waited(p);
	KUNIT_EXPECT_EQ(test, p->vrq.slept_us, 64 * MS);
	p->vrq.waited = 128 * NSEC_PER_MSEC;
	vrq_note_waited(p);
	KUNIT_EXPECT_EQ(test, p->vrq.slept_us, 32 * MS);
	p->vrq.waited = NSEC_PER_SEC;
	vrq_note_waited(p);
	KUNIT_EXPECT_EQ(test, p->vrq.slept_us, 0U);
}

/* Weight and span say the same of a task's share */
static void who_weighs_more_has_its_turn_sooner(struct kunit *test)
{
	struct task_struct *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	u64 rr_ns = 6 * NSEC_PER_MSEC, sum = 100 * vrq_weight(VRQ_NICE_0);
	unsigned int weight;
	u64 span;

	KUNIT_ASSERT_NOT_NULL(test, p);
#ifdef CONFIG_CGROUP_SCHED
	p->sched_task_group = &root_task_group;
#endif
	p->prio = MAX_RT_PRIO + VRQ_NICE_0;
	weight = vrq_own_weight(p);
	span = vrq_task_span(p, VRQ_FACTOR_NOW, rr_ns, sum, 4);
	KUNIT_EXPECT_EQ(test, weight, vrq_weight(VRQ_NICE_0));
	p->vrq.favour = MOST;
	KUNIT_EXPECT_EQ(test, vrq_own_weight(p), 4 * weight);
	KUNIT_EXPECT_EQ(test, vrq_task_span(p, VRQ_FACTOR_NOW, rr_ns, sum, 4), span / 4);
	/* on more CPUs than there is to do for: never less than a slice */
	KUNIT_EXPECT_EQ(test, vrq_task_span(p, VRQ_FACTOR_NOW, rr_ns, sum, 100), rr_ns);
}

static struct kunit_case weight_cases[] = {
	KUNIT_CASE(who_does_not_sleep_has_none),
	KUNIT_CASE(it_follows_the_demand),
	KUNIT_CASE(a_hog_that_naps_has_none),
	KUNIT_CASE(more_sleep_is_never_less_favour),
	KUNIT_CASE(forks_share_what_was_slept),
	KUNIT_CASE(sleep_lies_back_after_a_wait),
	KUNIT_CASE(who_weighs_more_has_its_turn_sooner),
	{}
};

static struct kunit_suite weight_suite = {
	.name = "vrq_weight",
	.test_cases = weight_cases,
};

kunit_test_suite(weight_suite);
