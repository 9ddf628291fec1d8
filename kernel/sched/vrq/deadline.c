// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arithmetic of virtual deadlines, see deadline.h.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "deadline.h"

/* round(1024 * 1.1^i), i = nice + 20 */
static const unsigned int ratios[VRQ_NICE_WIDTH] = {
 /* -20 */	 1024,	 1126,	 1239,	 1363,	 1499,
 /* -15 */	 1649,	 1814,	 1995,	 2195,	 2415,
 /* -10 */	 2656,	 2922,	 3214,	 3535,	 3889,
 /*  -5 */	 4278,	 4705,	 5176,	 5693,	 6263,
 /*   0 */	 6889,	 7578,	 8336,	 9169,	10086,
 /*   5 */	11095,	12204,	13425,	14767,	16244,
 /*  10 */	17868,	19655,	21621,	23783,	26161,
 /*  15 */	28777,	31655,	34820,	38302,	42132,
};

/* round(2^30 / ratios[i]) */
static const unsigned int weights[VRQ_NICE_WIDTH] = {
 /* -20 */	1048576,  953590,  866620,  787778,  716305,
 /* -15 */	 651147,  591919,  538216,  489176,  444614,
 /* -10 */	 404270,  367468,  334083,  303746,  276097,
 /*  -5 */	 250992,  228213,  207446,  188607,  171442,
 /*   0 */	 155863,  141692,  128808,  117106,  106459,
 /*   5 */	  96777,   87983,   79981,   72712,   66101,
 /*  10 */	  60093,   54629,   49662,   45147,   41044,
 /*  15 */	  37313,   33920,   30837,   28034,   25485,
};

/**
 * vrq_ratio - how much longer than nice -20 a task waits for its slice
 * @nice_index: nice + 20, 0 to 39
 *
 * 1.1 for every step of nice, as in BFS.
 *
 * Return: 1.1^@nice_index in units of 1 / 1024.
 */
unsigned int vrq_ratio(unsigned int nice_index)
{
	return ratios[min_t(unsigned int, nice_index, VRQ_NICE_WIDTH - 1)];
}

/**
 * vrq_weight - what a task adds to the load
 * @nice_index: nice + 20, 0 to 39
 *
 * Return: 1 / ratio, in units of 1 / 2^20.
 */
unsigned int vrq_weight(unsigned int nice_index)
{
	return weights[min_t(unsigned int, nice_index, VRQ_NICE_WIDTH - 1)];
}

/**
 * vrq_span - how long a task's turn takes at its fair share of the machine
 * @rr_ns: length of a time slice, ns
 * @nice_index: nice + 20, 0 to 39
 * @weight_sum: sum of vrq_weight() over the runnable tasks
 * @cpus: number of CPUs that share those tasks, at least 1
 *
 * Return: ns from one deadline to the next; never less than @rr_ns, since no
 * task can run on more than one CPU at a time.
 */
u64 vrq_span(u64 rr_ns, unsigned int nice_index, u64 weight_sum,
	     unsigned int cpus)
{
	u64 span = rr_ns * vrq_ratio(nice_index) >> VRQ_RATIO_SHIFT;

	/* 128 bits in between: a million tasks at rr_interval 1000 ms fit */
	span = mul_u64_u64_div_u64(span, weight_sum,
				   (u64)cpus << VRQ_WEIGHT_SHIFT);

	return max(span, rr_ns);
}

/**
 * vrq_spread_weight - what some CPUs have to do once tasks are where there is room
 * @confined: sum of vrq_weight() over the tasks queued on those CPUs that not every CPU
 *	may run
 * @unconfined: the sum over all tasks of the machine that every CPU may run
 * @weight: the sum over all tasks of the machine
 * @cpus: number of those CPUs
 * @all: number of CPUs of the machine
 *
 * Tasks that every CPU may run go where there is less to do, until all CPUs have the same
 * load. The given CPUs have more than that if their confined tasks alone exceed it. They have
 * less if all tasks that may run on them do not reach it.
 *
 * Return: the weight.
 */
u64 vrq_spread_weight(u64 confined, u64 unconfined, u64 weight,
		      unsigned int cpus, unsigned int all)
{
	return clamp(div_u64(weight * cpus, max(all, 1U)), confined,
		     confined + unconfined);
}

/* Four million tasks of nice -20 */
#define WEIGHT_SUM_MAX	BIT_ULL(42)

