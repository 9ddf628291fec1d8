// SPDX-License-Identifier: GPL-2.0-only
/*
 * How soon a task runs that is woken up:
 *
 *  - by a real-time task, as by an interrupt: it has waited for something from outside,
 *    and does not take turns with its waker;
 *  - by a task that said it would sleep, and goes on;
 *  - as SCHED_BATCH, while a CPU runs a SCHED_IDLE task.
 */
#include "guest.h"

#define HOGS_A_CPU	3
#define WAKEUPS		100
#define WORDS_KEPT	3
/*
 * Soon, for each CPU: emulated ones share the instructions of one, and take turns. Half of
 * this was measured, and half a tick, 500 us, where the next tick has to find the task.
 */
#define SOON_US		50

struct sleeper {
	int pipe[2], answer[2];
	uint64_t woken, delays, longest, samples;
};

static struct sleeper *new_sleeper(void)
{
	struct sleeper *new = shared(sizeof(*new));

	if (pipe(new->pipe) || pipe(new->answer))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	return new;
}

static void note_delay(struct sleeper *me, uint64_t delay)
{
	me->samples++;
	me->delays += delay;
	if (delay > me->longest)
		me->longest = delay;
}

static void wake(struct sleeper *sleeper)
{
	sleeper->woken = now_ns();
	if (write(sleeper->pipe[1], "", 1) != 1)
		ksft_exit_fail_msg("write: %s\n", strerror(errno));
}

static unsigned long long mean_us(const struct sleeper *sleeper)
{
	return sleeper->delays / WAKEUPS / 1000;
}

/* Each of the wake-ups was seen, and soon after on the mean */
static bool was_soon(const struct sleeper *sleeper, int cpus)
{
	return sleeper->samples == WAKEUPS && mean_us(sleeper) < SOON_US * (uint64_t)cpus;
}

/* Have the hogs used so much in @ns that a task which is woken up finds no idle CPU? */
static bool is_busy(uint64_t used, uint64_t ns, int cpus)
{
	if (used * 100 >= ns * cpus * 80)
		return true;
	ksft_print_msg("the hogs use %llu of %llu ms\n", (unsigned long long)(used / MSEC),
		       (unsigned long long)(ns * cpus / MSEC));
	return false;
}

/*
 * How long to sleep before a wake-up, ns, each time a little longer. Emulated CPUs take
 * turns: in step with these each of the wake-ups, or none, would wait for most of a round.
 */
static uint64_t out_of_step(uint64_t ns, int wakeup)
{
	return ns + wakeup * (MSEC / 50);
}

static void sleep_until_woken(void *arg)
{
	struct sleeper *me = arg;
	char byte;

	be_normal();
	while (read(me->pipe[0], &byte, 1) == 1)
		note_delay(me, now_ns() - me->woken);
}

static void woken_from_outside(int cpus)
{
	struct sleeper *sleeper = new_sleeper();
	pid_t hogs[HOGS_A_CPU * MAX_CPUS], pid;
	int n = HOGS_A_CPU * cpus, i;
	uint64_t start, used;

	for (i = 0; i < n; i++)
		hogs[i] = spawn(normal_hog, NULL);
	pid = spawn(sleep_until_woken, sleeper);
	sleep_ns(300 * MSEC);
	start = now_ns();
	used = time_of_all(hogs, n);
	for (i = 0; i < WAKEUPS; i++) {
		sleep_ns(out_of_step(7 * MSEC, i));
		wake(sleeper);
	}
	sleep_ns(100 * MSEC);
	used = time_of_all(hogs, n) - used;
	start = now_ns() - start;
	finish(pid);
	finish_all(hogs, n);
	timed_result(was_soon(sleeper, cpus) && is_busy(used, start, cpus),
		     "woken by a real-time task one runs after %llu us on the mean, %llu at the most\n",
		     mean_us(sleeper), (unsigned long long)sleeper->longest / 1000);
}

