// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of CPU bandwidth: cpu.max, cpu.max.burst, cpu.cfs_quota_us and so on.
 *
 * What was set, the pool that a group has for a period, the timer that refills it and the
 * statistics are mainline's, in struct cfs_bandwidth. A CPU that runs a task of the group
 * draws from the pool in portions, so that the pool's lock is taken once in a portion and
 * not at each switch. Of a group in a group both pay.
 *
 * Time is accounted at ticks and switches, so a CPU overdraws by up to a tick, and by more
 * if its task stays in the kernel. What it has overdrawn it pays back before it gets
 * anything more. What CPUs have drawn and not used at the end of a period is not lost, but
 * used in the next ones: it is no more than a quarter of a quota together, or 100 us for
 * each CPU if that is more.
 *
 * Who has to stop does so where it returns to user space, see throttle.c: in the kernel it
 * may hold what others wait for.
 *
 * Locks: rq->lock -> cfs_b->lock, as in mainline.
 */
#include "limit.h"

/* The least portion, and the greatest, ns */
#define PORTION_MIN	(100 * NSEC_PER_USEC)
#define PORTION_MAX	(5 * NSEC_PER_MSEC)

/* Has a group a limit of its own on this CPU? What mainline keeps, under rq->lock */
static bool has_limit(struct rq *rq, const struct vrq_group *group)
{
	return group->tg->cfs_rq[cpu_of(rq)]->runtime_enabled;
}

static u64 portion_of(const struct cfs_bandwidth *cfs_b)
{
	return clamp_t(u64, div_u64(cfs_b->quota, 4 * num_online_cpus()), PORTION_MIN,
		       PORTION_MAX);
}

/* Draw from the pool: as much as is owed and a portion more, or what there is */
static void draw(struct rq *rq, struct vrq_group *group)
{
	struct cfs_bandwidth *cfs_b = &group->tg->cfs_bandwidth;
	struct vrq_group_cpu *part = vrq_group_part(rq, group);
	u64 amount;

	raw_spin_lock(&cfs_b->lock);
	if (cfs_b->quota == RUNTIME_INF) {
		part->left = PORTION_MAX;
	} else {
		start_cfs_bandwidth(cfs_b);
		amount = min_t(u64, cfs_b->runtime, portion_of(cfs_b) - part->left);
		cfs_b->runtime -= amount;
		part->left += amount;
		if (amount)
			cfs_b->idle = 0;
	}
	raw_spin_unlock(&cfs_b->lock);
}

/* See vrq_limit_charge() */
void __vrq_limit_charge(struct rq *rq, struct vrq_group *group, s64 delta)
{
	for (; group; group = group->parent) {
		if (has_limit(rq, group))
			vrq_group_part(rq, group)->left -= delta;
	}
}

/* See vrq_limit_reached() */
struct vrq_group *__vrq_limit_reached(struct rq *rq, struct vrq_group *group)
{
	/* A CPU that goes down pushes its tasks away */
	if (!cpu_active(cpu_of(rq)))
		return NULL;

	for (; group; group = group->parent) {
		if (!has_limit(rq, group))
			continue;
		if (vrq_group_part(rq, group)->left <= 0)
			draw(rq, group);
		if (vrq_group_part(rq, group)->left <= 0)
			return group;
	}

	return NULL;
}

/**
 * vrq_limit_refill - may the throttled tasks of a CPU run again?
 * @rq: the run queue of the CPU, locked
 * @group: their group
 *
 * Return: true if it has something to use.
 */
bool vrq_limit_refill(struct rq *rq, struct vrq_group *group)
{
	if (!has_limit(rq, group))
		return true;
	if (vrq_group_part(rq, group)->left <= 0)
		draw(rq, group);

	return vrq_group_part(rq, group)->left > 0;
}

/**
 * vrq_limit_restart - the limit of a group has changed
 * @rq: a run queue, locked
 * @group: the group
 *
 * What was drawn or overdrawn under the old one is forgotten, as in mainline.
 */
void vrq_limit_restart(struct rq *rq, struct vrq_group *group)
{
	vrq_group_part(rq, group)->left = 0;
}
