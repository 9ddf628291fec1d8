// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a group of tasks is entitled to: cpu.weight, cpu.shares, cpu.idle, autogroups.
 *
 * There are no queues for groups. All tasks are in one order of deadlines, and a group makes
 * its tasks count for more or less in that order. A task in group g1, which is in g2, which is
 * in g3 ..., has the weight
 *
 *	own_weight * share(g1) / weight(g1) * share(g2) / weight(g2) * ...
 *
 * with share(g) the weight that was set for g, 100 being that of a task of nice 0, and
 * weight(g) the sum over all that is runnable in g: own_weight of its tasks and share() of the
 * groups in it. So all that is runnable in a group counts for the group's share together. The
 * sums are over the machine, so groups share out the machine, not each CPU.
 *
 * The product without own_weight is the factor of a group. Sums and factors are updated once a
 * jiffy, by one CPU, which goes through the CPUs that have tasks of the group. So they are
 * about a millisecond old, and a switch writes only data of its own CPU. In each jiffy the
 * tick updates some groups, in turns: each group within about 20 ms, or later if there are
 * more than SWEEP_MAX groups for each jiffy in that time. The tick also finds groups that have
 * nothing to do any more, which then do not count in their parents. Between two such turns a
 * group is updated when one of its tasks gets a new slice or wakes up.
 *
 * A task that gets a whole slice keeps its deadline while others of its group wake up and
 * sleep again. So the deadline is computed from the mean weight of the last eighth of a second
 * or so. In this mean, a task that sleeps for a part of the time counts for as long as what it
 * uses would take at its share, neither more nor less:
 *
 *	own_weight * pace / own_weight / factor = pace / factor for each ns of CPU time
 *
 * with pace the time that a task of weight 1 needs for it, which is learnt from tasks that use
 * whole slices. So the hogs of a group get what the sleepers leave of its share:
 *
 *	weight(mean) = weight(hogs) + use(sleepers) * pace / factor, factor = share / weight(mean)
 *	<=> weight(hogs) * factor / pace = share / pace - use(sleepers)
 *
 * A task that was served sooner than at its share goes on to count while it sleeps. If a task
 * had to wait for longer, the group counts for less. Of twelve leaf groups on three levels,
 * half of them with two sleepers, the worst is off by 1.4, 1.5 and 3.9% on 4, 8 and 16 CPUs.
 * It was 5.7, 4.9 and 6.7% when a sleeper counted while it was queued, and ahead of a share
 * that was estimated from the load; without that it was 56% for a leaf group with two hogs and
 * two sleepers.
 *
 * The mean is taken at ticks only. If it were also taken at wake-ups, just before the task is
 * queued, tasks that wake up would be missed: such leaf groups got 6 to 9% too much.
 *
 * The weight of a group is taken to be at least a quarter of its recent maximum. Otherwise, if
 * many tasks wake up together, the first ones get deadlines as if they were alone. In a group
 * of little weight, all of them then run before tasks of a hundred times their weight.
 *
 * A group with cpu.idle makes all of its tasks count as SCHED_IDLE on the whole machine;
 * for the fair class they do beside what else is in their parent.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "deadline.h"
#include "group.h"
#include "load.h"

/*
 * Fixed point of a factor, and its maximum: multiplied by the greatest share, cpu.shares of
 * 2^18, and divided by the least weight, a factor fits into 64 bits
 */
#define FACTOR_SHIFT	32
#define FACTOR_MAX	BIT_ULL(44)
/* Number of fractional bits of weights that a factor makes smaller */
#define FRACTION_SHIFT	16
/*
 * The least weight of a group that has something to do: that of one group with cpu.shares of 2
 */
#define WEIGHT_MIN	(2 * VRQ_WEIGHT_NICE_0 >> 10)
/* Time constant of the decay of a peak, for a factor of e, ms */
#define PEAK_MS		256
/* A group's weight is taken to be at least its peak divided by this */
#define PEAK_PART	4
/* In how many ms ticks sum up all groups, and how many groups a tick does */
#define SWEEP_MS	20
#define SWEEP_MIN	16
#define SWEEP_MAX	64

