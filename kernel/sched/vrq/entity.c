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
#include "iso.h"
#include "trace.h"

/**
 * vrq_policy_level - the level that a task's policy asks for
 * @p: a task of VRQ's; the lock of its run queue is held
 *
 * A SCHED_IDLE task to which somebody of better priority lends it through a
 * mutex counts as normal as long as it holds that mutex.
 *
 * Return: the level.
 */
enum vrq_level vrq_policy_level(const struct task_struct *p)
{
	if (unlikely(p->policy == SCHED_ISO))
		return VRQ_ISO;

	if (!task_has_idle_policy((struct task_struct *)p))
		return VRQ_NORMAL;

	return p->prio < p->normal_prio ? VRQ_NORMAL : VRQ_IDLE;
}

/**
 * vrq_may_preempt - may a woken task preempt the running one?
 * @p: the woken task
 * @curr: the running one, of VRQ's too; the lock of its run queue is held
 *
 * SCHED_BATCH never preempts, but for those that only want what is left.
 * Others do if their deadline is earlier by the margin of their wake-up.
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

/* The CPUs that a task shares, and the weight of all on them, itself included */
static u64 weight_on_cpus_of(const struct task_struct *p, unsigned int *cpus)
{
	u64 sum = p->vrq.queued ? 0 : p->vrq.weight;
	int cpu;

	*cpus = 0;
	for_each_cpu_and(cpu, p->cpus_ptr, cpu_active_mask) {
		sum += READ_ONCE(cpu_rq(cpu)->vrq.weight);
		++*cpus;
	}

	/* All its CPUs are going down: any answer will do, zero will not */
	*cpus = max(*cpus, 1U);

	return sum;
}

/*
 * The same for spans: as if the tasks that every CPU may run were spread over all
 * CPUs. A parent's children, say, count at its CPU until another takes them out of
 * the grq.
 */
static u64 weight_when_spread(const struct task_struct *p, u64 weight,
			      unsigned int cpus)
{
	u64 anywhere = 0, anywhere_here = 0;
	unsigned int all = 0;
	struct rq *rq;
	int cpu;

	if (!vrq_confined(p))
		return weight;

	for_each_cpu(cpu, cpu_active_mask) {
		rq = cpu_rq(cpu);
		anywhere += READ_ONCE(rq->vrq.anywhere);
		if (cpumask_test_cpu(cpu, p->cpus_ptr))
			anywhere_here += READ_ONCE(rq->vrq.anywhere);
		all++;
	}

	return vrq_spread_weight(weight, anywhere_here, anywhere, cpus, all);
}

/*
 * Is more queued here than on the mean of @cpus CPUs with @weight together, by
 * more than an eighth and a part of what @p adds?
 */
static bool overloaded(struct rq *rq, const struct task_struct *p, u64 weight,
		       unsigned int cpus)
{
	u64 here = rq->vrq.weight + (p->vrq.queued ? 0 : p->vrq.weight);

	return here * cpus > weight + weight / 8 + (u64)p->vrq.weight * cpus / 4;
}

/**
 * vrq_overloaded - has a CPU more to do than the others that a task may use?
 * @rq: the CPU's run queue, locked
 * @p: the task, its home is @rq
 *
 * Goes through those CPUs.
 *
 * Return: true if so.
 */
