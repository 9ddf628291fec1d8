// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the log is told of a task that is not run: where it waits, and what there is on
 * the CPUs that may run it.
 *
 * Everything is read under its lock and printed afterwards: a console may wake up tasks.
 */
#include <linux/ftrace.h>
#include <linux/sched/clock.h>
#include <linux/sched/debug.h>

#include "counters.h"
#include "choose.h"
#include "report.h"
#include "shared.h"
#include "trace.h"

/* The log is told of so many CPUs at the most */
#define CPUS_MAX	16

static const char *place_name(unsigned int place)
{
	static const char * const names[] = {
		[VRQ_NOWHERE]	= "no queue",
		[VRQ_ON_CPU]	= "no queue, it runs",
		[VRQ_THROTTLED]	= "the list of a group that is throttled",
		[VRQ_PICKED]	= "no queue, it is picked",
		[VRQ_IN_SLOT]	= "the preempt slot of its CPU",
		[VRQ_PINNED]	= "the queue of its CPU for tasks that may run nowhere else",
		[VRQ_IN_QUEUE]	= "the queue of its CPU",
		[VRQ_IN_SHARED]	= "the shared queue of its domain",
	};

	return place < ARRAY_SIZE(names) ? names[place] : "a place that does not exist";
}

static const char *level_name(unsigned int level)
{
	static const char * const names[] = {
		[VRQ_ISO]	= "SCHED_ISO",
		[VRQ_NORMAL]	= "normal",
		[VRQ_IDLE]	= "SCHED_IDLE",
	};

	return level < ARRAY_SIZE(names) ? names[level] : "none";
}

/* From now to @when, ms */
static s64 ms_until(u64 when)
{
	return div_s64(when - local_clock(), NSEC_PER_MSEC);
}

static void report_task(struct task_struct *p)
{
	struct sched_vrq_entity entity;
	int cpu, policy;

	scoped_guard(task_rq_lock, p) {
		entity = p->vrq;
		cpu = task_cpu(p);
		policy = p->policy;
	}

	pr_warn("sched: vrq:   it waits in %s, CPU %d, level %s%s, policy %d, nice %d\n",
		place_name(entity.place), cpu, level_name(entity.level),
		entity.promoted ? " (promoted)" : "", policy, task_nice(p));
	pr_warn("sched: vrq:   deadline in %lld ms, span %lld ms, slice %lld us, weight %u of %u, CPUs %*pbl\n",
		ms_until(entity.deadline), div_s64(entity.span, NSEC_PER_MSEC),
		div_s64(entity.slice, NSEC_PER_USEC), entity.weight, entity.own_weight,
		cpumask_pr_args(p->cpus_ptr));
}

/* The deadline in a key, ms from now */
static s64 ms_until_key(s64 key)
{
	return ms_until(key & ((1ULL << VRQ_KEY_LEVEL_SHIFT) - 1));
}

#define KEY_TEXT	48

static const char *key_text(char *text, s64 key)
{
	if (key == VRQ_KEY_NONE)
		return "empty";

	snprintf(text, KEY_TEXT, "%s, deadline in %lld ms",
		 level_name(key >> VRQ_KEY_LEVEL_SHIFT), ms_until_key(key));

	return text;
}

static void report_cpu(int cpu)
{
	unsigned int nr_running, nr_vrq;
	struct rq *rq = cpu_rq(cpu);
	char comm[TASK_COMM_LEN], here[KEY_TEXT], shared[KEY_TEXT];
	pid_t curr, slot;
	u64 switches;
	s64 key;

	scoped_guard(rq_lock_irqsave, rq) {
		curr = vrq_curr(rq)->pid;
		strscpy(comm, vrq_curr(rq)->comm);
		slot = rq->vrq.slot ? rq->vrq.slot->pid : 0;
		nr_running = rq->nr_running;
		nr_vrq = rq->cfs.h_nr_queued;
		switches = rq->nr_switches;
		key = vrq_best_key_here(rq);
	}

	pr_warn("sched: vrq:   CPU %d runs %s[%d], %u runnable, %u of them VRQ's, in the slot %d, %llu switches; its queues: %s; the shared queue: %s\n",
		cpu, comm, curr, nr_running, nr_vrq, slot, switches, key_text(here, key),
		key_text(shared, vrq_shared_key_of_any(vrq_domain_of(cpu))));
}

static void report_cpus(const struct cpumask *cpus)
{
	int cpu, n = 0;

	for_each_cpu_and(cpu, cpus, cpu_active_mask) {
		if (++n > CPUS_MAX) {
			pr_warn("sched: vrq:   and more CPUs\n");
			break;
		}
		report_cpu(cpu);
	}
}

/* The end of a trace shows what happened, and would be overwritten if the trace went on */
static void keep_trace(void)
{
	if (!trace_sched_vrq_pick_enabled() && !trace_sched_vrq_enqueue_enabled())
		return;

	tracing_off();
	pr_warn("sched: vrq:   the trace is stopped, see /sys/kernel/tracing/trace\n");
}

/**
 * vrq_report - tell the log of a task that could run and is not run
 * @p: the task; the caller has a reference
 * @passed_over_ms: for how long
 *
 * No lock is held. Stops a trace of VRQ's, whose end tells how it came about.
 */
void vrq_report(struct task_struct *p, unsigned int passed_over_ms)
{
	keep_trace();
	pr_warn("sched: vrq: %s[%d] could run, and has not been run for %u ms:\n",
		p->comm, p->pid, passed_over_ms);
	report_task(p);
	report_cpus(p->cpus_ptr);
	vrq_print_counters();
	sched_show_task(p);
}
