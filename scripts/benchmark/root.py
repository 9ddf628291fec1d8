# SPDX-License-Identifier: GPL-2.0-only
"""The root file system of a guest that measures: what the workloads start, and all that it opens."""

import functools
import shutil
from pathlib import Path

import memory_guest
from common import BUILD, TOP, run

from .workloads import WORKLOADS

SOURCES = TOP / "tests/bench"
PROGRAMS = BUILD / "bench/bin"
# Where both are in a guest
IN_GUEST = Path("/bench")
# What prelude.sh and the scripts of the workloads call
TOOLS = "awk chrt env getconf gcc id make mktemp nice rm sed seq setpriv sort tail taskset uname"


@functools.cache
def content():
    """The bytes of the archive, but for /command; a tool that is not here is not there either."""
    needed = {tool for workload in WORKLOADS.values() for tool in workload.needs}
    archive = memory_guest.root(needed | set(TOOLS.split()))
    if shutil.which("gcc"):
        for part in ("cc1", "as"):
            archive.program(run("gcc", f"-print-prog-name={part}").strip())
        for word in run("gcc", "-M", SOURCES / "unit.c").split():
            if word.startswith("/usr"):
                archive.copy(word)
    for path in sorted([*SOURCES.iterdir(), *PROGRAMS.iterdir()]):
        archive.own(path, IN_GUEST)
    return archive.content()
