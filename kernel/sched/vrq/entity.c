// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task's slice and deadline over its life: given at fork, kept over sleep,
 * renewed when used up.
 *
 * All times are rq_clock(), ns. There is no clock of our own: VRQ 0.3 had one
 * for each CPU, and after 16 hours CPUs disagreed by 6 seconds.
 */
#include <linux/math64.h>

#include "entity.h"
#include "load.h"
#include "trace.h"

/* Is a task to run when nobody else wants the CPU, by its policy or its group? */
static bool idle_kind(const struct task_struct *p)
{
	return task_has_idle_policy((struct task_struct *)p) || vrq_group_is_idle(p);
}

/* Is the task that lends @p its priority, if there is one, not a SCHED_IDLE task itself? */
static bool lender_is_normal(const struct task_struct *p)
{
#ifdef CONFIG_RT_MUTEXES
	/* Changes only with the lock of @p's run queue held. The lender is blocked meanwhile */
	const struct task_struct *lender = READ_ONCE(p->pi_top_task);

	/* The lock of the lender's run queue is not held */
	return !lender || !data_race(idle_kind(lender));
#else
	return true;
#endif
}

/**
 * vrq_policy_level - the level that a task's policy asks for
 * @p: a task of VRQ's; the lock of its run queue is held
 *
 * A SCHED_IDLE task that inherits a better priority through a mutex counts as normal as long
 * as it holds that mutex. It does not count as normal if the lender is a SCHED_IDLE task too:
 * otherwise two such tasks would lead each other out of a group with cpu.idle. SCHED_ISO does
 * not lead out of such a group either.
 *
 * Return: the level.
 */
enum vrq_level vrq_policy_level(const struct task_struct *p)
{
	if (!idle_kind(p))
		return unlikely(p->policy == SCHED_ISO) ? VRQ_ISO : VRQ_NORMAL;

	return p->prio < p->normal_prio && lender_is_normal(p) ? VRQ_NORMAL : VRQ_IDLE;
}

/**
 * vrq_may_preempt - may a woken task preempt the running one?
 * @p: the woken task
 * @curr: the running one, of VRQ's too; the lock of its run queue is held
 *
 * A SCHED_BATCH task preempts only SCHED_IDLE tasks. Other tasks preempt if their deadline is
 * earlier by the margin of their wake-up.
 *
 * Return: true if it may.
 */
bool vrq_may_preempt(const struct task_struct *p,
		     const struct task_struct *curr)
{
	if (p->policy == SCHED_BATCH && curr->vrq.level != VRQ_IDLE)
		return false;

	return vrq_key(curr) - vrq_key(p) > p->vrq.margin;
}

/*
 * The load of the CPUs that a task may use, the task included. For tasks that every CPU may
 * run, the lateness is the mean of all CPUs. With that of their own CPU alone, spans would be
 * longer on a CPU with more to do, and deadlines would not show that it has more to do.
 */
static struct vrq_load load_for(const struct rq *rq, const struct task_struct *p)
{
	struct vrq_load load;

	if (vrq_confined(p)) {
		load = vrq_load_of(p->cpus_ptr, p->nr_cpus_allowed);
		load.lateness = atomic64_read(&rq->vrq.lateness);
	} else {
		load = vrq_load_of_machine();
	}

	if (p->vrq.only_idle) {
		load.weight += load.idle;
		load.own += load.idle;
	}
	if (!p->vrq.queued) {
		load.weight += p->vrq.weight;
		load.own += p->vrq.own_weight;
	}

	return load;
}

/*
 * The weight of a load as if the tasks that every CPU may run were where there is room for
 * them. Where they are now does not last: the children of a task, for example, are at its CPU
 * until another CPU takes them, and the number of tasks of a CPU varies by one.
 */
static u64 weight_when_spread(const struct task_struct *p,
			      const struct vrq_load *load)
{
	u64 unconfined = load->unconfined, weight;
	struct vrq_load all;

	if (!vrq_confined(p) || vrq_domain_of(task_cpu(p))->isolated)
		return load->weight;

	all = vrq_load_of_machine();
	weight = all.weight;
	if (p->vrq.only_idle)
		weight += all.idle;
	if (!p->vrq.queued)
		weight += p->vrq.weight;

	return vrq_spread_weight(load->weight - min(load->weight, unconfined),
				 all.unconfined, weight, load->cpus, all.cpus);
}

/* The weight in a load as it counts for the spans of a task */
static u64 weight_for_span(struct rq *rq, const struct task_struct *p,
			   const struct vrq_load *load)
{
	return vrq_iso_weight(rq, p, weight_when_spread(p, load));
}

