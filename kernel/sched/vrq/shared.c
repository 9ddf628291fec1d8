// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shared queue of a domain consists of mask queues: one for the tasks that every CPU of
 * the domain may run, and one for each other mask of the domain's CPUs that waiting tasks
 * have. All tasks of a mask queue may run on the same CPUs of the domain. So a CPU of the
 * domain does not step over tasks that it may not run, however many of them wait. And an idle
 * CPU of the domain is found for the first task of a mask queue, or for none of its tasks.
 *
 * Tasks that every CPU of the machine may run have a mask queue of their own too. So CPUs of
 * other domains find these tasks, however many tasks wait that are confined to this domain. Of
 * the other mask queues, CPUs of other domains look at the first few tasks of each level,
 * because they do not know before which of them they may run.
 */
#include "counters.h"
#include "fault.h"
#include "idle.h"
#include "queue.h"
#include "shared.h"
#include "tunables.h"

/* How many tasks whose home is locked to try, and how many that are not for this CPU in a row */
#define TAKE_TRIES	4
/* How many tasks of other domains' mask queues to look at, all in all */
#define LOOKS		64
/* For how many tasks of a mask queue and a level to look for an idle CPU in other domains */
#define LEVEL_KICKS	2
/* For how many tasks to look for an idle CPU at a tick */
#define KICKS		8

/* Take a domain's lock, interrupts off */
static void lock_domain(struct vrq_domain *domain)
	__acquires(&domain->lock)
{
	raw_spin_lock(&domain->lock);
	vrq_count(VRQ_SHARED_LOCK);
}

static void unlock_domain(struct vrq_domain *domain)
	__releases(&domain->lock)
{
	raw_spin_unlock(&domain->lock);
}

/**
 * vrq_shared_init - prepare the shared queues of all domains at boot
 */
void __init vrq_shared_init(void)
{
	struct vrq_domain *domain;
	int cpu, i;

	BUILD_BUG_ON(VRQ_MASK_QUEUES > BITS_PER_LONG);
	for_each_possible_cpu(cpu) {
		domain = vrq_domain_led_by(cpu);
		raw_spin_lock_init(&domain->lock);
		domain->mask_queues[0].cpus = ~0UL;
		for (i = 0; i < VRQ_MASK_QUEUES; i++)
			vrq_queue_init(&domain->mask_queues[i].queue);
	}
}

/* The mask queues that have tasks, and the first; without the lock a hint */
static unsigned long mask_queues_of(struct vrq_domain *domain)
{
	return READ_ONCE(domain->used) | 1;
}

/* The mask queue for tasks with this mask, or NULL. The lock is held */
static struct vrq_mask_queue *mask_queue_for(struct vrq_domain *domain,
					     unsigned long cpus)
{
	unsigned long i = 1;

	for_each_set_bit_from(i, &domain->used, VRQ_MASK_QUEUES) {
		if (domain->mask_queues[i].cpus == cpus)
			return &domain->mask_queues[i];
	}

	/* the first is never free for another mask */
	i = find_next_zero_bit(&domain->used, VRQ_MASK_QUEUES, 1);
	if (i >= VRQ_MASK_QUEUES)
		return NULL;
	WRITE_ONCE(domain->mask_queues[i].cpus, cpus);

	return &domain->mask_queues[i];
}

/*
 * The CPUs of a domain that a task may use. All bits are set for one that may run on all
 * of them, and is not confined to CPUs of some domains
 */
static unsigned long cpus_for(struct vrq_domain *domain,
			      const struct task_struct *p)
{
	unsigned long cpus;

	if (!vrq_confined(p) && !domain->isolated)
		return ~0UL;

	cpus = vrq_local_mask(domain, p->cpus_ptr);

	return !vrq_confined(p) && hweight_long(cpus) == domain->nr_cpus ? ~0UL : cpus;
}

/**
 * vrq_shared_add - let a task wait for whichever CPU of its domain is first
 * @rq: the home of @p, locked, its clock updated
 * @p: the task, in no queue
 *
 * Return: false if tasks of too many masks wait here; @p has to wait elsewhere.
 */
