// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of what cpufreq governors are told: utilisation, clamps, and that
 * a task has waited for a device. They take a place on a CPU's governor hook, as
 * schedutil does, and hold for the fair class too.
 */
#include <kunit/test.h>
#include <linux/cpufreq.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/cpufreq.h>
#include <uapi/linux/sched/types.h>

#include "core.h"

/* PELT's half-life is 32 ms: long enough to forget what was before */
#define SETTLE_MS	400

/* What the CPU under test told its governor */
struct governor {
	struct update_util_data data;
	atomic_t calls;
	atomic_t iowaits;
};

/* What the task of a test does in turns */
struct duty {
	unsigned int run_ms;
	unsigned int sleep_ms;
	bool io;
};

struct util_test {
	int cpu;
	bool hooked;
	struct governor governor;
	struct task_struct *task;
	struct duty duty;
};

static void hear(struct update_util_data *data, u64 time, unsigned int flags)
{
	struct governor *governor = container_of(data, struct governor, data);

	atomic_inc(&governor->calls);
	if (flags & SCHED_CPUFREQ_IOWAIT)
		atomic_inc(&governor->iowaits);
}

static int perform(void *arg)
{
	struct duty *duty = arg;

	while (!kthread_should_stop()) {
		ktime_t end = ktime_add_ms(ktime_get(), duty->run_ms);

		while (ktime_before(ktime_get(), end) && !kthread_should_stop()) {
			cpu_relax();
			cond_resched();
		}
		if (duty->io) {
			set_current_state(TASK_UNINTERRUPTIBLE);
			io_schedule_timeout(msecs_to_jiffies(duty->sleep_ms));
		} else if (duty->sleep_ms) {
			msleep(duty->sleep_ms);
		}
	}

	return 0;
}

/* A task of nice 0 that is to perform @duty on the CPU under test, not yet awake */
static struct task_struct *create(struct util_test *util, struct duty duty)
{
	util->duty = duty;
	util->task = kthread_create(perform, &util->duty, "util_test");
	if (IS_ERR(util->task)) {
		util->task = NULL;
		return NULL;
	}
	kthread_bind(util->task, util->cpu);

	return util->task;
}

static void stop(struct util_test *util)
{
	if (util->task)
		kthread_stop(util->task);
	util->task = NULL;
}

/* The mean utilisation over the next 100 ms */
static unsigned long mean_util(int cpu)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < 50; i++) {
		sum += cpu_util_cfs(cpu);
		usleep_range(2000, 2500);
	}

	return sum / i;
}

static void hog_uses_all_and_leaves_nothing(struct kunit *test)
{
	struct util_test *util = test->priv;
	struct duty hog = { .run_ms = 1000 };
	unsigned long scale = arch_scale_cpu_capacity(util->cpu);

	KUNIT_ASSERT_NOT_NULL(test, create(util, hog));
	wake_up_process(util->task);
	msleep(SETTLE_MS);
	KUNIT_EXPECT_GE(test, mean_util(util->cpu), scale * 9 / 10);

	stop(util);
	msleep(SETTLE_MS);
	/*
	 * Other CPUs age the utilisation while they are awake. If the run queue is locked,
	 * they do so only the next time
	 */
	mean_util(util->cpu);
	KUNIT_EXPECT_LE(test, mean_util(util->cpu), scale / 10);
}

static void half_a_load_is_half_of_the_utilisation(struct kunit *test)
{
	struct util_test *util = test->priv;
	struct duty half = { .run_ms = 20, .sleep_ms = 20 };
	unsigned long scale = arch_scale_cpu_capacity(util->cpu);
	unsigned long mean;

	KUNIT_ASSERT_NOT_NULL(test, create(util, half));
	wake_up_process(util->task);
	msleep(SETTLE_MS);
	/* a sleep takes up to two ticks more; util_est may add some */
	mean = mean_util(util->cpu);
	KUNIT_EXPECT_GE(test, mean, scale * 30 / 100);
	KUNIT_EXPECT_LE(test, mean, scale * 70 / 100);
}

