// SPDX-License-Identifier: GPL-2.0-only
/*
 * How tasks get from one CPU to another.
 *
 *  - A task leaves the queue of its CPU for the shared queue of the domain, where
 *    every CPU sees it at each pick: at the tick, see vrq_balance_tick(). One that is
 *    behind as it gets another slice goes there at once, see vrq_look_near().
 *  - A CPU that would be idle, or run a SCHED_IDLE task in place of a normal one,
 *    takes what waits for other CPUs of its domain, then what waits in others.
 *  - A CPU whose task has used up a slice looks at some others of its domain. What waits
 *    for one of these, and should have run before all that wait here by half a turn, it
 *    takes, see vrq_look_near().
 *  - It also looks at one other domain, the next one each time. If the first task in the
 *    shared queue there should have run before all that wait here, by a margin that grows
 *    with the distance, it is taken. So is, by a turn more, the first one in the queue of
 *    one of the CPUs there. Deadlines are of one order everywhere, so nothing else is
 *    needed for domains to even out.
 *  - A task that shares a core leaves it when another core gets idle.
 */
#include "entity.h"
#include "balance.h"
#include "hot.h"
#include "idle.h"
#include "load.h"
#include "pick.h"
#include "place.h"
#include "queue.h"
#include "shared.h"
#include "smt.h"
#include "util.h"

/* After this long any task may leave the queue of its CPU, ns */
#define QUEUE_LIMIT_NS		NSEC_PER_SEC
/* How many tasks of a level to look at in a tick */
#define EXPIRE_TRIES		8
/* sample.latest before other CPUs were looked at */
#define NO_SAMPLE		(-1)

#ifdef CONFIG_SMP
/* How many other CPUs to look at in a tick for a task that should rather wait */
#define SAMPLES			4
/* How many CPUs of a domain to try to take a task from */
#define STEAL_TRIES		4
/* In how many other domains */
#define DOMAINS_TRIED		4

/* Tasks before this key are of @level or a better one */
static s64 limit_of(enum vrq_level level)
{
	return level == VRQ_IDLE ? VRQ_KEY_NONE : vrq_key_of(level + 1, 0);
}

/* The CPUs that offer a task of level VRQ_NORMAL or better, or of VRQ_IDLE */
static unsigned long offers(struct vrq_domain *domain, enum vrq_level level)
{
	return atomic_long_read(&domain->offers[level == VRQ_IDLE ?
						VRQ_OFFER_IDLE : VRQ_OFFER_NORMAL]);
}

static bool has_work(struct vrq_domain *domain)
{
	return offers(domain, VRQ_NORMAL) || offers(domain, VRQ_IDLE) ||
	       vrq_shared_key_of_any(domain) != VRQ_KEY_NONE;
}

/* Is the first task of a domain's shared queue of VRQ_NORMAL or better, or of VRQ_IDLE? */
static bool shares(struct vrq_domain *domain, enum vrq_level level)
{
	s64 key = vrq_shared_key_of_any(domain), idle = limit_of(VRQ_NORMAL);

	return level == VRQ_IDLE ? key >= idle && key != VRQ_KEY_NONE : key < idle;
}

/* Take a task of @level or a better one, with a key before @limit, that waits for another CPU */
static struct task_struct *take_offered(struct rq *rq, int cpu, enum vrq_level level,
					s64 limit, bool *missed)
{
	struct rq *from = cpu_rq(cpu);
	struct task_struct *p;

	if (from == rq)
		return NULL;
	if (!raw_spin_rq_trylock(from)) {
		*missed = true;
		return NULL;
	}

	p = vrq_offered_to(from, level, cpu_of(rq));
	if (!p || vrq_key(p) >= limit) {
		raw_spin_rq_unlock(from);
		return NULL;
	}

	vrq_unplace(from, p);
	p->vrq.place = VRQ_PICKED;
	vrq_note_pick(p, VRQ_PICK_STOLEN, *missed);
	vrq_bring_home(rq, p);

	return p;
}