bool vrq_shared_add(struct rq *rq, struct task_struct *p)
{
	struct vrq_domain *domain = vrq_domain_of(cpu_of(rq));
	unsigned long cpus = cpus_for(domain, p);
	struct vrq_mask_queue *mq;

	lock_domain(domain);
	mq = cpus == ~0UL ? domain->mask_queues : mask_queue_for(domain, cpus);
	if (mq) {
		p->vrq.domain = domain;
		p->vrq.mask_queue = mq - domain->mask_queues;
		vrq_queue_add(&mq->queue, p);
		if (p->vrq.mask_queue)
			WRITE_ONCE(domain->used, domain->used | BIT(p->vrq.mask_queue));
	}
	unlock_domain(domain);
	if (!mq)
		vrq_count(VRQ_SHARED_FULL);

	return mq;
}

/* The lock is held */
static void remove(struct vrq_domain *domain, struct task_struct *p)
{
	struct vrq_mask_queue *mq = &domain->mask_queues[p->vrq.mask_queue];

	vrq_queue_del(&mq->queue, p);
	if (p->vrq.mask_queue && vrq_queue_best_key(&mq->queue) == VRQ_KEY_NONE)
		WRITE_ONCE(domain->used, domain->used & ~BIT(p->vrq.mask_queue));
}

/**
 * vrq_shared_del - take a task out of the shared queue that it is in
 * @p: the task; the lock of its home is held
 */
void vrq_shared_del(struct task_struct *p)
{
	/* Does not change as long as the task is queued */
	struct vrq_domain *domain = p->vrq.domain;

	lock_domain(domain);
	remove(domain, p);
	unlock_domain(domain);
}

/*
 * Of the mask queues that @among has a bit for, the one with the best key before @limit
 * among those for the CPUs @cpus; @limit becomes that key. Without the lock a hint.
 */
static struct vrq_mask_queue *best_mask_queue(struct vrq_domain *domain,
					      unsigned long among,
					      unsigned long cpus, s64 *limit)
{
	struct vrq_mask_queue *best = NULL, *mq;
	unsigned long i;
	s64 key;

	for_each_set_bit(i, &among, VRQ_MASK_QUEUES) {
		mq = &domain->mask_queues[i];
		if (!(READ_ONCE(mq->cpus) & cpus))
			continue;
		key = vrq_queue_best_key(&mq->queue);
		if (key < *limit) {
			*limit = key;
			best = mq;
		}
	}

	return best;
}

/**
 * vrq_shared_best_key - how urgent the most urgent task for a CPU is
 * @cpu: the CPU
 *
 * Return: its vrq_key(), VRQ_KEY_NONE if nothing in the queue of its domain may
 * run on @cpu. A hint, no lock is taken.
 */
s64 vrq_shared_best_key(int cpu)
{
	struct vrq_domain *domain = vrq_domain_of(cpu);
	unsigned long used = READ_ONCE(domain->used);
	s64 key = vrq_queue_best_key(&domain->mask_queues[0].queue);

	if (unlikely(used))
		best_mask_queue(domain, used, vrq_bit_of(cpu), &key);

	return key;
}

/**
 * vrq_shared_key_of_any - how urgent the most urgent task of a domain is
 * @domain: the domain
 *
 * Return: as vrq_shared_best_key(), of the tasks for any CPU.
 */
s64 vrq_shared_key_of_any(struct vrq_domain *domain)
{
	s64 key = VRQ_KEY_NONE;

	best_mask_queue(domain, mask_queues_of(domain), ~0UL, &key);

	return key;
}

/*
 * The first task of a mask queue from @p on that a CPU may run, or NULL. A CPU of another domain
 * may be allowed for some of them only: takes a few of @looks at most.
 */
static struct task_struct *first_allowed(struct task_struct *p, int cpu, int *looks)
{
	int few = TAKE_TRIES;

