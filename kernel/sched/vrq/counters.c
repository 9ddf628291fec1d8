// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of counters. Built with CONFIG_DEBUG_FS only.
 */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/seq_file.h>

#include "core.h"
#include "counters.h"
#include "debugfs.h"

DEFINE_PER_CPU(unsigned long, vrq_counters[VRQ_COUNTERS]);

static const char * const names[VRQ_COUNTERS] = {
	[VRQ_SHARED_LOCK]	= "shared_lock",
	[VRQ_SHARED_MISSED]	= "shared_missed",
	[VRQ_SHARED_FULL]	= "shared_full",
	[VRQ_PICK_CURR]		= "pick_curr",
	[VRQ_PICK_SLOT]		= "pick_slot",
	[VRQ_PICK_PINNED]	= "pick_pinned",
	[VRQ_PICK_QUEUE]	= "pick_queue",
	[VRQ_PICK_SHARED]	= "pick_shared",
	[VRQ_PICK_PULLED]	= "pick_pulled",
	[VRQ_PICK_FAR]		= "pick_far",
	[VRQ_PICK_STOLEN]	= "pick_stolen",
	[VRQ_PICK_NONE]		= "pick_none",
	[VRQ_WAKE_IDLE]		= "wake_idle",
	[VRQ_WAKE_PREEMPT]	= "wake_preempt",
	[VRQ_WAKE_STAY]		= "wake_stay",
	[VRQ_WAKE_QUEUE]	= "wake_queue",
	[VRQ_KICK]		= "kick",
	[VRQ_EXPIRED]		= "expired",
	[VRQ_MOVED_DOMAIN]	= "moved_domain",
	[VRQ_MOVED_NODE]	= "moved_node",
};

static unsigned long sum_of(enum vrq_counter counter)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(vrq_counters[counter], cpu);

	return sum;
}

/* A line for each counter: name, sum, and the part of each CPU that is online */
static int counters_show(struct seq_file *m, void *unused)
{
	enum vrq_counter counter;
	int cpu;

	for (counter = 0; counter < VRQ_COUNTERS; counter++) {
		seq_printf(m, "%-13s %lu", names[counter], sum_of(counter));
		for_each_online_cpu(cpu)
			seq_printf(m, " %lu",
				   per_cpu(vrq_counters[counter], cpu));
		seq_putc(m, '\n');
	}

	return 0;
}

static int counters_open(struct inode *inode, struct file *file)
{
	return single_open(file, counters_show, NULL);
}

/*
 * Whatever is written sets all to zero; what a CPU counts just then may be kept
 * or lost.
 */
static ssize_t counters_write(struct file *file, const char __user *text,
			      size_t len, loff_t *pos)
{
	enum vrq_counter counter;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (counter = 0; counter < VRQ_COUNTERS; counter++)
			per_cpu(vrq_counters[counter], cpu) = 0;
	}

	return len;
}

static const struct file_operations counters_fops = {
	.open		= counters_open,
	.read		= seq_read,
	.write		= counters_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/**
 * vrq_create_counters - make the file of counters
 */
void vrq_create_counters(void)
{
	vrq_debugfs_create("vrq", 0644, &counters_fops);
}

/**
 * vrq_print_counters - write the sums of the counters to the log, but for those that are 0
 */
void vrq_print_counters(void)
{
	enum vrq_counter counter;

	for (counter = 0; counter < VRQ_COUNTERS; counter++) {
		if (sum_of(counter))
			pr_warn("sched: vrq:   %s %lu\n", names[counter], sum_of(counter));
	}
}
