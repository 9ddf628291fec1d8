/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A change of the scheduler while the machine runs.
 */
#ifndef _KERNEL_SCHED_VRQ_SWITCH_H
#define _KERNEL_SCHED_VRQ_SWITCH_H

#include "core.h"

int vrq_switch(bool to_vrq);
unsigned int vrq_switches(void);

/* The names that the boot parameter, the log and /sys/kernel/sched have */
static inline const char *vrq_name_of(bool vrq)
{
	return vrq ? "vrq" : "fair";
}

static inline const char *vrq_active_name(void)
{
	return vrq_name_of(sched_vrq_enabled());
}

#endif /* _KERNEL_SCHED_VRQ_SWITCH_H */
