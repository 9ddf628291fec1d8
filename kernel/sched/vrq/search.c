// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU that has nothing to do: where it looks for a task before it idles, and the kick by
 * which others tell it that one waits. How no wake-up is lost is said in place.h. Built with
 * CONFIG_SMP only.
 */
#include "choose.h"
#include "idle.h"
#include "place.h"
#include "search.h"
#include "shared.h"
#include "steal.h"
#include "util.h"

/* Take the task for which this CPU was kicked, if it is still there */
static struct task_struct *take_kicked_for(struct rq *rq, int kicked_for,
					   bool *missed)
{
	if (kicked_for == VRQ_NOT_KICKED || !cpu_active(cpu_of(rq)))
		return NULL;
	if (kicked_for > VRQ_NOT_KICKED)
		return vrq_take_offered(rq, kicked_for, VRQ_IDLE, VRQ_KEY_NONE, missed);

	return vrq_take_shared(rq, vrq_domain_led_by(vrq_kicked_for_domain(kicked_for)),
			       VRQ_KEY_NONE, missed);
}

/*
 * Kick another idle CPU for the task that this one was kicked for. Nothing happens if the task
 * no longer waits. A run queue that is locked is passed over, because its CPU kicks again at
 * its next tick.
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

/* Read and clear what this CPU was kicked for */
static int was_kicked_for(struct rq *rq)
{
	if (READ_ONCE(rq->vrq.kicked_for) == VRQ_NOT_KICKED)
		return VRQ_NOT_KICKED;

	return xchg(&rq->vrq.kicked_for, VRQ_NOT_KICKED);
}

/*
 * Runs on the kicked CPU with interrupts off, so never in the middle of its __schedule(). If
 * another CPU set the flag instead, __schedule() could clear it after it has looked for tasks
 * for the last time. If the CPU is no longer idle, it hands the kick on to another one.
 */
static void kicked(struct irq_work *work)
{
	struct rq *rq = this_rq();

	/* Not is_idle_task(), which a thread that injects idle time is, too */
	if (current == rq->idle) {
		set_tsk_need_resched(current);
		set_preempt_need_resched();
	} else {
		pass_kick_on(NULL, was_kicked_for(rq));
	}
}

/**
 * vrq_search_init_rq - prepare a run queue at boot
 * @rq: the run queue
 */
void __init vrq_search_init_rq(struct rq *rq)
{
	rq->vrq.kick = IRQ_WORK_INIT_HARD(kicked);
	rq->vrq.kicked_for = VRQ_NOT_KICKED;
}

/**
 * vrq_leave_idle - this CPU has found something to do
 * @rq: its run queue, locked
 *
 * If this CPU was kicked, now or earlier, that may have been for another task than the one it
 * has found. So it passes the kick on.
 */
void vrq_leave_idle(struct rq *rq)
{
	vrq_forget_lateness(rq);
	vrq_clear_idle(rq);
	pass_kick_on(rq, was_kicked_for(rq));
}

/* Called after the switch to the idle task. Pick again: the locks were held only briefly */
static void pick_again(struct rq *rq)
{
	resched_curr(rq);
}

/*
 * Nothing waits here: look for what waits for other CPUs or in other domains. If the task that
 * this CPU was kicked for is behind a lock, the next look tries it again, because else this CPU
 * may not come across it.
 */
static struct task_struct *look_elsewhere(struct rq *rq, bool *missed)
{
	int kicked_for = was_kicked_for(rq);
	bool locked = false;
	struct task_struct *p = take_kicked_for(rq, kicked_for, &locked);

	if (p)
		return p;

	p = vrq_take_from_others(rq, VRQ_NORMAL, missed) ?:
	    vrq_take_from_others(rq, VRQ_IDLE, missed);
	if (p || !cpu_active(cpu_of(rq)))
		pass_kick_on(rq, kicked_for);
	else if (locked)
		cmpxchg(&rq->vrq.kicked_for, VRQ_NOT_KICKED, kicked_for);
	*missed |= locked;

	return p;
}

/* Nothing waits for this CPU alone: take from the shared queue of its domain, or elsewhere */
static struct task_struct *look_everywhere(struct rq *rq, bool *missed)
{
	struct task_struct *p = NULL;

	if (!cpu_active(cpu_of(rq)) ||
	    vrq_shared_best_key(cpu_of(rq)) != VRQ_KEY_NONE)
		p = vrq_take_shared(rq, vrq_domain_of(cpu_of(rq)), VRQ_KEY_NONE,
				    missed);

	return p ?: look_elsewhere(rq, missed);
}

/**
 * vrq_search - find a task where nothing waits for this CPU
 * @rq: its run queue, locked, its clock updated
 *
 * Looks elsewhere. If there is nothing either, the CPU says that it is idle and looks once
 * more, see place.h. Most CPUs find something the first time. If they said that they are idle
 * before, other CPUs would send them tasks and kicks meanwhile, on 64 CPUs beside hackbench 37
 * for each CPU that does get idle. Only a CPU that goes down looks for the tasks whose home it
 * is, so it looks under the lock.
 *
 * Return: the task, VRQ_PICKED, at home here; or NULL, and then the CPU counts as idle.
 */
struct task_struct *vrq_search(struct rq *rq)
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
		/*
		 * If it was idle, __vrq_idle_exit() does so when the idle task is switched out
		 */
		if (!was_idle)
			vrq_leave_idle(rq);
		return p;
	}

	vrq_note_pick(NULL, VRQ_PICK_NONE, missed);
	if (missed && cpu_active(cpu_of(rq))) {
		/*
		 * This CPU counts as claimed until it picks again: a task of another class may
		 * come first
		 */
		vrq_clear_idle(rq);
		queue_balance_callback(rq, &rq->vrq.retry, pick_again);
	}
	vrq_age_idle(rq);

	return NULL;
}

/**
 * vrq_kick_again - kick an idle CPU once more for what stays where it is
 * @rq: the run queue of this CPU, locked
 *
 * For the tick, see place.h.
 */
void vrq_kick_again(struct rq *rq)
{
	if (!vrq_any_idle(vrq_domain_of(cpu_of(rq))))
		return;

	vrq_kick_for_queue(rq);
	vrq_shared_kick(vrq_domain_of(cpu_of(rq)));
}
