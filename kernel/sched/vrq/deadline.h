/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of virtual deadlines: pure functions, no scheduler state.
 * Tested by deadline_test.c.
 *
 * A task gets a time slice of rr_interval, and a deadline by which it should have used the
 * slice. If the machine could be shared in infinitely small portions, a task would need
 *
 *	span = rr_interval * ratio(nice) * load
 *
 * to get its slice, with load = sum(1 / ratio) / CPUs over the runnable tasks.
 * BFS, which the ratios come from, leaves the load out and so gives equal
 * tasks equal shares, but tasks of different nice levels any ratio of shares
 * between 1 and 1 / distance, depending on how many run. With the load in, and
 * the new deadline counted from the old one, shares come out as 1 / ratio.
 */
#ifndef _KERNEL_SCHED_VRQ_DEADLINE_H
#define _KERNEL_SCHED_VRQ_DEADLINE_H

#include <linux/types.h>

#define VRQ_NICE_WIDTH		40
#define VRQ_NICE_0		20

/* Fixed point of vrq_ratio(): 1024 is the ratio of nice -20, 1.0 */
#define VRQ_RATIO_SHIFT		10
/* Fixed point of vrq_weight(): 2^20 is the weight of nice -20, 1 / 1.0 */
#define VRQ_WEIGHT_SHIFT	20
/* vrq_weight() of nice 0 */
#define VRQ_WEIGHT_NICE_0	155863

unsigned int vrq_ratio(unsigned int nice_index);
unsigned int vrq_weight(unsigned int nice_index);
u64 vrq_span(u64 rr_ns, unsigned int nice_index, u64 weight_sum,
	     unsigned int cpus);
u64 vrq_spread_weight(u64 confined, u64 unconfined, u64 weight,
		      unsigned int cpus, unsigned int all);
u64 vrq_convert_weight(u64 weight, u64 from, u64 to);
unsigned int vrq_underrated(s64 late, u64 slack);
u64 vrq_next_deadline(u64 old, u64 now, u64 span, u64 slack, s64 all_late);
u64 vrq_rescale_deadline(u64 old, u64 now, unsigned int from, unsigned int to);

#endif /* _KERNEL_SCHED_VRQ_DEADLINE_H */