/* @weight of @load as it would be without groups: a turn is as long in one group as in none */
static u64 without_groups(const struct vrq_load *load, u64 weight)
{
	return vrq_convert_weight(weight, load->weight, load->own);
}

/*
 * Is the weight queued here more than the mean of the CPUs of @load, by an eighth of the mean
 * and a quarter of the weight of @p?
 */
static bool overloaded(struct rq *rq, const struct task_struct *p,
		       const struct vrq_load *load)
{
	u64 here = rq->vrq.weight + (p->vrq.only_idle ? rq->vrq.idle_weight : 0) +
		   (p->vrq.queued ? 0 : p->vrq.weight);

	return here * load->cpus > load->weight + load->weight / 8 +
				   (u64)p->vrq.weight * load->cpus / 4;
}

/**
 * vrq_overloaded - has a CPU more to do than the others that a task may use?
 * @rq: the CPU's run queue, locked
 * @p: the task, its home is @rq
 *
 * Return: true if so.
 */
bool vrq_overloaded(struct rq *rq, const struct task_struct *p)
{
	struct vrq_load load = load_for(rq, p);

	return overloaded(rq, p, &load);
}

/**
 * vrq_note_affinity - a task's mask of CPUs has changed, or it is about to be queued
 * @p: the task; the lock of its run queue or its pi_lock is held
 */
void vrq_note_affinity(struct task_struct *p)
{
	/* A CPU may come or go just now: a CPU that takes the task checks p->cpus_ptr */
	p->vrq.confined = !data_race(cpumask_subset(&vrq_machine.cpus, p->cpus_ptr));
}

/**
 * vrq_note_wait - a task has waited for the CPU until now
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task, which is about to run, to wait elsewhere or to be dequeued; does
 *	nothing if it has not waited
 */
void vrq_note_wait(struct rq *rq, struct task_struct *p)
{
	s64 wait = rq_clock(rq) - p->vrq.since;

	if (p->vrq.place < VRQ_PICKED)
		return;

	/* since may be another CPU's time, which is a little ahead */
	if (wait > 0) {
		p->vrq.waited += wait;
		p->vrq.waited_awake += wait;
	}
	p->vrq.since = rq_clock(rq);
}

/**
 * vrq_wait_in - note where a task waits, and since when
 * @rq: the home of @p, locked, its clock updated
 * @p: the task
 * @place: the slot or the queue that it is about to enter
 */
void vrq_wait_in(struct rq *rq, struct task_struct *p, enum vrq_place place)
{
	vrq_note_wait(rq, p);
	p->vrq.place = place;
	p->vrq.since = rq_clock(rq);
	trace_sched_vrq_enqueue(p);
}

/* sched_setattr() sets such a task's slices */
static bool sets_slice(const struct task_struct *p)
{
	return p->se.custom_slice && fair_policy(p->policy);
}

/*
 * The longest slice that a task can have, in rr_intervals. A deadline remembers up to two
 * turns only: by how much a task is ahead of others when it ends a slice, and behind them when
 * it begins one.
 */
#define SLICE_MAX		2

/**
 * vrq_slice_setting - what sched_getattr() tells of the length of a task's slices
 * @p: the task
 *
 * Return: what was set, or rr_interval, ns.
 */
u64 vrq_slice_setting(const struct task_struct *p)
{
	return sets_slice(p) ? p->se.slice : vrq_rr_ns();
}

/**
 * vrq_slice_ns - how long a task's slices are
 * @p: the task, the lock of its run queue held
 *
 * The length is rr_interval, or what sched_setattr() has set for the task. With a shorter
 * slice a task gets earlier deadlines for less CPU time, with a longer one it is interrupted
 * less often. Its share stays the same, as with requests in EEVDF.
 *
 * Return: the length, ns.
 */
u64 vrq_slice_ns(const struct task_struct *p)
{
	u64 rr_ns = vrq_rr_ns();

	return sets_slice(p) ? min(p->se.slice, SLICE_MAX * rr_ns) : rr_ns;
}

/*
 * Scale a task's slice, and the time until its deadline, to another rr_interval. Otherwise
 * tasks with deadlines of a long rr_interval would wait until all others have caught up with
 * them. A deadline that has passed stays.
 */
static void rescale(struct rq *rq, struct task_struct *p, unsigned int to)
{
	s64 ahead = min_t(s64, p->vrq.deadline - rq_clock(rq), vrq_longest_turn(p));
	unsigned int from = p->vrq.rr_ms;

	if (likely(from == to))
		return;

	if (!sets_slice(p)) {
		if (ahead > 0)
			p->vrq.deadline = rq_clock(rq) + mul_u64_u64_div_u64(ahead, to, from);
		p->vrq.slice = div_s64(p->vrq.slice * to, from);
	}
	p->vrq.span = mul_u64_u64_div_u64(p->vrq.span, to, from);
	p->vrq.rr_ms = to;
}

