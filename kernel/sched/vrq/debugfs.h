/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files in /sys/kernel/debug/sched.
 */
#ifndef _KERNEL_SCHED_VRQ_DEBUGFS_H
#define _KERNEL_SCHED_VRQ_DEBUGFS_H

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/types.h>

#ifdef CONFIG_DEBUG_FS
void vrq_debugfs_create(const char *name, umode_t mode,
			const struct file_operations *fops);
#else
static inline void vrq_debugfs_create(const char *name, umode_t mode,
				      const struct file_operations *fops) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_DEBUGFS_H */
