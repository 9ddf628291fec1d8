// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups share the machine by their weights: cpu.weight, cpu.idle, nested groups, tasks
 * beside groups, autogroups, and the traps that there are if shares are worked out task
 * by task.
 *
 * A group that cannot use what its weight is worth leaves the rest to the others by their
 * weights. Under VRQ that holds for the machine, under fair for each CPU at best: there
 * what follows from it is told, without a verdict.
 */
#include <pthread.h>

#include "crews.h"
#include "naps.h"

#define SETTLE_NS	(500 * MSEC)
#define WATCH_NS	(2 * SEC)
#define AUTOGROUP	"/proc/sys/kernel/sched_autogroup_enabled"
#define SLEEPERS	200
#define LEAVERS		99
#define RING		10
#define PASSED		1000

static int cpus;

/* What under VRQ is a promise, and under fair only told */
#define vrq_result(good, ...)						\
	do {								\
		if (under_vrq())					\
			timed_result(good, __VA_ARGS__);		\
		else							\
			ksft_test_result_skip("no promise of fair's: " __VA_ARGS__); \
	} while (0)

static void pin_crew(const struct crew *crew, int cpu)
{
	int i;

	for (i = 0; i < crew->n; i++)
		pin(crew->pids[i], cpu);
}

static void pin_crews(int cpu)
{
	int i;

	for (i = 0; i < nr_crews; i++)
		pin_crew(&crews[i], cpu);
}

static uint64_t begin_and_watch(void)
{
	begin();
	sleep_ns(SETTLE_NS);
	return watch(WATCH_NS);
}

/* Share out @left by weight, to nobody more than its cap */
static void fill(int n, const double *weight, const double *cap, double left, double *share)
{
	double sum = 0;
	int i;

	for (i = 0; i < n; i++)
		if (share[i] < cap[i])
			sum += weight[i];
	for (i = 0; i < n; i++) {
		if (share[i] < cap[i] && weight[i] / sum * left > cap[i]) {
			share[i] = cap[i];
			fill(n, weight, cap, left - cap[i], share);
			return;
		}
	}
	for (i = 0; i < n; i++)
		if (share[i] < cap[i])
			share[i] = weight[i] / sum * left;
}

static void three_to_one(void)
{
	struct crew *a = hire_hogs("a", 300, cpus), *b = hire_hogs("b", 100, cpus);
	uint64_t sum = begin_and_watch();
	double ratio = b->used ? (double)a->used / b->used : 0;

	dismiss();
	timed_result(off(ratio, 3) <= (under_vrq() ? 2 : 15),
		     "weights 300:100, %d hogs each: %.3f to one\n", cpus, ratio);
	timed_result(percent(sum, WATCH_NS * cpus) >= 98,
		     "and no CPU idles (%.1f%% used)\n", percent(sum, WATCH_NS * cpus));
}

/* A weight that is set while the hogs wait to begin holds from their first slices on */
static void set_before_they_begin(void)
{
	struct crew *a = hire_hogs("a", 100, cpus), *b = hire_hogs("b", 100, cpus);
	double ratio;

	if (!group_put_number("a", "cpu.weight", 300))
		ksft_exit_fail_msg("cpu.weight of a: %s\n", strerror(errno));
	begin();
	watch(250 * MSEC);
	ratio = b->used ? (double)a->used / b->used : 0;
	dismiss();
	vrq_result(off(ratio, 3) <= 15,
		   "a weight set before the hogs begin: %.3f to one in their first 250 ms\n", ratio);
}

/* Groups of 300 and 100 where one may have fewer tasks than its weight is worth */
static void unlike_crews(int in_a, int in_b)
{
	const double weight[] = { 300, 100 };
	struct crew *a = hire_hogs("a", 300, in_a), *b = hire_hogs("b", 100, in_b);
	double cap[2], share[2] = {}, worst;
	uint64_t sum = begin_and_watch();

	cap[0] = (in_a < cpus ? in_a : cpus) * (double)WATCH_NS;
	cap[1] = (in_b < cpus ? in_b : cpus) * (double)WATCH_NS;
	/* they cannot have what the supervisor and the kernel's own threads use */
	fill(2, weight, cap, sum, share);
	worst = off(a->used, share[0]);
	if (off(b->used, share[1]) > worst)
		worst = off(b->used, share[1]);
	dismiss();
	vrq_result(worst <= 3,
		   "weights 300:100, %d and %d hogs: %.1f%%, %.1f%% of a CPU, %.1f%% off\n",
		   in_a, in_b, percent(a->used, WATCH_NS), percent(b->used, WATCH_NS), worst);
}

