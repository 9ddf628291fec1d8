// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of the scheduler at boot.
 */
#include <linux/init.h>

#include "domain.h"
#include "even.h"
#include "queue.h"
#include "search.h"
#include "shared.h"
#include "throttle.h"
#include "tunables.h"

DEFINE_STATIC_KEY_FALSE(__sched_vrq_enabled);

static bool vrq_chosen __initdata = IS_ENABLED(CONFIG_SCHED_VRQ_DEFAULT);

static int __init choose_scheduler(char *name)
{
	if (name && !strcmp(name, "vrq"))
		vrq_chosen = true;
	else if (name && !strcmp(name, "fair"))
		vrq_chosen = false;
	else
		pr_warn("sched: sched=%s is neither vrq nor fair, the default is %s\n",
			name ?: "", vrq_chosen ? "vrq" : "fair");

	return 0;
}
early_param("sched", choose_scheduler);

/**
 * vrq_init - switch to the chosen scheduler
 *
 * Called by sched_init(), ahead of the first task that is not the idle task.
 */
void __init vrq_init(void)
{
	WARN_ON(!sched_class_above(&rt_sched_class, &vrq_sched_class));
	WARN_ON(!sched_class_above(&vrq_sched_class, &fair_sched_class));

	vrq_domain_init();
	vrq_shared_init();
	if (vrq_chosen)
		static_branch_enable(&__sched_vrq_enabled);

	pr_info("sched: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE are scheduled by %s\n",
		vrq_active_name());
}

/**
 * vrq_init_rq - prepare a run queue at boot
 * @rq: the run queue
 */
void __init vrq_init_rq(struct rq *rq)
{
	vrq_queue_init(&rq->vrq.queue);
	vrq_queue_init(&rq->vrq.pinned);
	vrq_search_init_rq(rq);
	vrq_even_init_rq(rq);
	vrq_throttle_init_rq(rq);
}

/**
 * vrq_init_entity - make a new task's entity, a copy of its parent's, empty
 * @p: the task
 */
void vrq_init_entity(struct task_struct *p)
{
	bool was_iso = p->vrq.was_iso && !p->sched_reset_on_fork;

	memset(&p->vrq, 0, sizeof(p->vrq));
	p->vrq.rr_ms = vrq_rr_ms();
	p->vrq.was_iso = was_iso;
}

/**
 * vrq_refuse - turn down what cannot work together with VRQ
 * @what: the feature, for the log
 *
 * Return: 0 under sched=fair, -EOPNOTSUPP under sched=vrq.
 */
int vrq_refuse(const char *what)
{
	if (!sched_vrq_enabled())
		return 0;

	pr_warn_ratelimited("sched: %s is not available under sched=vrq\n",
			    what);
	return -EOPNOTSUPP;
}