	for (; p && few && *looks; few--, --*looks, p = vrq_queue_next(p)) {
		if (cpumask_test_cpu(cpu, p->cpus_ptr))
			return p;
	}

	return NULL;
}

/*
 * The first task from @p on, in the order of a mask queue and of one level, that has a key
 * before @limit, and that @rq's CPU may run. The lock of its home is held, if that is not @rq.
 * The domain's lock is held.
 */
static struct task_struct *first_with_lock(struct rq *rq, struct task_struct *p, s64 limit,
					   int *tries, bool *missed)
{
	int looks = LOOKS;

	for (; *tries; --*tries, p = vrq_queue_next(p)) {
		p = first_allowed(p, cpu_of(rq), &looks);
		if (!p || vrq_key(p) >= limit)
			return NULL;
		if (task_rq(p) == rq ||
		    (!vrq_fault_lock() && raw_spin_rq_trylock(task_rq(p))))
			return p;
		*missed = true;
		vrq_count(VRQ_SHARED_MISSED);
	}

	return NULL;
}

/* Does a task wait before @limit, and one of the first few that @cpu, elsewhere, may run? */
static bool has_task_for(struct vrq_queue *queue, int cpu, s64 limit, int *looks)
{
	enum vrq_level level;

	if (vrq_queue_best_key(queue) >= limit)
		return false;
	for (level = 0; level < VRQ_LEVELS; level++) {
		if (first_allowed(vrq_queue_first_of(queue, level), cpu, looks))
			return true;
	}

	return false;
}

/*
 * The mask queues of another domain where has_task_for() is true. If there are too many tasks
 * to look at, the next CPU begins where this one stopped. The lock is held.
 */
static unsigned long mask_queues_for_cpu(struct vrq_domain *domain, int cpu, s64 limit)
{
	unsigned long queues = mask_queues_of(domain), found = 0, i;
	int looks = LOOKS;

	for_each_set_bit_wrap(i, &queues, VRQ_MASK_QUEUES, domain->next_looked) {
		if (!looks) {
			domain->next_looked = i;
			break;
		}
		if (has_task_for(&domain->mask_queues[i].queue, cpu, limit, &looks))
			found |= BIT(i);
	}

	return found;
}

/*
 * first_with_lock() of a mask queue: of the level that is to be picked first or, if this CPU may
 * not run the first tasks of that, of another one
 */
static struct task_struct *first_of_queue(struct rq *rq, struct vrq_queue *queue, s64 limit,
					  int *tries, bool *missed)
{
	struct task_struct *first = vrq_queue_first(queue), *p;
	bool locked = false;
	enum vrq_level level;

	p = first_with_lock(rq, first, limit, tries, &locked);
	for (level = 0; level < VRQ_LEVELS && !p && !locked; level++) {
		if (level != first->vrq.level)
			p = first_with_lock(rq, vrq_queue_first_of(queue, level), limit, tries,
					    &locked);
	}
	*missed |= locked;

	return p;
}

static struct task_struct *first_for(struct rq *rq, struct vrq_domain *domain,
				     s64 limit, bool *missed)
{
	bool here = domain == vrq_domain_of(cpu_of(rq));
	unsigned long cpus = here ? vrq_bit_of(cpu_of(rq)) : ~0UL;
	unsigned long among = here ? mask_queues_of(domain) :
				     mask_queues_for_cpu(domain, cpu_of(rq), limit);
	int tries = TAKE_TRIES;
	struct vrq_mask_queue *mq;
	struct task_struct *p;
	s64 key;

	for (;;) {
		key = limit;
		mq = best_mask_queue(domain, among, cpus, &key);
		if (!mq || !tries)
			return NULL;
		p = first_of_queue(rq, &mq->queue, limit, &tries, missed);
		if (p)
			return p;
		among &= ~BIT(mq - domain->mask_queues);
	}
}

/*
 * A CPU that goes down takes the tasks whose home it is, whatever their mask. Once picked they
 * are pushed away, see balance_push(). To find them, the CPU looks at all tasks.
 */