/* The task of a heavy group wakes up while there is nobody else, and then others do */
static void wakes_up_alone(void)
{
	struct crew *heavy = hire_hogs("a", 300, 1), *others;
	double share;

	others = hire_hogs("b", 100, 2 * cpus);
	/* their slices are not those that they were made with */
	sleep_ns(50 * MSEC);
	start_all(heavy->pids, 1);
	sleep_ns(2 * MSEC);
	begin();
	watch(250 * MSEC);
	share = percent(heavy->used, 250 * MSEC);
	dismiss();
	vrq_result(share >= (cpus == 1 ? 60 : 85) && percent(others->used, 250 * MSEC) >= 10,
		   "weights 300:100, one that is the first to wake up: %.1f%% of a CPU in 250 ms\n",
		   share);
}

/* Its part is less than a slice, but when the others have ended it has the machine */
static void very_light(void)
{
	struct crew *light, *heavy;
	double share;
	uint64_t sum;

	/* the heavy ones begin first */
	heavy = hire_hogs("a", 10000, 4 * cpus);
	light = hire_hogs("b", 1, 4 * cpus);
	sum = begin_and_watch();
	share = percent(light->used, sum);
	finish_all(heavy->pids, heavy->n);
	heavy->n = 0;
	sleep_ns(20 * MSEC);
	watch(200 * MSEC);
	timed_result(percent(sum, WATCH_NS * cpus) >= 90 && share < 0.5 &&
		     percent(light->used, 200 * MSEC * cpus) >= 95,
		     "weights 1:10000: the light one has %.3f%%, then alone %.1f%%\n",
		     share, percent(light->used, 200 * MSEC * cpus));
	dismiss();
}

/* One task that has a slice now and then: some slices are its part of all it was there for */
static void light(void)
{
	uint64_t ns = 8 * SEC / cpus, before, used, start;
	struct crew *light;

	if (ns < WATCH_NS)
		ns = WATCH_NS;
	hire_hogs("a", 1000, 2 * cpus);
	light = hire_hogs("b", 1, 1);
	before = cpu_time_of(light->pids[0]);
	start = now_ns();
	begin();
	sleep_until(start + ns);
	used = cpu_time_of(light->pids[0]) - before;
	dismiss();
	vrq_result(used * 1001 >= ns * cpus * 3 / 10 && used * 1001 <= ns * cpus * 3,
		   "weights 1:1000: the light one has %llu us, its part is %llu us\n",
		   (unsigned long long)used / 1000,
		   (unsigned long long)ns * cpus / 1001 / 1000);
}

#define LEAVES	12

static const struct leaf {
	const char *group;
	int top, middle, weight;
	int hogs, sleepers;
} leaves[LEAVES] = {
	{ "x/p/a", 100, 100, 100, 1, 2 },
	{ "x/p/b", 100, 100, 150, 2, 0 },
	{ "x/p/c", 100, 100, 120, 3, 2 },
	{ "x/q/a", 100, 100, 80, 1, 0 },
	{ "x/q/b", 100, 100, 100, 2, 2 },
	{ "x/q/c", 100, 100, 120, 3, 0 },
	{ "y/p/a", 150, 100, 100, 1, 2 },
	{ "y/p/b", 150, 100, 200, 2, 0 },
	{ "y/p/c", 150, 100, 150, 3, 2 },
	{ "y/q/a", 150, 150, 100, 1, 0 },
	{ "y/q/b", 150, 150, 90, 2, 2 },
	{ "y/q/c", 150, 150, 140, 3, 0 },
};

/* Each leaf's part of the whole, in percent: its weight beside its like, on three levels */
static void leaf_shares(double *share)
{
	int i, j, first;
	double sum;

	for (i = 0; i < LEAVES; i++) {
		first = i / 3 * 3;
		for (sum = 0, j = first; j < first + 3; j++)
			sum += leaves[j].weight;
		share[i] = leaves[i].weight / sum;
		first = i / 6 * 6;
		share[i] *= (double)leaves[i].middle / (leaves[first].middle +
							leaves[first + 3].middle);
		share[i] *= 100.0 * leaves[i].top / (leaves[0].top + leaves[6].top);
	}
}

static void nap(void *unused)
{
	(void)unused;
	for (;;) {
		use_ns(MSEC);
		sleep_ns(5 * MSEC);
	}
}

