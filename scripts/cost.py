#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What does the series cost under sched=fair?

Builds the same source with the same configuration, but without the series, and
compares the two kernels by the quick benchmark in virtual time, in 5 passes
(PASSES=). The report goes where OUT= says; the exit status is 1 if a row is
worse or has failed.
"""

import os
import shutil
import sys
from pathlib import Path

import bench
import kernel
from benchmark import report
from benchmark.runner import Kernel
from benchmark.workloads import Setting
from common import BUILD, TREE, main_wrapper, number
from tree import find_source, unpack


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


def main():
    kernels = [Kernel("vanilla", vanilla_image()), Kernel("fair", kernel.image_path(), "sched=fair")]
    directory = Path(os.environ.get("OUT") or BUILD / "bench/cost")
    content = bench.measure(Setting("virtual", 4, quick=True), kernels, number("PASSES", 5), directory)
    bench.write(content, directory)
    vanilla, fair = ({**content, "kernels": [entry]} for entry in content["kernels"])
    worse = report.compare(vanilla, fair)["worse"]
    for failure in content["failures"]:
        print(f"FAILED {report.failure_line(failure)}")
    return bool(worse or content["failures"])


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
