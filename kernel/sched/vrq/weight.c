// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of the machine a task is entitled to: its nice level, a favour for tasks that
 * sleep by themselves, and what its group is entitled to, see group.c. They make one
 * weight. Spans, and so deadlines, follow from it and from the sum of all weights.
 *
 * The favour. A video that needs half of a CPU beside a dozen hogs on four CPUs has a right to
 * less than a third of one; but people expect it to play. So a task that leaves the CPU unused
 * for long counts as more than one task of its kind, by its demand:
 *
 *	demand = used / (used + slept)
 *	favour = 4 for a demand of up to 5/8, 1 for one from 7/8 on, linear in between
 *
 * Used is the CPU time in the last 128 to 256 ms of both, slept is the sleep in that time. A
 * sleep counts if it was interruptible, and was ended by an interrupt or by a kernel thread
 * that stands for one: then the task waited for a time or a user. A sleep for a disk or a lock
 * does not count. A sleep that another task ended does not count either, even if that was a
 * real-time task: otherwise two tasks that hand a hog's work to each other would be favoured.
 * Waiting for the CPU counts as neither, but makes earlier sleep count for less, when the task
 * is given a new slice. The favour is bounded in these ways:
 *
 *  - A task is favoured for as long as it needs less than 7/8 of a CPU. A hog that naps
 *    for 50 us before each tick of 1 ms has a demand of 0.95.
 *  - A child gets an eighth of what its parent has slept, and the parent has that no
 *    longer: children that each run for a moment are favoured together for no longer
 *    than the parent would have been.
 *  - If all tasks are favoured, none is, because only the ratio of weights counts. So equal
 *    tasks stay equal. Tasks that are not favoured keep at least a quarter of what they would
 *    get beside the same tasks without their favour.
 */
#include <linux/math64.h>

#include "tunables.h"
#include "weight.h"

/* Over what the demand is measured, us */
#define WINDOW_US		(256 * USEC_PER_MSEC)
/* One unit of a favour, and the greatest */
#define FAVOUR_ONE		8
#define FAVOUR_MAX		(4 * FAVOUR_ONE)

/*
 * A new task has 1 / 8 of what its parent has used and slept: it soon has a demand of its own
 */
#define INHERITED_PART		8

/* Halve both until they fit into the window: so earlier times count for less */
static void forget(struct task_struct *p)
{
	while (p->vrq.used_us + p->vrq.slept_us > WINDOW_US) {
		p->vrq.used_us /= 2;
		p->vrq.slept_us /= 2;
	}
}

/**
 * vrq_favour - by how much more than others of its kind a task counts
 * @used_us: what it has used of the CPU lately, us
 * @slept_us: what it has slept by itself in the same time, us; the sum of both at most
 *	three times the 256 ms over which they are counted
 *
 * Return: the formula above, in units of 1 / 8: 8 to 32.
 */
unsigned int vrq_favour(unsigned int used_us, unsigned int slept_us)
{
	unsigned int both = used_us + slept_us;

	if (8 * used_us >= 7 * both)
		return FAVOUR_ONE;

	return min_t(unsigned int, FAVOUR_MAX,
		     FAVOUR_ONE + (FAVOUR_MAX - FAVOUR_ONE) *
				  (7 * both - 8 * used_us) / (2 * both));
}

static unsigned int favour_of(const struct task_struct *p)
{
	return READ_ONCE(vrq_interactive) ?
	       vrq_favour(p->vrq.used_us, p->vrq.slept_us) : FAVOUR_ONE;
}

/**
 * vrq_note_used - count what a task has used of the CPU
 * @p: the task, running, the lock of its run queue held; its CPU time is accounted
 */
void vrq_note_used(struct task_struct *p)
{
	u64 used = p->se.sum_exec_runtime - p->vrq.used_at;

	p->vrq.used_us += min_t(u64, div_u64(used, NSEC_PER_USEC), 2 * WINDOW_US);
	p->vrq.used_at = p->se.sum_exec_runtime;
	forget(p);
	p->vrq.favour = favour_of(p);
}

/**
 * vrq_note_slept - count a sleep that an interrupt ended
 * @p: the task, about to be queued, the lock of its run queue held
 * @slept: for how long it has slept, ns; clocks of two run queues may make it negative
 */
void vrq_note_slept(struct task_struct *p, s64 slept)
{
	if (slept <= 0)
		return;

	p->vrq.slept_us += min_t(u64, div_u64(slept, NSEC_PER_USEC), 2 * WINDOW_US);
	forget(p);
	p->vrq.favour = favour_of(p);
}

