# SPDX-License-Identifier: GPL-2.0-only
"""Boot a kernel on an initramfs alone: nothing in the guest waits for the host.

In virtual time such a guest does the same, instruction by instruction, each time
it is started: QEMU counts the time by instructions, its clock begins at a fixed
date, and the random numbers that it hands out come from a seed.
"""

import re
import shutil
import tempfile
import time
from pathlib import Path

import guest
from common import TOP, Failure
from initramfs import Archive
from kernel import check_image
from processes import run_for

# The date is any; what differs between two seeds is chance
FIXED = "-rtc base=2020-01-01,clock=vm -seed {seed}"

# One CPU runs after the other, each until the next timer is due. That is a tick, if
# nothing else, and then what interrupts a CPU waits for most of a millisecond until
# it is that CPU's turn. A timer of QEMU's own, which the guest knows nothing of, for
# packets of a network that there is not, ends a round of all CPUs' turns earlier: after
# 25 us, the turns of 4 CPUs are 6 us long. With more than 16 CPUs they are no shorter than
# with 16, some 800 instructions: else changing the turns takes most of the host's time
SHORT_ROUND = 25
SHORT_TURNS = "-netdev hubport,id=none,hubid=0 -object filter-buffer,id=turns,netdev=none,interval={interval}"

INIT = TOP / "scripts/init.sh"
# Nothing is mounted on /tmp, where the sources may be
DIRECTORIES = {"proc": 0o755, "run": 0o755, "sys": 0o755, "tmp": 0o1777}
TOOLS = "bash cat mkdir mount setsid sh sleep stty"


def root(tools):
    """A root file system in which init.sh runs /command, with these tools of this machine, if they are there.

    Without ld.so.cache, which tells what else is installed here: libraries are found without it, and
    the same guest is the same on another machine.
    """
    archive = Archive()
    archive.console()
    archive.links_of_root()
    for name, mode in DIRECTORIES.items():
        archive.put(name, 0o040000 | mode)
    for tool in sorted({*TOOLS.split(), *tools}):
        if shutil.which(tool):
            archive.program(tool)
    archive.put("init", 0o100755, INIT.read_bytes())
    return archive


def command(text):
    """An archive with /command, to follow that of a root."""
    archive = Archive()
    archive.put("command", 0o100644, text.encode())
    return archive.content()


def emulator():
    """QEMU's path."""
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        raise Failure("QEMU is missing; run: make setup")
    return qemu


def check(image):
    """Is there all that a guest needs? Returns QEMU's path."""
    check_image(image)
    return emulator()


def short_round(cpus):
    """What short turns of so many CPUs come to, us."""
    return SHORT_ROUND * max(cpus // 16, 1)


def boot(archive, *, image, mode, cpus, append, timeout, name, smp="", memory="2G", seed=1, round_us=0, more=()):
    """Boot an image on the bytes of an initramfs; returns a Result.

    In virtual time all CPUs have a turn in round_us at most, if it is not 0. Times
    shorter than a millisecond want that; short_round() takes the host half as long again.

    More are further arguments of QEMU's.

    Its output is what came by the second serial port, /dev/ttyS1; its status that
    of /command, if init.sh was its init. The guest ends by a reset.
    """
    qemu = check(image)
    guest.RUN.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=guest.RUN))
    root, log, output = directory / "initramfs", directory / "log", directory / "output"
    root.write_bytes(archive)
    accel, extra = guest.MODES[mode]
    words = f"console=ttyS0 loglevel=5 panic=-1 oops=panic kunit.enable=0 {extra} {append}"
    command = [
        *(qemu, "-machine", "q35", "-cpu", "max", "-smp", *(smp or str(cpus)).split(), "-m", memory, *accel.split()),
        *more,
        *(FIXED.format(seed=seed).split() if mode == "virtual" else ()),
        *(SHORT_TURNS.format(interval=round_us).split() if mode == "virtual" and round_us else ()),
        *("-kernel", image, "-initrd", root, "-append", words),
        *("-nodefaults", "-display", "none", "-no-reboot", "-serial", f"file:{log}", "-serial", f"file:{output}"),
    ]
    start = time.monotonic()
    # what QEMU has to say itself goes where the caller finds it
    with open(directory / "qemu", "w+") as said:
        try:
            status, timed_out = run_for(timeout, command, said)
        finally:
            root.unlink()
        said.seek(0)
        if not timed_out and status and (lines := said.read().strip().splitlines()):
            raise Failure(lines[-1])
    if not log.exists():
        log.touch()
    text = output.read_text(errors="replace").replace("\r\n", "\n") if output.exists() else ""
    ended = re.search(r"status (\d+)\n\Z", text)
    return guest.Result(
        mode,
        int(ended[1]) if ended else None,
        text[: ended.start()] if ended else text,
        log,
        time.monotonic() - start,
        timed_out,
    )
