// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduling class: what the core calls, in terms of the other files.
 *
 * How mainline's accounting sees VRQ: rq->cfs, which no task of the fair class
 * uses under sched=vrq, has h_nr_queued, curr and the load average of VRQ's
 * tasks, so that schedutil, the deadline server and idle entry find what they
 * look for.
 */
#include "core.h"
#include "../stats.h"
#include "choose.h"
#include "even.h"
#include "expire.h"
#include "hot.h"
#include "idle.h"
#include "iso.h"
#include "load.h"
#include "pick.h"
#include "place.h"
#include "search.h"
#include "smt.h"
#include "spread.h"
#include "steal.h"
#include "throttle.h"
#include "trace.h"
#include "util.h"
#include "wakeup.h"

static void account_queued(struct rq *rq, struct task_struct *p, int sign)
{
	rq->cfs.h_nr_queued += sign;
	/* Groups of the fair class that wait to be dequeued are in it too, see switch.c */
	rq->cfs.load.weight += sign * NICE_0_LOAD;
	vrq_load_add(rq, p, sign);
	vrq_group_add(rq, p, sign);
}

/* Update a queued task: the sums that it is part of contain it all the time */
static void update_queued(struct rq *rq, struct task_struct *p)
{
	struct vrq_counts before = vrq_counts_of(p);

	vrq_update_entity(rq, p);
	vrq_load_recount(rq, p, &before);
	vrq_group_recount(rq, p, &before);
}

static void publish_key(struct rq *rq, struct task_struct *p)
{
	atomic64_set(&rq->vrq.priodl, vrq_key(p));
	vrq_smt_runs(rq, p);
}

static void update_curr_vrq(struct rq *rq)
{
	s64 delta = update_curr_common(rq);

	if (delta <= 0)
		return;

	vrq_curr(rq)->vrq.slice -= delta;
	vrq_iso_account(rq, vrq_curr(rq), delta);
	vrq_limit_charge(rq, vrq_curr(rq), delta);
	if (dl_server_active(&rq->fair_server))
		dl_server_update(&rq->fair_server, delta);
}

/*
 * If a VRQ task has to wait for a task of a higher class, start the deadline server. The
 * server stops by itself when it finds nothing to run. Mainline keeps it running whenever a
 * fair task is queued, which makes every switch from and to idle more expensive.
 *
 * A server that may still run would be queued at once and ask for a resched, which is lost if
 * this is called inside a pick. So the server starts anew, deferred, and its timer asks for
 * the resched.
 */
static void start_server(struct rq *rq, struct task_struct *curr)
{
	struct sched_dl_entity *server = &rq->fair_server;

	if (!rq->cfs.h_nr_queued || !(rt_task(curr) || dl_task(curr)) ||
	    dl_server_active(server))
		return;

	server->dl_defer_running = 0;
	dl_server_start(server);
}

static void enqueue_task_vrq(struct rq *rq, struct task_struct *p, int flags)
{
	struct task_struct *curr = vrq_curr(rq);

	if (curr == p)
		update_curr_vrq(rq);
	if (flags & ENQUEUE_WAKEUP)
		vrq_request(rq, p);
	vrq_update_entity(rq, p);

	if (schedstat_enabled() && curr != p) {
		if (flags & ENQUEUE_WAKEUP)
			__update_stats_enqueue_sleeper(rq, p, &p->stats);
		__update_stats_wait_start(rq, p, &p->stats);
	}

	if (!rq->cfs.h_nr_queued)
		vrq_update_util(rq);
	if (p->in_iowait)
		cpufreq_update_util(rq, SCHED_CPUFREQ_IOWAIT);
	if (p->vrq.place != VRQ_PICKED && curr != p) {
		vrq_place(rq, p);
		/*
		 * The core leaves the resched to the caller of enqueue_task(). A throttled
		 * task was not queued before
		 */
		if (unlikely(curr == rq->idle) && !(flags & ENQUEUE_WAKEUP))
			resched_curr(rq);
	}
	p->vrq.queued = true;
	account_queued(rq, p, 1);
	add_nr_running(rq, 1);
	/* The first start reserves its bandwidth, as early as in mainline */
	if (unlikely(!rq->fair_server.dl_server))
		dl_server_start(&rq->fair_server);
	start_server(rq, curr);
}