/* Maximum of what a task owes, ns: a hypervisor may have stopped its CPU for hours */
#define DEBT_MAX		((s64)NSEC_PER_SEC)

/* The time in which a task gets @slice ns at its share, ns; negative if @slice is */
static s64 time_for(const struct task_struct *p, s64 slice)
{
	u64 rr_ns = (u64)p->vrq.rr_ms * NSEC_PER_MSEC;
	u64 time = mul_u64_u64_div_u64(p->vrq.span, abs(max(slice, -DEBT_MAX)), rr_ns);

	return slice < 0 ? -time : time;
}

/*
 * Learn the pace of tasks that use whole slices here: the time that a task of weight 1 needs
 * for 1 ns of CPU time, mean of the last 16 slices or so. @p has @used this much since it got
 * its slice, and has been off the CPU for @off, ns. A task that has waited behind SCHED_ISO,
 * or has been SCHED_IDLE, tells little: a sample is limited to four times what follows from
 * @load.
 */
static void learn_pace(struct rq *rq, const struct task_struct *p, const struct vrq_load *load,
		       u64 used, s64 off)
{
	u64 *pace = &rq->vrq.pace[p->vrq.only_idle], sample;

	/*
	 * Not if @p has not used up its slice, or has slept. Clocks of two run queues may
	 * differ
	 */
	if (p->vrq.requested || used < NSEC_PER_MSEC || off < 0 ||
	    off - (s64)p->vrq.waited > (s64)(off + used) / 16)
		return;

	sample = mul_u64_u64_div_u64(off + used, p->vrq.weight, used);
	sample = min(sample, max_t(u64, 4 * div_u64(load->weight, load->cpus), p->vrq.weight));
	*pace = *pace ? *pace + ((s64)(sample - *pace) >> 4) : sample;
}

/*
 * Learn how late tasks are here. A task counts by the part of a slice that it has used since
 * the last time, and by how much of its time off the CPU it has waited for the CPU: a task
 * that sleeps is late because of its sleep.
 */
static void learn_lateness(struct rq *rq, struct task_struct *p, const struct vrq_load *load,
			   s64 late)
{
	u64 rr_ns = (u64)p->vrq.rr_ms * NSEC_PER_MSEC;
	u64 used = p->se.sum_exec_runtime - p->vrq.renewed_used;
	u64 part = div64_u64(min(used, rr_ns) << 10, rr_ns);
	s64 off = rq_clock(rq) - p->vrq.renewed_at - used;
	s64 mean = atomic64_read(&rq->vrq.lateness);

	learn_pace(rq, p, load, used, off);
	p->vrq.renewed_used = p->se.sum_exec_runtime;
	/*
	 * SCHED_ISO tasks run before all others: they are early, and do not tell how late
	 * others are
	 */
	if (unlikely(p->vrq.iso))
		return;

	if (off > (s64)p->vrq.waited)
		part = div64_u64(part * p->vrq.waited, off);

	atomic64_set(&rq->vrq.lateness, mean + ((late - mean) * (s64)part >> 14));
}

/* A turn of a nice 0 task, ns; @spread: the weight of @load as it counts for spans */
static u64 turn_at_nice_0(const struct task_struct *p, const struct vrq_load *load, u64 spread)
{
	return vrq_span((u64)p->vrq.rr_ms * NSEC_PER_MSEC, VRQ_NICE_0,
			without_groups(load, spread), load->cpus);
}

/*
 * The span of a task at @load, ns. It is longer if other tasks are @late, because then the
 * load is more than its weight tells. @turn: turn_at_nice_0()
 *
 * No more than one CPU's part of the load is taken to be the task's own weight, for
 * vrq_limit_weight(). What the task counts for in the sum is not known: the sum may be
 * limited, or older than the task's weight.
 */
static u64 span_at(struct task_struct *p, enum vrq_factor which, const struct vrq_load *load,
		   u64 spread, u64 turn, s64 late)
{
	u64 own = min_t(u64, p->vrq.weight, div_u64(load->weight, load->cpus));

	vrq_limit_weight(p, load->weight - own, load->cpus);

	return vrq_task_span(p, which, (u64)p->vrq.rr_ms * NSEC_PER_MSEC, spread, load->cpus) *
	       vrq_underrated(late, turn) >> 10;
}