static struct task_struct *first_at_home(struct rq *rq, struct vrq_domain *domain)
{
	unsigned long queues = mask_queues_of(domain), i;
	enum vrq_level level;
	struct task_struct *p;

	for_each_set_bit(i, &queues, VRQ_MASK_QUEUES) {
		for (level = 0; level < VRQ_LEVELS; level++) {
			p = vrq_queue_first_of(&domain->mask_queues[i].queue, level);
			while (p && task_rq(p) != rq)
				p = vrq_queue_next(p);
			if (p)
				return p;
		}
	}

	return NULL;
}

/**
 * vrq_shared_take - take the best task for this CPU
 * @rq: the run queue of this CPU, locked
 * @domain: the domain to take it from
 * @limit: only one with a vrq_key() before this; a CPU that goes down takes any
 * @missed: set if one had to be left because its home or, with a @limit, the domain was locked
 *
 * Return: the task, as VRQ_PICKED, with the lock of its home, if another than
 * @rq, held; or NULL.
 */
struct task_struct *vrq_shared_take(struct rq *rq, struct vrq_domain *domain,
				    s64 limit, bool *missed)
{
	struct task_struct *p;

	/*
	 * A CPU that has something else to run, or to look at, does not wait. In a guest whose
	 * locks are taken in turn, as on riscv64, it might wait for CPUs that the host has
	 * stopped: with four CPUs on one of the host they spent half of their time so. Without
	 * SMP the lock is always free.
	 */
	if (!IS_ENABLED(CONFIG_SMP) || limit == VRQ_KEY_NONE || !cpu_active(cpu_of(rq))) {
		lock_domain(domain);
	} else if (!vrq_fault_lock() && raw_spin_trylock(&domain->lock)) {
		vrq_count(VRQ_SHARED_LOCK);
	} else {
		*missed = true;
		vrq_count(VRQ_SHARED_MISSED);
		return NULL;
	}

	if (likely(cpu_active(cpu_of(rq))))
		p = first_for(rq, domain, limit, missed);
	else
		p = first_at_home(rq, domain);
	if (p) {
		remove(domain, p);
		p->vrq.place = VRQ_PICKED;
	}
	unlock_domain(domain);

	return p;
}

/* Of the mask queues @queues the starved first task that has been due for longest */
static struct task_struct *first_starved(struct vrq_domain *domain, unsigned long queues,
					 enum vrq_level level, u64 now)
{
	struct task_struct *first = NULL, *p;
	unsigned long i;

	for_each_set_bit(i, &queues, VRQ_MASK_QUEUES) {
		p = vrq_queue_starved(&domain->mask_queues[i].queue, level, now);
		if (p && (!first || (s64)(p->vrq.deadline - first->vrq.deadline) < 0))
			first = p;
	}

	return first;
}

/* The mask queues with a task that was due before @limit, and that @cpu may keep waiting */
static unsigned long mask_queues_due(struct vrq_domain *domain, int cpu,
				     enum vrq_level level, s64 limit)
{
	unsigned long queues = mask_queues_of(domain), i;
	struct vrq_mask_queue *mq;

	for_each_set_bit(i, &queues, VRQ_MASK_QUEUES) {
		mq = &domain->mask_queues[i];
		if (atomic64_read(&mq->queue.earliest[level]) >= limit ||
		    (level == VRQ_NORMAL && !(READ_ONCE(mq->cpus) & vrq_bit_of(cpu))))
			queues &= ~BIT(i);
	}

	return queues;
}

/**
 * vrq_shared_promote - let no task wait here for ever
 * @cpu: this CPU; a normal task is starved by SCHED_ISO on a CPU that it may use
 * @level: the level of the task
 * @now: on the clock of the run queues, ns
 * @before: only a task that was due before this, ns
 *
 * Promotes the task that has been due for longest, see vrq_promote_starved(). Then looks for
 * an idle CPU for it: for a moment the task is in neither tree, and a CPU that gets idle then
 * may see nothing.
 *
 * Return: true if there was one.
 */
