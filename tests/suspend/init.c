// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only program of a guest that is suspended: bound tasks have their masks
 * after suspend, and a mask that was set aside before comes back afterwards. It
 * is init of an initramfs, since a virtio device with the root file system is
 * reset by suspend. Results go to the console.
 */
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>

#include "../guest/guest.h"

#define CPUS	4
#define ALL	((1 << CPUS) - 1)

static bool renews = true;

static void nap(void *counter)
{
	volatile uint64_t *turns = counter;

	for (;;) {
		++*turns;
		sleep_ns(300000);
	}
}

static bool is_getting_on(volatile uint64_t *turns)
{
	uint64_t before = *turns;
	int ms;

	for (ms = 0; ms < 5000 && *turns < before + 3; ms++)
		sleep_ns(MSEC);
	return *turns >= before + 3;
}

/*
 * To a level of pm_test, and back after a second: "platform" is all of suspend
 * to idle but the idling, for which QEMU's clock would have to wake the guest;
 * from "processors" on the other CPUs go and come back.
 */
static bool suspend(const char *state, const char *level)
{
	return put("/sys/power/pm_test", level) && put("/sys/power/state", state);
}

/* cpu1 is away, and so is the mask of who is bound to it; cpu2 is there */
static void test(const char *state, const char *level)
{
	volatile uint64_t *turns = shared(2 * sizeof(*turns));
	pid_t away = spawn(nap, (void *)&turns[0]);
	pid_t here = spawn(nap, (void *)&turns[1]);
	uint64_t start;
	bool gone;

	confine(away, 2);
	confine(here, 4);
	gone = is_getting_on(&turns[0]) && !set_online(1, false) &&
	       is_getting_on(&turns[0]) && mask_of(away) == (ALL & ~2);
	start = now_ns();
	if (!suspend(state, level)) {
		ksft_print_msg("%s, %s: %s\n", state, level, strerror(errno));
		gone = false;
	}
	ksft_print_msg("%s, %s: %llu ms\n", state, level,
		       (unsigned long long)(now_ns() - start) / MSEC);
	gone &= is_getting_on(&turns[0]) && mask_of(away) == (ALL & ~2);
	ksft_test_result(gone && mask_of(here) == 4 && is_getting_on(&turns[1]),
			 "%s, %s: a mask is there after resume\n", state, level);
	gone &= !set_online(1, true);
	ksft_test_result(gone && mask_of(away) == (renews ? 2 : ALL) &&
			 is_getting_on(&turns[0]),
			 "%s, %s: and what was set aside before %s\n", state, level,
			 renews ? "comes back" : "is lost, as in mainline");
	finish(away);
	finish(here);
}

int main(int argc, char **argv)
{
	int i;

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	if (mount("none", "/proc", "proc", 0, NULL) ||
	    mount("none", "/sys", "sysfs", 0, NULL))
		ksft_print_msg("mount: %s\n", strerror(errno));
	/* what is on the command line behind -- is for init */
	for (i = 1; i < argc; i++)
		renews &= strcmp(argv[i], "lost") != 0;
	for (i = 1; i < CPUS; i++)
		set_online(i, true);
	put("/sys/module/suspend/parameters/pm_test_delay", "1");
	ksft_print_header();
	ksft_set_plan(8);
	test("freeze", "freezer");
	test("freeze", "platform");
	test("mem", "processors");
	test("mem", "core");
	ksft_print_cnts();
	reboot(RB_POWER_OFF);
}