/*
 * Compute a new span for a task, and the slack for its next deadline. The slack is one turn of
 * a nice 0 task, longer if all tasks are late.
 *
 * The span of a task that is on time, or late because it slept, does not get longer because
 * others are late. But such a task may save up as much as the others.
 *
 * Return: the slack, and in @late how late the task is.
 */
static u64 renew_span(struct rq *rq, struct task_struct *p, enum vrq_factor which,
		      struct vrq_load *load, s64 *late)
{
	u64 spread = weight_for_span(rq, p, load), turn = turn_at_nice_0(p, load, spread);
	u64 slack = turn * vrq_underrated(load->lateness, turn) >> 10;
	s64 kept_waiting = min_t(s64, *late, p->vrq.waited);

	*late = clamp(*late, -(s64)slack, 2 * (s64)slack);
	learn_lateness(rq, p, load, *late);
	p->vrq.waited = 0;
	p->vrq.span = span_at(p, which, load, spread, turn, min(kept_waiting, load->lateness));
	p->vrq.renewed_at = rq_clock(rq);

	return slack;
}

/* Enough slices that something is left after the task has paid what it owes, ns */
static u64 slices_due(const struct task_struct *p)
{
	u64 slice_ns = vrq_slice_ns(p);
	s64 owes = max(-p->vrq.slice, 0LL);

	return slice_ns * (1 + div64_u64(owes, slice_ns));
}

/* Turns in which a task that owes nothing gets what it may be ahead by, and a slice */
#define TURNS_MAX		4

/**
 * vrq_longest_turn - how far ahead of the time can a deadline be?
 * @p: a task of VRQ's, in whatever state
 *
 * The limit is that of a task that owes as much as possible: a CPU that a hypervisor stops has
 * no tick, and its task is charged for that time at once. It includes the quarter that
 * vrq_next_deadline() adds if all tasks are late. A deadline that is further ahead is a
 * mistake.
 *
 * Return: the time, ns.
 */
u64 vrq_longest_turn(const struct task_struct *p)
{
	u64 rr_ns = (u64)max(READ_ONCE(p->vrq.rr_ms), 1U) * NSEC_PER_MSEC;
	u64 turns = TURNS_MAX + div64_u64(DEBT_MAX, rr_ns);

	return READ_ONCE(p->vrq.span) * (turns + turns / 4);
}

/**
 * vrq_renew_slice - give a task its next slice and deadline
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task
 *
 * A task that has overrun its slice by more than the next slice, as may happen between two
 * ticks, gets several slices at once.
 */
void vrq_renew_slice(struct rq *rq, struct task_struct *p)
{
	s64 late = rq_clock(rq) - p->vrq.deadline;
	struct vrq_load load;
	u64 slack, more;

	vrq_group_sum_up(p);
	load = load_for(rq, p);
	vrq_note_waited(p);
	vrq_note_used(p);
	p->vrq.rr_ms = vrq_rr_ms();
	slack = renew_span(rq, p, VRQ_FACTOR_MEAN, &load, &late);
	p->vrq.slice = max(p->vrq.slice, -DEBT_MAX);
	more = slices_due(p);
	p->vrq.slice += more;
	p->vrq.deadline = vrq_next_deadline(p->vrq.deadline, rq_clock(rq),
					    time_for(p, more), slack, load.lateness);
	p->vrq.requested = 0;
	p->vrq.wait_shared = overloaded(rq, p, &load);
	p->vrq.margin = vrq_preempt_margin();
	p->vrq.prio = p->prio;
	p->vrq.promoted = false;
	p->vrq.level = vrq_policy_level(p);
	trace_sched_vrq_renew(p);
}

/* What the span of a task were if it were computed now, ns */
static u64 span_now(struct rq *rq, struct task_struct *p)
{
	enum vrq_factor which = p->vrq.requested ? VRQ_FACTOR_WAKE : VRQ_FACTOR_MEAN;
	struct vrq_load load;
	u64 spread;

	vrq_group_sum_up(p);
	load = load_for(rq, p);
	spread = weight_for_span(rq, p, &load);

	return span_at(p, which, &load, spread, turn_at_nice_0(p, &load, spread), load.lateness);
}

/**
 * vrq_advance_deadline - give a task that waits an earlier deadline, if that is due
 * @rq: the run queue of this CPU, locked, its clock updated; of a task in a shared queue it
 *	need not be the home
 * @p: the task; the caller has to mend the order of its queue
 *
 * The deadline was computed from the load of that time. If other tasks have ended or gone to
 * sleep since, or the group has got a greater weight, it may be too far ahead: by minutes with
 * groups of very different weights. If the task's span is less than half of the old one now,
 * the time until the deadline is scaled down with it. This includes what the task has to pay
 * for because it ran ahead of its share.
 *
 * Return: true if the deadline is earlier now.
 */