/* Has another CPU something that this one may run, perhaps? */
static bool offered_here(struct rq *rq, int cpu, bool near)
{
	struct vrq_rq *from = &cpu_rq(cpu)->vrq;

	return near ? READ_ONCE(from->offered_to) & vrq_bit_of(cpu_of(rq)) :
		      READ_ONCE(from->offered_afar);
}

/* The same of one of the CPUs of a domain, from @first on */
static struct task_struct *steal(struct rq *rq, struct vrq_domain *domain,
				 unsigned int first, enum vrq_level level,
				 bool *missed)
{
	unsigned long cpus = offers(domain, level), behind;
	bool near = domain == vrq_domain_of(cpu_of(rq));
	struct task_struct *p = NULL;
	int tries = STEAL_TRIES;
	unsigned int i;

	behind = cpus & ~(BIT(first) - 1);
	while (cpus) {
		i = __ffs(behind ?: cpus);
		if (offered_here(rq, domain->cpus[i], near))
			p = take_offered(rq, domain->cpus[i], level, VRQ_KEY_NONE,
					 missed);
		/* After the last try it looks again at the others' kicks, see place.h */
		if (p || !--tries)
			return p;
		cpus &= ~BIT(i);
		behind &= ~BIT(i);
	}

	return NULL;
}

/* Take a task that waits in another domain, on the same node or not */
static struct task_struct *take_afar(struct rq *rq, enum vrq_level level,
				     bool same, int *tries, bool *missed)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq)), *domain;
	struct task_struct *p = NULL;
	int leader;

	vrq_for_each_cpu_unlocked(leader, &vrq_work_domains) {
		domain = vrq_domain_led_by(leader);
		if (domain == own || !vrq_distance(own, domain) != same ||
		    vrq_no_work_in(domain, has_work))
			continue;
		if (shares(domain, level))
			p = vrq_take_shared(rq, domain, limit_of(level), missed);
		if (!p)
			p = steal(rq, domain, 0, level, missed);
		if (p || !--*tries)
			return p;
	}

	return NULL;
}

/*
 * Take a task of level VRQ_NORMAL or better from wherever one waits, near ones first;
 * or, when there is none, one of VRQ_IDLE
 */
static struct task_struct *take_from_others(struct rq *rq, enum vrq_level level,
					    bool *missed)
{
	struct vrq_member *here = &per_cpu(vrq_members, cpu_of(rq));
	int tries = DOMAINS_TRIED;
	struct task_struct *p;

	/*
	 * A CPU that goes down would only have it pushed away again, and an isolated
	 * one is kicked for the few tasks that it may run
	 */
	if (!cpu_active(cpu_of(rq)) || here->domain->isolated)
		return NULL;

	p = steal(rq, here->domain, here->index, level, missed);
	if (p || vrq_one_domain() || vrq_empty_unlocked(&vrq_work_domains))
		return p;

	p = take_afar(rq, level, true, &tries, missed);

	return p || !tries ? p : take_afar(rq, level, false, &tries, missed);
}

/* Take the task for which this CPU was kicked, if it is still there */
static struct task_struct *take_kicked_for(struct rq *rq, int kicked_for,
					   bool *missed)
{
	if (kicked_for == VRQ_NOT_KICKED || !cpu_active(cpu_of(rq)))
		return NULL;
	if (kicked_for > VRQ_NOT_KICKED)
		return take_offered(rq, kicked_for, VRQ_IDLE, VRQ_KEY_NONE, missed);

	return vrq_take_shared(rq, vrq_domain_led_by(vrq_kicked_for_domain(kicked_for)),
			       VRQ_KEY_NONE, missed);
}

/*
 * Another idle CPU is to see to what this one was kicked for. Nothing happens if that
 * no longer waits. A run queue that is locked is passed over, for its CPU kicks again
 * at its next tick.
 */
