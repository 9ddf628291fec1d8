// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requeue all tasks, or all tasks of a group, so that a changed setting takes effect at once.
 */
#include <linux/sched/signal.h>

#include "group.h"
#include "requeue.h"

#ifdef CONFIG_FAIR_GROUP_SCHED
/* Is a task in a group? Without the lock of its run queue a hint */
static bool is_within(const struct task_struct *p, const struct vrq_group *group)
{
	const struct vrq_group *own = READ_ONCE(p->sched_task_group)->vrq;

	return !group || (own && vrq_group_within(own, group));
}
#else
static bool is_within(const struct task_struct *p, const struct vrq_group *group)
{
	return true;
}
#endif

/* Requeue a task: vrq_update_entity() applies the change. A throttled task is in no queue */
static void requeue(struct task_struct *p)
{
	bool running;
	struct rq *rq;

	CLASS(task_rq_lock, rq_guard)(p);
	/* sparse does not know that the guard unlocks */
	__release(p->pi_lock);
	__release(rq_guard.rq->lock);
	rq = rq_guard.rq;
	if (!vrq_task(p) || !task_on_rq_queued(p) || p->vrq.place == VRQ_THROTTLED)
		return;

	update_rq_clock(rq);
	running = vrq_curr(rq) == p;
	dequeue_task(rq, p, DEQUEUE_SAVE | DEQUEUE_NOCLOCK);
	if (running)
		p->sched_class->put_prev_task(rq, p, NULL);
	enqueue_task(rq, p, ENQUEUE_RESTORE | ENQUEUE_NOCLOCK);
	if (running)
		p->sched_class->set_next_task(rq, p, false);
	p->sched_class->prio_changed(rq, p, p->prio);
}

/**
 * vrq_requeue_all - let all tasks that are queued see what has changed
 * @group: only those in this group and in the groups in it; NULL for all
 *
 * All others see it when they are next queued: those that sleep, are being forked,
 * or are of a higher class for now.
 */
void vrq_requeue_all(struct vrq_group *group)
{
	struct task_struct *g, *p;

	/* A task that is queued from now on sees the new value, or is found below */
	smp_mb();
	rcu_read_lock();
	for_each_process_thread(g, p) {
		if (is_within(p, group))
			requeue(p);
	}
	rcu_read_unlock();
}

#ifdef CONFIG_FAIR_GROUP_SCHED
/**
 * vrq_group_idle_changed - cpu.idle of a group has been written
 * @tg: the group
 *
 * What tasks count as, in it and in the groups in it, changes at once. Under the fair class
 * there is nothing to do: a switch looks at all groups.
 */
void vrq_group_idle_changed(struct task_group *tg)
{
	if (!tg->vrq || !sched_vrq_enabled())
		return;

	vrq_group_note_settings();
	vrq_requeue_all(tg->vrq);
}
#endif
