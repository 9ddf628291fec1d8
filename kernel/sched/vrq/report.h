/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the log is told of a task that is not run.
 */
#ifndef _KERNEL_SCHED_VRQ_REPORT_H
#define _KERNEL_SCHED_VRQ_REPORT_H

#include <linux/sched.h>

void vrq_report(struct task_struct *p, unsigned int passed_over_ms);

#endif /* _KERNEL_SCHED_VRQ_REPORT_H */