static void pass_kick_on(struct rq *rq, int kicked_for)
{
	struct rq *from;

	if (kicked_for == VRQ_NOT_KICKED)
		return;
	if (kicked_for < VRQ_NOT_KICKED) {
		vrq_shared_kick(vrq_domain_led_by(vrq_kicked_for_domain(kicked_for)));
		return;
	}

	from = cpu_rq(kicked_for);
	if (from == rq) {
		vrq_kick_for_queue(rq);
	} else if (raw_spin_rq_trylock(from)) {
		vrq_kick_for_queue(from);
		raw_spin_rq_unlock(from);
	}
}

/* What this CPU was kicked for, once */
static int was_kicked_for(struct rq *rq)
{
	if (READ_ONCE(rq->vrq.kicked_for) == VRQ_NOT_KICKED)
		return VRQ_NOT_KICKED;

	return xchg(&rq->vrq.kicked_for, VRQ_NOT_KICKED);
}

/*
 * Runs on the kicked CPU with interrupts off, so never in the midst of its
 * __schedule(): that could clear a flag set from afar after it has looked for tasks
 * for the last time. If the CPU is no longer idle, the kick is another one's.
 */
static void kicked(struct irq_work *work)
{
	struct rq *rq = this_rq();

	if (is_idle_task(current)) {
		set_tsk_need_resched(current);
		set_preempt_need_resched();
	} else {
		pass_kick_on(NULL, was_kicked_for(rq));
	}
}

/**
 * vrq_balance_init_rq - prepare a run queue at boot
 * @rq: the run queue
 */
void __init vrq_balance_init_rq(struct rq *rq)
{
	rq->vrq.kick = IRQ_WORK_INIT_HARD(kicked);
	rq->vrq.kicked_for = VRQ_NOT_KICKED;
	rq->vrq.pull_from = -1;
	rq->vrq.pull_from_cpu = -1;
	rq->vrq.next_domain = -1;
	rq->vrq.next_for_idle = -1;
}

/**
 * vrq_leave_idle - this CPU has found something to do
 * @rq: its run queue, locked
 *
 * If it was kicked it may have been for another task than that.
 */
void vrq_leave_idle(struct rq *rq)
{
	vrq_forget_lateness(rq);
	if (!vrq_clear_idle(rq))
		pass_kick_on(rq, was_kicked_for(rq));
}

/* After the switch to the idle task: pick again, those locks were held briefly */
static void pick_again(struct rq *rq)
{
	resched_curr(rq);
}

/* What waits for other CPUs or in other domains, for want of anything here */
static struct task_struct *look_around(struct rq *rq, bool *missed)
{
	int kicked_for = was_kicked_for(rq);
	struct task_struct *p = take_kicked_for(rq, kicked_for, missed);

	if (p)
		return p;

	p = take_from_others(rq, VRQ_NORMAL, missed) ?:
	    take_from_others(rq, VRQ_IDLE, missed);
	if (p || !cpu_active(cpu_of(rq)))
		pass_kick_on(rq, kicked_for);

	return p;
}

/* For want of anything for it: what the shared queue holds after all, and look_around() */
static struct task_struct *look_everywhere(struct rq *rq, bool *missed)
{
	struct task_struct *p = NULL;

	if (!cpu_active(cpu_of(rq)) ||
	    vrq_shared_best_key(cpu_of(rq)) != VRQ_KEY_NONE)
		p = vrq_take_shared(rq, vrq_domain_of(cpu_of(rq)), VRQ_KEY_NONE,
				    missed);

	return p ?: look_around(rq, missed);
}

/*
 * Nothing to run: look elsewhere, and if there is nothing either say so and look once
 * more, see place.h. Most CPUs find something the first time: were they to say that
 * they are idle before, others would send them tasks and kicks meanwhile, on 64 CPUs
 * beside hackbench 37 for each that does get idle. A CPU that goes down is the only
 * one to look for those whose home it is, and so looks under the lock.
 */
