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

/* Decided at boot, before the first task is forked, and never changed */
#define sched_vrq_enabled()	static_branch_unlikely(&__sched_vrq_enabled)

#else

#define sched_vrq_enabled()	false

#endif

#endif /* _KERNEL_SCHED_VRQ_ENABLED_H */