bool vrq_overloaded(struct rq *rq, const struct task_struct *p)
{
	unsigned int cpus;
	u64 weight = weight_on_cpus_of(p, &cpus);

	return overloaded(rq, p, weight, cpus);
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
	if (wait > 0)
		p->vrq.waited += wait;
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

/*
 * A task's slice, and what it has until its deadline, for another rr_interval: else
 * those that wait with deadlines of a long one would do so until all the others
 * have caught up with them. A deadline that has passed stays.
 */
static void rescale(struct rq *rq, struct task_struct *p, unsigned int to)
{
	unsigned int from = p->vrq.rr_ms;
	s64 ahead = p->vrq.deadline - rq_clock(rq);

	if (likely(from == to))
		return;

	if (ahead > 0)
		p->vrq.deadline = rq_clock(rq) + div_s64(ahead * to, from);
	p->vrq.slice = div_s64(p->vrq.slice * to, from);
	p->vrq.span = div_u64(p->vrq.span * to, from);
	p->vrq.rr_ms = to;
}

/**
 * vrq_renew_slice - give a task its next slice and deadline
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task
 *
 * Goes through the CPUs that the task may use: once in a slice, and lines that
 * change as often. The slack is one turn of a nice 0 task.
 */
void vrq_renew_slice(struct rq *rq, struct task_struct *p)
{
	unsigned int cpus, nice_index = vrq_nice_index(p), rr_ms = vrq_rr_ms();
	u64 rr_ns = (u64)rr_ms * NSEC_PER_MSEC;
	u64 weight = weight_on_cpus_of(p, &cpus);
	u64 spread = weight_when_spread(p, weight, cpus);
	u64 slack = vrq_span(rr_ns, VRQ_NICE_0, spread, cpus);
	s64 late = rq_clock(rq) - p->vrq.deadline;
	/*
	 * What others were late by is nothing to one that is on time, or late
	 * because it slept: that one may save up as much as they, but its own
	 * turn does not get longer
	 */
	s64 kept_waiting = min_t(s64, late, p->vrq.waited);
	u64 factor = vrq_underrated(min(kept_waiting, rq->vrq.late), slack);

	slack = slack * vrq_underrated(rq->vrq.late, slack) >> 10;
	late = clamp(late, -(s64)slack, 2 * (s64)slack);
	rq->vrq.late += (late - rq->vrq.late) >> 4;

	p->vrq.waited = 0;
	p->vrq.rr_ms = rr_ms;
	p->vrq.slice += rr_ns;
	if (p->vrq.slice <= 0)	/* hours in a hypervisor: start again */
		p->vrq.slice = rr_ns;

	p->vrq.span = vrq_span(rr_ns, nice_index, spread, cpus) * factor >> 10;
	p->vrq.deadline = vrq_next_deadline(p->vrq.deadline, rq_clock(rq),
					    p->vrq.span, slack, rq->vrq.late);
	p->vrq.roams = overloaded(rq, p, weight, cpus);
	p->vrq.margin = vrq_preempt_margin();
	p->vrq.prio = p->prio;
	p->vrq.promoted = false;
	p->vrq.level = vrq_policy_level(p);
	trace_sched_vrq_renew(p);
}

/**
 * vrq_forget_late - the CPU has been idle: nobody was late for want of it
 * @rq: its run queue, locked, its clock updated
 *
 * By a factor of e in 64 ms or so.
 */
void vrq_forget_late(struct rq *rq)
{
	s64 idle_ms = (rq_clock(rq) - rq->vrq.idle_since) >> 20;

	rq->vrq.late -= rq->vrq.late * min(idle_ms, 64LL) >> 6;
}

/**
 * vrq_defer - let others have the turn of a task that called sched_yield()
 * @rq: the run queue of @p, locked, its clock updated
 * @p: the task, running
 * @last: the task with the latest deadline of those who wait for this CPU
 *
 * It goes behind them. Otherwise two tasks that yield while they wait for a third
 * would run in turns, both ahead of the third. For a nicer one it waits no longer
 * than three turns.
 */
void vrq_defer(struct rq *rq, struct task_struct *p,
	       const struct task_struct *last)
{
	u64 behind = last->vrq.deadline;

	if (last->vrq.weight < p->vrq.weight)
		behind = min(behind, rq_clock(rq) + 3 * p->vrq.span);

	p->vrq.deadline = max(p->vrq.deadline, behind);
}

/**
 * vrq_fork_slice - the first slice of a new task
 * @rq: the run queue of @parent, locked, its clock updated
 * @parent: the running task, its slice accounted up to now
 * @child: the new task, not yet visible to anybody
 *
 * The child gets half of what its parent has left, and the parent's deadline,
 * so that nobody gains CPU time by forking. The idea is that of BFS. What the
 * parent has saved up by sleeping it inherits up to one turn only.
 */
void vrq_fork_slice(struct rq *rq, struct task_struct *parent,
		    struct task_struct *child)
{
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
	child->vrq.margin = vrq_preempt_margin();
	child->vrq.prio = parent->vrq.prio;
	child->vrq.level = vrq_policy_level(child);
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
	rescale(rq, p, vrq_rr_ms());

	if (p->vrq.prio != p->prio) {
		unsigned int from = clamp(p->vrq.prio - MAX_RT_PRIO, 0,
					  VRQ_NICE_WIDTH - 1);

		p->vrq.deadline = vrq_rescale_deadline(p->vrq.deadline,
						       rq_clock(rq), from,
						       vrq_nice_index(p));
		p->vrq.prio = p->prio;
	}

	vrq_iso_account(rq, p, 0);
	p->vrq.level = vrq_policy_level(p);
	if (p->vrq.promoted)
		p->vrq.level = task_has_idle_policy(p) ? VRQ_NORMAL : VRQ_ISO;
	p->vrq.weight = p->vrq.level == VRQ_IDLE ?
			0 : vrq_weight(vrq_nice_index(p));
	p->vrq.anywhere = vrq_confined(p) ? 0 : p->vrq.weight;

	if (p->vrq.slice <= 0)
		vrq_renew_slice(rq, p);
}
