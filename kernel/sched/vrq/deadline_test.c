// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the arithmetic of virtual deadlines.
 */
#include <kunit/test.h>
#include <linux/math64.h>

#include "deadline.h"

#define MS	1000000ULL
#define RR	(6 * MS)

static void ratio_of_highest_priority_is_one(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrq_ratio(0), 1U << VRQ_RATIO_SHIFT);
}

static void ratio_grows_by_a_tenth_with_each_nice_level(struct kunit *test)
{
	unsigned int i;

	for (i = 1; i < VRQ_NICE_WIDTH; i++) {
		unsigned int exact = vrq_ratio(i - 1) * 11;

		/* rounded to one part in 1024 on either side */
		KUNIT_EXPECT_GE(test, vrq_ratio(i) * 10 + 11, exact);
		KUNIT_EXPECT_LE(test, vrq_ratio(i) * 10, exact + 11);
	}
}

static void ratio_of_nice_beyond_19_is_that_of_19(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrq_ratio(VRQ_NICE_WIDTH),
			vrq_ratio(VRQ_NICE_WIDTH - 1));
}

static void weight_is_the_inverse_of_ratio(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < VRQ_NICE_WIDTH; i++) {
		u64 product = (u64)vrq_ratio(i) * vrq_weight(i);
		u64 one = 1ULL << (VRQ_RATIO_SHIFT + VRQ_WEIGHT_SHIFT);

		KUNIT_EXPECT_LE(test, abs_diff(product, one) * 2,
				(u64)vrq_ratio(i));
	}
	KUNIT_EXPECT_EQ(test, vrq_weight(VRQ_NICE_0), VRQ_WEIGHT_NICE_0);
}

static void span_of_a_lone_task_is_its_slice(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < VRQ_NICE_WIDTH; i++)
		KUNIT_EXPECT_EQ(test, vrq_span(RR, i, 0, 1), RR);
}

static void span_of_equal_tasks_is_one_round(struct kunit *test)
{
	u64 weight = vrq_weight(VRQ_NICE_0);

	/* 10 tasks on one CPU, 40 on four: everybody's turn in 60 ms */
	KUNIT_EXPECT_LE(test, abs_diff(vrq_span(RR, VRQ_NICE_0, 10 * weight, 1),
				       60 * MS), MS / 10);
	KUNIT_EXPECT_LE(test, abs_diff(vrq_span(RR, VRQ_NICE_0, 40 * weight, 4),
				       60 * MS), MS / 10);
}

static void spans_are_as_their_ratios(struct kunit *test)
{
	u64 weight = vrq_weight(VRQ_NICE_0) + vrq_weight(VRQ_NICE_0 + 5);
	u64 a = vrq_span(RR, VRQ_NICE_0, weight, 1);
	u64 b = vrq_span(RR, VRQ_NICE_0 + 5, weight, 1);

	/* 1.1^5 = 1.61051 */
	KUNIT_EXPECT_LE(test, abs_diff(b * 100000, a * 161051), a * 200);
}

static void span_of_a_million_tasks_does_not_overflow(struct kunit *test)
{
	u64 weight = 1000000ULL * vrq_weight(0);

	KUNIT_EXPECT_EQ(test, vrq_span(1000 * MS, 0, weight, 1),
			1000000ULL * 1000 * MS);
}

static void deadline_goes_on_from_the_old_one(struct kunit *test)
{
	u64 now = 1000 * MS, d;

	KUNIT_EXPECT_EQ(test, vrq_next_deadline(now, now, 40 * MS, 10 * MS, 0),
			now + 40 * MS);

	/* 5 ms late of 10 ms slack: an eighth more, 5 ms early: an eighth less */
	d = vrq_next_deadline(now - 5 * MS, now, 40 * MS, 10 * MS, 5 * MS);
	KUNIT_EXPECT_LE(test, abs_diff(d, now + 40 * MS), MS / 100);
	d = vrq_next_deadline(now + 5 * MS, now, 40 * MS, 10 * MS, -5 * MS);
	KUNIT_EXPECT_LE(test, abs_diff(d, now + 40 * MS), MS / 100);
}

/* Otherwise a task would lose what it alone is late by, or pay for the lateness of others */
static void deadline_counts_from_the_old_one_unless_all_are_late(struct kunit *test)
{
	u64 now = 1000 * MS, old = now - 5 * MS;

	KUNIT_EXPECT_EQ(test, vrq_next_deadline(old, now, 40 * MS, 10 * MS, 0),
			old + 40 * MS);
	KUNIT_EXPECT_EQ(test,
			vrq_next_deadline(old, now, 40 * MS, 10 * MS, -5 * MS),
			old + 40 * MS);
	KUNIT_EXPECT_EQ(test,
			vrq_next_deadline(now, now, 40 * MS, 10 * MS, 5 * MS),
			now + 40 * MS);
}

