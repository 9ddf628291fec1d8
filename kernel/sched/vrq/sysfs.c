// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/sched: which scheduler runs, and how that came about.
 */
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "setup.h"
#include "switch.h"
#include "watchdog.h"

static ssize_t active_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", vrq_active_name());
}

static ssize_t active_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t len)
{
	int err;

	if (sysfs_streq(buf, "vrq"))
		err = vrq_set_up() ?: vrq_switch(true);
	else if (sysfs_streq(buf, "fair"))
		err = vrq_switch(false);
	else
		err = -EINVAL;
	vrq_watchdog_wake();

	return err ?: len;
}

static ssize_t switches_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%u\n", vrq_switches());
}

static ssize_t fallbacks_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%u\n", vrq_fallbacks());
}

static ssize_t fallback_reason_show(struct kobject *kobj, struct kobj_attribute *attr,
				    char *buf)
{
	return sysfs_emit(buf, "%s\n", vrq_fallback_reason());
}

static struct kobj_attribute active_attribute = __ATTR_RW(active);
static struct kobj_attribute switches_attribute = __ATTR_RO(switches);
static struct kobj_attribute fallbacks_attribute = __ATTR_RO(fallbacks);
static struct kobj_attribute fallback_reason_attribute = __ATTR_RO(fallback_reason);

static const struct attribute * const attributes[] = {
	&active_attribute.attr,
	&switches_attribute.attr,
	&fallbacks_attribute.attr,
	&fallback_reason_attribute.attr,
	NULL,
};

static int __init create_sysfs(void)
{
	struct kobject *dir = kobject_create_and_add("sched", kernel_kobj);
	int err;

	if (!dir)
		return -ENOMEM;

	err = sysfs_create_files(dir, attributes);
	if (err)
		kobject_put(dir);

	return err;
}
late_initcall(create_sysfs);