/**
 * vrq_convert_weight - convert a weight with groups to one without groups, or back
 * @weight: the weight to convert
 * @from: the sum over all tasks of the machine, in units of @weight
 * @to: the same sum in the other units
 *
 * The two sums may have been read at different moments.
 *
 * Return: @weight * @to / @from, limited to what vrq_span() can multiply; @weight if there are
 * no groups.
 */
u64 vrq_convert_weight(u64 weight, u64 from, u64 to)
{
	if (likely(from == to))
		return weight;

	return min(mul_u64_u64_div_u64(weight, to, max3(from, to >> 16, 1ULL)), WEIGHT_SUM_MAX);
}

/**
 * vrq_underrated - by how much the load seems to be greater than its weight says
 * @late: how late tasks used up their slices, ns
 * @slack: vrq_span() of nice 0, ns
 *
 * The weight counts only tasks that are runnable now. Tasks that sleep in turns save up what
 * they would have got while they slept, so together they want more than their weight. Then
 * they all get late, up to the limit of what a task may save up, and a task that has hardly
 * run at all is no longer told from the others. So what is late beyond the slack counts as
 * load, twice. It does not count for more: with 8 times, and up to 8 turns, a task that was
 * late by chance got a deadline half a second away.
 *
 * Measured by cyclictest's normal task beside hackbench. Without this the average and
 * 99.9% of its delays are 1.11 and 1.73 times as long on 4 CPUs, 1.02 and 1.22 times on
 * 16; nothing else that was measured gets better.
 *
 * Return: a factor for spans and slack, in units of 1 / 1024, 1 to 4.
 */
unsigned int vrq_underrated(s64 late, u64 slack)
{
	s64 excess = late - (s64)slack;

	if (excess <= 0)
		return 1024;

	return min_t(s64, 1024 + div64_s64(excess << 11, slack), 4 * 1024);
}

/* The one of both that is nearer to 0, or 0 if their signs differ */
static s64 common_part(s64 a, s64 b)
{
	return a > 0 ? clamp(b, 0, a) : clamp(b, a, 0);
}

/**
 * vrq_next_deadline - the deadline of a new time slice
 * @old: deadline of the slice that is used up, ns
 * @now: the time, ns
 * @span: see vrq_span(), ns
 * @slack: how far from @now the count may start, ns, not 0
 * @all_late: how late tasks used up their slices, on the mean, ns
 *
 * The new deadline is counted from the old one. So what a task got too early or too late in
 * one turn is made up for in the next, and shares are exact in the long run. A task that has
 * slept must not save up more than twice @slack. That is enough for a task that hardly runs to
 * go ahead of the others even with a new slice. A task that ran ahead while no other task
 * competed must not pay for more than @slack, or a turn of its own if that is longer. With a
 * lower limit, tasks with long turns would be forgiven what they use beyond their share.
 *
 * The load is never known exactly: interrupts and other classes take their part, masks
 * overlap. So the deadlines of all competing tasks drift away from the time together until
 * they reach the slack, where nice levels would count for less. To prevent that, the span is
 * stretched by up to a quarter if all tasks are late, and shortened if all are early.
 * Otherwise nice -5 gets 16% more than its share and nice 19 19% less where turns take 80% of
 * what the load says, see deadline_test.c. Only lateness that is common to all tasks counts
 * for this. Otherwise a task that alone is late would lose its share, and some tasks are late
 * turn after turn because of the order in which the turns happen to fall.
 *
 * Return: the deadline, ns.
 */
u64 vrq_next_deadline(u64 old, u64 now, u64 span, u64 slack, s64 all_late)
{
	u64 earliest = now > 2 * slack ? now - 2 * slack : 0;
	u64 start = clamp(old, earliest, now + max(slack, span));
	s64 late = clamp(common_part(now - start, all_late), -(s64)slack, (s64)slack);
	/* -256 to 256 of 1024 */
	s64 stretch = div64_s64(late << 8, slack);

	return start + span + ((s64)(span >> 10) * stretch);
}

/**
 * vrq_rescale_deadline - the deadline of a task whose nice level changes
 * @old: deadline under the old level, ns
 * @now: the time, ns
 * @from: old nice level + 20
 * @to: new nice level + 20
 *
 * Return: the deadline, ns: what was left until @old, in the new ratio. A
 * deadline that has passed stays.
 */
u64 vrq_rescale_deadline(u64 old, u64 now, unsigned int from, unsigned int to)
{
	if (old <= now || from == to)
		return old;

	return now + mul_u64_u64_div_u64(old - now, vrq_ratio(to), vrq_ratio(from));
}
