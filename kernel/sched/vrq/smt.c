// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMT nice: threads of a core share its units, so a task of nice 19 on one of them takes
 * nearly as much from a task of nice 0 on the other as an equal one would. With the tunable
 * smt_nice at 1 a thread idles while another thread of its core runs a task with more than
 * twice the weight. But for a part of the time, which is the ratio of the two weights, it
 * runs, so that no task starves. Real-time tasks do not count, because they would shut out
 * others for as long as they spin. Built with CONFIG_SCHED_SMT only.
 *
 * The idea is that of BFS, which compared nice levels at each pick as well and
 * shared out time within each slice.
 *
 * A CPU that gives way idles, but does not count as idle. It has work to do, and its priodl is
 * that of the task that waits, so that better tasks preempt there. The CPU cannot find out by
 * itself when that task may run, because its tick may be stopped. The other threads of the
 * core run VRQ tasks, so they have their ticks. They kick the CPU when what they run is less
 * important than before, and when a new part of the time begins.
 */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/sysctl.h>
#include <linux/topology.h>

#include "entity.h"
#include "smt.h"

/* The time is divided into periods of 16 parts of 4.2 ms */
#define PART_SHIFT	22
#define PARTS		16

DEFINE_STATIC_KEY_FALSE(vrq_smt_nice);

/* The weight of SCHED_IDLE here: half of that of nice 19 */
#define IDLE_WEIGHT	(vrq_weight(VRQ_NICE_WIDTH - 1) / 2)

static unsigned int weight_of(const struct task_struct *p)
{
	switch (vrq_level_now(p->vrq.level)) {
	case VRQ_ISO:
		return vrq_weight(0);
	case VRQ_IDLE:
		return IDLE_WEIGHT;
	default:
		return vrq_weight(vrq_nice_index(p));
	}
}

static unsigned int part_of_time(u64 now)
{
	return (now >> PART_SHIFT) % PARTS;
}

/* The greatest weight that another thread of this CPU's core runs */
static unsigned int weight_beside(int this_cpu)
{
	unsigned int weight = 0;
	int cpu;

	for_each_cpu(cpu, cpu_smt_mask(this_cpu)) {
		if (cpu != this_cpu)
			weight = max(weight, READ_ONCE(cpu_rq(cpu)->vrq.runs));
	}

	return weight;
}

static bool must_give_way(struct rq *rq, const struct task_struct *p)
{
	unsigned int mine = weight_of(p), other = weight_beside(cpu_of(rq));

	/* Any CPU may wait for a kernel thread, which may be bound to this one */
	if (mine * 2 >= other || p->flags & PF_KTHREAD)
		return false;

	return part_of_time(rq_clock(rq)) >= max(mine * PARTS / other, 1U);
}

bool __vrq_smt_gives_way(struct rq *rq, struct task_struct *p)
{
	if (!cpu_active(cpu_of(rq)) || !must_give_way(rq, p)) {
		WRITE_ONCE(rq->vrq.gives_way, false);
		return false;
	}

	WRITE_ONCE(rq->vrq.gives_way, true);
	/*
	 * Either other CPUs see gives_way, and kick, or this CPU sees what they run now: pairs
	 * with the barrier in __vrq_smt_runs()
	 */
	smp_mb();
	if (!must_give_way(rq, p)) {
		WRITE_ONCE(rq->vrq.gives_way, false);
		return false;
	}
	atomic64_set(&rq->vrq.priodl, vrq_key(p));

	return true;
}

static void kick_beside(int this_cpu)
{
	int cpu;

	for_each_cpu(cpu, cpu_smt_mask(this_cpu)) {
		/* Not online: stopped for a reboot, see claim_in() in idle.c */
		if (READ_ONCE(cpu_rq(cpu)->vrq.gives_way) && cpu_online(cpu))
			irq_work_queue_on(&cpu_rq(cpu)->vrq.kick, cpu);
	}
}

void __vrq_smt_runs(struct rq *rq, struct task_struct *p)
{
	unsigned int before = rq->vrq.runs, now = p ? weight_of(p) : 0;

	if (now == before)
		return;

	WRITE_ONCE(rq->vrq.runs, now);
	if (now > before)
		return;
	/* Pairs with the barrier in __vrq_smt_gives_way() */
	smp_mb();
	kick_beside(cpu_of(rq));
}

void __vrq_smt_tick(struct rq *rq)
{
	u64 now = rq_clock(rq);

	if (part_of_time(now) != part_of_time(now - TICK_NSEC))
		kick_beside(cpu_of(rq));
	/* What runs here began before another thread had more important work */
	if (must_give_way(rq, vrq_curr(rq)))
		resched_curr(rq);
}

#ifdef CONFIG_SYSCTL
/*
 * Once smt_nice is off, no CPU kicks those that give way, so all are rescheduled. Once it is
 * on, each CPU tells with its next slice what it runs, which it has not done before.
 */
static int set_smt_nice(const struct ctl_table *table, int write, void *buffer,
			size_t *lenp, loff_t *ppos)
{
	int cpu, err;

	/* What they ran when it was last on */
	for_each_possible_cpu(cpu) {
		if (write)
			WRITE_ONCE(cpu_rq(cpu)->vrq.runs, 0);
	}

	err = proc_do_static_key(table, write, buffer, lenp, ppos);
	for_each_online_cpu(cpu) {
		if (write)
			resched_cpu(cpu);
	}

	return err;
}

static struct ctl_table smt_table[] = {
	{
		.procname	= "smt_nice",
		.data		= &vrq_smt_nice.key,
		.maxlen		= sizeof(vrq_smt_nice),
		.mode		= 0644,
		.proc_handler	= set_smt_nice,
	},
};

/**
 * vrq_register_smt_nice - make the tunable smt_nice
 */
void vrq_register_smt_nice(void)
{
	register_sysctl("kernel", smt_table);
}
#endif
