# SPDX-License-Identifier: GPL-2.0-only
"""KCSAN's reports: which of them are about VRQ (configs/kcsan.config).

KCSAN covers all of the kernel but mainline's kernel/sched, and finds races elsewhere
that mainline knows of. Only those with a function of kernel/sched/vrq are ours.
"""

import functools
import re
import subprocess

import kernel

REPORT = re.compile(r"BUG: KCSAN: \S+ in (.*)")


@functools.cache
def functions():
    """The names of the functions of kernel/sched/vrq in the kernel that was built."""
    objects = sorted((kernel.object_directory() / "kernel/sched/vrq").glob("*.o"))
    symbols = subprocess.run(["nm", *objects], check=True, capture_output=True, text=True).stdout
    return frozenset(re.findall(r" [Tt] (\S+)$", symbols, re.MULTILINE))


def is_of_others(line):
    """Is this line of the log the title of a report without a function of VRQ's?"""
    report = REPORT.search(line)
    return bool(report) and not functions() & set(re.findall(r"[\w.]+", report[1]))