static struct task_struct *last_look(struct rq *rq)
{
	bool was_idle = vrq_curr(rq) == rq->idle, missed = false;
	struct task_struct *p;

	if (!was_idle)
		rq->vrq.idle_since = rq_clock(rq);

	p = look_everywhere(rq, &missed);
	if (p)
		return p;

	missed = false;
	vrq_set_idle(rq);
	p = look_everywhere(rq, &missed);
	if (p) {
		/* Else the idle task does so as it is switched out */
		if (!was_idle)
			vrq_leave_idle(rq);
		return p;
	}

	vrq_note_pick(NULL, VRQ_PICK_NONE, missed);
	if (missed && cpu_active(cpu_of(rq))) {
		/* Claimed until then: what comes first may be of another class */
		vrq_clear_idle(rq);
		queue_balance_callback(rq, &rq->vrq.retry, pick_again);
	}
	vrq_age_idle(rq);

	return NULL;
}

/* How far apart deadlines of equal tasks are that wait for their turns, ns */
static s64 turn_of(const struct task_struct *p)
{
	return max_t(s64, vrq_rr_ns(), p->vrq.span);
}

/*
 * The margin by which a task in another domain must be earlier to be taken, ns: half a
 * turn on the same node, a whole one on the next, one and a half further away
 */
static s64 far_margin(const struct vrq_domain *own, const struct vrq_domain *other,
		      const struct task_struct *curr)
{
	s64 half_turn = turn_of(curr) / 2;

	return half_turn + half_turn * vrq_distance(own, other);
}

/*
 * The margin for what waits for one CPU, where its data is in the cache: half a turn in the
 * same domain. In another one it is a turn more than that of its shared queue, if the two
 * domains have as much to do as they can have: so only a task that has run ahead of its
 * share by that gives way.
 */
static s64 queue_margin(const struct vrq_domain *own, const struct vrq_domain *other,
			const struct task_struct *curr)
{
	s64 margin = far_margin(own, other, curr);

	return own == other || vrq_evens_out(other, own, curr) ? margin :
								 margin + turn_of(curr);
}

/* One CPU of a domain, the next one each time */
static int cpu_in_turn(const struct vrq_domain *domain, unsigned int *last)
{
	/* Pairs with the release in join() */
	unsigned int nr = smp_load_acquire(&domain->nr_cpus), i = *last + 1;

	if (i >= nr)
		i = 0;
	*last = i;

	return domain->cpus[i];
}

/* Should what has @key, plus the margin, run before all that is here? */
static bool goes_first(struct rq *rq, const struct task_struct *curr, s64 key)
{
	return key < vrq_key(curr) && !vrq_somebody_waits(rq, key);
}

/*
 * Has another domain something that should run before all here? The slice of @curr has just
 * been renewed.
 *
 * Looks at the shared queue of one other domain, and at the queue of one of its CPUs,
 * without a lock. If so, the next pick takes it.
 *
 * Most tasks wait for a CPU. Where the CPUs of a small domain have a little less to do than
 * others, for want of a task that would fit in, one of theirs got up to 7% more than its
 * share for seconds with a look at the shared queue alone.
 */
static void look_afar(struct rq *rq, struct task_struct *curr)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq)), *other;
	s64 key;
	int cpu;

	if (vrq_one_domain() || own->isolated)
		return;

	other = vrq_domain_in_turn(&rq->vrq.next_domain);
	if (other == own || other->isolated)
		return;

	key = vrq_shared_key_of_any(other);
	if (key != VRQ_KEY_NONE &&
	    goes_first(rq, curr, key + far_margin(own, other, curr))) {
		rq->vrq.pull_from = other->leader;
		resched_curr(rq);
		return;
	}

	cpu = cpu_in_turn(other, &rq->vrq.next_afar);
	key = vrq_queue_best_key(&cpu_rq(cpu)->vrq.queue);
	if (key != VRQ_KEY_NONE && offered_here(rq, cpu, false) &&
	    goes_first(rq, curr, key + queue_margin(own, other, curr))) {
		rq->vrq.pull_from_cpu = cpu;
		resched_curr(rq);
	}
}