/* A leaf's hogs are of different nice levels, which is none of the other leaves' business */
static void hire_leaf(const struct leaf *leaf, int hogs_each, bool sleepers)
{
	static const int nice_levels[] = { 0, 5, -5 };
	int i, n = leaf->hogs * hogs_each + (sleepers ? leaf->sleepers : 0);
	struct crew *crew = hire_hogs(leaf->group, leaf->weight, leaf->hogs * hogs_each);

	for (i = 0; i < crew->n; i++)
		setpriority(PRIO_PROCESS, crew->pids[i], nice_levels[i % 3]);
	while (crew->n < n)
		crew->pids[crew->n++] = spawn_in(leaf->group, nap, NULL);
}

/* The group above a leaf that is named by so many letters of it */
static void inner_group(const char *leaf, int letters, int weight)
{
	char group[GROUP_NAME];

	snprintf(group, sizeof(group), "%.*s", letters, leaf);
	make_group(group);
	if (!group_put_number(group, "cpu.weight", weight))
		ksft_exit_fail_msg("cpu.weight of %s: %s\n", group, strerror(errno));
}

static void drop_inner_groups(void)
{
	drop_group("x/p");
	drop_group("x/q");
	drop_group("x");
	drop_group("y/p");
	drop_group("y/q");
	drop_group("y");
}

/* As many hogs as nobody has fewer than its share can be had by, up to 16 CPUs */
static void three_levels(bool sleepers)
{
	double share[LEAVES], got, worst = 0;
	uint64_t sum;
	int i;

	leaf_shares(share);
	for (i = 0; i < LEAVES; i++) {
		inner_group(leaves[i].group, 1, leaves[i].top);
		inner_group(leaves[i].group, 3, leaves[i].middle);
		hire_leaf(&leaves[i], (cpus + 3) / 4, sleepers);
	}
	begin();
	sleep_ns(SEC);
	sum = watch(5 * SEC);
	for (i = 0; i < LEAVES; i++) {
		got = percent(crews[i].used, sum);
		ksft_print_msg("%s: %.2f%%, ideal %.2f%%\n", leaves[i].group, got, share[i]);
		if (off(got, share[i]) > worst)
			worst = off(got, share[i]);
	}
	dismiss();
	drop_inner_groups();
	/* Under fair one that sleeps is served before its leaf's hogs feel that it was there */
	vrq_result(worst <= (sleepers && !under_vrq() ? 75 : 5), "12 leaves on three levels, %s, are %.1f%% off at most\n",
		   sleepers ? "with tasks that sleep" : "of hogs", worst);
}

static void set_idle(const struct crew *crew)
{
	if (!group_put(crew->group, "cpu.idle", "1"))
		ksft_print_msg("cpu.idle of %s: %s\n", crew->group, strerror(errno));
}

static void idle_groups(void)
{
	struct crew *idle = hire_hogs("a", 0, 2 * cpus), *normal;
	uint64_t sum;

	set_idle(idle);
	normal = hire_hogs("b", 0, 2 * cpus);
	begin();
	/* long enough for what idle ones may have to come to some slices */
	sleep_ns(2 * SEC);
	sum = watch(WATCH_NS);
	timed_result(idle->used && percent(idle->used, sum) <= 6,
		     "an idle group beside another has %.2f%% of the machine\n",
		     percent(idle->used, sum));
	set_idle(normal);
	sleep_ns(SEC);
	sum = watch(WATCH_NS);
	vrq_result(off(percent(idle->used, sum), 50) <= 10,
		   "two idle groups share equally (%.1f%%)\n", percent(idle->used, sum));
	dismiss();
}

static void tasks_beside_a_group(void)
{
	struct crew *group = hire_hogs("a", 100, 5);
	uint64_t sum;

	hire_hogs("", 0, 3);
	pin_crews(0);
	sum = begin_and_watch();
	dismiss();
	timed_result(off(percent(group->used, sum), 25) <= 5,
		     "a group of weight 100 beside three tasks has a quarter (%.2f%%)\n",
		     percent(group->used, sum));
}

/* Work a millisecond when a clock of all such tasks strikes, which it does every 101 ms */
static void work_at_the_hour(void *unused)
{
	const uint64_t hour = 101 * MSEC;

	(void)unused;
	for (;;) {
		sleep_until((now_ns() / hour + 1) * hour);
		use_ns(MSEC);
	}
}

