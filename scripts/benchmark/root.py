# SPDX-License-Identifier: GPL-2.0-only
"""The root file system of a guest that measures: what the workloads start, and all that it opens."""

import functools
import shutil
from pathlib import Path

from common import BUILD, TOP, run
from initramfs import Archive

from .workloads import WORKLOADS

SOURCES = TOP / "tests/bench"
PROGRAMS = BUILD / "bench/bin"
# Nothing is mounted on /tmp, where the sources may be
DIRECTORIES = {"dev": 0o755, "proc": 0o755, "run": 0o755, "sys": 0o755, "tmp": 0o1777}
# What init.sh, prelude.sh and the scripts of the workloads call
TOOLS = """bash sh awk cat chrt env getconf gcc id make mkdir mktemp mount nice rm sed seq setpriv
setsid sleep sort stty tail taskset uname"""


@functools.cache
def content():
    """The bytes of the archive, but for /command; a tool that is not here is not there either."""
    archive = Archive()
    archive.console()
    archive.links_of_root()
    for name, mode in DIRECTORIES.items():
        archive.put(name, 0o040000 | mode)
    needed = {tool for workload in WORKLOADS.values() for tool in workload.needs}
    for tool in sorted(needed | set(TOOLS.split())):
        if shutil.which(tool):
            archive.program(tool)
    if shutil.which("gcc"):
        for part in ("cc1", "as"):
            archive.program(run("gcc", f"-print-prog-name={part}").strip())
        for word in run("gcc", "-M", SOURCES / "unit.c").split():
            if word.startswith("/usr"):
                archive.copy(word)
    if (cache := Path("/etc/ld.so.cache")).exists():
        archive.copy(cache)
    archive.copy(SOURCES)
    archive.copy(PROGRAMS)
    archive.put("init", 0o100755, (SOURCES / "init.sh").read_bytes())
    return archive.content()
