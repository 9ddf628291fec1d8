#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Ask the scheduler of a guest for anything, by chance: tests/guest/fuzz.c.

SEED= is where chance begins (1), CALLS= how many calls are made (1000000), WORKERS= by how
many at once (6). MODE=virtual repeats all to the last call, MODE=parallel (the default) finds
races. CONFIG=debug,kasan has a kernel with KASAN and lockdep. SCHED= and CPUS= as for make shell.
An odd seed asks for SCHED_DEADLINE, an even one for nice levels by setpriority(). Two threads
are a core, where CPUS is even, so that core scheduling can be asked for.

Usage: fuzz.py
"""

import re
import sys

import guest
import memory_guest
from common import choice, main_wrapper, number, say
from kernel import image_path
from run_tests import TESTS, TESTS_IN_GUEST, build_tests
from tap import tap_lines

# Of the host's time; a run of many calls takes hours
TIMEOUT = 4 * 3600


def fuzz(mode, sched, cpus, arguments):
    """Run the fuzzer in a guest; returns the Result."""
    root = memory_guest.root(["timeout"])
    root.own(TESTS / "fuzz", TESTS_IN_GUEST)
    host = "export HOST_STOPS_CPUS=1; " if mode == "parallel" else ""
    archive = root.content() + memory_guest.command(f"{host}{TESTS_IN_GUEST}/fuzz {arguments}\n")
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
        seed=number("SEED", 1),
    )


def faults(result):
    """What the log tells of, but for what is as it should be: real-time tasks that are throttled."""
    return [line for line in result.trouble() if guest.THROTTLED not in line]


def main():
    mode, sched = choice("MODE", ["parallel", "virtual"]), choice("SCHED", ["vrq", "fair"])
    calls, cpus = number("CALLS", 1000000), number("CPUS", 4)
    arguments = f"{number('SEED', 1)} {calls} {number('WORKERS', 6)}"
    guest.check(image_path())
    build_tests()
    say(f"fuzz: seed, calls, workers: {arguments}; {cpus} CPUs, {mode} mode, {sched}")
    result = fuzz(mode, sched, cpus, arguments)
    print(result.output, end="")
    results = list(tap_lines(result.output))
    planned = re.search(r"^1\.\.(\d+)", result.output, re.M)
    wrong = faults(result)
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
