/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does every CPU switch tasks?
 */
#ifndef _KERNEL_SCHED_VRQ_ANSWER_H
#define _KERNEL_SCHED_VRQ_ANSWER_H

#ifdef CONFIG_SMP
int vrq_silent_cpu(void);
#else
/* There is one CPU, and the caller runs on it */
static inline int vrq_silent_cpu(void)
{
	return -1;
}
#endif

#endif /* _KERNEL_SCHED_VRQ_ANSWER_H */
