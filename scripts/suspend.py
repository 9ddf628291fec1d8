# SPDX-License-Identifier: GPL-2.0-only
"""A guest of one program, tests/suspend/init.c, that is suspended and resumes."""

import tempfile
from pathlib import Path

import memory_guest
from common import TOP, TREE, run
from initramfs import Archive
from kernel import image_path


def suspend_guest(sched, append, arguments):
    """Boot the guest on 4 CPUs; returns its Result."""
    source = TOP / "tests/suspend/init.c"
    include = TREE / "tools/testing/selftests"
    archive = Archive()
    archive.console()
    with tempfile.TemporaryDirectory() as directory:
        init = Path(directory) / "init"
        run("gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{include}", "-o", init, source)
        archive.put("init", 0o100755, init.read_bytes())
    return memory_guest.boot(
        archive.content(),
        image=image_path(),
        mode="parallel",
        cpus=4,
        append=f"sched={sched} {append} -- {arguments}",
        timeout=120,
        name=f"suspend-{sched}",
        memory="512M",
    )