/* Take what look_afar() has seen in a shared queue, if it should still go before @p */
static struct task_struct *pull_shared(struct rq *rq, struct task_struct *p, bool *missed)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq)), *other;
	s64 limit;

	other = vrq_domain_led_by(rq->vrq.pull_from);
	rq->vrq.pull_from = -1;
	if (!cpu_active(cpu_of(rq)))
		return NULL;

	limit = vrq_key(p) - far_margin(own, other, p);

	return vrq_shared_key_of_any(other) < limit ?
	       vrq_take_shared(rq, other, limit, missed) : NULL;
}

/* The same in the queue of a CPU */
static struct task_struct *pull_queued(struct rq *rq, struct task_struct *p, bool *missed)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq));
	int cpu = rq->vrq.pull_from_cpu;
	s64 limit;

	rq->vrq.pull_from_cpu = -1;
	if (!cpu_active(cpu_of(rq)))
		return NULL;

	limit = vrq_key(p) - queue_margin(own, vrq_domain_of(cpu), p);

	return take_offered(rq, cpu, VRQ_IDLE, limit, missed);
}

static struct task_struct *pull(struct rq *rq, struct task_struct *p, bool *missed)
{
	if (unlikely(rq->vrq.pull_from >= 0))
		return pull_shared(rq, p, missed);
	if (unlikely(rq->vrq.pull_from_cpu >= 0))
		return pull_queued(rq, p, missed);

	return NULL;
}

/**
 * vrq_far_task_waits - does a normal task wait elsewhere while a SCHED_IDLE one runs?
 * @rq: the run queue of this CPU, locked
 * @curr: its current task
 *
 * For the tick. Looks at the own domain and another one, without a lock.
 *
 * Return: true if a pick is worth while.
 */
bool vrq_far_task_waits(struct rq *rq, struct task_struct *curr)
{
	struct vrq_domain *own = vrq_domain_of(cpu_of(rq)), *other;

	if (curr->vrq.level != VRQ_IDLE || own->isolated)
		return false;
	if (offers(own, VRQ_NORMAL))
		return true;
	if (vrq_one_domain())
		return false;

	other = vrq_domain_in_turn(&rq->vrq.next_for_idle);

	return offers(other, VRQ_NORMAL) || shares(other, VRQ_NORMAL);
}

/* For what stays where it is idle CPUs are kicked once more, see place.h */
static void kick_again(struct rq *rq)
{
	if (!vrq_any_idle(vrq_domain_of(cpu_of(rq))))
		return;

	vrq_kick_for_queue(rq);
	vrq_shared_kick(vrq_domain_of(cpu_of(rq)));
}

/**
 * struct sample - what a few other CPUs run
 * @cpu: which
 * @key: vrq_key() of what each runs
 * @latest: the latest of these, NO_SAMPLE before it was taken
 */
struct sample {
	int	cpu[SAMPLES];
	s64	key[SAMPLES];
	s64	latest;
};

/* Look at the next few CPUs of the machine, once in a tick */
static void take_sample(struct rq *rq, struct sample *sample)
{
	int cpu = rq->vrq.next_sampled, i;

	if (sample->latest != NO_SAMPLE)
		return;

	sample->latest = 0;
	for (i = 0; i < SAMPLES; i++) {
		cpu = cpumask_next(cpu, &vrq_machine.cpus);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(&vrq_machine.cpus);
		sample->cpu[i] = cpu;
		sample->key[i] = cpu < nr_cpu_ids && cpu != cpu_of(rq) ?
				 atomic64_read(&cpu_rq(cpu)->vrq.priodl) : 0;
		sample->latest = max(sample->latest, sample->key[i]);
	}
	rq->vrq.next_sampled = cpu;
}