bool vrq_advance_deadline(struct rq *rq, struct task_struct *p)
{
	u64 rr_ns = (u64)p->vrq.rr_ms * NSEC_PER_MSEC, old = p->vrq.span, span;
	s64 ahead = p->vrq.deadline - rq_clock(rq);

	if (ahead <= (s64)(2 * rr_ns))
		return false;

	span = span_now(rq, p);
	if (span >= old / 2)
		return false;

	p->vrq.span = span;
	p->vrq.deadline = rq_clock(rq) + mul_u64_u64_div_u64(ahead, span, old);

	return true;
}

/* For how long a task that sleeps counts in its group at the most, ns */
#define AHEAD_MAX		(VRQ_GROUP_MEAN_MS * (s64)NSEC_PER_MSEC)
/* A burst is no longer than this for what it counts for, ns */
#define BURST_MAX		((s64)NSEC_PER_SEC)

/*
 * A task that is about to sleep has used @burst since it woke up. It was queued for that time
 * and for the time that it waited. In its group it is to count for as long as the burst takes
 * at the task's share, see group.c. If that is less, the group counts for less; if it is more,
 * the task goes on to count while it sleeps.
 */
static void note_ahead(struct rq *rq, struct task_struct *p, s64 burst)
{
	u64 pace = rq->vrq.pace[p->vrq.only_idle], weight;
	s64 ahead = p->vrq.ahead_until;

	p->vrq.ahead_until = 0;
	if (!pace || !vrq_in_group(p))
		return;

	/* So the quotient fits into 64 bits */
	burst = clamp(burst, 0LL, BURST_MAX);
	weight = max(vrq_task_weight(p, VRQ_FACTOR_MEAN), (pace >> 16) + 1);
	ahead += mul_u64_u64_div_u64(pace, burst, weight) - burst - p->vrq.waited_awake;
	ahead = clamp(ahead, -AHEAD_MAX, AHEAD_MAX);
	if (ahead > 0)
		p->vrq.ahead_until = rq_clock(rq) + ahead;
	vrq_group_note_ahead(rq, p, ahead);
}

/*
 * The task wakes up, and counts as queued from now on. The rest of the time for which it still
 * had to count is kept until it sleeps again. Without that, sleepers of little weight would
 * count for too little: leaf groups with two of them would get 11% too much.
 */
static void end_ahead(struct rq *rq, struct task_struct *p)
{
	s64 rest = p->vrq.ahead_until - rq_clock(rq);

	if (rest > 0)
		vrq_group_note_ahead(rq, p, -rest);
	p->vrq.ahead_until = clamp(rest, 0LL, AHEAD_MAX);
}

/**
 * vrq_note_burst - a task goes to sleep
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task, running; what it has used is accounted
 */
void vrq_note_burst(struct rq *rq, struct task_struct *p)
{
	s64 burst = p->se.sum_exec_runtime - p->vrq.woken_at;
	s64 change = burst - (s64)p->vrq.burst;

	/*
	 * Shorter bursts are learnt faster: a new task has the burst of its parent, and so
	 * deadlines that are too far away. With a quarter in both directions, one of 100 tasks
	 * that begin together with bursts of 9 us still waited for 60 ms after a second.
	 */
	p->vrq.burst += change >> (change < 0 ? 1 : 2);
	note_ahead(rq, p, burst);
	/* A sleep for a disk or a lock is none of its choice */
	p->vrq.since = READ_ONCE(p->__state) & TASK_INTERRUPTIBLE ? rq_clock(rq) : 0;
	vrq_note_used(p);
}

/* A slice divided by this is the least that a task is expected to need */
#define REQUEST_MIN_PART	64

/* What a task may need until it sleeps, ns: the slice it has set, or twice its usual burst */
static s64 request_of(const struct task_struct *p)
{
	u64 rr_ns = (u64)p->vrq.rr_ms * NSEC_PER_MSEC;

	if (sets_slice(p))
		return vrq_slice_ns(p);

	return clamp(2 * p->vrq.burst, rr_ns / REQUEST_MIN_PART, rr_ns);
}

/* Has a task that wakes up waited for a time or a device, not for another task? */
static bool woken_by_interrupt(const struct task_struct *p)
{
	return !p->vrq.margin;
}

/*
 * Scale the time until a task's deadline, and its span, to another nice level. Both are
 * scaled, because the watchdog compares how far a deadline is ahead with the span.
 */
