/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: how a task travels. scripts/waits.py in the repository of the
 * series reads them, and sched_switch, and checks what must always hold.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched_vrq

#if !defined(_KERNEL_SCHED_VRQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KERNEL_SCHED_VRQ_TRACE_H

#include <linux/tracepoint.h>

#include "counters.h"
#include "domain.h"
#include "iso.h"

TRACE_DEFINE_ENUM(VRQ_IN_SLOT);
TRACE_DEFINE_ENUM(VRQ_PINNED);
TRACE_DEFINE_ENUM(VRQ_IN_QUEUE);
TRACE_DEFINE_ENUM(VRQ_IN_SHARED);

TRACE_DEFINE_ENUM(VRQ_PICK_CURR);
TRACE_DEFINE_ENUM(VRQ_PICK_SLOT);
TRACE_DEFINE_ENUM(VRQ_PICK_PINNED);
TRACE_DEFINE_ENUM(VRQ_PICK_QUEUE);
TRACE_DEFINE_ENUM(VRQ_PICK_SHARED);
TRACE_DEFINE_ENUM(VRQ_PICK_PULLED);
TRACE_DEFINE_ENUM(VRQ_PICK_FAR);
TRACE_DEFINE_ENUM(VRQ_PICK_STOLEN);
TRACE_DEFINE_ENUM(VRQ_PICK_NONE);

#define show_vrq_place(place)						\
	__print_symbolic(place,						\
			 { VRQ_IN_SLOT,		"slot" },		\
			 { VRQ_PINNED,	"pinned" },		\
			 { VRQ_IN_QUEUE,	"queue" },		\
			 { VRQ_IN_SHARED,		"shared" })

#define show_vrq_reason(reason)						\
	__print_symbolic(reason,					\
			 { VRQ_PICK_CURR,	"curr" },		\
			 { VRQ_PICK_SLOT,	"slot" },		\
			 { VRQ_PICK_PINNED,	"pinned" },		\
			 { VRQ_PICK_QUEUE,	"queue" },		\
			 { VRQ_PICK_SHARED,	"shared" },		\
			 { VRQ_PICK_PULLED,	"pulled" },		\
			 { VRQ_PICK_FAR,	"far" },		\
			 { VRQ_PICK_STOLEN,	"stolen" },		\
			 { VRQ_PICK_NONE,	"none" })

/* A task begins to wait, or goes on to wait in another place */
TRACE_EVENT(sched_vrq_enqueue,

	TP_PROTO(struct task_struct *p),

	TP_ARGS(p),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(pid_t,	pid)
		__field(int,	home)
		__field(int,	domain)
		__field(u8,	place)
		__field(u8,	level)
		__field(u64,	deadline)
		__cpumask(	cpus)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->home = task_cpu(p);
		__entry->domain = vrq_domain_of(task_cpu(p))->leader;
		__entry->place = p->vrq.place;
		__entry->level = vrq_level_now(p->vrq.level);
		__entry->deadline = p->vrq.deadline;
		__assign_cpumask(cpus, cpumask_bits(p->cpus_ptr));
	),

	TP_printk("comm=%s pid=%d home=%d domain=%d place=%s level=%u deadline=%llu cpus=%s",
		  __entry->comm, __entry->pid, __entry->home, __entry->domain,
		  show_vrq_place(__entry->place), __entry->level,
		  __entry->deadline, __get_cpumask(cpus))
);

/* A task that waits is taken away, not to run: it is changed or moved */
TRACE_EVENT(sched_vrq_dequeue,

	TP_PROTO(struct task_struct *p),

	TP_ARGS(p),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(pid_t,	pid)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
	),

	TP_printk("comm=%s pid=%d", __entry->comm, __entry->pid)
);

/*
 * A CPU has chosen a task. Without a task, the CPU has found nothing and goes idle. missed: a
 * run queue was locked, and what might have been taken from it was left.
 */
TRACE_EVENT(sched_vrq_pick,

	TP_PROTO(struct task_struct *p, enum vrq_counter reason, bool missed),

	TP_ARGS(p, reason, missed),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(pid_t,	pid)
		__field(int,	domain)
		__field(u8,	reason)
		__field(bool,	missed)
		__field(u8,	level)
		__field(u64,	deadline)
	),

	TP_fast_assign(
		if (p)
			memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		else
			__entry->comm[0] = 0;
		__entry->pid = p ? p->pid : 0;
		__entry->domain = vrq_domain_of(smp_processor_id())->leader;
		__entry->reason = reason;
		__entry->missed = missed;
		__entry->level = p ? vrq_level_now(p->vrq.level) : VRQ_LEVELS;
		__entry->deadline = p ? p->vrq.deadline : VRQ_NO_DEADLINE;
	),

	TP_printk("comm=%s pid=%d domain=%d reason=%s missed=%d level=%u deadline=%llu",
		  __entry->comm, __entry->pid, __entry->domain,
		  show_vrq_reason(__entry->reason),
		  __entry->missed, __entry->level, __entry->deadline)
);

/* A task has used up its slice and gets the next one, with a new deadline */
TRACE_EVENT(sched_vrq_renew,

	TP_PROTO(struct task_struct *p),

	TP_ARGS(p),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(pid_t,	pid)
		__field(s64,	slice)
		__field(u64,	span)
		__field(u64,	deadline)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->slice = p->vrq.slice;
		__entry->span = p->vrq.span;
		__entry->deadline = p->vrq.deadline;
	),

	TP_printk("comm=%s pid=%d slice=%lld span=%llu deadline=%llu",
		  __entry->comm, __entry->pid, __entry->slice, __entry->span,
		  __entry->deadline)
);

#endif /* _KERNEL_SCHED_VRQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