/*
 * The groups that have something to do, or had until lately, and their number. The lock is
 * taken with an rq->lock held, and nothing else in it.
 */
static LIST_HEAD(counted);
static DEFINE_RAW_SPINLOCK(counted_lock);
static unsigned int nr_counted;
/* When some of them were last summed up by a tick, jiffies. Each tick reads it */
static unsigned long swept_at ____cacheline_aligned_in_smp = INITIAL_JIFFIES;

/* What was set for a group: that of SCHED_IDLE ones counts among themselves only */
static u64 share_of(const struct vrq_group *group)
{
	u64 one = VRQ_WEIGHT_NICE_0;

	if (READ_ONCE(group->tg->idle))
		return one;

	return max(one * READ_ONCE(group->tg->shares) >> NICE_0_LOAD_SHIFT, 1ULL);
}

static bool has_something(const struct vrq_group *group)
{
	return atomic64_read(&group->given[VRQ_KIND_NORMAL]) ||
	       atomic64_read(&group->given[VRQ_KIND_IDLE]);
}

/* With counted_lock held */
static void count_locked(struct vrq_group *group)
{
	if (!list_empty(&group->counted) || group->gone)
		return;

	list_add_tail(&group->counted, &counted);
	WRITE_ONCE(nr_counted, nr_counted + 1);
}

static void count(struct vrq_group *group)
{
	/*
	 * A tick may just move the group to the end of the list, and it never seems unlinked
	 * then
	 */
	if (data_race(!list_empty_careful(&group->counted)))
		return;

	raw_spin_lock(&counted_lock);
	count_locked(group);
	raw_spin_unlock(&counted_lock);
}

/* With counted_lock held */
static void uncount(struct vrq_group *group)
{
	if (list_empty(&group->counted))
		return;

	list_del_init(&group->counted);
	WRITE_ONCE(nr_counted, nr_counted - 1);
}

/* Let what a group counts for in its parent be @share */
static void give(struct vrq_group *group, enum vrq_kind kind, u64 share)
{
	s64 more = share - atomic64_xchg(&group->given[kind], share);

	if (more && group->parent)
		atomic64_add(more, &group->parent->children[kind]);
}

/* The factor follows from that of the parent, which has been updated before */
static u64 factor_of(const struct vrq_group *group, enum vrq_kind kind, enum vrq_factor which,
		     u64 weight)
{
	const struct vrq_group *parent = group->parent;
	u64 factor = parent ? atomic64_read(&parent->factor[kind][which]) : 1ULL << FACTOR_SHIFT;

	factor = mul_u64_u64_div_u64(factor, share_of(group), weight);

	return clamp(factor, 1, FACTOR_MAX);
}

static void note_idle(struct vrq_group *group)
{
	const struct vrq_group *parent = group->parent;
	bool idle = READ_ONCE(group->tg->idle) || (parent && READ_ONCE(parent->idle));

	if (READ_ONCE(group->idle) != idle)
		WRITE_ONCE(group->idle, idle);
}

#ifdef CONFIG_CFS_BANDWIDTH
static void note_limit(struct vrq_group *group)
{
	const struct vrq_group *parent = group->parent;
	bool own = READ_ONCE(group->tg->cfs_bandwidth.quota) != RUNTIME_INF;
	struct vrq_group *limited = own ? group : parent ? READ_ONCE(parent->limited) : NULL;

	if (READ_ONCE(group->limited) != limited)
		WRITE_ONCE(group->limited, limited);
}

static bool alloc_limit(struct vrq_group *group)
{
	int cpu;

	if (!zalloc_cpumask_var(&group->throttled, GFP_KERNEL))
		return false;
	group->workers_at = jiffies;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu_ptr(group->percpu, cpu)->throttled);

	return true;
}