static void rescale_for_nice(struct rq *rq, struct task_struct *p)
{
	unsigned int from = clamp(p->vrq.prio - MAX_RT_PRIO, 0, VRQ_NICE_WIDTH - 1);
	unsigned int to = vrq_nice_index(p);

	p->vrq.deadline = min(p->vrq.deadline, rq_clock(rq) + vrq_longest_turn(p));
	p->vrq.deadline = vrq_rescale_deadline(p->vrq.deadline, rq_clock(rq), from, to);
	p->vrq.span = mul_u64_u64_div_u64(p->vrq.span, vrq_ratio(to), vrq_ratio(from));
	p->vrq.prio = p->prio;
}

/*
 * A task becomes SCHED_ISO, or is not SCHED_ISO any longer: its turns get shorter, or longer.
 * Otherwise a task that is SCHED_ISO whenever its slice is renewed, which is at ticks, and is
 * hardly charged for that, would have 76% of a CPU beside three others.
 *
 * The new span is computed, not scaled from the old one: otherwise a task that changes to and
 * fro while the load changes could make its span grow without limit.
 */
static void rescale_for_iso(struct rq *rq, struct task_struct *p)
{
	bool iso = p->policy == SCHED_ISO && !idle_kind(p);
	s64 ahead = p->vrq.deadline - rq_clock(rq);
	u64 old = max(p->vrq.span, 1ULL);

	if (likely(p->vrq.iso == iso))
		return;

	p->vrq.iso = iso;
	/* A deadline beyond that is due to what the task has lent, see vrq_lend_deadline() */
	ahead = min_t(s64, ahead, vrq_longest_turn(p));
	p->vrq.span = span_now(rq, p);
	if (ahead > 0)
		p->vrq.deadline = rq_clock(rq) + mul_u64_u64_div_u64(ahead, p->vrq.span, old);
}

/* Slice, deadline and span for rr_interval, the nice level and the policy that it has now */
static void rescale_for_changes(struct rq *rq, struct task_struct *p)
{
	rescale(rq, p, vrq_rr_ms());

	if (p->vrq.prio != p->prio)
		rescale_for_nice(rq, p);

	rescale_for_iso(rq, p);
}

/**
 * vrq_request - give a task that wakes up a deadline for what it needs until it sleeps
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task, about to be queued
 *
 * The deadline of a slice is one span after the time from which the slice counts. A task that
 * sleeps before it has used up its slice does not need all of it. So it gets a slice of twice
 * its usual burst, with the earlier deadline that belongs to that. What the task uses moves
 * its deadline at each sleep. So a task with short bursts runs before tasks that use up their
 * slices, as long as it does not use more than its share. The share does not change. The idea
 * is that of requests in EEVDF (Stoica and Abdel-Wahab, 1995).
 *
 * Tasks that wake each other do not save up by sleeping: what they got less than their share,
 * because they had nothing to do, counts for one slice at most.
 */
void vrq_request(struct rq *rq, struct task_struct *p)
{
	s64 start, rr_ns, request, recent, late, slack, now = rq_clock(rq);
	bool by_interrupt = woken_by_interrupt(p);
	struct vrq_load load;

	/* A task that sleeps for locks or disks gets short slices, which may never end */
	if (p->se.sum_exec_runtime - p->vrq.promoted_at > vrq_promoted_ns())
		p->vrq.promoted = false;
	/* What was changed while it slept */
	rescale_for_changes(rq, p);
	start = p->vrq.deadline - time_for(p, p->vrq.slice);
	rr_ns = (s64)p->vrq.rr_ms * NSEC_PER_MSEC;
	request = request_of(p);
	recent = now - rr_ns;
	end_ahead(rq, p);
	if (p->vrq.since)
		vrq_note_slept(p, now - (s64)p->vrq.since);
	p->vrq.woken_at = p->se.sum_exec_runtime;
	p->vrq.waited_awake = 0;
	if (request >= rr_ns && !sets_slice(p)) {
		/* It goes on with the slice that it has */
		if (!by_interrupt && start < recent)
			p->vrq.deadline += recent - start;
		return;
	}

	/*
	 * Renew the span as at the end of a slice, and no more often. But the task sleeps
	 * before it has used up a slice, so its wait does not count against its sleep, see
	 * vrq_note_waited(). If it did, 100 tasks with short bursts that begin together would
	 * wait for up to 100 ms in their first second, not 25.
	 */
	if (now - (s64)p->vrq.renewed_at > rr_ns) {
		vrq_group_sum_up(p);
		load = load_for(rq, p);
		late = now - start;
		slack = renew_span(rq, p, VRQ_FACTOR_WAKE, &load, &late);
		late = clamp(load.lateness, 0LL, 2 * slack);
		start = clamp(start, now - 2 * (slack + late),
			      now + max(slack, (s64)p->vrq.span));
	}
	if (!by_interrupt)
		start = max(start, recent);

	p->vrq.slice = request;
	p->vrq.requested = !sets_slice(p);
	p->vrq.deadline = max(start + time_for(p, request), 0LL);
}

