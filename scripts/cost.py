#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What does the series cost under sched=fair?

Builds the same source with the same configuration, but without the series, and
runs hackbench and a pipe ping-pong on both in virtual time, in turns. Ours may
take at most 1% longer.

Usage: cost.py [PASSES]
"""

import re
import shutil
import statistics
import sys

import guest
import kernel
from common import BUILD, TREE, Failure, main_wrapper, say
from tree import find_source, unpack

LOAD = """
hackbench --pipe --groups 4 --loops 100 | sed -n 's/^Time: /hackbench /p'
perf bench sched pipe --loop 5000 | sed -n 's/.*Total time: \\([0-9.]*\\).*/pipe \\1/p'
"""
LIMIT = 1.01


def vanilla_image():
    """The kernel without the series."""
    tree = BUILD / f"{TREE.resolve().name}-vanilla"
    if not tree.exists():
        part = BUILD / "vanilla.part"
        shutil.rmtree(part, ignore_errors=True)
        unpack(find_source(), part)
        part.rename(tree)
    objects = BUILD / "kernel-vanilla"
    kernel.configure(objects, ["guest", "sched"], tree)
    kernel.build(objects, "bzImage", tree=tree)
    return objects / "arch/x86/boot/bzImage"


def measure(image):
    """Seconds of each workload in one boot."""
    result = guest.run_in_guest(LOAD, mode="virtual", append="sched=fair", image=image, timeout=400, name="cost")
    times = {name: float(value) for name, value in re.findall(r"^(\w+) ([0-9.]+)$", result.output, re.M)}
    if set(times) != {"hackbench", "pipe"}:
        raise Failure(f"no figures from {image}: {result.output[-200:]!r}, see {result.log}")
    return times


def main():
    passes = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    images = {"vanilla": vanilla_image(), "ours, fair": kernel.image_path()}
    times = {name: [] for name in images}
    for number in range(1, passes + 1):
        for name, image in images.items():
            say(f"cost: pass {number} of {passes}, {name}")
            times[name].append(measure(image))
    bad = False
    print(f"\n  {'virtual time, 4 CPUs':22} {'vanilla':>10} {'ours, fair':>10} {'ratio':>7}")
    for workload in ("hackbench", "pipe"):
        medians = [statistics.median(run[workload] for run in times[name]) for name in images]
        ratio = medians[1] / medians[0]
        bad |= ratio > LIMIT
        print(f"  {workload:22} {medians[0]:8.3f} s {medians[1]:8.3f} s {ratio:7.3f}")
    return bad


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
