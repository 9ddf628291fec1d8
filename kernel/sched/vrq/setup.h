/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What VRQ needs of a running kernel.
 */
#ifndef _KERNEL_SCHED_VRQ_SETUP_H
#define _KERNEL_SCHED_VRQ_SETUP_H

int vrq_set_up(void);

#endif /* _KERNEL_SCHED_VRQ_SETUP_H */
