// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hotplug affinity: remember the mask of a task whose CPUs are all away, and
 * give it back when one of them comes back. What is remembered, and under which
 * lock, is in renew_affinity.h.
 *
 * Nobody is missed when a CPU comes back. set_cpu_active() comes first, and then
 * every task is looked at under its pi_lock, so that
 *
 * - a task that was set aside before is seen;
 * - select_fallback_rq() and __set_cpus_allowed_ptr(), which hold the pi_lock
 *   as well, find the CPU active if they come later;
 * - a child is either in the task list, which is read under tasklist_lock, or
 *   its parent finds the CPU active in renew_affinity_post_fork(), after it has
 *   held tasklist_lock to put the child there.
 */
#include <linux/cpuset.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/printk.h>

#include "renew_affinity.h"

/* How many tasks are taken from the list at once */
#define RENEW_BATCH	32

static bool renew_affinity_enabled __ro_after_init = true;

static int __init set_renew_affinity(char *value)
{
	if (kstrtobool(value, &renew_affinity_enabled))
		pr_warn("sched: renew_affinity=%s is neither on nor off, it stays %s\n",
			value ?: "", renew_affinity_enabled ? "on" : "off");

	return 0;
}
early_param("renew_affinity", set_renew_affinity);

/* The kernel's own threads are left to the kernel */
static bool is_concerned(const struct task_struct *p)
{
	return renew_affinity_enabled && p->user_cpus_ptr &&
	       !(p->flags & (PF_KTHREAD | PF_NO_SETAFFINITY));
}

/**
 * renew_affinity_keep - keep the user's mask although the task's is broken?
 * @p: the task, none of whose CPUs may run it
 *
 * Called by do_set_cpus_allowed() with @p->pi_lock held.
 *
 * Return: true if @p->user_cpus_ptr is to be set aside, false if it is to be
 * cleared.
 */
bool renew_affinity_keep(const struct task_struct *p)
{
	return is_concerned(p);
}

/**
 * renew_affinity_later - leave the user's mask out of a new mask?
 * @p: the task
 * @ctx: the new mask, from a cpuset or the kernel; gets SCA_RENEW
 * @wanted: the CPUs of the new mask that are in the user's as well
 *
 * Without this, mainline refuses a new mask when the user's has no active CPU:
 * a task could not be moved to another cpuset, for example.
 *
 * Called by __set_cpus_allowed_ptr() with @p->pi_lock held.
 *
 * Return: true if none of @wanted is active and the user's mask is set aside.
 */
bool renew_affinity_later(const struct task_struct *p,
			  struct affinity_context *ctx,
			  const struct cpumask *wanted)
{
	if (!is_concerned(p) || cpumask_intersects(wanted, cpu_active_mask))
		return false;

	ctx->flags |= SCA_RENEW;
	return true;
}

/**
 * renew_affinity_note - a mask has been set: is the user's set aside by it?
 * @p: the task
 * @ctx: the new mask and its flags
 *
 * Called with @p->pi_lock held.
 */
void renew_affinity_note(struct task_struct *p,
			 const struct affinity_context *ctx)
{
	if (ctx->flags & SCA_RENEW)
		p->migration_flags |= MDF_RENEW;
	else
		p->migration_flags &= ~MDF_RENEW;
}

/*
 * Has a task set a mask aside that has one of these CPUs?
 *
 * A deadline task is admitted for all CPUs of its root domain, and so keeps
 * them. One that exits needs no mask any more.
 */
static bool has_set_aside(struct task_struct *p, const struct cpumask *cpus)
{
	unsigned long flags;
	bool has;

	/* Hardly any task has asked for a mask: no lock for the others */
	if (!data_race(p->user_cpus_ptr))
		return false;

	raw_spin_lock_irqsave(&p->pi_lock, flags);
	has = is_concerned(p) && p->migration_flags & MDF_RENEW &&
	      !(p->flags & PF_EXITING) &&
	      !(task_has_dl_policy(p) && dl_bandwidth_enabled()) &&
	      cpumask_intersects(p->user_cpus_ptr, cpus);
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);

	return has;
}

/* May a task run on a CPU, as far as its cpuset goes? @mask is for use here */
static bool cpuset_allows(struct task_struct *p, unsigned int cpu,
			  struct cpumask *mask)
{
	cpuset_cpus_allowed(p, mask);
	return cpumask_test_cpu(cpu, mask);
}

/*
 * Collect tasks that want a CPU which they may have now. Each comes with a
 * reference. Returns how many.
 */
static unsigned int collect(unsigned int cpu, struct cpumask *mask,
			    struct task_struct **tasks)
{
	struct task_struct *process, *p;
	unsigned int n = 0;

	read_lock(&tasklist_lock);
	for_each_process_thread(process, p) {
		if (!has_set_aside(p, cpumask_of(cpu)) ||
		    !cpuset_allows(p, cpu, mask))
			continue;
		tasks[n++] = get_task_struct(p);
		if (n == RENEW_BATCH)
			goto full;
	}
full:
	read_unlock(&tasklist_lock);

	return n;
}

/*
 * Set the CPUs of its cpuset, which __set_cpus_allowed_ptr() restricts to what
 * the user wants at that moment: a sched_setaffinity() in between wins. Sleeps
 * until the task runs there. Returns whether the mask could be set.
 */
static bool renew(struct task_struct *p, struct cpumask *mask)
{
	cpuset_cpus_allowed(p, mask);
	return !set_cpus_allowed_ptr(p, mask);
}

/**
 * renew_affinity_post_fork - a new task, a copy of a set-aside mask
 * @p: the child, in the task list, not yet running
 *
 * If one of its CPUs came back after the copy was made and before the child was
 * in the list, renew_affinity() did not find it. A cpuset other than the root's
 * sees to its new task later, in cpuset_fork().
 *
 * Called without locks, may sleep.
 */
void renew_affinity_post_fork(struct task_struct *p)
{
	cpumask_var_t mask;

	if (likely(!(READ_ONCE(p->migration_flags) & MDF_RENEW)) ||
	    !has_set_aside(p, cpu_active_mask))
		return;

	if (alloc_cpumask_var(&mask, GFP_KERNEL)) {
		renew(p, mask);
		free_cpumask_var(mask);
	}
}

/**
 * renew_affinity - a CPU is active again: give their masks back
 * @cpu: the CPU
 *
 * Called in CPU hotplug, with cpus_write_lock() held on our behalf: there is one
 * caller at a time, and cpusets and their tasks stay as they are. May sleep.
 */
void renew_affinity(unsigned int cpu)
{
	static struct task_struct *tasks[RENEW_BATCH];
	static struct cpumask mask;
	unsigned int n, i, done, total = 0;

	if (!renew_affinity_enabled)
		return;

	/* Whoever is done is not collected again; none done: nothing to be done */
	do {
		n = collect(cpu, &mask, tasks);
		for (i = 0, done = 0; i < n; i++) {
			done += renew(tasks[i], &mask);
			put_task_struct(tasks[i]);
		}
		total += done;
	} while (n == RENEW_BATCH && done);

	if (total)
		pr_info("Renew affinity for %u processes to cpu %u\n", total,
			cpu);
}