static void update_stats_dequeue(struct rq *rq, struct task_struct *p, int flags)
{
	unsigned int state = READ_ONCE(p->__state);

	if (vrq_curr(rq) != p)
		__update_stats_wait_end(rq, p, &p->stats);

	if (!(flags & DEQUEUE_SLEEP))
		return;
	if (state & TASK_INTERRUPTIBLE)
		__schedstat_set(p->stats.sleep_start, rq_clock(rq));
	if (state & TASK_UNINTERRUPTIBLE)
		__schedstat_set(p->stats.block_start, rq_clock(rq));
}

static bool dequeue_task_vrq(struct rq *rq, struct task_struct *p, int flags)
{
	if (unlikely(p->vrq.place == VRQ_THROTTLED)) {
		vrq_throttle_out(rq, p);
		return true;
	}

	if (vrq_curr(rq) == p) {
		update_curr_vrq(rq);
		if (flags & DEQUEUE_SLEEP) {
			vrq_note_sleep(rq, p);
			vrq_note_burst(rq, p);
			p->vrq.wait_shared = false;
			/* It holds nothing that others wait for, and need not go before them */
			if (p->vrq.level == VRQ_ISO || p->vrq.since)
				p->vrq.promoted = false;
		}
	} else if (p->vrq.place == VRQ_PICKED) {
		vrq_note_wait(rq, p);
	} else {
		trace_sched_vrq_dequeue(p);
		vrq_end_wait(rq, p);
	}

	if (schedstat_enabled())
		update_stats_dequeue(rq, p, flags);

	if (rq->cfs.h_nr_queued == 1)
		vrq_update_util(rq);
	p->vrq.queued = false;
	p->vrq.yielded = false;
	account_queued(rq, p, -1);
	sub_nr_running(rq, 1);

	return true;
}

static void set_next_task_vrq(struct rq *rq, struct task_struct *p, bool first)
{
	vrq_end_wait(rq, p);
	p->vrq.place = VRQ_ON_CPU;
	p->se.exec_start = rq_clock_task(rq);
	publish_key(rq, p);
	vrq_throttle_check(rq, p);
	if (first) {
		vrq_scost_switch_in(rq, p);
		if (schedstat_enabled())
			__update_stats_wait_end(rq, p, &p->stats);
	} else if (vrq_somebody_waits(rq, vrq_key(p))) {
		/* The core has changed the running task: another task may have to run now */
		resched_curr(rq);
	}

	if (!rq->cfs.curr)
		vrq_update_util(rq);
	rq->cfs.curr = &p->se;
}

static void put_prev_task_vrq(struct rq *rq, struct task_struct *p,
			      struct task_struct *next)
{
	update_curr_vrq(rq);
	vrq_scost_switch_out(rq, p);
	if (likely(p->vrq.place != VRQ_THROTTLED))
		p->vrq.place = VRQ_NOWHERE;

	if (!next || !vrq_task(next)) {
		vrq_update_util(rq);
		rq->cfs.curr = NULL;
		if (!vrq_smt_gave_way(rq))
			atomic64_set(&rq->vrq.priodl, 0);
		vrq_smt_runs(rq, NULL);
	}

	/* The core is changing the running task, which goes on and does not have to wait */
	if (!next)
		return;

	if (!vrq_task(next)) {
		vrq_flush_slot(rq);
		start_server(rq, next);
	}

	if (!p->vrq.queued)
		return;

	if (schedstat_enabled())
		__update_stats_wait_start(rq, p, &p->stats);
	vrq_place(rq, p);
}

/* The next slice of the running task, and others' turn if they are due */
static void renew_curr(struct rq *rq, struct task_struct *curr)
{
	vrq_renew_slice(rq, curr);
	update_queued(rq, curr);
	publish_key(rq, curr);
	if (vrq_somebody_waits(rq, vrq_key(curr)))
		resched_curr(rq);
	vrq_look_at_others(rq, curr);
}

