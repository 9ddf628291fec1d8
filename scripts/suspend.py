# SPDX-License-Identifier: GPL-2.0-only
"""A guest of one program, tests/suspend/init.c, that is suspended and resumes."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import guest
from common import TOP, TREE, Failure, run
from kernel import image_path


def entry(number, name, mode, content=b"", device=(0, 0)):
    """A file of a cpio archive, in the format that the kernel calls newc."""
    name = name.encode() + b"\0"
    fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0]
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    return b"".join(part + b"\0" * (-len(part) % 4) for part in (head, content))


def initramfs(program):
    """The bytes of an initramfs with a console and an init."""
    return (
        entry(1, "dev", 0o040755)
        + entry(2, "dev/console", 0o020600, device=(5, 1))
        + entry(3, "init", 0o100755, program)
        + entry(0, "TRAILER!!!", 0)
    )


def suspend_guest(sched, append, arguments):
    """Boot the guest on 4 CPUs; returns its Result, with the console as its output."""
    guest.RUN.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix=f"suspend-{sched}-", dir=guest.RUN))
    init, archive, log = directory / "init", directory / "initramfs", directory / "log"
    source = TOP / "tests/suspend/init.c"
    include = TREE / "tools/testing/selftests"
    run("gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{include}", "-o", init, source)
    archive.write_bytes(initramfs(init.read_bytes()))
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        raise Failure("QEMU is missing; run: make setup")
    accel, extra = guest.MODES["parallel"]
    words = f"console=ttyS0 loglevel=5 panic=-1 oops=panic kunit.enable=0 sched={sched} {append} {extra} -- {arguments}"
    command = [
        *(qemu, "-machine", "q35", "-cpu", "max", "-smp", "4", "-m", "512M", *accel.split()),
        *("-kernel", image_path(), "-initrd", archive, "-append", words),
        *("-nodefaults", "-display", "none", "-no-reboot", "-serial", f"file:{log}"),
    ]
    start, timed_out = time.monotonic(), False
    try:
        subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        # the log ends early, which the caller sees
        timed_out = True
    text = log.read_text(errors="replace") if log.exists() else ""
    return guest.Result("parallel", None, text, log, time.monotonic() - start, timed_out)
