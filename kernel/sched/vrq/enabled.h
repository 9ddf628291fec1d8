/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which scheduler runs, and the class that VRQ's tasks have. Included by hooks.h.
 */
#ifndef _KERNEL_SCHED_VRQ_ENABLED_H
#define _KERNEL_SCHED_VRQ_ENABLED_H

#ifdef CONFIG_SCHED_VRQ

#include <linux/jump_label.h>

extern const struct sched_class vrq_sched_class;

DECLARE_STATIC_KEY_FALSE(__sched_vrq_enabled);
DECLARE_STATIC_KEY_FALSE(__sched_vrq_switched);
extern bool sched_vrq_active;

/*
 * Is VRQ active? This is decided at boot, before the first task is forked. After the first
 * switch of the scheduler, see switch.c, sched_vrq_active tells which scheduler is active. It
 * changes only while all CPUs are stopped, so it cannot change while preemption is disabled.
 */
static __always_inline bool sched_vrq_enabled(void)
{
	if (!static_branch_unlikely(&__sched_vrq_enabled))
		return false;

	return !static_branch_unlikely(&__sched_vrq_switched) || READ_ONCE(sched_vrq_active);
}

/* The names that the boot parameter, the log and /sys/kernel/sched have */
static inline const char *vrq_name_of(bool vrq)
{
	return vrq ? "vrq" : "fair";
}

static inline const char *vrq_active_name(void)
{
	return vrq_name_of(sched_vrq_enabled());
}

#else

static __always_inline bool sched_vrq_enabled(void)
{
	return false;
}

#endif

#endif /* _KERNEL_SCHED_VRQ_ENABLED_H */
