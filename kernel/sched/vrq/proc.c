// SPDX-License-Identifier: GPL-2.0-only
/*
 * What /proc/PID/sched tells of a task of VRQ's. Built with CONFIG_SCHED_DEBUG only.
 */
#include <linux/seq_file.h>

#include "entity.h"

/* As ../debug.c has them; times in ns */
#define ROW_TEXT(m, name, text)	seq_printf(m, "%-45s:%21s\n", "vrq." name, text)
#define ROW_NS(m, name, ns)	seq_printf(m, "%-45s:%21lld\n", "vrq." name, (s64)(ns))

static const char * const places[] = {
	[VRQ_NOWHERE]	= "none",
	[VRQ_ON_CPU]	= "cpu",
	[VRQ_THROTTLED]	= "throttled",
	[VRQ_PICKED]	= "picked",
	[VRQ_IN_SLOT]	= "slot",
	[VRQ_PINNED]	= "pinned",
	[VRQ_IN_QUEUE]	= "queue",
	[VRQ_IN_SHARED]	= "shared",
};

static const char * const levels[] = {
	[VRQ_ISO]	= "iso",
	[VRQ_NORMAL]	= "normal",
	[VRQ_IDLE]	= "idle",
};

/**
 * vrq_show_task - tell how VRQ sees a task
 * @p: the task; nothing is told of one of another class
 * @m: where to
 *
 * No lock is held, as for the rest of that file: the rows may be of different moments.
 */
void vrq_show_task(struct task_struct *p, struct seq_file *m)
{
	struct sched_vrq_entity entity;

	if (!vrq_task(p))
		return;

	/* Neither its lock nor that of its run queue is held */
	entity = data_race(p->vrq);
	ROW_TEXT(m, "level", levels[entity.level]);
	ROW_TEXT(m, "place", places[entity.place]);
	ROW_NS(m, "deadline", entity.deadline);
	/* Likewise */
	ROW_NS(m, "slice", data_race(vrq_slice_ns(p)));
	ROW_NS(m, "slice_left", entity.slice);
	ROW_NS(m, "span", entity.span);
	ROW_NS(m, "burst", entity.burst);
	ROW_NS(m, "used", (u64)entity.used_us * NSEC_PER_USEC);
	ROW_NS(m, "slept", (u64)entity.slept_us * NSEC_PER_USEC);
}
