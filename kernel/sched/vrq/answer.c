// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check that every CPU still switches tasks, before stop_machine() is called. stop_machine()
 * makes all CPUs wait for the last one. If that CPU is in an endless loop in the kernel, the
 * machine hangs. This check makes no other CPU wait. Built with CONFIG_SMP only.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/stop_machine.h>

#include "answer.h"

/* How long the CPUs have to answer, ms. A host may stop a virtual CPU for a second or two */
#define ANSWER_MS	5000

/**
 * struct question - work of the stop class of a CPU
 * @work: for stop_one_cpu_nowait()
 * @open: it has not been done yet
 */
struct question {
	struct cpu_stop_work	work;
	bool			open;
};

static DEFINE_PER_CPU(struct question, questions);

static int answer(void *data)
{
	struct question *question = data;

	WRITE_ONCE(question->open, false);
	return 0;
}

/* Ask a CPU, unless the question of an earlier call is still open */
static void ask(int cpu)
{
	struct question *question = per_cpu_ptr(&questions, cpu);

	if (READ_ONCE(question->open))
		return;

	question->open = true;
	if (!stop_one_cpu_nowait(cpu, answer, question, &question->work))
		question->open = false;
}

static int first_open(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (READ_ONCE(per_cpu(questions, cpu).open))
			return cpu;
	}

	return -1;
}

/**
 * vrq_silent_cpu - find a CPU that does not switch to a task of the stop class
 *
 * Sleeps until all of them have, for five seconds at the most. Calls do not overlap.
 *
 * Return: the CPU, -1 if there is none.
 */
int vrq_silent_cpu(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(ANSWER_MS);
	int cpu;

	guard(cpus_read_lock)();
	for_each_online_cpu(cpu)
		ask(cpu);
	for (cpu = first_open(); cpu >= 0 && time_before(jiffies, end); cpu = first_open())
		usleep_range(USEC_PER_MSEC / 10, USEC_PER_MSEC);

	return cpu;
}