static void free_limit(struct vrq_group *group)
{
	free_cpumask_var(group->throttled);
}
#else
static void note_limit(struct vrq_group *group) { }
static bool alloc_limit(struct vrq_group *group) { return true; }
static void free_limit(struct vrq_group *group) { }
#endif

/*
 * Update what a group inherits from the settings of the groups around it, which are up to
 * date. These fields are in a cache line that is read at each switch, so they are written only
 * if something has changed.
 */
static void note_settings(struct vrq_group *group)
{
	note_idle(group);
	note_limit(group);
}

/* The part of @value that is due after @passed jiffies, if all of it is due after @ms */
static s64 part_of(s64 value, unsigned long passed, unsigned int ms)
{
	unsigned long whole = msecs_to_jiffies(ms);
	s64 each = div_s64(value, whole);

	if (!passed)
		return 0;

	/* What is too little to be divided is due at once */
	return each && passed < whole ? each * (s64)passed : value;
}

/* The weight that has been runnable of late */
static u64 mean_weight_of(const struct vrq_group *group, enum vrq_kind kind)
{
	s64 mean = atomic64_read(&group->mean[kind]) + atomic64_read(&group->ahead[kind]);
	s64 least = max_t(s64, atomic64_read(&group->peak[kind]) / PEAK_PART, WEIGHT_MIN);

	/* Ticks may have seen hardly any load of the group yet */
	if (time_before(jiffies, READ_ONCE(group->since[kind]) + msecs_to_jiffies(SWEEP_MS)))
		least = max_t(s64, least, atomic64_read(&group->weight[kind]));

	return max(mean, least);
}

static void note_factors(struct vrq_group *group, enum vrq_kind kind)
{
	u64 now = atomic64_read(&group->weight[kind]), mean = mean_weight_of(group, kind);

	atomic64_set(&group->factor[kind][VRQ_FACTOR_NOW],
		     factor_of(group, kind, VRQ_FACTOR_NOW, now));
	atomic64_set(&group->factor[kind][VRQ_FACTOR_MEAN],
		     factor_of(group, kind, VRQ_FACTOR_MEAN, mean));
}

static void note_weight(struct vrq_group *group, enum vrq_kind kind, u64 queued)
{
	s64 weight = max((s64)queued + atomic64_read(&group->ahead[kind]), 0LL);

	atomic64_set(&group->runnable[kind], weight);
	if (weight > atomic64_read(&group->peak[kind]))
		atomic64_set(&group->peak[kind], weight);
	weight = max_t(s64, weight, queued ? WEIGHT_MIN : VRQ_WEIGHT_NICE_0);
	atomic64_set(&group->weight[kind], weight);
}

/*
 * Update the means, @passed jiffies after the last update. @queued is the weight of what is
 * queued now, @ahead what vrq_group_note_ahead() has added since the last update, weight times
 * us.
 */
static void note_means(struct vrq_group *group, enum vrq_kind kind, u64 queued, s64 ahead,
		       unsigned long passed)
{
	unsigned long age = jiffies - READ_ONCE(group->since[kind]);
	unsigned int ms = clamp(jiffies_to_msecs(age), 1, VRQ_GROUP_MEAN_MS);
	s64 mean = atomic64_read(&group->mean[kind]);
	s64 before = atomic64_read(&group->ahead[kind]);
	s64 peak = atomic64_read(&group->peak[kind]);

	/*
	 * A greater age makes no difference, and after a wrap-around it would look like the
	 * future
	 */
	if (age > msecs_to_jiffies(VRQ_GROUP_MEAN_MS))
		WRITE_ONCE(group->since[kind], jiffies - msecs_to_jiffies(VRQ_GROUP_MEAN_MS));

	ahead = div_s64(ahead, jiffies_to_usecs(min(passed, msecs_to_jiffies(VRQ_GROUP_MEAN_MS))));
	/* What tasks count for ahead is for the time to come: no shorter mean for a new group */
	atomic64_set(&group->ahead[kind],
		     before + part_of(ahead - before, passed, VRQ_GROUP_MEAN_MS));
	atomic64_set(&group->mean[kind], mean + part_of((s64)queued - mean, passed, ms));
	atomic64_set(&group->peak[kind], peak - part_of(peak, passed, PEAK_MS));
}