static void task_tick_vrq(struct rq *rq, struct task_struct *p, int queued)
{
	if (!test_tsk_need_resched(p) && !in_serving_softirq())
		WRITE_ONCE(rq->vrq.ticks, rq->vrq.ticks + 1);
	update_curr_vrq(rq);
	vrq_update_util(rq);
	/* It is about to be switched out, see throttle() */
	if (unlikely(p->vrq.place == VRQ_THROTTLED))
		return;
	vrq_throttle_check(rq, p);
	vrq_promote_starved(rq);

	vrq_expire_slot(rq);
	vrq_smt_tick(rq);
	vrq_spread_tick(rq);
	/* What its level counts as may have changed */
	if (unlikely(p->vrq.level == VRQ_ISO))
		publish_key(rq, p);

	if (p->vrq.slice <= 0 && p->vrq.requested) {
		vrq_extend_slice(p);
		publish_key(rq, p);
	}
	if (p->vrq.slice <= 0)
		renew_curr(rq, p);
	else if (vrq_better_waits(rq, p) || vrq_far_task_waits(rq, p))
		resched_curr(rq);
}

/* A task that forks with less left than a slice divided by this gets its next slice */
#define FORK_MIN_PART	64

static void task_fork_vrq(struct task_struct *child)
{
	struct rq *rq = this_rq();
	struct task_struct *parent;
	struct rq_flags rf;

	rq_lock(rq, &rf);
	update_rq_clock(rq);
	parent = vrq_curr(rq);
	if (vrq_task(parent)) {
		update_curr_vrq(rq);
		vrq_whole_slice(parent);
		/* It has to pay for what the child gets */
		if (parent->vrq.slice < (s64)vrq_rr_ns() / FORK_MIN_PART)
			renew_curr(rq, parent);
	}
	vrq_fork_slice(rq, parent, child);
	__vrq_note_waker(child);
	vrq_scost_switch_out(rq, child);
	rq_unlock(rq, &rf);
}

/*
 * The current task gives up the rest of its slice. If it has hardly used any of the slice,
 * nothing is done: the task would lose a turn for nothing. This early end of a slice must not
 * change what the run queue has learnt about how late tasks use up their slices.
 */
static void expire_curr(struct rq *rq, struct task_struct *curr)
{
	s64 late = atomic64_read(&rq->vrq.lateness), slice_ns = vrq_slice_ns(curr);

	update_rq_clock(rq);
	update_curr_vrq(rq);
	if (curr->vrq.slice > slice_ns - slice_ns / 64)
		return;

	vrq_whole_slice(curr);
	curr->vrq.slice = min(curr->vrq.slice, 0LL);
	renew_curr(rq, curr);
	atomic64_set(&rq->vrq.lateness, late);
}

static void yield_task_vrq(struct rq *rq)
{
	struct task_struct *curr = vrq_curr(rq);

	switch (READ_ONCE(vrq_yield_type)) {
	case VRQ_YIELD_GIVE_WAY:
		curr->vrq.yielded = true;
		break;
	case VRQ_YIELD_EXPIRE:
		expire_curr(rq, curr);
		break;
	}
}

/* Let @p go before the current task, wherever it is looked for next */
static bool yield_to_task_vrq(struct rq *rq, struct task_struct *p)
{
	struct task_struct *curr = vrq_curr(rq);
	struct rq *home = task_rq(p);

	if (!p->vrq.queued || p->vrq.place == VRQ_ON_CPU)
		return false;

	update_rq_clock(home);
	vrq_end_wait(home, p);
	vrq_lend_deadline(curr, p, rq_clock(home));
	publish_key(rq, curr);
	vrq_place(home, p);
	curr->vrq.yielded = true;

	return true;
}

static void prio_changed_vrq(struct rq *rq, struct task_struct *p, int oldprio)
{
	if (!task_on_rq_queued(p))
		return;

	/* For the running task set_next_task() has seen to it */
	if (vrq_curr(rq) != p)
		wakeup_preempt(rq, p, 0);
}

/* The task comes from another class, of which tasks may wait for this CPU */
static void switched_to_vrq(struct rq *rq, struct task_struct *p)
{
	if (!task_on_rq_queued(p))
		return;

	if (vrq_curr(rq) == p)
		resched_curr(rq);
	else
		wakeup_preempt(rq, p, 0);
}

/* The running task may have got a higher class, without a switch */
static void switched_from_vrq(struct rq *rq, struct task_struct *p)
{
	if (vrq_curr(rq) != p)
		return;

	vrq_flush_slot(rq);
	start_server(rq, p);
}

