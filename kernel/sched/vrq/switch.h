/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A change of the scheduler while the machine runs.
 */
#ifndef _KERNEL_SCHED_VRQ_SWITCH_H
#define _KERNEL_SCHED_VRQ_SWITCH_H

#include "core.h"

int vrq_switch(bool to_vrq);
unsigned int vrq_switches(void);

#endif /* _KERNEL_SCHED_VRQ_SWITCH_H */
