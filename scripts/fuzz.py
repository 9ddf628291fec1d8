#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Ask the scheduler of a guest for anything, by chance: tests/guest/fuzz.c.

SEED= is where chance begins (1), CALLS= how many calls are made (1000000), WORKERS= by how
many at once (6). MODE=virtual repeats all to the last call, MODE=parallel (the default) finds
races. CONFIG=debug,kasan has a kernel with KASAN and lockdep (debug: lockdep alone). SCHED= and
CPUS= as for make shell.
An odd seed asks for SCHED_DEADLINE, an even one for futexes that lend a priority. Two threads
are a core, where CPUS is even, so that core scheduling can be asked for.

FUZZER=trinity has Trinity, which knows nothing of this scheduler and little of what a call's
arguments mean, make the calls, half of them as root and half as nobody, before 6,000 of our own,
whose checks tell whether the machine still works.

Usage: fuzz.py
"""

import re
import sys

import guest
import memory_guest
from common import choice, main_wrapper, number, say
from kernel import check_static_keys, image_path
from run_tests import TESTS, TESTS_IN_GUEST, build_tests
from tap import tap_lines

# Of the host's time; a run of many calls takes hours
TIMEOUT = 4 * 3600

# Calls of our own after those of Trinity
CHECKS = 6000
# What Trinity calls. Not what makes it wait, or ends its own processes
TRINITY_CALLS = """
    sched_setscheduler sched_getscheduler sched_setparam sched_getparam sched_setattr sched_getattr
    sched_setaffinity sched_getaffinity sched_yield sched_rr_get_interval sched_get_priority_max
    sched_get_priority_min setpriority getpriority prctl setpgid setsid futex membarrier getcpu
"""
TRINITY = """
mkdir -m 777 /tmp/trinity
cd /tmp/trinity
as() {{
	name=$1
	shift
	"$@" trinity -q -q -l off --dangerous --enable-fds=pipes,eventfd,timerfd,memfd -a 64 {arguments} > "$name" 2>&1 ||
		echo "FAILED Trinity as $name: $(tail -n 1 "$name")"
	sed -n "s/^\\(.*\\): (attempted:/# $name: \\1: attempted /p" "$name"
}}
as root env &
as nobody setpriv --reuid 65534 --regid 65534 --clear-groups &
wait
cd /
"""


def trinity_script(seed, calls, workers):
    """Half of the calls as root, half as nobody, at once."""
    words = [
        f"-s {seed} -N {calls // 2} -C {max(workers // 2, 1)} --stats",
        *(f"-c {name}" for name in TRINITY_CALLS.split()),
    ]
    return TRINITY.format(arguments=" ".join(words))


def fuzz(fuzzer, mode, sched, cpus, calls, seed, workers):
    """Run a fuzzer in a guest; returns the Result."""
    root = memory_guest.root(["timeout"])
    root.own(TESTS / "fuzz", TESTS_IN_GUEST)
    script = "export HOST_STOPS_CPUS=1\n" if mode == "parallel" else ""
    if fuzzer == "trinity":
        for tool in ("env", "mkdir", "sed", "setpriv", "tail", "trinity"):
            root.program(tool)
        script += trinity_script(seed, calls, workers)
        calls = CHECKS
    script += f"{TESTS_IN_GUEST}/fuzz {seed} {calls} {workers}\n"
    archive = root.content() + memory_guest.command(script)
    return memory_guest.boot(
        archive,
        image=image_path(),
        mode=mode,
        cpus=cpus,
        smp=f"{cpus},cores={cpus // 2},threads=2" if cpus % 2 == 0 else "",
        append=f"sched={sched} loglevel=7",
        timeout=TIMEOUT,
        name="fuzz",
        memory="3G",
        seed=seed,
    )


def faults(result):
    """What the log tells of, but for what is as it should be: real-time tasks that are throttled."""
    return [line for line in result.trouble() if guest.THROTTLED not in line]


def main():
    mode, sched = choice("MODE", ["parallel", "virtual"]), choice("SCHED", ["vrq", "fair"])
    fuzzer = choice("FUZZER", ["own", "trinity"])
    calls, cpus = number("CALLS", 1000000), number("CPUS", 4)
    seed, workers = number("SEED", 1), number("WORKERS", 6)
    guest.check(image_path())
    check_static_keys(mode)
    build_tests()
    say(f"fuzz: {fuzzer}: seed {seed}, {calls} calls, {workers} workers; {cpus} CPUs, {mode} mode, {sched}")
    result = fuzz(fuzzer, mode, sched, cpus, calls, seed, workers)
    print(result.output, end="")
    results = list(tap_lines(result.output))
    planned = re.search(r"^1\.\.(\d+)", result.output, re.M)
    wrong = faults(result)
    wrong += re.findall(r"^FAILED (.*)$", result.output, re.M)
    wrong += [f"not ok: {what}" for status, what in results if status == "not ok"]
    if not planned or len(results) < int(planned[1]):
        wrong.append(f"the guest {'timed out' if result.timed_out else 'came to no end'}")
    for line in wrong:
        print(f"FAILED {line}")
    rate = f"{calls / result.seconds:.0f} calls a second"
    say(f"fuzz: {len(wrong)} faults, {result.seconds:.0f} s, {rate}, boot included; log {result.log}")
    return bool(wrong)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
