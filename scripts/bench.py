#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare schedulers by figures that can be believed.

Boots the same image under sched=fair and sched=vrq, runs the workloads in
turns, and writes report.md, report.json and plots into build/bench/<date>.
From the environment: MODE=virtual|coherence|parallel, CPUS=, PASSES=,
BENCH="names" for some of the workloads, OUT= for another directory,
KERNELS="name=bzImage[:cmdline] ..." for more kernels, and for coherence mode
TOPOLOGY=NODESxCACHESxCPUS. With BOOTS=1 a guest runs a workload under the one
scheduler, is switched to the other, and runs it again.

Usage: bench.py [--quick] [--here]   measure; --here: this machine, no guest
       bench.py --list               the workloads
       bench.py --compare A B        two reports, with verdicts
"""

import argparse
import datetime
import json
import os
import signal
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmark import coherence, plots, report, runner
from benchmark.workloads import WORKLOADS, Setting
from common import BUILD, TOP, Failure, jobs, main_wrapper, number, run, say
from kernel import image_path

PASSES = {"virtual": 2, "coherence": 1, "parallel": 7, "here": 7}


def chosen(setting):
    """The workloads that BENCH names; all, or the quick ones, without it."""
    names = os.environ.get("BENCH", "").split()
    for name in names:
        if name not in WORKLOADS:
            raise Failure(f"BENCH: no workload named {name}; bench.py --list shows them")
        if setting.mode not in WORKLOADS[name].modes:
            raise Failure(f"BENCH: {name} is for MODE={' or '.join(WORKLOADS[name].modes)}")
    known = {name: workload for name, workload in WORKLOADS.items() if setting.mode in workload.modes}
    return names or [name for name, workload in known.items() if workload.quick or not setting.quick]


def commit():
    try:
        return run("git", "-C", TOP, "describe", "--always", "--dirty").strip()
    except Failure:
        return "unknown"


def measure(setting, kernels, passes, directory):
    """Run everything; the report, which is in report.json as far as it has come."""
    names = chosen(setting)
    one_boot = number("BOOTS", 2) == 1
    if one_boot and (setting.mode not in ("virtual", "parallel") or os.environ.get("KERNELS")):
        raise Failure("BOOTS=1: of one image, in virtual or parallel mode")
    runs = (runner.plan_in_one_boot if one_boot else runner.plan)(names, kernels, passes)
    # virtual time does not care for what else runs on the host
    at_once = jobs() if setting.guest_mode() == "virtual" else 1
    runner.build_programs()
    if setting.mode == "coherence":
        coherence.check_emulator()
        coherence.build()
    facts = {
        "date": datetime.datetime.now().astimezone().isoformat(" ", "minutes"),
        "commit": commit(),
        "machine": runner.machine(),
        "passes": passes,
        "one_boot": one_boot,
    }
    total = len(runs) * (len(kernels) if one_boot else 1)
    console = Console()
    start = time.monotonic()
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task(f"{len(names)} workloads, {len(kernels)} kernels", total=total)
        outcomes = []

        def tell(outcome):
            outcomes.append(outcome)
            facts["minutes"] = (time.monotonic() - start) / 60
            save(report.gather(outcomes, kernels, setting, facts), directory)
            progress.advance(bar)
            line = f"bench: {len(outcomes)}/{total} {outcome.workload}, {outcome.kernel}, pass {outcome.number + 1}"
            line += f", {outcome.seconds:.0f} s"
            if outcome.failure:
                line += f": FAILED: {outcome.failure}"
            progress.console.print(line, highlight=False, soft_wrap=True)

        runner.run_all(runs, setting, at_once, tell)
    return report.gather(outcomes, kernels, setting, facts)


def save(content, directory):
    """report.json; whoever reads it finds it whole."""
    directory.mkdir(parents=True, exist_ok=True)
    part = directory / "report.part"
    part.write_text(json.dumps(content, indent=1) + "\n")
    part.rename(directory / "report.json")


def write(content, directory):
    """report.json, the plots, report.md."""
    save(content, directory)
    (directory / "report.md").write_text(report.markdown(content, plots.draw(content, directory)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a first answer in 5 minutes")
    parser.add_argument("--here", action="store_true", help="measure this machine as it runs")
    parser.add_argument("--list", action="store_true", help="show the workloads")
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"), help="compare two reports")
    options = parser.parse_args()
    if options.list:
        for name, workload in WORKLOADS.items():
            print(f"{name:26} {workload.title}{' (quick)' if workload.quick else ''}")
        return 0
    if options.compare:
        report.compare(*(report.load(path) for path in options.compare))
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the guests end too
    mode = "here" if options.here else os.environ.get("MODE") or "virtual"
    if mode not in PASSES:
        raise Failure(f"MODE={mode}: it is virtual, coherence or parallel")
    cpus = os.cpu_count() if mode == "here" else number("CPUS", 4)
    setting = Setting(mode, cpus, options.quick)
    if mode == "here":
        kernels = [runner.Kernel("here")]
    else:
        kernels = runner.parse_kernels(os.environ.get("KERNELS", ""), image_path())
    passes = number("PASSES", 2 if setting.quick else PASSES[setting.mode])
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    directory = Path(os.environ.get("OUT") or BUILD / "bench" / stamp)
    content = measure(setting, kernels, passes, directory)
    write(content, directory)
    report.show(content)
    say(str(directory / "report.md"))
    return bool(content["failures"])


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