static bool has_part(const struct vrq_group_cpu *part)
{
	enum vrq_kind kind;

	for (kind = 0; kind < VRQ_KINDS; kind++) {
		if (READ_ONCE(part->weight[kind]) || atomic64_read(&part->ahead[kind]))
			return true;
	}

	return false;
}

/*
 * Sum up what a group has to do, and compute its factors. The groups around it have to be
 * summed up before. If @passed, the jiffies since the means were last updated, is not 0, the
 * means are updated, and counted_lock is held. If it is 0, the means stay.
 *
 * A task may be queued on a CPU just when nothing is found there. It is counted when this
 * task, or another one of its group, is next queued or gets a new slice. So enqueue needs no
 * barrier.
 */
static void sum_up(struct vrq_group *group, unsigned long passed)
{
	u64 weight[VRQ_KINDS] = {};
	s64 ahead[VRQ_KINDS] = {};
	struct vrq_group_cpu *part;
	enum vrq_kind kind;
	int cpu;

	vrq_for_each_cpu_unlocked(cpu, group->cpus) {
		part = per_cpu_ptr(group->percpu, cpu);
		for (kind = 0; kind < VRQ_KINDS; kind++) {
			weight[kind] += READ_ONCE(part->weight[kind]);
			if (passed && atomic64_read(&part->ahead[kind]))
				ahead[kind] += atomic64_xchg(&part->ahead[kind], 0);
		}
		if (!has_part(part))
			cpumask_clear_cpu(cpu, group->cpus);
	}

	for (kind = 0; kind < VRQ_KINDS; kind++) {
		weight[kind] += max(atomic64_read(&group->children[kind]), 0LL);
		give(group, kind, weight[kind] ? share_of(group) : 0);
		if (passed)
			note_means(group, kind, weight[kind], ahead[kind], passed);
		note_weight(group, kind, weight[kind]);
		note_factors(group, kind);
	}
	note_settings(group);
	if (!has_something(group))
		return;

	if (passed)
		count_locked(group);
	else
		count(group);
}

/* Sum up a group and update its means, unless that was done. With counted_lock held */
static bool sweep(struct vrq_group *group, unsigned long now)
{
	unsigned long passed = now - group->swept_at;

	if (vrq_same_jiffy(group->swept_at, now))
		return false;

	WRITE_ONCE(group->swept_at, now);
	WRITE_ONCE(group->summed_at, now);
	sum_up(group, passed);

	return true;
}

/*
 * Sum up a group when its tasks wake up or get slices. If the group had nothing to do, or no
 * CPU had a tick, its means and its peak are too old, and are updated as well.
 */
static void sum_up_now(struct vrq_group *group)
{
	unsigned long now = jiffies, mean = msecs_to_jiffies(VRQ_GROUP_MEAN_MS);
	bool swept = false;

	if (unlikely(!vrq_same_jiffy(READ_ONCE(group->swept_at) + mean, now)) &&
	    raw_spin_trylock(&counted_lock)) {
		swept = sweep(group, now);
		raw_spin_unlock(&counted_lock);
	}
	if (!swept)
		sum_up(group, 0);
}

/* Sum up a group, unless that was done in this jiffy or another CPU is doing it */
static void sum_up_if_old(struct vrq_group *group)
{
	unsigned long now = jiffies, last = READ_ONCE(group->summed_at);

	if (vrq_same_jiffy(last, now) || !try_cmpxchg(&group->summed_at, &last, now))
		return;

	sum_up_now(group);
}

/* Sum up a group and those around it, from a depth on: each follows from those around it */
static void sum_up_from(struct vrq_group *group, unsigned int depth)
{
	for (; depth < group->depth; depth++)
		sum_up_now(group->around[depth]);
	sum_up_now(group);
}

/*
 * A group gets its first task of a kind. The group, and those groups around it that had none
 * either, count in their parents from now on.
 */