/*
 * Does another CPU run a task that @p should go before, by half a turn, or one whose
 * data is hot by a whole one? Only then does @p gain by waiting for that one too.
 */
static bool sooner_elsewhere(struct rq *rq, const struct task_struct *p, bool hot,
			     struct sample *sample)
{
	s64 turn = turn_of(p);
	s64 limit = vrq_key(p) + (hot ? turn : turn / 2);
	int i;

	take_sample(rq, sample);
	if (sample->latest <= limit)
		return false;

	for (i = 0; i < SAMPLES; i++) {
		if (sample->key[i] > limit &&
		    cpumask_test_cpu(sample->cpu[i], p->cpus_ptr))
			return true;
	}

	return false;
}

/*
 * Who of this domain is ahead of whom? The slice of @curr has just been renewed. Returns
 * true if the next pick is to take a task from the queue of another CPU.
 *
 * Looks at the next few CPUs, without a lock.
 *
 * If one of them runs a task that @curr should go before by half a turn, @curr is to wait
 * in the shared queue. The tick is no substitute: it finds a task that waits behind one
 * other just as its CPU is to take it anyway, and where the slices of all CPUs end at one
 * tick none of these looks while it could. Of 7 hogs on 4 CPUs one had a CPU of its own for
 * seconds, 1.75 times its share.
 *
 * If what waits for one of them should go before @curr by half a turn, the next pick takes
 * it. Else this CPU may go on with those who are ahead of their share while others get late
 * behind a task that needs all of its CPU. That has to give way to them, and cannot make up
 * for it. Three hogs with a right to a CPU each, beside eight of another group, on 4 CPUs,
 * together had 46 ms less in their first 2 s, on the median of 12 cases, and 134 at the
 * worst; now 21 and 26.
 */
static bool look_near(struct rq *rq, struct task_struct *curr)
{
	struct vrq_domain *domain = vrq_domain_of(cpu_of(rq));
	s64 margin = queue_margin(domain, domain, curr), best = VRQ_KEY_NONE, key;
	int tries, cpu, from = -1;

	if (!READ_ONCE(vrq_interactive))
		return false;

	for (tries = 0; tries < SAMPLES; tries++) {
		cpu = cpu_in_turn(domain, &rq->vrq.next_near);
		if (cpu == cpu_of(rq))
			continue;
		if (rq->cfs.h_nr_queued > 1 && cpumask_test_cpu(cpu, curr->cpus_ptr) &&
		    atomic64_read(&cpu_rq(cpu)->vrq.priodl) > vrq_key(curr) + margin)
			curr->vrq.wait_shared = true;
		key = vrq_queue_best_key(&cpu_rq(cpu)->vrq.queue);
		if (key < best && offered_here(rq, cpu, true)) {
			best = key;
			from = cpu;
		}
	}
	if (from < 0 || !goes_first(rq, curr, best + margin))
		return false;

	rq->vrq.pull_from_cpu = from;
	resched_curr(rq);

	return true;
}

/**
 * vrq_look_around - should a task from elsewhere run before all that is here?
 * @rq: the run queue of this CPU, locked, its clock updated
 * @curr: its current task, whose slice has just been renewed
 *
 * If so, the next pick takes it. What is near comes first.
 */
void vrq_look_around(struct rq *rq, struct task_struct *curr)
{
	if (!look_near(rq, curr))
		look_afar(rq, curr);
}
#else
struct sample {
	s64	latest;
};

static struct task_struct *take_from_others(struct rq *rq, enum vrq_level level,
					    bool *missed)
{
	return NULL;
}

static struct task_struct *last_look(struct rq *rq)
{
	if (vrq_curr(rq) != rq->idle)
		rq->vrq.idle_since = rq_clock(rq);
	vrq_note_pick(NULL, VRQ_PICK_NONE, false);