static void crowd_that_wakes_at_once(void)
{
	struct crew *one = hire_hogs("a", 100, 1), *crowd;

	crowd = hire("b", 1, SLEEPERS, work_at_the_hour, NULL);
	pin_crews(0);
	begin_and_watch();
	dismiss();
	timed_result(percent(one->used, WATCH_NS) >= 90 && crowd->used,
		     "beside %d of weight 1 that wake at once, one of 100 has %.1f%% of a CPU (they %.1f%%)\n",
		     SLEEPERS, percent(one->used, WATCH_NS), percent(crowd->used, WATCH_NS));
}

static int ring[RING][2];

/* Work when it has the token, then pass it on */
static void work_in_turn(void *number)
{
	int me = *(int *)number;
	char token;

	for (;;) {
		if (read(ring[me][0], &token, 1) != 1)
			_exit(1);
		use_ns(3 * MSEC);
		if (write(ring[(me + 1) % RING][1], &token, 1) != 1)
			_exit(1);
	}
}

static void sleep_in_turns(void)
{
	static int numbers[RING];
	struct crew *group = hire("a", 100, 0, NULL, NULL);
	uint64_t sum;
	int i;

	for (i = 0; i < RING; i++) {
		if (pipe(ring[i]))
			ksft_exit_fail_perror("pipe");
	}
	for (i = 0; i < RING; i++) {
		numbers[i] = i;
		group->pids[group->n++] = spawn_in("a", work_in_turn, &numbers[i]);
	}
	hire_hogs("b", 100, 1);
	pin_crews(0);
	if (write(ring[0][1], "", 1) != 1)
		ksft_exit_fail_perror("write");
	sum = begin_and_watch();
	dismiss();
	for (i = 0; i < RING; i++) {
		close(ring[i][0]);
		close(ring[i][1]);
	}
	timed_result(percent(group->used, sum) >= 42 && percent(group->used, sum) <= 58,
		     "a group whose tasks sleep in turns, beside a hog's, has %.1f%% of a CPU\n",
		     percent(group->used, sum));
}

/* All but the first leave a crew, half of them for a frozen group, the others for ever */
static void all_but_one_leave(struct crew *crew)
{
	int i, half = crew->n / 2;

	for (i = 1; i < half; i++)
		move_to("frozen", crew->pids[i]);
	finish_all(crew->pids + half, crew->n - half);
	crew->n = half;
}

static void one_of_many_stays(void)
{
	struct crew *many = hire_hogs("a", 100, LEAVERS + 1), *one = hire_hogs("b", 100, 1);
	uint64_t used;

	make_group("frozen");
	group_put("frozen", "cgroup.freeze", "1");
	pin_crews(0);
	begin();
	sleep_ns(SEC);
	all_but_one_leave(many);
	sleep_ns(2 * SEC);
	used = cpu_time_of(many->pids[0]);
	watch(SEC);
	used = cpu_time_of(many->pids[0]) - used;
	timed_result(percent(used, SEC) >= 45 && percent(used, SEC) <= 55,
		     "one that %d have left has %.1f%% of a CPU, beside an equal group's %.1f%%\n",
		     LEAVERS, percent(used, SEC), percent(one->used, SEC));
	dismiss();
	drop_group("frozen");
}

/* Its weight is worth the machine, but one task has one CPU only */
static void one_heavy_task(void)
{
	struct crew *heavy, *b, *c;

	if (cpus < 2) {
		ksft_test_result_skip("a heavy task beside others: one CPU only\n");
		ksft_test_result_skip("what it leaves: one CPU only\n");
		return;
	}
	heavy = hire_hogs("a", 10000, 1);
	b = hire_hogs("b", 100, 2 * cpus);
	c = hire_hogs("c", 100, 2 * cpus);
	begin_and_watch();
	dismiss();
	timed_result(percent(heavy->used, WATCH_NS) >= 95 && b->used && c->used,
		     "one task of weight 10000 has %.1f%% of a CPU\n",
		     percent(heavy->used, WATCH_NS));
	vrq_result(off(b->used, c->used) <= 3,
		   "and two groups of weight 100 share the rest equally (%.1f%%, %.1f%%)\n",
		   percent(b->used, WATCH_NS), percent(c->used, WATCH_NS));
}

/*
 * It is on CPU 0. Who may use CPU 1 too has a share of what is left like the others: a CPU
 * less, for one task beside two for each CPU.
 */