static unsigned int get_rr_interval_vrq(struct rq *rq, struct task_struct *p)
{
	/* A slice ends at a tick. By as much as that is too late, the next slice is shorter */
	return nsecs_to_jiffies(vrq_slice_ns(p) + TICK_NSEC - 1);
}

#ifdef CONFIG_SMP
/* Also called, at once followed by rq_online(), when root domains are rebuilt */
static void rq_offline_vrq(struct rq *rq)
{
	if (cpu_active(cpu_of(rq)))
		return;

	vrq_clear_idle(rq);
	vrq_throttle_offline(rq);
}

static void set_cpus_allowed_vrq(struct task_struct *p, struct affinity_context *ctx)
{
	set_cpus_allowed_common(p, ctx);
	vrq_note_affinity(p);
}

/* The task is about to be moved to another CPU */
static void migrate_task_rq_vrq(struct task_struct *p, int new_cpu)
{
	const struct vrq_domain *from = vrq_domain_of(task_cpu(p));
	const struct vrq_domain *to = vrq_domain_of(new_cpu);

	if (likely(from == to))
		return;

	vrq_count(from->node == to->node ? VRQ_MOVED_DOMAIN : VRQ_MOVED_NODE);
}
#endif

/* For the watchdog: has this CPU switched since the last one? */
static void count_tick(struct rq *rq)
{
	rq->vrq.ticks_alike++;
	if (rq->vrq.seen_switches == rq->nr_switches)
		return;

	rq->vrq.seen_switches = rq->nr_switches;
	rq->vrq.ticks_alike = 0;
}

/**
 * __vrq_tick - the tick, whatever runs
 * @rq: the run queue of this CPU, locked, its clock updated
 */
void __vrq_tick(struct rq *rq)
{
	count_tick(rq);
	/* The server may have stopped because it could not lock the run queue of any task */
	start_server(rq, vrq_curr(rq));
	vrq_load_tick(cpu_of(rq));
	vrq_group_tick();
	vrq_advance_waiting(rq);
	vrq_expire(rq);
	vrq_kick_again(rq);
	vrq_age_idle(rq);
}

/**
 * __vrq_idle_exit - the idle task is switched out
 * @rq: the run queue of this CPU, locked
 * @next: what runs next; the preempt task cannot wait for one of another class
 */
void __vrq_idle_exit(struct rq *rq, struct task_struct *next)
{
	vrq_smt_idle_exit(rq);
	vrq_leave_idle(rq);
	if (next && !vrq_task(next)) {
		vrq_flush_slot(rq);
		start_server(rq, next);
	}
}

#ifdef CONFIG_FAIR_GROUP_SCHED
/*
 * The task is in no queue, and the clock of its run queue is updated. The task need not wait
 * for a deadline that comes from its old group. What the task counts for there in advance
 * stays there.
 */
static void task_change_group_vrq(struct task_struct *p)
{
	set_task_rq(p, task_cpu(p));
	p->vrq.ahead_until = 0;
	p->vrq.waited_awake = 0;
	vrq_advance_deadline(task_rq(p), p);
}
#endif

DEFINE_SCHED_CLASS(vrq) = {
	.enqueue_task		= enqueue_task_vrq,
	.dequeue_task		= dequeue_task_vrq,
	.yield_task		= yield_task_vrq,
	.yield_to_task		= yield_to_task_vrq,

	.wakeup_preempt		= vrq_wakeup_preempt,

	.pick_task		= vrq_pick_task,
	.put_prev_task		= put_prev_task_vrq,
	.set_next_task		= set_next_task_vrq,

#ifdef CONFIG_SMP
	.select_task_rq		= vrq_select_task_rq,
	.migrate_task_rq	= migrate_task_rq_vrq,
	.set_cpus_allowed	= set_cpus_allowed_vrq,
	.rq_offline		= rq_offline_vrq,
#endif

	.task_tick		= task_tick_vrq,
	.task_fork		= task_fork_vrq,

	.prio_changed		= prio_changed_vrq,
	.switched_from		= switched_from_vrq,
	.switched_to		= switched_to_vrq,

	.get_rr_interval	= get_rr_interval_vrq,

	.update_curr		= update_curr_vrq,

#ifdef CONFIG_FAIR_GROUP_SCHED
	.task_change_group	= task_change_group_vrq,
#endif

#ifdef CONFIG_UCLAMP_TASK
	.uclamp_enabled		= 1,
#endif
};
