/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The watchdog: falls back to the fair class when a task is stuck.
 */
#ifndef _KERNEL_SCHED_VRQ_WATCHDOG_H
#define _KERNEL_SCHED_VRQ_WATCHDOG_H

int vrq_watchdog_start(void);
void vrq_watchdog_wake(void);
unsigned int vrq_fallbacks(void);
const char *vrq_fallback_reason(void);

#endif /* _KERNEL_SCHED_VRQ_WATCHDOG_H */