static void beside_a_heavy_one(void)
{
	struct crew *heavy, *one;
	int n = 2 * (cpus - 1);
	double ideal = 100.0 * (cpus - 1) / (n + 1), used;

	if (cpus < 3) {
		ksft_test_result_skip("beside a heavy task bound to a CPU: %d CPUs\n", cpus);
		return;
	}
	heavy = hire_hogs("a", 10000, 1);
	pin_crew(heavy, 0);
	one = hire_hogs("b", 100, 1);
	confine(one->pids[0], 3);
	hire_hogs("c", 100 * n, n);
	begin_and_watch();
	dismiss();
	used = percent(one->used, WATCH_NS);
	vrq_result(used >= 0.8 * ideal && used <= 1.25 * ideal,
		   "one that may use the CPU of a heavy task, and another, has %.1f%% of a CPU (ideal %.1f)\n",
		   used, ideal);
}

#define AT_ONCE_NS	(3 * MSEC)
#define AT_ONCE_EACH_NS	(28 * MSEC)

/* As many wake up at one moment, as nobody of their group has been runnable for a while */
static void work_at_once(void *unused)
{
	(void)unused;
	for (;;) {
		sleep_until((now_ns() / AT_ONCE_EACH_NS + 1) * AT_ONCE_EACH_NS);
		use_ns(AT_ONCE_NS);
	}
}

/*
 * A group in a light one has no more than that one, whatever its own weight, and whether it
 * counts there at the moment or not.
 */
static void heavy_in_a_light_one(void)
{
	struct crew *inside;

	make_group("light");
	group_put("light", "cpu.weight", "1");
	inside = hire("light/heavy", 10000, cpus, work_at_once, NULL);
	hire_hogs("b", 100, 2 * cpus);
	begin_and_watch();
	dismiss();
	drop_group("light");
	/* They want ten times as much */
	vrq_result(percent(inside->used, WATCH_NS) >= cpus / 4.0 &&
		   percent(inside->used, WATCH_NS) <= 3 * cpus,
		   "those who wake up at once, in a heavy group in one of weight 1, have %.1f%% of a CPU (ideal %.1f)\n",
		   percent(inside->used, WATCH_NS), 100.0 * cpus / 101);
}

static void bound_beside_free(const char *how, void (*bind)(const struct crew *))
{
	struct crew *bound;
	double used, had;

	if (cpus < 2) {
		ksft_test_result_skip("a group bound by %s: one CPU only\n", how);
		ksft_test_result_skip("work conservation beside it: one CPU only\n");
		return;
	}
	bound = hire_hogs("a", 100, 2);
	bind(bound);
	hire_hogs("b", 100, 2 * cpus);
	used = percent(begin_and_watch(), WATCH_NS * cpus);
	had = percent(bound->used, WATCH_NS);
	dismiss();
	/* If it were not bound it would have more than one CPU */
	timed_result(used >= 98 && had <= 105,
		     "no CPU idles beside a group bound by %s (%.1f%% used)\n", how, used);
	vrq_result(had >= 90 && had <= 105,
		   "bound by %s, half of the machine's weight has %.1f%% of its CPU\n", how, had);
}

static void by_affinity(const struct crew *crew)
{
	pin_crew(crew, 0);
}

static void by_cpuset(const struct crew *crew)
{
	if (!group_put(crew->group, "cpuset.cpus", "0"))
		ksft_print_msg("cpuset.cpus of %s: %s\n", crew->group, strerror(errno));
}

static void bound_groups(void)
{
	bound_beside_free("affinity", by_affinity);
	if (group_put("", "cgroup.subtree_control", "+cpuset")) {
		bound_beside_free("a cpuset", by_cpuset);
		group_put("", "cgroup.subtree_control", "-cpuset");
		return;
	}
	ksft_test_result_skip("no cpusets\n");
	ksft_test_result_skip("no cpusets\n");
}

static void *hog_thread(void *unused)
{
	hog(unused);
	return NULL;
}

/* As many threads as @arg says in a session of their own */
static void session(void *arg)
{
	int i, n = *(int *)arg;
	pthread_t thread;

	setsid();
	for (i = 1; i < n; i++)
		if (pthread_create(&thread, NULL, hog_thread, NULL))
			_exit(1);
	hog(NULL);
}

/* What a session of one hog has beside one of five, in percent; the other's is @nice */
static double beside_session(int nice)
{
	static int one = 1, five = 5;
	struct crew *single = hire("", 0, 1, session, &one);
	struct crew *other = hire("", 0, 1, session, &five);
	char path[64], text[16];
	uint64_t sum;

	pin_crews(0);
	begin();
	sleep_ns(SETTLE_NS);
	if (nice) {
		snprintf(path, sizeof(path), "/proc/%d/autogroup", other->pids[0]);
		snprintf(text, sizeof(text), "%d", nice);
		if (!put(path, text))
			ksft_print_msg("%s: %s\n", path, strerror(errno));
		sleep_ns(SETTLE_NS);
	}
	sum = watch(WATCH_NS);
	dismiss();
	return percent(single->used, sum);
}

