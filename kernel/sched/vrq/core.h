/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler core, as VRQ's files see it.
 */
#ifndef _KERNEL_SCHED_VRQ_CORE_H
#define _KERNEL_SCHED_VRQ_CORE_H

/* ../sched.h wants to know task_cpu_possible() */
#include <linux/mmu_context.h>

#include "../sched.h"

#endif /* _KERNEL_SCHED_VRQ_CORE_H */