static void appear(struct vrq_group *group, enum vrq_kind kind)
{
	struct vrq_group *g;

	for (g = group; g && !atomic64_read(&g->given[kind]); g = g->parent) {
		give(g, kind, share_of(g));
		WRITE_ONCE(g->since[kind], jiffies - 1);
	}
	sum_up_from(group, g ? g->depth + 1 : 0);
}

/* The weight of what a group has on a CPU changes by @more. The rq->lock is held */
static void add(struct rq *rq, struct vrq_group *group, enum vrq_kind kind, long more)
{
	struct vrq_group_cpu *part = vrq_group_part(rq, group);

	WRITE_ONCE(part->weight[kind], part->weight[kind] + more);
	/* With @more at 0, too: the CPU may have been missed, see sum_up() */
	if (more < 0)
		return;

	if (!cpumask_test_cpu(cpu_of(rq), group->cpus))
		cpumask_set_cpu(cpu_of(rq), group->cpus);
	if (unlikely(!atomic64_read(&group->given[kind])))
		appear(group, kind);
}

/**
 * vrq_group_add - a task is queued, or dequeued
 * @rq: its run queue, locked
 * @p: the task
 * @sign: 1 if it is queued, -1 if it is dequeued
 */
void vrq_group_add(struct rq *rq, const struct task_struct *p, int sign)
{
	struct vrq_group *group = vrq_group_of(p);

	if (group)
		add(rq, group, p->vrq.only_idle, sign * (long)p->vrq.own_weight);
}

/**
 * vrq_group_recount - what a queued task counts for has changed
 * @rq: its run queue, locked
 * @p: the task
 * @before: what it counted for
 *
 * A CPU that sums up the group meanwhile finds the task. Most slices are renewed at ticks,
 * when groups are summed up. If a task were taken out and added again, of 16 hogs on 16 CPUs
 * one would be missing in up to a fifth of the sums, and a ratio of 3.00 would become 3.09.
 */
void vrq_group_recount(struct rq *rq, const struct task_struct *p,
		       const struct vrq_counts *before)
{
	struct vrq_group *group = vrq_group_of(p);
	enum vrq_kind kind = p->vrq.only_idle;
	long own = before->own_weight;

	if (!group)
		return;

	if (kind == before->only_idle) {
		add(rq, group, kind, p->vrq.own_weight - own);
	} else {
		add(rq, group, kind, p->vrq.own_weight);
		add(rq, group, before->only_idle, -own);
	}
}

/**
 * vrq_group_note_ahead - a task sleeps, or wakes up, and is ahead of its share or behind
 * @rq: its run queue, locked
 * @p: the task
 * @ahead: for how long the task goes on to count in its group while it sleeps, ns. Negative if
 *	the task was queued for longer than it should count, or if it wakes up before that time
 *	has passed
 */
void vrq_group_note_ahead(struct rq *rq, const struct task_struct *p, s64 ahead)
{
	struct vrq_group *group = vrq_group_of(p);

	if (!group)
		return;

	atomic64_add(div_s64(ahead, NSEC_PER_USEC) * p->vrq.own_weight,
		     &vrq_group_part(rq, group)->ahead[p->vrq.only_idle]);
	if (!cpumask_test_cpu(cpu_of(rq), group->cpus))
		cpumask_set_cpu(cpu_of(rq), group->cpus);
}

/**
 * vrq_group_sum_up - bring what a task's groups have to do up to date
 * @p: the task, the lock of its run queue held; it gets a new deadline
 *
 * Once a jiffy for each group, by one CPU. Goes through the CPUs that have tasks of it.
 */
void vrq_group_sum_up(const struct task_struct *p)
{
	struct vrq_group *group = vrq_group_of(p);
	unsigned int i;

	if (!group)
		return;

	for (i = 0; i < group->depth; i++)
		sum_up_if_old(group->around[i]);
	sum_up_if_old(group);
}