static void autogroups(void)
{
	double share;

	if (access(AUTOGROUP, F_OK)) {
		ksft_test_result_skip("no autogroups\n");
		ksft_test_result_skip("no autogroups\n");
		ksft_test_result_skip("no autogroups\n");
		return;
	}
	must_put(AUTOGROUP, "1");
	share = beside_session(0);
	timed_result(off(share, 50) <= 6, "a session of 1 beside one of 5 has half (%.1f%%)\n",
		     share);
	share = beside_session(5);
	timed_result(share >= 58 && share <= 85,
		     "and with the other one's autogroup at nice 5 more (%.1f%%)\n", share);
	must_put(AUTOGROUP, "0");
	share = beside_session(0);
	timed_result(off(share, 100.0 / 6) <= 6,
		     "without autogroups, as much as each of the others (%.2f%%)\n", share);
}

static void weight_changes(void)
{
	struct crew *a = hire_hogs("a", 100, 2 * cpus), *b = hire_hogs("b", 100, 2 * cpus);
	double ratio;

	begin();
	sleep_ns(SETTLE_NS);
	group_put("a", "cpu.weight", "400");
	sleep_ns(SEC);
	watch(SEC);
	ratio = b->used ? (double)a->used / b->used : 0;
	timed_result(off(ratio, 4) <= (under_vrq() ? 5 : 15),
		     "a weight of 400 that was 100 counts within a second (%.2f to one)\n", ratio);
	dismiss();
}

/* Half of the tasks of the first of two groups go to a third: in thirds, not quarters */
static void tasks_move(void)
{
	struct crew *a = hire_hogs("a", 100, 2 * cpus), *b = hire_hogs("b", 100, 2 * cpus), *c;
	double worst = 0;
	uint64_t sum;
	int i;

	c = hire("c", 100, 0, NULL, NULL);
	begin();
	sleep_ns(SETTLE_NS);
	a->n = cpus;
	c->n = cpus;
	for (i = 0; i < cpus; i++) {
		c->pids[i] = a->pids[cpus + i];
		move_to("c", c->pids[i]);
	}
	sleep_ns(SETTLE_NS);
	sum = watch(SEC);
	for (i = 0; i < nr_crews; i++)
		if (off(crews[i].used, sum / 3.0) > worst)
			worst = off(crews[i].used, sum / 3.0);
	timed_result(percent(sum, SEC * cpus) >= 90 && worst <= (under_vrq() ? 5 : 25),
		     "tasks that moved count where they are: %.1f%%, %.1f%%, %.1f%%\n",
		     percent(a->used, sum), percent(b->used, sum), percent(c->used, sum));
	dismiss();
}

/* A group counts for its share, however little what is runnable in it is worth there */
static void light_inside(void)
{
	struct crew *in, *other;

	hire("a", 100, 0, NULL, NULL);
	hire("a/in", 1, 0, NULL, NULL);
	in = hire_hogs("a/in/in", 1, 2 * cpus);
	other = hire_hogs("b", 100, 2 * cpus);
	begin_and_watch();
	dismiss();
	vrq_result(off(in->used, other->used) <= 5,
		   "two levels of weight 1 within 100 are worth 100 (%.1f%%, %.1f%% of a CPU)\n",
		   percent(in->used, WATCH_NS), percent(other->used, WATCH_NS));
}

/* In its old group its turn would come in seconds */
static void leaves_a_light_group(void)
{
	struct crew *light = hire_hogs("a", 1, 10), *two = hire_hogs("b", 100, 2);
	uint64_t used;

	pin_crews(0);
	begin();
	sleep_ns(SETTLE_NS);
	move_to("b", light->pids[9]);
	used = cpu_time_of(light->pids[9]);
	watch(WATCH_NS);
	used = cpu_time_of(light->pids[9]) - used;
	vrq_result(percent(used, WATCH_NS) >= 28 && two->used,
		   "one that has left a group of weight 1 has %.1f%% at once (two others %.1f%%)\n",
		   percent(used, WATCH_NS), percent(two->used, WATCH_NS));
	dismiss();
}

