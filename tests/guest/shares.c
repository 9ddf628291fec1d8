// SPDX-License-Identifier: GPL-2.0-only
/*
 * What groups get where CPUs run side by side: emulated CPUs have to take short turns. With
 * long ones a CPU sums up what is runnable in a group while all others stand still, and
 * finds each task. Here it finds them in the midst of their ticks, as on a real machine.
 *
 * A task that is missing from a sum makes its group count for less, and get more. Of 16 hogs
 * one was missing from a fifth of the sums while its slice was renewed.
 */
#include "crews.h"

#define WATCH_NS	(2 * SEC)

/* Groups of 300 and 100, from the first moment on */
static void shares(int in_a, int in_b, double want, double most)
{
	struct crew *a = hire_hogs("a", 300, in_a), *b = hire_hogs("b", 100, in_b);
	double ratio, busy;

	begin();
	busy = percent(watch(WATCH_NS), WATCH_NS * online_cpus());
	ratio = b->used ? (double)a->used / b->used : 0;
	dismiss();
	timed_result(busy >= 90 && off(ratio, want) <= most,
		     "weights 300:100, %d and %d hogs: %.3f to one, not %.0f: %.2f%% off\n",
		     in_a, in_b, ratio, want, off(ratio, want));
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	need_groups();
	if (cpus < 4)
		ksft_exit_skip("needs 4 CPUs\n");
	ksft_set_plan(2);
	be_supervisor_of_groups();

	shares(cpus, cpus, 3, 2);
	/* All that the first may have is a CPU for each of its hogs */
	shares(3 * cpus / 4, 2 * cpus, 3, 3);
	ksft_finished();
}
