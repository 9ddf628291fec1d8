#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Boot the guest kernel under virtme-ng and run a command in it.

The guest sees the host's root file system under an overlay, so that it finds
the host's programs and cannot harm it; build/run is shared for writing.

Usage: guest.py [options] [--] COMMAND ...   run a command, show its output
       guest.py [options]                    an interactive shell
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kcsan
from common import BUILD, Failure, choice, main_wrapper, number
from kernel import check_image, image_path
from processes import run_for

VNG = BUILD / "venv/bin/vng"
RUN = BUILD / "run"

# Virtual time is reproducible and shows path lengths and latencies, parallel
# mode shows races and contention.
#
# While Linux sizes the PCI BARs on one CPU, QEMU 10 in parallel mode may send
# another CPU's access to its APIC elsewhere: "iotlb_to_section: Assertion
# failed", "msix_table_mmio_write: Assertion failed", in one boot of ten on a
# loaded host. So boot on one CPU, and bring up the others afterwards. And Linux
# panics ("IO-APIC + timer doesn't work!") if the host holds up the timer's
# interrupts for the 10 ms in which it looks for them: no_timer_check.
MODES = {
    "virtual": ("-accel tcg,thread=single -icount shift=1,sleep=off", "tsc=reliable"),
    "parallel": ("-accel tcg,thread=multi", "maxcpus=1 no_timer_check"),
}
BRING_UP = "for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do [ -e $cpu ] && echo 1 > $cpu; done"

# What a kernel log must not contain
TROUBLE = re.compile(
    r"WARNING: |BUG: |Oops|Kernel panic|INFO: task .* blocked|rcu: INFO|self-detected stall"
    r"|soft lockup|hard LOCKUP|workqueue lockup|possible .*deadlock|suspicious RCU"
    r"|UBSAN: |kmemleak: \d+ new suspected"
)
# Nor this in virtual time. In parallel mode the guest's clock is the host's: when a
# CPU is stopped for a second between a wake-up and the switch, mainline charges
# that to the real-time task that comes next (rq_clock_skip_update()), and throttles it
THROTTLED = "sched: RT throttling activated"


class Result:
    """What a command in the guest did."""

    def __init__(self, mode, status, output, log, seconds, timed_out):
        self.mode = mode
        self.status = status  # exit status, None if the guest did not get that far
        self.output = output
        self.log = log  # path of the console's log
        self.seconds = seconds
        self.timed_out = timed_out

    def trouble(self):
        """Lines of the kernel's log that tell of a fault."""
        lines = self.log.read_text(errors="replace").splitlines()
        found = [line for line in lines if TROUBLE.search(line) or (self.mode == "virtual" and THROTTLED in line)]
        return [line for line in found if not kcsan.is_of_others(line)]


def vng(image, mode, cpus, append, smp="", memory="2G"):
    """The command line that boots an image."""
    accel, extra = MODES[mode]
    options = [
        VNG,
        *("--run", image),
        *("--disable-kvm", "--force-9p", "--disable-microvm", "--verbose"),
        *("--cpus", str(cpus)),
        *("--memory", memory),
        # KUnit's tests, which take some seconds, only where they are asked for
        *("--append", f"kunit.enable=0 {append} {extra} panic=-1 oops=panic"),
        f"--qemu-opts={accel} -cpu max {f'-smp {smp}' if smp else ''}",
        f"--rwdir={RUN}",
    ]
    return [str(option) for option in options]


def environment():
    return {**os.environ, "PATH": f"{VNG.parent}:{os.environ['PATH']}"}


def check(image):
    """Everything there that a guest needs?"""
    check_image(image)
    if not VNG.exists() or not shutil.which("qemu-system-x86_64"):
        raise Failure("virtme-ng or QEMU is missing; run: make setup")


def run_in_guest(
    command, *, mode="parallel", cpus=4, append="", smp="", timeout=300, image=None, name="guest", memory="2G"
):
    """Boot, run a shell command, and return its Result."""
    image = image or image_path()
    check(image)
    RUN.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=RUN))
    log, output, status = directory / "log", directory / "output", directory / "status"
    (directory / "command").write_text(f"{BRING_UP if mode == 'parallel' else ':'}\n{command}\n")
    inner = f"sh {directory}/command > {output} 2>&1; echo $? > {status}; sync"
    start = time.monotonic()
    # QEMU opens this file a second time for the console; what it says itself
    # must go to the end and not be written over
    with open(log, "a") as file:
        words = [*vng(image, mode, cpus, append, smp, memory), "--exec", inner]
        _, timed_out = run_for(timeout, words, file, env=environment())
    code = status.read_text().strip() if status.exists() else ""
    return Result(
        mode,
        int(code) if code else None,
        output.read_text(errors="replace") if output.exists() else "",
        log,
        time.monotonic() - start,
        timed_out,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sched", choices=["vrq", "fair"], default=choice("SCHED", ["vrq", "fair"]))
    parser.add_argument("--mode", choices=MODES, default=choice("MODE", ["parallel", "virtual"]))
    parser.add_argument("--cpus", type=int, default=number("CPUS", 4))
    parser.add_argument("--smp", default="", help="topology, as QEMU's -smp")
    parser.add_argument("--append", default="", help="more for the kernel's command line")
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    append = f"sched={options.sched} {options.append}"
    if not command:
        check(image_path())
        RUN.mkdir(parents=True, exist_ok=True)
        if options.mode == "parallel" and options.cpus > 1:
            print(f"The guest boots on one CPU; in it, bring up the others with:  chcpu -e 1-{options.cpus - 1}")
        words = vng(image_path(), options.mode, options.cpus, append, options.smp)
        return subprocess.run(words, env=environment()).returncode
    text = command[0] if len(command) == 1 else shlex.join(command)
    result = run_in_guest(
        text,
        mode=options.mode,
        cpus=options.cpus,
        append=append,
        smp=options.smp,
        timeout=options.timeout,
    )
    sys.stdout.write(result.output)
    for line in result.trouble():
        print(line, file=sys.stderr)
    if result.status is None:
        what = "timed out" if result.timed_out else "ended early"
        raise Failure(f"the guest {what}, see {result.log}")
    return result.status or bool(result.trouble())


if __name__ == "__main__":
    main_wrapper(main)