/* Sum up the group whose turn it is, and unlink it if it has nothing to do */
static void sweep_one(unsigned long now)
{
	struct vrq_group *group = list_first_entry_or_null(&counted, struct vrq_group,
							   counted);

	if (!group)
		return;

	list_move_tail(&group->counted, &counted);
	sweep(group, now);
	if (has_something(group))
		return;

	uncount(group);
	/*
	 * Either count() sees that the group is unlinked, or this CPU sees what has been given
	 * to it meanwhile: pairs with the xchg in give()
	 */
	smp_mb();
	if (has_something(group))
		count_locked(group);
}

/**
 * vrq_group_tick - bring the means of groups up to date, and find those without tasks
 *
 * Called at the tick of every CPU, with its rq->lock held. One CPU in each jiffy does the
 * work, for as many groups as SWEEP_MS asks for.
 */
void vrq_group_tick(void)
{
	unsigned long now = jiffies, last = READ_ONCE(swept_at);
	unsigned int i, groups;

	if (vrq_same_jiffy(last, now) || !READ_ONCE(nr_counted) ||
	    !try_cmpxchg(&swept_at, &last, now))
		return;

	if (!raw_spin_trylock(&counted_lock))
		return;
	groups = clamp(nr_counted / msecs_to_jiffies(SWEEP_MS), SWEEP_MIN, SWEEP_MAX);
	for (i = 0; i < groups; i++)
		sweep_one(now);
	raw_spin_unlock(&counted_lock);
}

/**
 * vrq_group_note_settings - cpu.idle of some group has changed, or its limit
 */
void vrq_group_note_settings(void)
{
	struct task_group *tg;
	unsigned int i;

	guard(rcu)();
	list_for_each_entry_rcu(tg, &task_groups, list) {
		if (!tg->vrq)
			continue;
		for (i = 0; i < tg->vrq->depth; i++)
			note_settings(tg->vrq->around[i]);
		note_settings(tg->vrq);
	}
}

/* Forget what a group had to do of late, and sum up what it has to do now */
static void forget_means(struct vrq_group *group)
{
	enum vrq_kind kind;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < VRQ_KINDS; kind++)
			atomic64_set(&per_cpu_ptr(group->percpu, cpu)->ahead[kind], 0);
	}
	for (kind = 0; kind < VRQ_KINDS; kind++) {
		atomic64_set(&group->mean[kind], 0);
		atomic64_set(&group->ahead[kind], 0);
		atomic64_set(&group->peak[kind], 0);
		WRITE_ONCE(group->since[kind], jiffies - 1);
	}
	sum_up(group, 0);
}

/**
 * vrq_group_begin_anew - bring all groups up to date: the scheduler has been changed
 *
 * All CPUs are stopped, and the tasks that are runnable have been queued. What groups had to
 * do under VRQ before tells nothing of the time to come. Groups are summed up twice: what a
 * group counts for in its parent has to be known first, and then factors follow from those of
 * the parents. A group stands before its parent in the list: mainline adds new ones in front.
 */
void vrq_group_begin_anew(void)
{
	struct task_group *tg;

	guard(rcu)();
	list_for_each_entry_rcu(tg, &task_groups, list) {
		if (tg->vrq)
			forget_means(tg->vrq);
	}
	list_for_each_entry_reverse(tg, &task_groups, list) {
		if (tg->vrq)
			sum_up_now(tg->vrq);
	}
}

/*
 * The weight that the group of a task is taken to have: at least what is queued on this CPU,
 * which is newer than the last sum. So if many tasks wake up here at once, all of them count.
 */
static u64 weight_with(const struct vrq_group *group, const struct task_struct *p,
		       bool wakes, u64 own)
{
	const struct vrq_group_cpu *part = per_cpu_ptr(group->percpu, task_cpu(p));
	enum vrq_kind kind = p->vrq.only_idle;
	u64 more = p->vrq.queued ? 0 : own, here = part->weight[kind] + more;

	if (!wakes)
		return max_t(u64, here, atomic64_read(&group->weight[kind]));

	return max_t(u64, max_t(u64, here, atomic64_read(&group->runnable[kind]) + more),
		     max_t(u64, atomic64_read(&group->peak[kind]) / PEAK_PART, WEIGHT_MIN));
}