/* Extend a slice that is less than a whole one, and move the deadline accordingly */
static void extend(struct task_struct *p, s64 more)
{
	s64 had = p->se.sum_exec_runtime - p->vrq.woken_at + p->vrq.slice;
	s64 rest = (s64)p->vrq.rr_ms * NSEC_PER_MSEC - had;

	p->vrq.requested = more < rest;
	more = clamp(more, 0, max(rest, 0LL));
	p->vrq.slice += more;
	p->vrq.deadline += time_for(p, more);
}

/**
 * vrq_extend_slice - a task has used what it was thought to need, and goes on
 * @p: the task, running, the lock of its run queue held
 *
 * It gets as much as it has used since it woke up, or as it was thought to need if that is
 * more, until it has had a whole slice. Most tasks need a little more: an interrupt may have
 * used up their slice. If they got enough to come to the next tick, and a deadline to match,
 * one of 100 short sleepers on a CPU waited for 100 ms after that, once in some seconds.
 */
void vrq_extend_slice(struct task_struct *p)
{
	s64 used = p->se.sum_exec_runtime - p->vrq.woken_at;

	extend(p, max(request_of(p), used) - p->vrq.slice);
}

/**
 * vrq_whole_slice - a task needs to have the rest of its slice now
 * @p: the task, running, the lock of its run queue held
 */
void vrq_whole_slice(struct task_struct *p)
{
	if (p->vrq.requested)
		extend(p, S64_MAX);
}

/**
 * vrq_forget_lateness - the CPU has been idle: reduce its lateness
 * @rq: its run queue, locked, its clock updated
 *
 * While the CPU was idle, no task had to wait for it. The lateness falls by a factor of e in
 * 64 ms or so.
 */
void vrq_forget_lateness(struct rq *rq)
{
	s64 idle_ms = (rq_clock(rq) - rq->vrq.idle_since) >> 20;
	s64 late = atomic64_read(&rq->vrq.lateness);

	atomic64_set(&rq->vrq.lateness, late - (late * min(idle_ms, 64LL) >> 6));
}

/* A task that lets others run first waits for no more than this many of its turns */
#define DEFER_TURNS	3

/**
 * vrq_defer - let others have the turn of a task that called sched_yield()
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task, running
 * @last: the task with the latest deadline of those who wait for this CPU
 *
 * The deadline of @p becomes no earlier than that of @last. Otherwise two tasks that yield
 * while they wait for a third one would run in turns, both ahead of the third. If @last has a
 * smaller weight, @p waits no longer than three turns.
 */
void vrq_defer(struct rq *rq, struct task_struct *p,
	       const struct task_struct *last)
{
	u64 behind = last->vrq.deadline;

	if (last->vrq.weight < p->vrq.weight)
		behind = min(behind, rq_clock(rq) + DEFER_TURNS * p->vrq.span);

	p->vrq.deadline = max(p->vrq.deadline, behind);
}

/* An hour, ns: a task that lends a deadline which is earlier by this pays the maximum */
#define GAIN_MAX	(3600ULL * NSEC_PER_SEC)

/**
 * vrq_lend_deadline - let another task go first, as yield_to() does
 * @from: the running task, the lock of its run queue held
 * @to: a task in no queue, the lock of its run queue held
 * @now: the time, ns
 *
 * If both tasks are of one level, @to gets the earlier deadline of @from, and @from pays for
 * what @to gains: its own deadline becomes later by as much, by weight. If the deadline were
 * just copied, a task that wakes up again and again to yield would pull @to ahead of all
 * others each time: a task that slept 2 ms in between gave a hog 72% beside another one. The
 * favour of @from does not count, because it is for what the task does itself.
 *
 * A task that has paid cannot lend again until it has made up for that by sleeping. At a
 * wake-up it may have to pay for one turn only, see vrq_request(). So without this rule, a
 * task that slept 2 ms in between left the other hog 22% of the CPU, not the third that is its
 * share.
 *
 * The deadline of @from may date from long ago. For that, @from pays no more than three turns,
 * or the deadline that @to had if that is later.
 */
