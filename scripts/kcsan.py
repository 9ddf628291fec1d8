# SPDX-License-Identifier: GPL-2.0-only
"""KCSAN's reports: which of them are about our files (configs/kcsan.config).

KCSAN covers all of the kernel but mainline's kernel/sched, and finds races elsewhere
that mainline knows of. Only those with a function of kernel/sched/vrq or of
kernel/sched/renew_affinity.c are ours.
"""

import functools
import re
import subprocess

import kernel

REPORT = re.compile(r"BUG: KCSAN: \S+ in (.*)")


@functools.cache
def functions():
    """The names of our files' functions in the kernel that was built."""
    directory = kernel.object_directory() / "kernel/sched"
    objects = sorted([*directory.glob("vrq/*.o"), *directory.glob("renew_affinity.o")])
    symbols = subprocess.run(["nm", *objects], check=True, capture_output=True, text=True).stdout
    return frozenset(re.findall(r" [Tt] (\S+)$", symbols, re.MULTILINE))


def is_of_others(line):
    """Is this line of the log the title of a report without a function of ours?"""
    report = REPORT.search(line)
    return bool(report) and not functions() & set(re.findall(r"[\w.]+", report[1]))
