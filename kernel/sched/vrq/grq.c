// SPDX-License-Identifier: GPL-2.0-only
/*
 * The global run queue, in parts: one for the tasks that every CPU may run, and
 * one for each other mask of CPUs that tasks in it have. All tasks of a part may
 * run on the same CPUs. So whoever looks for one steps over none that it may not
 * run, however many wait for others; and an idle CPU can be had for the first of
 * a part, or for none of it.
 */
#include "counters.h"
#include "grq.h"
#include "idle.h"
#include "queue.h"

/* How many masks there can be at a time; for one more see vrq_wait_in_grq() */
#define PARTS		32

/* How many tasks whose home is locked to try before a part is given up */
#define TAKE_TRIES	4

/**
 * struct grq_part - the tasks in the grq that have the same mask
 * @queue: the tasks; a part without any is free for another mask
 * @cpus: the mask. Written, under grq.lock, before the part is used, and read
 *	without it: who reads a stale one finds a part without tasks, or has
 *	its bit in the idle mask and is kicked, see place.h
 */
struct grq_part {
	struct vrq_queue	queue;
	struct cpumask		cpus;
};

/**
 * struct vrq_grq - the global run queue
 * @lock: protects the rest
 * @used: a bit for each part that has tasks. Read without the lock
 * @parts: the first is for tasks that are not vrq_confined()
 */
struct vrq_grq {
	raw_spinlock_t		lock;
	unsigned long		used;
	struct grq_part		parts[PARTS];
} ____cacheline_aligned_in_smp;

static struct vrq_grq grq = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(grq.lock),
};

/* Take grq.lock, interrupts off */
static void lock_grq(void)
	__acquires(&grq.lock)
{
	raw_spin_lock(&grq.lock);
	vrq_count(VRQ_GRQ_LOCK);
}

static void unlock_grq(void)
	__releases(&grq.lock)
{
	raw_spin_unlock(&grq.lock);
}

/**
 * vrq_grq_init - prepare the grq at boot
 */
void __init vrq_grq_init(void)
{
	int i;

	BUILD_BUG_ON(PARTS > BITS_PER_LONG);
	for (i = 0; i < PARTS; i++)
		vrq_queue_init(&grq.parts[i].queue);
	cpumask_copy(&grq.parts[0].cpus, cpu_possible_mask);
}

/* The part for a task about to be queued, or NULL. grq.lock held */
static struct grq_part *part_for(struct task_struct *p)
{
	unsigned long i = 1;

	if (!vrq_confined(p))
		return &grq.parts[0];

	for_each_set_bit_from(i, &grq.used, PARTS) {
		if (cpumask_equal(&grq.parts[i].cpus, p->cpus_ptr))
			return &grq.parts[i];
	}

	/* the first is never free for another mask */
	i = find_next_zero_bit(&grq.used, PARTS, 1);
	if (i >= PARTS)
		return NULL;
	cpumask_copy(&grq.parts[i].cpus, p->cpus_ptr);

	return &grq.parts[i];
}

/* Queue a task. False if tasks of too many masks wait already */
static bool add(struct task_struct *p)
{
	struct grq_part *part;

	lock_grq();
	part = part_for(p);
	if (part) {
		p->vrq.part = part - grq.parts;
		vrq_queue_add(&part->queue, p);
		WRITE_ONCE(grq.used, grq.used | BIT(p->vrq.part));
	}
	unlock_grq();

	return part;
}

/**
 * vrq_grq_add - let a task wait for whichever CPU is first
 * @rq: the home of @p, locked, its clock updated
 * @p: the task, in no queue
 *
 * Kicks an idle CPU if there is one for it.
 *
 * Return: false if tasks of too many masks wait here; @p has to wait elsewhere.
 */
bool vrq_grq_add(struct rq *rq, struct task_struct *p)
{
	vrq_wait_in(rq, p, VRQ_IN_GRQ);
	if (!add(p)) {
		vrq_count(VRQ_GRQ_FULL);
		return false;
	}
	vrq_kick_idle_for(p);

	return true;
}

/* grq.lock held */
static void remove(struct task_struct *p)
{
	struct grq_part *part = &grq.parts[p->vrq.part];

	vrq_queue_del(&part->queue, p);
	if (vrq_queue_best_key(&part->queue) == VRQ_KEY_NONE)
		WRITE_ONCE(grq.used, grq.used & ~BIT(p->vrq.part));
}

/**
 * vrq_grq_del - take a task out of the grq
 * @p: the task; the lock of its home is held
 */
void vrq_grq_del(struct task_struct *p)
{
	lock_grq();
	remove(p);
	unlock_grq();
}

/*
 * Of the parts that @among has a bit for, the one with the best key before @limit
 * among those for @cpu; @limit becomes that key. Without grq.lock a hint.
 */
static struct grq_part *best_part(unsigned long among, int cpu, s64 *limit)
{
	struct grq_part *best = NULL;
	unsigned long i;
	s64 key;