bool vrq_shared_promote(int cpu, enum vrq_level level, u64 now, u64 before)
{
	struct vrq_domain *domain = vrq_domain_of(cpu);
	unsigned long queues = mask_queues_due(domain, cpu, level,
					       min_t(s64, before, now - VRQ_STARVED_NS));
	struct task_struct *p;

	if (!queues)
		return false;

	lock_domain(domain);
	p = first_starved(domain, queues, level, now);
	if (p) {
		vrq_queue_promote(&domain->mask_queues[p->vrq.mask_queue].queue, p, now);
		vrq_kick_idle_for(p);
	}
	unlock_domain(domain);

	return p;
}

/**
 * vrq_shared_advance - let tasks that wait here have the deadlines that are due
 * @rq: the run queue of this CPU, locked, its clock updated
 * @level: its level
 *
 * See vrq_advance_deadline(). Each tick looks at one mask queue, the next one each time, and
 * at each mask queue only once in a time slice. Otherwise, with 180 hogs on three CPUs, each
 * tick of these would take the lock for as long as the hogs get ahead of their deadlines.
 */
void vrq_shared_advance(struct rq *rq, enum vrq_level level)
{
	struct vrq_domain *domain = vrq_domain_of(cpu_of(rq));
	unsigned long queues = mask_queues_of(domain), behind;
	unsigned long now = jiffies, slice = max(nsecs_to_jiffies(vrq_rr_ns()), 1UL);
	struct vrq_mask_queue *mq;
	s64 earliest;

	behind = queues & ~(BIT(now % VRQ_MASK_QUEUES) - 1);
	mq = &domain->mask_queues[__ffs(behind ?: queues)];
	earliest = atomic64_read(&mq->queue.earliest[level]);
	if (earliest == VRQ_NO_DEADLINE || earliest - (s64)rq_clock(rq) <= 2 * (s64)vrq_rr_ns())
		return;
	if (now - READ_ONCE(mq->advanced_at) < slice)
		return;

	WRITE_ONCE(mq->advanced_at, now);
	lock_domain(domain);
	vrq_queue_advance(rq, &mq->queue, level);
	unlock_domain(domain);
}

/*
 * Kick for the first task or, in a queue of tasks that are confined, and may be allowed on
 * different CPUs of other domains, for one of the first two of each level. Takes one of @kicks
 * for each. The domain's lock is held.
 */
static bool kick_for_first(struct vrq_mask_queue *mq, int *kicks)
{
	struct task_struct *p = vrq_queue_first(&mq->queue);
	enum vrq_level level;
	int tries;

	if (!p || !vrq_confined(p) || vrq_one_domain()) {
		--*kicks;
		return p && vrq_kick_idle_for(p);
	}

	for (level = 0; level < VRQ_LEVELS; level++) {
		p = vrq_queue_first_of(&mq->queue, level);
		for (tries = LEVEL_KICKS; p && tries && *kicks; tries--, p = vrq_queue_next(p)) {
			--*kicks;
			if (vrq_kick_idle_for(p))
				return true;
		}
	}

	return false;
}

/**
 * vrq_shared_kick - find an idle CPU for one of the tasks that wait in a domain
 * @domain: the domain
 *
 * Tries the first task of the mask queue for all CPUs, then those of a few other mask queues,
 * the next ones each time: an idle CPU may be of use only to the last one.
 */
void vrq_shared_kick(struct vrq_domain *domain)
{
	int tries = TAKE_TRIES, kicks = KICKS;
	unsigned long i, start;
	bool done;

	if (vrq_shared_key_of_any(domain) == VRQ_KEY_NONE)
		return;

	lock_domain(domain);
	done = kick_for_first(&domain->mask_queues[0], &kicks);
	start = domain->last_kicked + 1;
	for_each_set_bit_wrap(i, &domain->used, VRQ_MASK_QUEUES, start) {
		if (done || !tries-- || !kicks)
			break;
		done = kick_for_first(&domain->mask_queues[i], &kicks);
		domain->last_kicked = i;
	}
	unlock_domain(domain);
}
