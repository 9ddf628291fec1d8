// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults that are made on purpose: /sys/kernel/debug/sched/vrq_fault. Built with
 * CONFIG_SCHED_VRQ_FAULT_INJECTION only.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "debugfs.h"
#include "fault.h"

static const char * const names[VRQ_FAULTS] = {
	[VRQ_LOSE_TASK]	= "task",
	[VRQ_LOSE_SLOT]	= "slot",
	[VRQ_LOSE_KICK]	= "kick",
};

/* Enabled by the first request: before that the kernel does not check for faults */
DEFINE_STATIC_KEY_FALSE(vrq_faults_asked_for);

/* For each fault the process ID of the task that it is to hit, 0 for none */
static atomic_t victims[VRQ_FAULTS];

/**
 * __vrq_fault - is something to go wrong now?
 * @fault: what may go wrong here
 * @p: the task that it would happen to
 *
 * Any context. Return: true once for each time that it was asked for.
 */
bool __vrq_fault(enum vrq_fault fault, const struct task_struct *p)
{
	return atomic_read(&victims[fault]) == p->pid &&
	       atomic_cmpxchg(&victims[fault], p->pid, 0) == p->pid;
}

/* Longer than any detector of lockups waits for by default, ms */
#define LOCKUP_MAX_MS	(60 * MSEC_PER_SEC)

/* This CPU does not switch tasks for a while */
static int lock_up(int ms)
{
	if (ms > LOCKUP_MAX_MS)
		return -EINVAL;

	preempt_disable();
	mdelay(ms);
	preempt_enable();

	return 0;
}

/* Until when locks are made to seem taken, and when one last did so on each CPU, jiffies */
static unsigned long locks_until = INITIAL_JIFFIES;
static DEFINE_PER_CPU(unsigned long, missed_at);

/**
 * __vrq_fault_lock - is the lock of another CPU's run queue to seem taken?
 *
 * This imitates two CPUs whose slices end at the same ticks: each holds its own lock while the
 * other one tries it. A CPU that tries again at the next tick finds the lock free.
 *
 * On the CPU that tries it, with interrupts off. Return: true if so.
 */
bool __vrq_fault_lock(void)
{
	unsigned long now = jiffies;

	if (time_after(now, READ_ONCE(locks_until)) ||
	    now - __this_cpu_read(missed_at) <= 1)
		return false;

	__this_cpu_write(missed_at, now);

	return true;
}

/* This CPU serves no interrupts for a while, as if a hypervisor had stopped it */
static int stop(int ms)
{
	if (ms > LOCKUP_MAX_MS)
		return -EINVAL;

	local_irq_disable();
	mdelay(ms);
	local_irq_enable();

	return 0;
}

/* "task 123"; "lockup 4000", "stop 4000" and "locks 4000", which take ms and not a process ID */
static ssize_t fault_write(struct file *file, const char __user *text, size_t len,
			   loff_t *pos)
{
	char buf[32], name[8];
	int value, fault, err;

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, text, len))
		return -EFAULT;
	buf[len] = '\0';

	if (sscanf(buf, "%7s %d", name, &value) != 2 || value <= 0)
		return -EINVAL;
	if (!strcmp(name, "lockup")) {
		err = lock_up(value);
		return err ?: len;
	}
	if (!strcmp(name, "stop")) {
		err = stop(value);
		return err ?: len;
	}
	if (!strcmp(name, "locks")) {
		WRITE_ONCE(locks_until, jiffies + msecs_to_jiffies(value));
	} else {
		fault = match_string(names, VRQ_FAULTS, name);
		if (fault < 0)
			return -EINVAL;
		atomic_set(&victims[fault], value);
	}
	static_branch_enable(&vrq_faults_asked_for);

	return len;
}

static const struct file_operations fault_fops = {
	.open	= simple_open,
	.write	= fault_write,
	.llseek	= noop_llseek,
};

/**
 * vrq_create_faults - make the file that asks for faults
 */
void vrq_create_faults(void)
{
	vrq_debugfs_create("vrq_fault", 0200, &fault_fops);
}