/**
 * vrq_note_waited - count what a task has waited for the CPU since it got its slice
 * @p: the task, the lock of its run queue held
 *
 * What the task slept counts for less, by the part that it has waited of the time over which
 * the demand is measured. Otherwise a hog of little weight would look like a task that sleeps
 * for seconds: of 20 hogs of five nice levels that had slept until they began together, the
 * shares of the first second were off by 41%, now by 16%. If what it used counted for less
 * too, a hog that naps before each tick would get 118% of its share.
 *
 * This is not done for a task that has run for less than twice its usual burst since it woke
 * up: its wait has made its sleep shorter by as much. If the wait counted twice, a video that
 * needs half of one CPU, beside three hogs, lost its favour within 4 s in 7 of 30 cases, and
 * had a quarter from then on.
 *
 * The favour is not computed anew.
 */
void vrq_note_waited(struct task_struct *p)
{
	u64 part = min_t(u64, div_u64(p->vrq.waited, NSEC_PER_USEC), WINDOW_US);

	/* It may still sleep as it usually does */
	if (p->se.sum_exec_runtime - p->vrq.woken_at < 2 * p->vrq.burst)
		return;

	p->vrq.slept_us -= div_u64(p->vrq.slept_us * part, WINDOW_US);
}

/**
 * vrq_split_sleep - a new task shares with its parent what that one has slept
 * @parent: the parent, running, the lock of its run queue held
 * @child: the new task, not yet visible to anybody
 */
void vrq_split_sleep(struct task_struct *parent, struct task_struct *child)
{
	child->vrq.used_us = parent->vrq.used_us / INHERITED_PART;
	child->vrq.slept_us = parent->vrq.slept_us / INHERITED_PART;
	parent->vrq.slept_us -= child->vrq.slept_us;
	parent->vrq.favour = favour_of(parent);
	child->vrq.favour = favour_of(child);
}

/**
 * vrq_own_weight - what a task counts for among the tasks of its group
 * @p: the task, a new one or the lock of its run queue is held
 *
 * Return: the weight, in units of 1 / 2^20 of one of nice -20 without a favour.
 */
unsigned int vrq_own_weight(const struct task_struct *p)
{
	unsigned int favour = max_t(unsigned int, p->vrq.favour, FAVOUR_ONE);

	return vrq_weight(vrq_nice_index(p)) * favour / FAVOUR_ONE;
}

/**
 * vrq_task_weight - what a task adds to the load
 * @p: the task, a new one or the lock of its run queue is held
 * @which: the load of its group to go by
 *
 * Return: the weight, in units of vrq_own_weight().
 */
unsigned int vrq_task_weight(const struct task_struct *p, enum vrq_factor which)
{
	unsigned int own = vrq_own_weight(p);
	u64 weight = vrq_group_weight(p, which, own);

	/* A new task has no limit yet */
	return weight <= own ? weight : min(weight, p->vrq.weight_max ?: own);
}

/**
 * vrq_limit_weight - a task has no use for more than a CPU
 * @p: the task, the lock of its run queue held
 * @others: sum of the weights of all other tasks on the CPUs that @p may use
 * @cpus: number of those CPUs
 *
 * If a group of great weight has few tasks, each of them counts for more than a CPU is worth.
 * A CPU is worth what the others have for each CPU that is left to them. Several such tasks
 * determine each other's limit, which converges while they get slices. Without the limit the
 * other tasks would seem to have a right to less than they have got, and all of them would be
 * early.
 */
void vrq_limit_weight(struct task_struct *p, u64 others, unsigned int cpus)
{
	p->vrq.weight_max = cpus > 1 ? clamp(div_u64(others, cpus - 1), 1ULL, UINT_MAX) :
				       UINT_MAX;
}

/*
 * A task's share is taken to be at least 1 / 2^20, so that its turn comes in the end. With
 * 2^16, 10,000 tasks of a group with a right to 1% would have had 16%. Now they have 6% beside
 * eight hogs, because no task has a weight below 1.
 */
#define SHARE_MIN_SHIFT	20

/**
 * vrq_task_span - how long a task's turn takes at its share of the machine
 * @p: the task, a new one or the lock of its run queue is held
 * @which: the load of its group to go by
 * @rr_ns: length of a time slice, ns
 * @weight_sum: sum of the weights of the runnable tasks
 * @cpus: number of CPUs that share those tasks, at least 1
 *
 * Return: as vrq_span(), ns; never less than @rr_ns.
 */
u64 vrq_task_span(const struct task_struct *p, enum vrq_factor which, u64 rr_ns,
		  u64 weight_sum, unsigned int cpus)
{
	u64 weight = max(vrq_task_weight(p, which), (weight_sum >> SHARE_MIN_SHIFT) + 1);

	return max(mul_u64_u64_div_u64(rr_ns, weight_sum, weight * cpus), rr_ns);
}
