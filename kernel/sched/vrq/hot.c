// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is what a task used still in the cache of its CPU? Two criteria, both VRQ's of
 * 2015: how much has been switched to on that CPU since (the switch cost,
 * scost), and how long ago it was. A task is hot while both hold; each can be
 * turned off.
 *
 * The scost of a CPU advances with each switch: by little if the data of the
 * next task is there already, else by more, and the more memory that task uses.
 */
#include <linux/cacheinfo.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>

#include "debugfs.h"
#include "hot.h"

/* One unit of a threshold, in those of vrq_rq.scost; a switch to a hot task is 1 */
#define SCOST_UNIT	16
/* The memory that a task may use before it costs more, log2 of KiB: 256 KiB */
#define SMALL_KIB_LOG2	8
/* Follow the cache size, or preempt= */
#define AUTOMATIC	(-1)

static int scost_threshold __read_mostly = AUTOMATIC;
static int normal_ms __read_mostly = AUTOMATIC;
static int batch_ms __read_mostly = MSEC_PER_SEC;

/* cache_scost_threshold=N */
static int __init set_threshold(char *text)
{
	int value;

	if (!text || kstrtoint(text, 10, &value) || value < 0)
		pr_warn("sched: cache_scost_threshold=%s is not a number, it follows the cache size\n",
			text ?: "");
	else
		scost_threshold = value;

	return 0;
}
early_param("cache_scost_threshold", set_threshold);

/* What is in force on a CPU; 0 if scost says nothing */
static unsigned int threshold_of(struct rq *rq)
{
	int value = READ_ONCE(scost_threshold);

	return value == AUTOMATIC ? READ_ONCE(rq->vrq.scost_threshold) : value;
}

static bool within_scost(struct rq *rq, const struct task_struct *p)
{
	u64 threshold = threshold_of(rq);

	if (!threshold)
		return true;

	return p->vrq.cached_on == cpu_of(rq) &&
	       rq->vrq.scost - p->vrq.scost < threshold * SCOST_UNIT;
}

/* The time-out as it was set: AUTOMATIC; 0, such tasks wait in the shared queue; or ms */
static int timeout_setting(const struct task_struct *p)
{
	return p->policy == SCHED_NORMAL || p->policy == SCHED_ISO ?
	       READ_ONCE(normal_ms) : READ_ONCE(batch_ms);
}

/* The time-out that a setting stands for, ms */
static unsigned int timeout_ms(int setting)
{
	if (setting != AUTOMATIC)
		return setting;
	/* preempt=none is chosen for throughput; it can change at run time */
	if (preempt_model_none())
		return MSEC_PER_SEC;

	return VRQ_HOT_MS;
}

/**
 * vrq_cacheable - may tasks like this one wait in the queue of their CPU?
 * @p: the task
 *
 * Return: true if so, as long as their data is hot there at the least.
 */
bool vrq_cacheable(const struct task_struct *p)
{
	return timeout_setting(p);
}

/**
 * vrq_cache_hot - is the data of a task in the queue of its CPU taken to be hot there?
 * @rq: its home, locked
 * @p: the task
 * @waited: for how long it has waited, ns
 *
 * Return: true if so.
 */
bool vrq_cache_hot(struct rq *rq, const struct task_struct *p, u64 waited)
{
	u64 ms = timeout_ms(timeout_setting(p));

	return waited < ms * NSEC_PER_MSEC && within_scost(rq, p);
}

/* What a switch to a task costs whose data is not here: it displaces the data of others */
static unsigned int cost_of(const struct task_struct *p)
{
	unsigned int log2_kib;

	if (!p->mm)
		return SCOST_UNIT;

	log2_kib = ilog2(get_mm_rss(p->mm) + 1) + PAGE_SHIFT - 10;

	return SCOST_UNIT *
	       (1 + max_t(int, log2_kib - SMALL_KIB_LOG2, 0));
}

