// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files rr_interval, yield_type and interactive in /proc/sys/kernel. All take
 * effect at once; what is out of range is EINVAL and changes nothing.
 */
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>

#include "core.h"
#include "requeue.h"
#include "tunables.h"

unsigned int vrq_rr_interval_ms __read_mostly = 3;
unsigned int vrq_yield_type __read_mostly = VRQ_YIELD_GIVE_WAY;
unsigned int vrq_interactive __read_mostly = 1;

#ifdef CONFIG_SYSCTL
static int set_rr_interval(const struct ctl_table *table, int write,
			   void *buffer, size_t *lenp, loff_t *ppos)
{
	static DEFINE_MUTEX(lock);
	struct ctl_table copy = *table;
	unsigned int value;
	int err;

	guard(mutex)(&lock);
	value = vrq_rr_interval_ms;
	copy.data = &value;
	err = proc_douintvec_minmax(&copy, write, buffer, lenp, ppos);
	if (err || !write || value == vrq_rr_interval_ms)
		return err;

	WRITE_ONCE(vrq_rr_interval_ms, value);
	vrq_requeue_all(NULL);

	return 0;
}

static struct ctl_table vrq_table[] = {
	{
		.procname	= "rr_interval",
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= set_rr_interval,
		.extra1		= SYSCTL_ONE,
		.extra2		= SYSCTL_ONE_THOUSAND,
	},
	{
		.procname	= "yield_type",
		.data		= &vrq_yield_type,
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_TWO,
	},
	{
		.procname	= "interactive",
		.data		= &vrq_interactive,
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

/**
 * vrq_register_tunables - make the tunables of VRQ as a whole, in /proc/sys/kernel
 */
void vrq_register_tunables(void)
{
	register_sysctl("kernel", vrq_table);
}
#endif