static void governor_hears_of_a_hog_at_each_tick(struct kunit *test)
{
	struct util_test *util = test->priv;
	struct duty hog = { .run_ms = 1000 };
	int before;

	KUNIT_ASSERT_NOT_NULL(test, create(util, hog));
	wake_up_process(util->task);
	msleep(50);
	before = atomic_read(&util->governor.calls);
	msleep(100);
	/* half of the ticks: the governor wants one in some ms */
	KUNIT_EXPECT_GE(test, atomic_read(&util->governor.calls) - before,
			HZ / 10 / 2);
}

static void governor_hears_of_a_wait_for_a_device(struct kunit *test)
{
	struct util_test *util = test->priv;
	struct duty reader = { .sleep_ms = 5, .io = true };

	KUNIT_ASSERT_NOT_NULL(test, create(util, reader));
	wake_up_process(util->task);
	msleep(200);
	KUNIT_EXPECT_GE(test, atomic_read(&util->governor.iowaits), 5);
}

#ifdef CONFIG_UCLAMP_TASK
static void set_clamps(struct kunit *test, u64 flag, u32 min, u32 max)
{
	struct util_test *util = test->priv;
	const struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_flags = flag | SCHED_FLAG_KEEP_ALL,
		.sched_util_min = min,
		.sched_util_max = max,
	};

	KUNIT_ASSERT_EQ(test, sched_setattr_nocheck(util->task, &attr), 0);
}

static void clamps_hold_while_their_task_is_runnable(struct kunit *test)
{
	struct util_test *util = test->priv;
	struct duty hog = { .run_ms = 1000 };
	unsigned long min, max;

	if (num_online_cpus() == 1)
		kunit_skip(test, "this task itself is not clamped");
	KUNIT_ASSERT_NOT_NULL(test, create(util, hog));
	set_clamps(test, SCHED_FLAG_UTIL_CLAMP, 200, 300);
	KUNIT_EXPECT_EQ(test, uclamp_rq_get(cpu_rq(util->cpu), UCLAMP_MIN), 0);

	wake_up_process(util->task);
	msleep(SETTLE_MS);
	effective_cpu_util(util->cpu, cpu_util_cfs(util->cpu), &min, &max);
	KUNIT_EXPECT_GE(test, min, 200);
	KUNIT_EXPECT_EQ(test, max, 300);

	/* it changes for the running task at once */
	set_clamps(test, SCHED_FLAG_UTIL_CLAMP_MAX, 200, 700);
	KUNIT_EXPECT_EQ(test, uclamp_rq_get(cpu_rq(util->cpu), UCLAMP_MAX), 700);

	stop(util);
	msleep(20);
	KUNIT_EXPECT_EQ(test, uclamp_rq_get(cpu_rq(util->cpu), UCLAMP_MIN), 0);
}
#else
static void clamps_hold_while_their_task_is_runnable(struct kunit *test)
{
	kunit_skip(test, "CONFIG_UCLAMP_TASK is not set");
}
#endif

static int util_test_init(struct kunit *test)
{
	struct util_test *util = kunit_kzalloc(test, sizeof(*util), GFP_KERNEL);

	if (!util)
		return -ENOMEM;

	test->priv = util;
	util->cpu = cpumask_last(cpu_online_mask);
	/* A governor that runs has the hook */
	if (cpufreq_cpu_get_raw(util->cpu))
		kunit_skip(test, "CPU %d has a governor", util->cpu);
	cpufreq_add_update_util_hook(util->cpu, &util->governor.data, hear);
	util->hooked = true;

	return 0;
}

static void util_test_exit(struct kunit *test)
{
	struct util_test *util = test->priv;

	if (!util)
		return;

	stop(util);
	if (util->hooked) {
		cpufreq_remove_update_util_hook(util->cpu);
		synchronize_rcu();
	}
}

static struct kunit_case util_cases[] = {
	KUNIT_CASE_SLOW(hog_uses_all_and_leaves_nothing),
	KUNIT_CASE_SLOW(half_a_load_is_half_of_the_utilisation),
	KUNIT_CASE_SLOW(governor_hears_of_a_hog_at_each_tick),
	KUNIT_CASE_SLOW(governor_hears_of_a_wait_for_a_device),
	KUNIT_CASE_SLOW(clamps_hold_while_their_task_is_runnable),
	{}
};

static struct kunit_suite util_suite = {
	.name = "vrq_utilisation",
	.init = util_test_init,
	.exit = util_test_exit,
	.test_cases = util_cases,
};

kunit_test_suite(util_suite);
