// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pick: the next task of a CPU is the best of what waits here or, if that is not worth
 * much, of what waits elsewhere.
 */
#include "choose.h"
#include "even.h"
#include "pick.h"
#include "place.h"
#include "search.h"
#include "smt.h"
#include "spread.h"
#include "steal.h"

/* Count where @p came from. A task that was taken from elsewhere is counted already */
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
	struct task_struct *p = vrq_choose(rq, vrq_leaves_core(rq), &missed);
	struct task_struct *other = NULL;

	if (!p)
		return NULL;
	if (p->vrq.place != VRQ_PICKED) {
		other = vrq_pull(rq, p, &missed);
		if (!other && p->vrq.level == VRQ_IDLE)
			other = vrq_take_from_others(rq, VRQ_NORMAL, &missed);
	}
	p = other ?: p;
	note_place(p, missed);
	rq->vrq.missed = missed;

	/* The task in the slot is passed over here: another CPU may run it sooner */
	if (p != rq->vrq.slot && p->vrq.place != VRQ_ON_CPU)
		vrq_flush_slot(rq);

	return p;
}

/*
 * This CPU is not to run @p for now, see smt.c, but other CPUs may run it. If this CPU was not
 * idle, @p may be its current task, which the core puts back.
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
	/* Without a tick this CPU does not kick again for what waits here */
	vrq_kick_again(rq);
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
	struct task_struct *p = choose(rq) ?: vrq_search(rq);

	if (p && vrq_smt_gives_way(rq, p)) {
		give_way(rq, p);
		return NULL;
	}
	/* What it gave way with may have gone to another CPU */
	if (!p)
		vrq_smt_idle_exit(rq);

	return p;
}

/**
 * vrq_server_pick_task - choose the task to run on behalf of the deadline server
 * @server: the server of SCHED_NORMAL in a run queue that is locked
 *
 * Return: as vrq_pick_task(), but after NULL a higher class runs, and the CPU is not idle.
 */
struct task_struct *vrq_server_pick_task(struct sched_dl_entity *server)
{
	return choose(server->rq);
}