/**
 * vrq_scost_switch_in - a task begins to run
 * @rq: its home, locked
 * @p: the task
 */
void vrq_scost_switch_in(struct rq *rq, const struct task_struct *p)
{
	if (!threshold_of(rq))
		return;

	if (within_scost(rq, p))
		rq->vrq.scost++;
	else
		rq->vrq.scost += cost_of(p);
}

/**
 * vrq_scost_switch_out - from now on the data of a task gets cold
 * @rq: its home, locked
 * @p: the task, which has run here, or is about to wait here for the first time
 *	because its waker or parent has
 */
void vrq_scost_switch_out(struct rq *rq, struct task_struct *p)
{
	p->vrq.scost = rq->vrq.scost;
	p->vrq.cached_on = cpu_of(rq);
}

#ifdef CONFIG_SYSCTL
static const int timeout_max_ms = 60 * MSEC_PER_SEC;
static const int threshold_max = 1000000;

static struct ctl_table vrq_cache_table[] = {
	{
		.procname	= "sched_vrq_cache_scost_threshold",
		.data		= &scost_threshold,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_NEG_ONE,
		.extra2		= (void *)&threshold_max,
	},
	{
		.procname	= "sched_vrq_cache_normal_ms",
		.data		= &normal_ms,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_NEG_ONE,
		.extra2		= (void *)&timeout_max_ms,
	},
	{
		.procname	= "sched_vrq_cache_batch_ms",
		.data		= &batch_ms,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= (void *)&timeout_max_ms,
	},
};

static void register_sysctls(void)
{
	register_sysctl("kernel", vrq_cache_table);
}
#else
static void register_sysctls(void) { }
#endif

/* What is in force: time-outs, and a threshold for each CPU that is online */
static int cache_show(struct seq_file *m, void *unused)
{
	int cpu;

	seq_printf(m, "normal_ms %u\n", timeout_ms(READ_ONCE(normal_ms)));
	seq_printf(m, "batch_ms %u\n", timeout_ms(READ_ONCE(batch_ms)));
	seq_puts(m, "scost_threshold");
	for_each_online_cpu(cpu)
		seq_printf(m, " %u", threshold_of(cpu_rq(cpu)));
	seq_putc(m, '\n');

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cache);

static unsigned int llc_kib(unsigned int cpu)
{
	struct cpu_cacheinfo *info = get_cpu_cacheinfo(cpu);
	unsigned int i, level = 0, size = 0;

	if (!info || !info->info_list)
		return 0;

	for (i = 0; i < info->num_leaves; i++) {
		if (info->info_list[i].type == CACHE_TYPE_INST ||
		    info->info_list[i].level < level)
			continue;
		level = info->info_list[i].level;
		size = info->info_list[i].size;
	}

	return size / 1024;
}

/*
 * When a CPU comes online its cacheinfo is there, or never will be. Without cacheinfo the
 * threshold stays 0, and the time-out alone decides. The CPU's own last-level cache counts,
 * because the CPUs of a hybrid machine differ.
 */
static int threshold_from_llc(unsigned int cpu)
{
	u64 kib = llc_kib(cpu);

	WRITE_ONCE(cpu_rq(cpu)->vrq.scost_threshold,
		   IS_ENABLED(CONFIG_64BIT) ? kib * 3 / 512 : kib * 2 / 256);

	return 0;
}

/**
 * vrq_hot_init - learn the sizes of caches, and make the tunables of cache-hot tasks
 *
 * To be called once cacheinfo has its own step of CPU hotplug.
 *
 * Return: 0 or an error of cpuhp_setup_state().
 */
int vrq_hot_init(void)
{
	int err;

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "sched/vrq:online",
				threshold_from_llc, NULL);
	if (err < 0)
		return err;

	register_sysctls();
	vrq_debugfs_create("vrq_cache", 0444, &cache_fops);

	return 0;
}