static void sleep_saves_up_no_more_than_twice_the_slack(struct kunit *test)
{
	u64 now = 1000 * MS;

	KUNIT_EXPECT_EQ(test,
			vrq_next_deadline(5 * MS, now, 40 * MS, 10 * MS, 0),
			vrq_next_deadline(now - 20 * MS, now, 40 * MS, 10 * MS,
					  0));
	KUNIT_EXPECT_GE(test,
			vrq_next_deadline(5 * MS, now, 40 * MS, 10 * MS, 0),
			now + 20 * MS);
}

/* A task that hardly runs has to be ahead of others with its next slice too */
static void long_sleep_leaves_a_deadline_that_has_passed(struct kunit *test)
{
	u64 now = 1000 * MS;

	KUNIT_EXPECT_LT(test,
			vrq_next_deadline(5 * MS, now, 40 * MS, 40 * MS, 0),
			now);
}

static void tasks_of_any_cpu_count_where_they_will_be(struct kunit *test)
{
	/* 160 tasks for any of 4 CPUs, beside a pinned one, wherever they are just now */
	KUNIT_EXPECT_EQ(test, vrq_spread_weight(1, 160, 161, 1, 4), 40ULL);
	/* 12 on 4 CPUs; the pinned one's CPU has three and a quarter, not three or four */
	KUNIT_EXPECT_EQ(test, vrq_spread_weight(100, 1200, 1300, 1, 4), 325ULL);
	/* elsewhere, since 100 pinned ones leave them no room */
	KUNIT_EXPECT_EQ(test, vrq_spread_weight(100, 160, 260, 1, 4), 100ULL);
	/* too few to fill a CPU beside one with 100 pinned ones */
	KUNIT_EXPECT_EQ(test, vrq_spread_weight(1, 2, 103, 1, 4), 3ULL);
	KUNIT_EXPECT_EQ(test, vrq_spread_weight(2, 0, 102, 2, 4), 2ULL);
	/* not read at the same moment */
	KUNIT_EXPECT_EQ(test, vrq_spread_weight(10, 0, 0, 1, 4), 10ULL);
}

static void groups_change_what_tasks_count_for(struct kunit *test)
{
	const u64 most = 1ULL << 42;

	/* no groups, or nobody there */
	KUNIT_EXPECT_EQ(test, vrq_convert_weight(70, 0, 0), 70ULL);
	KUNIT_EXPECT_EQ(test, vrq_convert_weight(70, 300, 300), 70ULL);
	/* 64 tasks that count for one, and one that counts for a hundred */
	KUNIT_EXPECT_EQ(test, vrq_convert_weight(6400, 6400, 100), 100ULL);
	KUNIT_EXPECT_EQ(test, vrq_convert_weight(50, 100, 10000), 5000ULL);
	/* not read at the same moment; never more than fits */
	KUNIT_EXPECT_EQ(test, vrq_convert_weight(most, 0, most), most);
	KUNIT_EXPECT_EQ(test, vrq_convert_weight(1, 0, most), 1ULL << 16);
	KUNIT_EXPECT_EQ(test, vrq_convert_weight(most, most, 0), 0ULL);
}

static void load_is_underrated_when_all_are_late(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrq_underrated(-50 * (s64)MS, 40 * MS), 1024U);
	KUNIT_EXPECT_EQ(test, vrq_underrated(0, 40 * MS), 1024U);
	KUNIT_EXPECT_EQ(test, vrq_underrated(40 * MS, 40 * MS), 1024U);
	KUNIT_EXPECT_EQ(test, vrq_underrated(50 * MS, 40 * MS), 1536U);
	KUNIT_EXPECT_EQ(test, vrq_underrated(10000 * MS, 40 * MS), 4 * 1024U);
}

static void running_ahead_costs_no_more_than_a_turn(struct kunit *test)
{
	u64 now = 1000 * MS;

	KUNIT_EXPECT_EQ(test,
			vrq_next_deadline(5 * now, now, 40 * MS, 10 * MS, 0),
			vrq_next_deadline(now + 40 * MS, now, 40 * MS, 10 * MS,
					  0));
	KUNIT_EXPECT_EQ(test,
			vrq_next_deadline(5 * now, now, 10 * MS, 40 * MS, 0),
			vrq_next_deadline(now + 40 * MS, now, 10 * MS, 40 * MS,
					  0));
}

/* The span gets shorter by a quarter at most, however early all tasks were */
static void early_tasks_do_not_shorten_the_span_by_more(struct kunit *test)
{
	u64 now = 100000 * MS;

	KUNIT_EXPECT_GE(test, vrq_next_deadline(now + 600 * MS, now, 600 * MS, 10 * MS,
						-100 * MS), now + 1049 * MS);
	KUNIT_EXPECT_GE(test, vrq_next_deadline(now + 30000 * MS, now, 30000 * MS, 10 * MS,
						-1000 * MS), now + 52499 * MS);
}