	for_each_set_bit(i, &among, PARTS) {
		if (!cpumask_test_cpu(cpu, &grq.parts[i].cpus))
			continue;
		key = vrq_queue_best_key(&grq.parts[i].queue);
		if (key < *limit) {
			*limit = key;
			best = &grq.parts[i];
		}
	}

	return best;
}

/**
 * vrq_grq_best_key - how urgent the most urgent task for a CPU is
 * @cpu: the CPU
 *
 * Return: its vrq_key(), VRQ_KEY_NONE if nothing in the grq may run on @cpu. A
 * hint, no lock is taken.
 */
s64 vrq_grq_best_key(int cpu)
{
	s64 key = VRQ_KEY_NONE;

	best_part(READ_ONCE(grq.used), cpu, &key);

	return key;
}

/*
 * The first task with a key before @limit of the level that @part's first one
 * has, with the lock of its home, if another than @rq, held. grq.lock held.
 */
static struct task_struct *first_with_lock(struct rq *rq, struct grq_part *part,
					   s64 limit, bool *missed)
{
	struct task_struct *p = vrq_queue_first(&part->queue);
	int tries;

	for (tries = 0; p && tries < TAKE_TRIES; tries++) {
		if (vrq_key(p) >= limit)
			return NULL;
		if (task_rq(p) == rq || raw_spin_rq_trylock(task_rq(p)))
			return p;
		*missed = true;
		vrq_count(VRQ_GRQ_MISSED);
		p = vrq_queue_next(p);
	}

	return NULL;
}

static struct task_struct *first_for(struct rq *rq, s64 limit, bool *missed)
{
	unsigned long among = grq.used;
	struct grq_part *part;
	struct task_struct *p;
	s64 key;

	for (;;) {
		key = limit;
		part = best_part(among, cpu_of(rq), &key);
		if (!part)
			return NULL;
		p = first_with_lock(rq, part, limit, missed);
		if (p)
			return p;
		among &= ~BIT(part - grq.parts);
	}
}

/*
 * A CPU that goes down takes those whose home it is, whatever their mask: once
 * picked they are pushed away, see balance_push(). It looks at all tasks for that.
 */
static struct task_struct *first_at_home(struct rq *rq)
{
	enum vrq_level level;
	struct task_struct *p;
	unsigned long i;

	for_each_set_bit(i, &grq.used, PARTS) {
		for (level = 0; level < VRQ_LEVELS; level++) {
			p = vrq_queue_first_of(&grq.parts[i].queue, level);
			while (p && task_rq(p) != rq)
				p = vrq_queue_next(p);
			if (p)
				return p;
		}
	}

	return NULL;
}

/**
 * vrq_grq_take - take the best task for this CPU
 * @rq: the run queue of this CPU, locked
 * @limit: only one with a vrq_key() before this; a CPU that goes down takes any
 * @missed: set if one had to be left because its home was locked
 *
 * Return: the task, as VRQ_PICKED, with the lock of its home, if another than
 * @rq, held; or NULL.
 */
struct task_struct *vrq_grq_take(struct rq *rq, s64 limit, bool *missed)
{
	struct task_struct *p;

	lock_grq();
	if (likely(cpu_active(cpu_of(rq))))
		p = first_for(rq, limit, missed);
	else
		p = first_at_home(rq);
	if (p) {
		remove(p);
		p->vrq.place = VRQ_PICKED;
	}
	unlock_grq();

	return p;
}

/**
 * vrq_grq_promote_starved - let no task wait here for ever
 * @level: its level
 * @cpu: this CPU; a normal task is starved by SCHED_ISO on a CPU that it may use
 * @now: on the clock of the run queues, ns
 *
 * Promotes one at most, see vrq_promote_starved().
 *
 * Return: true if there was one.
 */
bool vrq_grq_promote_starved(enum vrq_level level, int cpu, u64 now)
{
	unsigned long i, used = READ_ONCE(grq.used);
	struct grq_part *part;
	bool starved;

	for_each_set_bit(i, &used, PARTS) {
		part = &grq.parts[i];
		if (!vrq_queue_has_starved(&part->queue, level, now) ||
		    (level == VRQ_NORMAL && !cpumask_test_cpu(cpu, &part->cpus)))
			continue;
		lock_grq();
		/*
		 * For a moment the task was in neither tree: a CPU that went idle
		 * then may have seen nothing
		 */
		starved = vrq_queue_has_starved(&part->queue, level, now);
		if (starved)
			vrq_kick_idle_for(vrq_queue_promote_first(&part->queue,
								  level, now));
		unlock_grq();
		return starved;
	}

	return false;
}

/**
 * vrq_grq_kick - find an idle CPU for one of the tasks that wait here
 *
 * Return: true if there was one.
 */
bool vrq_grq_kick(void)
{
	bool kicked = false;
	unsigned long i;

	if (!READ_ONCE(grq.used))
		return false;

	lock_grq();
	for_each_set_bit(i, &grq.used, PARTS) {
		kicked = vrq_kick_idle_for(vrq_queue_first(&grq.parts[i].queue));
		if (kicked)
			break;
	}
	unlock_grq();

	return kicked;
}
