// SPDX-License-Identifier: GPL-2.0-only
/*
 * What VRQ needs of a running kernel: steps of CPU hotplug, the watchdog, tunables,
 * files for debugging.
 * They are set up at boot if VRQ is chosen there, else at the first switch to VRQ.
 */
#include <linux/init.h>
#include <linux/mutex.h>

#include "counters.h"
#include "domain.h"
#include "enabled.h"
#include "fault.h"
#include "hot.h"
#include "iso.h"
#include "setup.h"
#include "smt.h"
#include "tunables.h"
#include "watchdog.h"

/* Written with the mutex held, or at boot */
static bool domains_done, rest_done;
static DEFINE_MUTEX(mutex);

static int set_up_domains(void)
{
	int err = domains_done ? 0 : vrq_domain_start();

	domains_done = !err;

	return err;
}

/* Before the other CPUs are brought up */
static int __init set_up_early(void)
{
	return sched_vrq_enabled() ? set_up_domains() : 0;
}
early_initcall(set_up_early);

static int set_up_rest(void)
{
	int err;

	if (rest_done)
		return 0;

	err = vrq_watchdog_start();
	if (!err)
		err = vrq_hot_init();
	if (err < 0)
		return err;

	vrq_register_tunables();
	vrq_register_iso_cpu();
	vrq_register_smt_nice();
	vrq_create_counters();
	vrq_create_faults();
	rest_done = true;

	return 0;
}

/* Behind the initcalls that register cacheinfo's own step of CPU hotplug */
static int __init set_up_at_boot(void)
{
	int err = sched_vrq_enabled() ? set_up_rest() : 0;

	if (err)
		pr_warn("sched: vrq: no watchdog, no tunables: %d\n", err);

	return err;
}
late_initcall_sync(set_up_at_boot);

/**
 * vrq_set_up - make what VRQ needs, if that has not been done
 *
 * May sleep.
 *
 * Return: 0 or an error of cpuhp_setup_state() or kthread_run().
 */
int vrq_set_up(void)
{
	guard(mutex)(&mutex);

	return set_up_domains() ?: set_up_rest();
}
