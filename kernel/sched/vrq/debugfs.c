// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in /sys/kernel/debug/sched. Built with CONFIG_DEBUG_FS only.
 */
#include <linux/debugfs.h>

#include "debugfs.h"

/**
 * vrq_debugfs_create - make a file beside mainline's
 * @name: its name
 * @mode: its permissions
 * @fops: what it does
 *
 * To be called from late_initcall_sync(): with CONFIG_SCHED_DEBUG it is mainline
 * that makes the directory, in a late_initcall().
 */
void vrq_debugfs_create(const char *name, umode_t mode,
			const struct file_operations *fops)
{
	struct dentry *dir = debugfs_lookup("sched", NULL);

	if (!dir) {
		debugfs_create_dir("sched", NULL);
		dir = debugfs_lookup("sched", NULL);
	}
	/* debugfs=off */
	if (!dir)
		return;

	debugfs_create_file(name, mode, dir, NULL, fops);
	dput(dir);
}