static void answer(void *arg)
{
	struct sleeper *me = arg;
	char byte;

	be_normal();
	while (read(me->pipe[0], &byte, 1) == 1) {
		/* Zero where the waker does what it says */
		if (me->woken)
			note_delay(me, now_ns() - me->woken);
		if (write(me->answer[1], &byte, 1) != 1)
			_exit(1);
	}
}

static void await_answer(struct sleeper *sleeper)
{
	char byte;

	if (read(sleeper->answer[0], &byte, 1) != 1)
		_exit(1);
}

/* A write to a pipe says that the writer is about to sleep: every fourth time it is not */
static void break_the_word(void *arg)
{
	struct sleeper *sleeper = arg;
	uint64_t end;
	int i, kept;

	be_normal();
	for (i = 0; i < WAKEUPS; i++) {
		sleeper->woken = 0;
		for (kept = 0; kept < WORDS_KEPT; kept++) {
			if (write(sleeper->pipe[1], "", 1) != 1)
				_exit(1);
			await_answer(sleeper);
		}
		wake(sleeper);
		end = sleeper->woken + 5 * MSEC;
		while (now_ns() < end)
			;
		await_answer(sleeper);
	}
}

/* Not by the waker's side while other CPUs are idle */
static void woken_by_who_goes_on(int cpus)
{
	struct sleeper *sleeper;
	pid_t pid;

	if (cpus < 2) {
		ksft_test_result_skip("one CPU\n");
		return;
	}
	sleeper = new_sleeper();
	pid = spawn(answer, sleeper);
	waitpid(spawn(break_the_word, sleeper), NULL, 0);
	finish(pid);
	timed_result(was_soon(sleeper, cpus),
		     "woken by one that goes on, a task runs after %llu us on the mean, %llu at the most\n",
		     mean_us(sleeper), (unsigned long long)sleeper->longest / 1000);
}

/* Sleeps on the CPUs in turn, which it need not wait for then */
static void sleep_as_batch(void *arg)
{
	struct sleeper *me = arg;
	int cpus = online_cpus(), i;
	uint64_t due, ns;

	set_policy(0, SCHED_BATCH, 0);
	for (i = 0; i < WAKEUPS; i++) {
		pin(0, i % cpus);
		confine(0, ~0ULL);
		ns = out_of_step(5 * MSEC, i);
		due = now_ns() + ns;
		sleep_ns(ns);
		note_delay(me, now_ns() - due);
	}
}

/* A SCHED_IDLE task makes room for it at once, wherever behind the same cache it runs */
static void batch_beside_idle(int cpus)
{
	struct sleeper *sleeper;
	pid_t hogs[2 * MAX_CPUS];
	uint64_t start, used;
	int n = 0, i;

	if (cpus < 2 || cpus > 4 || sharing_cache_of(0, cpus) < cpus) {
		ksft_test_result_skip("%d CPUs, %d of them at one cache\n", cpus,
				      sharing_cache_of(0, cpus));
		return;
	}
	sleeper = new_sleeper();
	for (i = 0; i < cpus; i++)
		hogs[n++] = spawn(idle_hog, NULL);
	for (i = 0; i < cpus - 1; i++)
		hogs[n++] = spawn(normal_hog, NULL);
	sleep_ns(300 * MSEC);
	start = now_ns();
	used = time_of_all(hogs, n);
	waitpid(spawn(sleep_as_batch, sleeper), NULL, 0);
	used = time_of_all(hogs, n) - used;
	start = now_ns() - start;
	finish_all(hogs, n);
	timed_result(was_soon(sleeper, cpus) && is_busy(used, start, cpus),
		     "SCHED_BATCH beside SCHED_IDLE runs after %llu us on the mean, %llu at the most\n",
		     mean_us(sleeper), (unsigned long long)sleeper->longest / 1000);
}

int main(void)
{
	int cpus = online_cpus();

	ksft_print_header();
	if (!under_vrq())
		ksft_exit_skip("fair does not promise it\n");
	ksft_set_plan(3);
	be_supervisor();
	woken_from_outside(cpus);
	woken_by_who_goes_on(cpus);
	batch_beside_idle(cpus);
	ksft_finished();
}