/**
 * __vrq_group_weight - what a task of a group counts for on the machine
 * @group: the group
 * @p: the task, the lock of its run queue held
 * @which: the load of the group to go by
 * @own: what it counts for in its group
 *
 * Return: the weight, at least 1.
 */
u64 __vrq_group_weight(const struct vrq_group *group, const struct task_struct *p,
		       enum vrq_factor which, u64 own)
{
	bool mean = which == VRQ_FACTOR_MEAN;
	enum vrq_kind kind = p->vrq.only_idle;
	unsigned int fraction;
	u64 factor, weight;

	factor = atomic64_read(&group->factor[kind][mean ? VRQ_FACTOR_MEAN : VRQ_FACTOR_NOW]);
	/*
	 * If a light group has many tasks, each counts for 1 or 2, and truncation would matter
	 */
	fraction = factor < (1ULL << FACTOR_SHIFT) ? FRACTION_SHIFT : 0;
	weight = mul_u64_u64_shr(own, factor, FACTOR_SHIFT - fraction);
	if (!mean)
		weight = mul_u64_u64_div_u64(weight, atomic64_read(&group->weight[kind]),
					     weight_with(group, p, which == VRQ_FACTOR_WAKE, own));

	return max(fraction ? (weight + BIT(FRACTION_SHIFT - 1)) >> FRACTION_SHIFT : weight, 1ULL);
}

/**
 * vrq_alloc_group - make VRQ's part of a new task group
 * @tg: the group, not yet visible to anybody
 * @parent: its parent
 *
 * Under the fair class too: the scheduler may be changed, see switch.c.
 *
 * Return: false if there is no memory; vrq_free_group() is to be called all the same.
 */
bool vrq_alloc_group(struct task_group *tg, struct task_group *parent)
{
	struct vrq_group *group, *around = parent->vrq;
	unsigned int depth = around ? around->depth + 1 : 0;
	enum vrq_kind kind;

	group = kzalloc(struct_size(group, around, depth), GFP_KERNEL);
	tg->vrq = group;
	if (!group)
		return false;

	INIT_LIST_HEAD(&group->counted);
	group->tg = tg;
	group->parent = around;
	group->depth = depth;
	for (; around; around = around->parent)
		group->around[around->depth] = around;
	group->summed_at = jiffies - 1;
	group->swept_at = group->summed_at;
	group->percpu = alloc_percpu(struct vrq_group_cpu);
	if (!group->percpu || !zalloc_cpumask_var(&group->cpus, GFP_KERNEL) ||
	    !alloc_limit(group))
		return false;
	for (kind = 0; kind < VRQ_KINDS; kind++) {
		group->since[kind] = group->summed_at;
		note_weight(group, kind, 0);
		note_factors(group, kind);
	}
	note_settings(group);

	return true;
}

/**
 * vrq_unlink_group - a task group goes away
 * @tg: the group; it has no tasks, and its parent is still there
 */
void vrq_unlink_group(struct task_group *tg)
{
	struct vrq_group *group = tg->vrq;
	enum vrq_kind kind;
	unsigned long flags;

	if (!group)
		return;

	raw_spin_lock_irqsave(&counted_lock, flags);
	uncount(group);
	group->gone = true;
	for (kind = 0; kind < VRQ_KINDS; kind++)
		give(group, kind, 0);
	raw_spin_unlock_irqrestore(&counted_lock, flags);
}

/**
 * vrq_free_group - free VRQ's part of a task group that nobody sees any longer
 * @tg: the group
 */
void vrq_free_group(struct task_group *tg)
{
	struct vrq_group *group = tg->vrq;

	if (!group)
		return;

	free_percpu(group->percpu);
	free_cpumask_var(group->cpus);
	free_limit(group);
	kfree(group);
}