/* What a crew uses in 20 ms once those have ended that kept it waiting: it was able to run */
static uint64_t alone_at_last(struct crew *others, const struct crew *crew)
{
	uint64_t used;

	finish_all(others->pids, others->n);
	others->n = 0;
	used = time_of_all(crew->pids, crew->n);
	sleep_ns(20 * MSEC);
	return time_of_all(crew->pids, crew->n) - used;
}

/* A group in an idle one is idle from its first moment on */
static void job_in_an_idle_group(void)
{
	struct crew *idle = hire("a", 0, 0, NULL, NULL), *job, *others;
	uint64_t used, then;

	others = hire_hogs("b", 0, 2);
	set_idle(idle);
	pin_crews(0);
	begin();
	sleep_ns(SETTLE_NS);
	job = hire_hogs("a/in", 0, 1);
	pin_crew(job, 0);
	used = cpu_time_of(job->pids[0]);
	start_all(job->pids, 1);
	sleep_ns(100 * MSEC);
	used = cpu_time_of(job->pids[0]) - used;
	then = alone_at_last(others, job);
	vrq_result(used <= MSEC && then >= MSEC,
		   "a short job in a new group of an idle one gets %llu us (alone %llu)\n",
		   (unsigned long long)used / 1000, (unsigned long long)then / 1000);
	dismiss();
}

/* SCHED_ISO, which everybody may have, does not lead out of it */
static void iso_in_an_idle_group(void)
{
	struct crew *idle = hire_hogs("a", 0, 2), *others;
	uint64_t used, then;
	int i;

	if (!under_vrq()) {
		dismiss();
		ksft_test_result_skip("there is no SCHED_ISO\n");
		return;
	}
	set_idle(idle);
	for (i = 0; i < 2; i++)
		set_policy(idle->pids[i], SCHED_ISO, 0);
	others = hire_hogs("b", 0, 2);
	pin_crews(0);
	begin();
	sleep_ns(SETTLE_NS);
	used = time_of_all(idle->pids, 2);
	sleep_ns(100 * MSEC);
	used = time_of_all(idle->pids, 2) - used;
	then = alone_at_last(others, idle);
	timed_result(used <= MSEC && then >= MSEC,
		     "SCHED_ISO tasks of an idle group get %llu us (alone %llu)\n",
		     (unsigned long long)used / 1000, (unsigned long long)then / 1000);
	dismiss();
}

struct times {
	uint64_t sum;
	int n;
};

/* Ten times a second, what needs a millisecond */
static void now_and_then(void *arg)
{
	struct times *times = arg;
	uint64_t wake = now_ns();

	for (;;) {
		wake += 100 * MSEC;
		sleep_until(wake);
		use_ns(MSEC);
		times->sum += now_ns() - wake;
		times->n++;
	}
}

static void alone_in_its_group(void)
{
	struct times *times = shared(sizeof(*times));
	struct crew *others;
	uint64_t used;
	double ms;

	hire("a", 100, 1, now_and_then, times);
	others = hire_hogs("b", 100, 2 * cpus);
	begin();
	sleep_ns(3 * SEC);
	used = time_of_all(others->pids, others->n);
	dismiss();
	ms = times->n ? times->sum / 1e6 / times->n : 0;
	timed_result(times->n >= 20 && ms <= 3 && percent(used, 3 * SEC * cpus) >= 90,
		     "1 ms every 100 ms, beside two hogs a CPU (%.1f%% used), takes %.2f ms\n",
		     percent(used, 3 * SEC * cpus), ms);
}

#define CROWD_A_CPU	15

/*
 * What many tasks did not get while their group was idle they do not make up for: others are
 * served as soon as ever.
 */
static void idle_no_longer(void)
{
	int n = CROWD_A_CPU * cpus;
	struct nappers nappers;
	struct crew *crowd;
	struct naps naps;
	bool set;

	if (n > MAX_CREW) {
		ksft_test_result_skip("no room for %d hogs\n", n);
		return;
	}
	crowd = hire_hogs("a", 0, n);
	hire_hogs("b", 0, 2 * cpus);
	set = group_put("a", "cpu.idle", "1");
	begin();
	nappers = start_nappers();
	/* it is kept waiting meanwhile */
	set = watch(2 * SEC) > 8 * crowd->used && set;
	forget_naps(&nappers);
	set = group_put("a", "cpu.idle", "0") && set;
	sleep_ns(SEC / 2);
	naps = all_naps(&nappers);
	vrq_result(set && naps.n && naps.latest <= 4 * RR_NS,
		   "a group of %d hogs is idle no longer: naps end %llu us late at most\n", n,
		   (unsigned long long)(naps.latest / 1000));
	end_nappers(&nappers);
	dismiss();
}