	return NULL;
}

static struct task_struct *pull(struct rq *rq, struct task_struct *p, bool *missed)
{
	return NULL;
}

static void kick_again(struct rq *rq) { }

static bool sooner_elsewhere(struct rq *rq, const struct task_struct *p, bool hot,
			     struct sample *sample)
{
	return false;
}
#endif

static bool expired(struct rq *rq, const struct task_struct *p,
		    struct sample *sample)
{
	u64 waited = rq_clock(rq) - p->vrq.since;
	bool hot = vrq_cache_hot(rq, p, waited);

	if (waited > QUEUE_LIMIT_NS && !hot)
		return true;
	/* Time-outs may be long: a queue that is too long has to get shorter all the same */
	if (!READ_ONCE(vrq_interactive) || (hot && waited < VRQ_HOT_MS * NSEC_PER_MSEC))
		return false;

	return sooner_elsewhere(rq, p, hot, sample);
}

/* Let every CPU of the domain have what this one does not get round to */
static void expire(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq), *p, *next;
	/* The idle task makes room for them at once */
	bool all = !vrq_task(curr) && curr != rq->idle;
	struct sample sample;
	enum vrq_level level;
	int tries;

	sample.latest = NO_SAMPLE;
	for (level = 0; level < VRQ_LEVELS; level++) {
		p = vrq_queue_first_of(&rq->vrq.queue, level);
		for (tries = 0; p && tries < EXPIRE_TRIES; tries++) {
			if (!all && (s64)(rq_clock(rq) - p->vrq.deadline) <= 0)
				break;
			next = vrq_queue_next(p);
			if (all || expired(rq, p, &sample)) {
				vrq_end_wait(rq, p);
				vrq_share(rq, p);
				vrq_count(VRQ_EXPIRED);
			}
			p = next;
		}
	}
}

/**
 * vrq_balance_tick - let other CPUs have what this one does not get round to
 * @rq: the run queue of this CPU, locked, its clock updated
 *
 * A task leaves the queue of its CPU for the shared queue when
 *
 *  - its deadline has passed, its data is no longer hot here, see hot.c, and another
 *    CPU runs a task with a deadline later by half a turn: it would get less than
 *    its share of the machine; not with the tunable interactive at 0;
 *  - the same by a whole turn, whether its data is hot or not, once it has waited for
 *    VRQ_HOT_MS;
 *  - its deadline has passed, its data is no longer hot, and it has waited for a
 *    second;
 *  - a higher class keeps its CPU.
 *
 * A few tasks of each level are looked at, so that the time with interrupts off stays
 * short; the earliest deadlines are those that others would run next. Of the other
 * CPUs a few are looked at each time.
 */
void vrq_balance_tick(struct rq *rq)
{
	vrq_advance_waiting(rq);
	if (vrq_queue_best_key(&rq->vrq.queue) != VRQ_KEY_NONE)
		expire(rq);
	kick_again(rq);
}

#ifdef CONFIG_SCHED_SMT
/*
 * Tasks on two threads of one core share its units and get less done than on two
 * cores. Wake-ups choose idle cores first, see idle.c; but a core may get idle while
 * tasks share another one, and they do not wake up for as long as they have
 * something to do. Once that has lasted for a slice one of them leaves.
 *
 * It is put back as if preempted, with its CPU idle, and the kick that goes with
 * that finds it the idle core. Only within the domain, as wake-ups choose: what they
 * would bring back need not leave.
 */
static bool could_leave(struct rq *rq, struct task_struct *curr)
{
	return !is_migration_disabled(curr) && curr->nr_cpus_allowed > 1 &&
	       vrq_core_is_shared(cpu_of(rq)) &&
	       vrq_idle_core_near(curr, cpu_of(rq));
}

