// SPDX-License-Identifier: GPL-2.0-only
/*
 * How evenly a video would play under a load: a "decoder" wakes up HZ times a
 * second and works for WORK_US on a frame, which then should be ready before
 * the next one is due. A frame that is not is late; one whose whole period has
 * gone by before it could begin is dropped.
 *
 * A frame that waited for a CPU for longer than it had time to spare is late because of
 * the scheduler alone: in the emulator's virtual time a CPU may be half as fast as
 * another, and one that has it all the time is late as well.
 *
 * "calibrate" tells, on the machine at rest, how many iterations of the work
 * WORK_US are, to be given as ITERATIONS once the load runs.
 */
#include "bench.h"

const char usage[] =
	"HZ WORK_US SECONDS [ITERATIONS], or: frames calibrate WORK_US";

static void play(uint64_t period, uint64_t work_ns, uint64_t count,
		 uint64_t iterations)
{
	uint64_t frames = 0, late = 0, dropped = 0, waited = 0, delays = 0, longest = 0;
	uint64_t start, due, begin, end, used, delay, missed, i;

	end = now_ns();
	start = end + 10 * MSEC;
	for (i = 0; i < count; i++) {
		due = start + i * period;
		begin = due > end ? due : end;
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		sleep_until(due);
		work(iterations);
		end = now_ns();
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used;
		waited += end > begin + used + period - work_ns;

		frames++;
		delay = end > due + work_ns ? end - due - work_ns : 0;
		delays += delay;
		if (delay > longest)
			longest = delay;
		if (end <= due + period)
			continue;
		late++;
		missed = (end - due - period) / period;
		if (missed > count - i - 1)
			missed = count - i - 1;
		dropped += missed;
		i += missed;
	}
	row_count("frames", frames);
	row_count("late", late);
	row_count("dropped", dropped);
	row_count("waited", waited);
	row("delay-avg-us", (double)delays / frames / USEC);
	row("delay-max-us", (double)longest / USEC);
}

int main(int argc, char **argv)
{
	long hz, us, seconds, iterations;

	if (argc == 3 && !strcmp(argv[1], "calibrate")) {
		us = number("WORK_US", argv[2], 1, 1000000);
		row_count("iterations", calibrate(us));
		return 0;
	}
	if (argc != 4 && argc != 5)
		bad_usage();
	hz = number("HZ", argv[1], 1, 10000);
	us = number("WORK_US", argv[2], 1, 1000000 / hz);
	seconds = number("SECONDS", argv[3], 1, 3600);
	if (argc == 5)
		iterations = number("ITERATIONS", argv[4], 1, LONG_MAX);
	else
		iterations = calibrate(us);

	no_timer_slack();
	play(SEC / hz, us * USEC, hz * seconds, iterations);
	return 0;
}
