# SPDX-License-Identifier: GPL-2.0-only
"""A guest in which tasks wait for long, and none is stuck: tests/guest/quiet.c.

The guest says when the host is to stop it, and one of its CPUs, each for 20 s.
"""

import ctypes
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import memory_guest
from common import Failure
from run_tests import TESTS, TOOLS, build_tests
from tap import tap_lines

TASKS = 10000
STOP_SECONDS = 20
# Mainline's own detectors are to take a stop by the host for none
APPEND = "sched=vrq loglevel=7 rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60"
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000


def stop_process(pid):
    """As SIGSTOP does: the guest's clock goes on."""
    os.kill(pid, signal.SIGSTOP)
    time.sleep(STOP_SECONDS)
    os.kill(pid, signal.SIGCONT)


def stop_thread(pid, name):
    """Only one thread of a process, for which there is no signal: as its tracer."""
    threads = [int(path.parent.name) for path in Path(f"/proc/{pid}/task").glob("*/comm") if path.read_text() == name]
    if not threads:
        raise Failure(f"QEMU has no thread {name.strip()}")
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    for request in PTRACE_SEIZE, PTRACE_INTERRUPT:
        if ptrace(request, threads[0], None, None) < 0:
            raise Failure(f"ptrace of QEMU: {os.strerror(ctypes.get_errno())}")
    os.waitpid(threads[0], WALL)
    time.sleep(STOP_SECONDS)
    ptrace(PTRACE_DETACH, threads[0], None, None)


STOPS = {"the guest": stop_process, "a CPU": lambda pid: stop_thread(pid, "CPU 1/TCG\n")}


def emulator_below():
    """QEMU, which a thread of this process has started, and where its guest writes to; or None."""
    for pid in subprocess.run(["pgrep", "-P", str(os.getpid()), "qemu"], capture_output=True, text=True).stdout.split():
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        return int(pid), Path(words[-2].removeprefix("file:"))
    return None


def stop_as_told(ended, stopped, wrong):
    """What the guest asks for, once each; it is noted in stopped. A failure ends it, noted in wrong."""
    try:
        while not ended.wait(1):
            found = emulator_below()
            said = found[1].read_text(errors="replace") if found and found[1].exists() else ""
            for what, stop in STOPS.items():
                if f"host: stop {what}" in said and what not in stopped:
                    stop(found[0])
                    stopped.append(what)
    except (Failure, OSError) as error:
        wrong.append(f"nothing more is stopped: {error}")


def quiet():
    """One such guest; its Result, and what went wrong, as a list of lines."""
    build_tests()
    root = memory_guest.root(TOOLS.split())
    root.program(TESTS / "quiet")
    ended, stopped, wrong = threading.Event(), [], []
    host = threading.Thread(target=stop_as_told, args=(ended, stopped, wrong), daemon=True)
    host.start()
    result = memory_guest.boot(
        root.content() + memory_guest.command(f"{TESTS / 'quiet'} {TASKS}\n"),
        image=memory_guest.guest.image_path(),
        mode="parallel",
        cpus=4,
        append=APPEND,
        timeout=1200,
        name="soak-quiet",
        memory="6G",
        more=("-name", "quiet,debug-threads=on"),
    )
    ended.set()
    host.join()
    wrong += result.trouble() + [f"not ok: {what}" for status, what in tap_lines(result.output) if status != "ok"]
    if result.status != 0:
        wrong.append(f"the guest came to no end, see {result.log}")
    wrong += [f"the host did not stop {what}" for what in STOPS if what not in stopped]
    return result, wrong