void __vrq_spread_tick(struct rq *rq)
{
	if (!could_leave(rq, vrq_curr(rq))) {
		rq->vrq.shared_ticks = 0;
	} else if (++rq->vrq.shared_ticks * TICK_NSEC > vrq_rr_ns()) {
		rq->vrq.spread = true;
		resched_curr(rq);
	}
}

/* Is the current task to go on elsewhere? True once after the tick has found so */
static bool leaves_core(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq);

	if (likely(!rq->vrq.spread))
		return false;

	rq->vrq.spread = false;
	rq->vrq.shared_ticks = 0;
	if (!vrq_task(curr) || !curr->vrq.queued || !could_leave(rq, curr))
		return false;
	/* To the shared queue, others need not wait for its cache to get cold */
	curr->vrq.wait_shared = true;

	return true;
}
#else
static bool leaves_core(struct rq *rq)
{
	return false;
}
#endif

/* Where @p came from; what was taken from elsewhere is told already */
static void note_place(struct task_struct *p, bool missed)
{
	switch (p->vrq.place) {
	case VRQ_ON_CPU:
		vrq_note_pick(p, VRQ_PICK_CURR, missed);
		break;
	case VRQ_IN_SLOT:
		vrq_note_pick(p, VRQ_PICK_SLOT, missed);
		break;
	case VRQ_PINNED:
		vrq_note_pick(p, VRQ_PICK_PINNED, missed);
		break;
	case VRQ_IN_QUEUE:
		vrq_note_pick(p, VRQ_PICK_QUEUE, missed);
		break;
	}
}

/* The choice among what waits here and, if that is not worth much, elsewhere */
static struct task_struct *choose(struct rq *rq)
{
	bool missed = false;
	struct task_struct *p = vrq_choose(rq, leaves_core(rq), &missed);
	struct task_struct *other = NULL;

	if (!p)
		return NULL;
	if (p->vrq.place != VRQ_PICKED) {
		other = pull(rq, p, &missed);
		if (!other && p->vrq.level == VRQ_IDLE)
			other = take_from_others(rq, VRQ_NORMAL, &missed);
	}
	p = other ?: p;
	note_place(p, missed);
	rq->vrq.missed = missed;

	/* Who is passed over in the slot may be served sooner elsewhere */
	if (p != rq->vrq.slot && p->vrq.place != VRQ_ON_CPU)
		vrq_flush_slot(rq);

	return p;
}

/*
 * This CPU is not to run @p for now, see smt.c: others may. Where it was not idle
 * @p may be its current task, which the core puts back.
 */
static void give_way(struct rq *rq, struct task_struct *p)
{
	if (vrq_curr(rq) == rq->idle)
		vrq_leave_idle(rq);
	else
		rq->vrq.idle_since = rq_clock(rq);

	if (p->vrq.place == VRQ_PICKED)
		vrq_place(rq, p);
	vrq_flush_slot(rq);
	vrq_note_pick(NULL, VRQ_PICK_NONE, false);
}

/**
 * vrq_pick_task - choose the next task to run on this CPU
 * @rq: the run queue of this CPU, locked, its clock updated
 *
 * Return: a task whose home is @rq, to be given to set_next_task() within this
 * hold of rq->lock; NULL if there is none, and then the CPU counts as idle, or if
 * another thread of its core is to go ahead.
 */
struct task_struct *vrq_pick_task(struct rq *rq)
{
	struct task_struct *p = choose(rq) ?: last_look(rq);

	if (p && vrq_smt_gives_way(rq, p)) {
		give_way(rq, p);
		return NULL;
	}

	return p;
}

/**
 * vrq_server_pick_task - choose the task to run on behalf of the deadline server
 * @server: the server of SCHED_NORMAL in a run queue that is locked
 *
 * Return: as vrq_pick_task(), but without a task a higher class runs.
 */
struct task_struct *vrq_server_pick_task(struct sched_dl_entity *server)
{
	return choose(server->rq);
}