static void deadline_just_after_boot_does_not_wrap(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, vrq_next_deadline(0, 3 * MS, 40 * MS, 10 * MS, 0),
			60 * MS);
}

static void renice_rescales_what_is_left(struct kunit *test)
{
	u64 now = 1000 * MS, old = now + 100 * MS;
	u64 new = vrq_rescale_deadline(old, now, VRQ_NICE_0, VRQ_NICE_0 + 1);

	KUNIT_EXPECT_LE(test, abs_diff(new, now + 110 * MS), MS / 10);
	KUNIT_EXPECT_EQ(test, vrq_rescale_deadline(old, now, 7, 7), old);
}

static void renice_leaves_a_passed_deadline(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrq_rescale_deadline(900 * MS, 1000 * MS, 0, 39),
			900 * MS);
}

/*
 * Simulate hogs on one CPU that run whole slices, the earliest deadline first, and check their
 * shares against their nice levels. A slice takes @percent of its time. More than 100 stands
 * for what interrupts and other classes take, less for a load that counts tasks which do not
 * compete.
 */
static void expect_shares_by_nice(struct kunit *test, unsigned int percent)
{
	static const unsigned int nice[] = { 15, 20, 20, 25, 39 };
	u64 deadline[ARRAY_SIZE(nice)] = {}, got[ARRAY_SIZE(nice)] = {};
	u64 now = 1000 * MS, weight = 0, total = 0, span, slack;
	s64 late, all_late = 0;
	unsigned int i, best;

	for (i = 0; i < ARRAY_SIZE(nice); i++)
		weight += vrq_weight(nice[i]);
	slack = vrq_span(RR, VRQ_NICE_0, weight, 1);

	while (total < 20000) {
		best = 0;
		for (i = 1; i < ARRAY_SIZE(nice); i++)
			if (deadline[i] < deadline[best])
				best = i;
		now += div_u64(RR * percent, 100);
		got[best]++;
		total++;
		span = vrq_span(RR, nice[best], weight, 1);
		late = clamp_t(s64, now - deadline[best], -(s64)slack, slack);
		all_late += (late - all_late) >> 4;
		deadline[best] = vrq_next_deadline(deadline[best], now, span,
						   slack, all_late);
	}

	for (i = 0; i < ARRAY_SIZE(nice); i++) {
		u64 ideal = div64_u64(total * vrq_weight(nice[i]), weight);

		KUNIT_EXPECT_LE_MSG(test, abs_diff(got[i], ideal) * 100,
				    ideal * 2,
				    "%u%%: nice %d got %llu slices, ideal %llu",
				    percent, (int)nice[i] - 20, got[i], ideal);
	}
}

static void shares_follow_nice(struct kunit *test)
{
	expect_shares_by_nice(test, 100);
}

static void shares_follow_nice_when_the_load_is_wrong(struct kunit *test)
{
	expect_shares_by_nice(test, 80);
	expect_shares_by_nice(test, 95);
	expect_shares_by_nice(test, 105);
	expect_shares_by_nice(test, 110);
}

static struct kunit_case deadline_cases[] = {
	KUNIT_CASE(ratio_of_highest_priority_is_one),
	KUNIT_CASE(ratio_grows_by_a_tenth_with_each_nice_level),
	KUNIT_CASE(ratio_of_nice_beyond_19_is_that_of_19),
	KUNIT_CASE(weight_is_the_inverse_of_ratio),
	KUNIT_CASE(span_of_a_lone_task_is_its_slice),
	KUNIT_CASE(span_of_equal_tasks_is_one_round),
	KUNIT_CASE(spans_are_as_their_ratios),
	KUNIT_CASE(span_of_a_million_tasks_does_not_overflow),
	KUNIT_CASE(deadline_goes_on_from_the_old_one),
	KUNIT_CASE(deadline_counts_from_the_old_one_unless_all_are_late),
	KUNIT_CASE(sleep_saves_up_no_more_than_twice_the_slack),
	KUNIT_CASE(long_sleep_leaves_a_deadline_that_has_passed),
	KUNIT_CASE(tasks_of_any_cpu_count_where_they_will_be),
	KUNIT_CASE(groups_change_what_tasks_count_for),
	KUNIT_CASE(load_is_underrated_when_all_are_late),
	KUNIT_CASE(running_ahead_costs_no_more_than_a_turn),
	KUNIT_CASE(early_tasks_do_not_shorten_the_span_by_more),
	KUNIT_CASE(deadline_just_after_boot_does_not_wrap),
	KUNIT_CASE(renice_rescales_what_is_left),
	KUNIT_CASE(renice_leaves_a_passed_deadline),
	KUNIT_CASE(shares_follow_nice),
	KUNIT_CASE(shares_follow_nice_when_the_load_is_wrong),
	{}
};

static struct kunit_suite deadline_suite = {
	.name = "vrq_deadline",
	.test_cases = deadline_cases,
};

kunit_test_suite(deadline_suite);
