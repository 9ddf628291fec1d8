# SPDX-License-Identifier: GPL-2.0-only
"""Run workloads, in guests or on this machine, and gather what they print."""

import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

import memory_guest
from common import Failure, run
from processes import at_once, kill_session

from . import coherence, root
from .root import IN_GUEST, PROGRAMS, SOURCES
from .workloads import WORKLOADS

TIMEOUT = {"virtual": 1500, "coherence": 2400, "parallel": 1500, "here": 3600}


def time_limit(setting):
    """The host's seconds that a run may take; all CPUs of virtual time share one of the host's."""
    return TIMEOUT[setting.mode] * (max(setting.cpus // 16, 1) if setting.guest_mode() == "virtual" else 1)


@dataclass(frozen=True)
class Kernel:
    """A kernel to measure; without an image it is the one that runs here."""

    name: str
    image: str = ""
    cmdline: str = ""


@dataclass
class Outcome:
    """What one run of a workload gave: figures, or the cause why there are none."""

    workload: str
    kernel: str
    number: int
    rows: dict
    bins: dict
    release: str
    failure: str = ""
    tables: dict = field(default_factory=dict)  # by what was watched, in coherence mode
    seconds: float = 0  # of the host's time, the boot included


def parse_kernels(text, image):
    """The kernels of KERNELS="name=bzImage[:cmdline] ...", beside fair and vrq."""
    kernels = {name: Kernel(name, str(image), f"sched={name}") for name in ("fair", "vrq")}
    for word in shlex.split(text):
        name, equals, rest = word.partition("=")
        path, _, cmdline = rest.partition(":")
        if not equals or not re.fullmatch(r"[\w.+-]+", name) or not path:
            raise Failure(f"KERNELS: {word!r} is not name=bzImage[:cmdline]")
        kernels[name] = Kernel(name, os.path.abspath(path), cmdline)
    return list(kernels.values())


def build_programs():
    """The workloads that are programs of ours, from tests/bench."""
    run("make", "-s", "-C", SOURCES, f"OUT={PROGRAMS}")


def parse(output):
    """The figures and histograms in a workload's output, and the kernel's release."""
    rows = {name: float(value) for name, value in re.findall(r"^row (\S+) ([0-9.e+-]+)$", output, re.M)}
    bins = {}
    for name, upper, count in re.findall(r"^bin (\S+) (\d+) (\d+)$", output, re.M):
        bins.setdefault(name, {})[upper] = int(count)
    release = re.search(r"^release (.*)$", output, re.M)
    return rows, bins, release[1] if release else ""


def run_here(text, timeout):
    """Run a script on this machine: status, output, cause of a failure."""
    process = subprocess.Popen(
        ["bash", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        kill_session(process.pid)
        return None, process.communicate()[0], f"no end after {timeout} s"
    return process.returncode, output, ""


def run_guest(text, kernel, setting, name, number, timeout, **options):
    """The same in a guest."""
    workload = WORKLOADS[name]
    turns = memory_guest.short_round(setting.cpus) if workload.short_turns() else 0
    try:
        memory_guest.check(kernel.image)
        result = memory_guest.boot(
            root.content() + memory_guest.command(text),
            mode=setting.guest_mode(),
            cpus=setting.cpus,
            append=f"{kernel.cmdline} {options.pop('append', '')}",
            image=kernel.image,
            timeout=timeout,
            name=f"bench-{name}-{kernel.name}",
            seed=number + 1,
            **({"round_us": turns, "memory": workload.memory} | options),
        )
    except Failure as error:
        return None, "", str(error)
    cause = ""
    if trouble := result.trouble():
        cause = f"{trouble[0]} ({result.log})"
    elif result.status is None:
        cause = f"the guest {'timed out' if result.timed_out else 'died'}, see {result.log}"
    elif result.status == 0:
        shutil.rmtree(result.log.parent, ignore_errors=True)
    return result.status, result.output, cause


def run_watched(text, kernel, setting, name, number, timeout):
    """The same, watched by a plugin of the emulator: also the rows and tables that this gives."""
    try:
        coherence.check_emulator()
        found = coherence.kernel_of(kernel.image)
        places = coherence.topology(setting.cpus)
    except Failure as error:
        return (None, "", str(error)), {}, {}
    with tempfile.TemporaryDirectory(prefix="coherence-") as directory:
        options, out = coherence.options(found, places, Path(directory))
        status, output, cause = run_guest(text, kernel, setting, name, number, timeout, **options)
        return (status, output, cause), *coherence.read(out, output, found)


def measure(name, kernel, number, setting):
    """One run of a workload on a kernel, and how long it took."""
    start = time.monotonic()
    outcome = attempt(name, kernel, number, setting)
    outcome.seconds = time.monotonic() - start
    return outcome


def measure_in_one_boot(name, kernels, number, setting):
    """One run of a workload under each of the kernels, which are schedulers of one image: switched to in turn."""
    start = time.monotonic()
    outcomes = attempt_in_one_boot(name, kernels, number, setting)
    for outcome in outcomes:
        outcome.seconds = (time.monotonic() - start) / len(outcomes)
    return outcomes


def attempt(name, kernel, number, setting):
    """The same, without the time."""
    workload = WORKLOADS[name]
    outcome = Outcome(name, kernel.name, number, {}, {}, "")
    outcome.failure = missing(workload)
    if outcome.failure:
        return outcome
    if workload.cpus:
        setting = replace(setting, cpus=workload.cpus)
    text = whole_script(workload, setting)
    watched = {}
    if setting.mode == "here":
        if workload.root and os.geteuid():
            outcome.failure = "wants root"
            return outcome
        if workload.cpus > os.cpu_count():
            outcome.failure = f"wants {workload.cpus} CPUs"
            return outcome
        if workload.cpus:
            text = f"taskset -pc 0-{workload.cpus - 1} $$ > /dev/null\n{text}"
        status, output, outcome.failure = run_here(text, TIMEOUT["here"])
    elif setting.mode == "coherence":
        (status, output, outcome.failure), watched, outcome.tables = run_watched(
            text, kernel, setting, name, number, time_limit(setting)
        )
    else:
        status, output, outcome.failure = run_guest(text, kernel, setting, name, number, time_limit(setting))
    return read_outcome(outcome, workload, setting, status, output, watched)


def missing(workload):
    """What the workload needs and this machine has not, in a sentence, or nothing."""
    tools = [tool for tool in workload.needs if not shutil.which(tool)]
    return f"{tools[0]} is missing; run: make setup" if tools else ""


def whole_script(workload, setting):
    """A workload's script with what it relies on."""
    sources, programs = (SOURCES, PROGRAMS) if setting.mode == "here" else (IN_GUEST, IN_GUEST)
    return "\n".join(
        [
            f"BENCH={shlex.quote(str(sources))} BIN={shlex.quote(str(programs))}",
            '. "$BENCH/prelude.sh"',
            'echo "release $(uname -r) $(cat /sys/kernel/sched/active 2> /dev/null || echo mainline)"',
            workload.script(setting),
        ]
    )


def read_outcome(outcome, workload, setting, status, output, watched):
    """Fill an outcome with what the workload printed, and what was watched beside it."""
    rows, outcome.bins, outcome.release = parse(output)
    rows |= watched
    outcome.rows = {row: value for row, value in rows.items() if row in workload.rows}
    if not outcome.failure and status:
        lines = [line for line in output.splitlines() if not line.startswith(("row ", "bin ", "release ", "watched "))]
        outcome.failure = lines[-1] if lines else f"exit status {status}"
    absent = [row for row in workload.expected(setting) if row not in outcome.rows]
    if not outcome.failure and absent:
        outcome.failure = f"printed no figure for {', '.join(absent)}"
    return outcome


def attempt_in_one_boot(name, kernels, number, setting):
    """The outcomes for all kernels, in their order. Each goes on where the last one left the guest."""
    workload = WORKLOADS[name]
    if cause := missing(workload):
        return [Outcome(name, kernel.name, number, {}, {}, "", cause) for kernel in kernels]
    if workload.cpus:
        setting = replace(setting, cpus=workload.cpus)
    text = "\n".join(
        f"echo 'under {kernel.name}'\n"
        f"(\necho {kernel.name} > /sys/kernel/sched/active || exit 1\n{whole_script(workload, setting)}\n)\n"
        'echo "status $?"'
        for kernel in kernels
    )
    _, output, cause = run_guest(text, kernels[0], setting, name, number, time_limit(setting))
    parts = re.split(r"^under (\S+)\n", output, flags=re.M)[1:]
    said = dict(zip(parts[::2], parts[1::2], strict=True))
    outcomes = []
    for kernel in kernels:
        outcome = Outcome(name, kernel.name, number, {}, {}, "", cause)
        part, _, ended = said.get(kernel.name, "").rpartition("status ")
        status = int(ended) if ended.strip().isdigit() else 1
        outcomes.append(read_outcome(outcome, workload, setting, status, part, {}))
    return outcomes


def in_turn(kernels, number):
    """The order of the kernels in a pass: each second one begins with the last."""
    return kernels if number % 2 == 0 else kernels[::-1]


def plan(names, kernels, passes):
    """All runs, pass by pass; the kernels take turns and swap their order."""
    runs = []
    for number in range(passes):
        for name in names:
            runs += [(name, kernel, number) for kernel in in_turn(kernels, number)]
    return runs


def plan_in_one_boot(names, kernels, passes):
    """The same with one boot for all kernels, which take turns in it; they are the schedulers of one image."""
    return [(name, in_turn(kernels, number), number) for number in range(passes) for name in names]


def run_all(runs, setting, jobs, tell):
    """Carry out the runs, so many at once where that cannot disturb; tell(outcome)."""
    if setting.mode != "here":
        root.content()  # not each of the first for itself
    with at_once(jobs) as pool:
        futures = []
        for name, kernel, number in runs:
            run_it = measure_in_one_boot if isinstance(kernel, list) else measure
            futures.append(pool.submit(run_it, name, kernel, number, setting))
        for future in as_completed(futures):
            done = future.result()
            for outcome in done if isinstance(done, list) else [done]:
                tell(outcome)


def machine():
    """What this machine is, for the report."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    with open("/proc/meminfo") as file:
        memory = int(file.read().split()[1])
    facts = {
        "CPU": f"{model[1] if model else platform.machine()}, {os.cpu_count()} of them",
        "memory": f"{memory / 2**20:.0f} GiB",
        "kernel": platform.release(),
        "load at the start": f"{os.getloadavg()[0]:.1f}",
    }
    governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    if os.path.exists(governor):
        with open(governor) as file:
            facts["frequency governor"] = file.read().strip()
    if shutil.which("qemu-system-x86_64"):
        facts["emulator"] = run("qemu-system-x86_64", "--version").splitlines()[0]
    return facts