static void bad_values(void)
{
	static const struct {
		const char *file, *text;
		int error;
	} bad[] = {
		{ "cpu.weight", "0", ERANGE },
		{ "cpu.weight", "10001", ERANGE },
		{ "cpu.weight", "heavy", EINVAL },
		{ "cpu.weight.nice", "-21", ERANGE },
		{ "cpu.weight.nice", "20", ERANGE },
		{ "cpu.weight.nice", "nice", EINVAL },
		{ "cpu.idle", "2", EINVAL },
		{ "cpu.idle", "-1", EINVAL },
	};
	unsigned int i, wrong = 0;
	int error;

	make_group("a");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error = group_put_error("a", bad[i].file, bad[i].text);
		if (error == bad[i].error)
			continue;
		ksft_print_msg("'%s' to %s: %s\n", bad[i].text, bad[i].file, strerror(error));
		wrong++;
	}
	ksft_test_result(!wrong && group_number("a", "cpu.weight", "") == 100,
			 "bad values are refused as ever, and change nothing\n");
	drop_group("a");
}

static void good_values(void)
{
	bool good;

	make_group("a");
	good = group_put("a", "cpu.weight", "1") && group_number("a", "cpu.weight", "") == 1 &&
	       group_put("a", "cpu.weight", "10000") &&
	       group_number("a", "cpu.weight", "") == 10000;
	ksft_test_result(good, "cpu.weight reads as it was written\n");
	good = group_put("a", "cpu.weight.nice", "-20") &&
	       group_number("a", "cpu.weight.nice", "") == -20 &&
	       group_put("a", "cpu.weight.nice", "0") &&
	       group_number("a", "cpu.weight", "") == 100;
	ksft_test_result(good, "so does cpu.weight.nice, and nice 0 is a weight of 100\n");
	good = group_put("a", "cpu.idle", "1") && group_number("a", "cpu.idle", "") == 1 &&
	       group_put_error("a", "cpu.weight", "100") == EINVAL &&
	       group_put("a", "cpu.idle", "0") && group_number("a", "cpu.weight", "") == 100;
	ksft_test_result(good, "an idle group has no weight, and 100 if it is no longer idle\n");
	ksft_test_result(!group_has("", "cpu.weight") && !group_has("", "cpu.idle"),
			 "the root has no weight\n");
	drop_group("a");
}

static void pass_through(void)
{
	pid_t pid = spawn_in("", hog, NULL);
	char here[16], last[16] = "";
	uint64_t start = now_ns();
	int i, errors = 0;

	start_all(&pid, 1);
	for (i = 0; i < PASSED; i++) {
		snprintf(here, sizeof(here), "pass%d", i);
		make_group(here);
		errors += !move_to(here, pid);
		if (*last)
			errors += !drop_group(last);
		strcpy(last, here);
	}
	/* It still runs */
	errors += !cpu_time_within(pid, 10 * MSEC);
	finish(pid);
	errors += !drop_group(last);
	ksft_test_result(!errors, "a hog passes through %d groups that come and go (%llu ms)\n",
			 PASSED, (unsigned long long)((now_ns() - start) / MSEC));
}

int main(void)
{
	cpus = online_cpus();
	ksft_print_header();
	if (4 * cpus + SLEEPERS > MAX_CREW || 5 * cpus > MAX_CREW)
		ksft_exit_skip("no room for %d hogs\n", 5 * cpus);
	need_groups();
	ksft_set_plan(42);
	be_supervisor_of_groups();
	/* what is in the root is beside the groups there, and not in a group of its session */
	if (!access(AUTOGROUP, F_OK))
		must_put(AUTOGROUP, "0");

	three_to_one();
	set_before_they_begin();
	unlike_crews(1, 4 * cpus);
	unlike_crews(3, 8);
	unlike_crews(5 * cpus, cpus);
	wakes_up_alone();
	very_light();
	light();
	three_levels(false);
	three_levels(true);
	idle_groups();
	tasks_beside_a_group();
	crowd_that_wakes_at_once();
	sleep_in_turns();
	one_of_many_stays();
	one_heavy_task();
	beside_a_heavy_one();
	heavy_in_a_light_one();
	bound_groups();
	autogroups();
	weight_changes();
	tasks_move();
	light_inside();
	leaves_a_light_group();
	job_in_an_idle_group();
	iso_in_an_idle_group();
	alone_in_its_group();
	idle_no_longer();
	bad_values();
	good_values();
	pass_through();
	ksft_finished();
}