void vrq_lend_deadline(struct task_struct *from, struct task_struct *to, u64 now)
{
	s64 start = from->vrq.deadline - time_for(from, from->vrq.slice);
	u64 old = to->vrq.deadline, gain = old - from->vrq.deadline, weight, without_favour, most;

	if (from->vrq.level != to->vrq.level || old <= from->vrq.deadline ||
	    start > (s64)now)
		return;

	weight = vrq_task_weight(to, VRQ_FACTOR_MEAN);
	without_favour = vrq_group_weight(from, VRQ_FACTOR_MEAN,
					  vrq_weight(vrq_nice_index(from)));
	to->vrq.deadline = from->vrq.deadline;
	most = max(old, now + DEFER_TURNS * from->vrq.span);
	/* The deadline may date from days ago, and the quotient has to fit into 64 bits */
	if (gain < GAIN_MAX)
		/* With groups of very different weights this may be more than the maximum */
		most = min(from->vrq.deadline +
			   mul_u64_u64_div_u64(gain, weight,
					       max(without_favour, (weight >> 16) + 1)), most);
	from->vrq.deadline = most;
}

/**
 * vrq_fork_slice - the first slice of a new task
 * @rq: the run queue of @parent, locked, its clock updated
 * @parent: the running task, its slice accounted up to now
 * @child: the new task, not yet visible to anybody
 *
 * The child gets half of what its parent has left, and the parent's deadline, so that no task
 * gains CPU time by forking. The idea is that of BFS. Of what the parent has saved up by
 * sleeping, the child inherits up to one turn only.
 */
void vrq_fork_slice(struct rq *rq, struct task_struct *parent,
		    struct task_struct *child)
{
	vrq_note_affinity(child);
	if (!vrq_task(parent)) {
		child->vrq.deadline = rq_clock(rq);
		vrq_renew_slice(rq, child);
		return;
	}

	child->vrq.slice = parent->vrq.slice / 2;
	parent->vrq.slice -= child->vrq.slice;
	/* signed: in the first moments after boot the span is longer than the time */
	child->vrq.deadline = max_t(s64, parent->vrq.deadline,
				    rq_clock(rq) - parent->vrq.span);
	child->vrq.span = parent->vrq.span;
	child->vrq.rr_ms = parent->vrq.rr_ms;
	child->vrq.waited = 0;
	child->vrq.waited_awake = 0;
	child->vrq.burst = parent->vrq.burst;
	vrq_split_sleep(parent, child);
	child->vrq.requested = 0;
	child->vrq.prio = parent->vrq.prio;
	child->vrq.iso = parent->vrq.iso;
	child->vrq.level = vrq_policy_level(child);
}

/*
 * A task begins to compete with others. It ran only when nobody else wanted the CPU, and so it
 * has not been late. It gets a new slice when it is queued, and still owes what it owed.
 * Otherwise many such tasks at once would run before all others for a slice each: when 60 hogs
 * were no longer SCHED_IDLE, 40 ms for a task that wakes up meanwhile, on 4 CPUs.
 */
static void begin_turn(struct rq *rq, struct task_struct *p)
{
	if (p->vrq.deadline >= rq_clock(rq))
		return;

	p->vrq.deadline = rq_clock(rq);
	p->vrq.slice = min(p->vrq.slice, 0LL);
	/* What it used tells nothing of those that it competes with now, see learn_lateness() */
	p->vrq.renewed_used = p->se.sum_exec_runtime;
}

/**
 * vrq_update_entity - bring a task's state up to date with its priority
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task, about to be queued
 *
 * To be called between dequeue_task() and enqueue_task(), whatever changed in
 * between: nice, policy, what priority inheritance lends, rr_interval, or just the
 * time.
 */
void vrq_update_entity(struct rq *rq, struct task_struct *p)
{
	bool only_idle;

	rescale_for_changes(rq, p);
	vrq_iso_account(rq, p, 0);
	p->vrq.level = vrq_policy_level(p);
	only_idle = p->vrq.level == VRQ_IDLE;
	/* The level that the task was promoted from may not be its own any longer */
	if (p->vrq.only_idle != only_idle)
		p->vrq.promoted = false;
	/*
	 * Not if it only inherits a better priority, because then somebody waits for it. And not
	 * if it wakes up: vrq_request() has given it a deadline
	 */
	if (p->vrq.only_idle && !idle_kind(p) && p->on_rq)
		begin_turn(rq, p);
	p->vrq.only_idle = only_idle;
	if (p->vrq.promoted)
		p->vrq.level = idle_kind(p) ? VRQ_NORMAL : VRQ_ISO;
	p->vrq.own_weight = vrq_own_weight(p);
	p->vrq.weight = vrq_task_weight(p, p->vrq.requested ? VRQ_FACTOR_NOW : VRQ_FACTOR_MEAN);
	vrq_note_affinity(p);
	p->vrq.unconfined = vrq_confined(p) ? 0 : p->vrq.weight;

	if (p->vrq.slice <= 0)
		vrq_renew_slice(rq, p);
}
