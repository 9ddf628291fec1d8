#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run the guest tests, and mainline's selftests, and count.

Usage: run_tests.py [--list] [NAME ...]   names of plans, see --list; default all
The last line is "N passed, N failed, N skipped". SEED= is the chance that guests in
virtual time are left to, default 1; JOBS= how many of them run at once.
"""

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

import guest
import memory_guest
import selftests
import suspend
import waits
from common import BUILD, TOP, TREE, Failure, jobs, main_wrapper, number, run, say
from kernel import image_path
from processes import at_once

TESTS = BUILD / "tests/guest"
# One test program may take this long, in the guest's time
TEST_SECONDS = 240


@dataclass
class Plan:
    """Programs to run in one guest."""

    mode: str
    cpus: int
    sched: str
    programs: list
    topology: str = ""  # one of TOPOLOGIES
    append: str = ""
    what: str = ""  # what tells this plan from others of its mode and size

    @property
    def name(self):
        words = [self.sched, self.mode, self.topology or str(self.cpus), self.what]
        return "-".join(word for word in words if word)


# QEMU's -smp, and what else it takes
TOPOLOGIES = {
    "smt": "8,sockets=1,cores=4,threads=2",
    "llc": "4,sockets=2,cores=2",
    "nodes": "4,sockets=2,cores=2"
    " -object memory-backend-ram,size=1G,id=m0 -numa node,cpus=0-1,memdev=m0"
    " -object memory-backend-ram,size=1G,id=m1 -numa node,cpus=2-3,memdev=m1",
}

# Races show in parallel mode, shares and times can be relied upon in virtual
RACES = ["affinity", "policy", "hotplug", "forks"]
TIMES = ["fairness", "yield", "masks", "tunables", "policy", "forks", "accounting", "cache"]

# These take as long as all the others
LONG = ["iso", "realtime"]

PLANS = [
    *(Plan("parallel", cpus, "vrq", RACES) for cpus in (1, 2, 3, 8, 16)),
    Plan("parallel", 4, "vrq", [*RACES, "renew"]),
    *(Plan("virtual", cpus, "vrq", TIMES) for cpus in (2, 3, 8, 16)),
    *(Plan("virtual", cpus, "vrq", TIMES + LONG) for cpus in (1, 4)),
    Plan("parallel", 8, "vrq", RACES, "smt"),
    Plan("virtual", 8, "vrq", ["topology", "smt", *TIMES, *LONG], "smt"),
    Plan("parallel", 4, "vrq", RACES, "llc"),
    Plan("parallel", 4, "vrq", RACES, "nodes"),
    # the control: what fair promises too, the tests must find in it
    Plan("parallel", 4, "fair", [*RACES, "renew"]),
    Plan("virtual", 4, "fair", TIMES + LONG),
    # and what mainline does with masks, under both
    *(Plan("parallel", 4, sched, ["renew"], append="renew_affinity=off", what="norenew") for sched in ("vrq", "fair")),
]


# Loads that scripts/waits.py records, in virtual time: nobody stops a CPU of theirs
LOADS = {
    "hackbench": "hackbench --pipe --process --groups 4 --loops 30",
    "compile": "bash -c '. $BENCH/prelude.sh; compile 150 6 chrt --batch 0'",
    "affinity": f"{TESTS}/affinity",
    "mixture": "stress-ng --cpu 6 --timer 2 --sock 2 --timeout 2s",
}


@dataclass
class Count:
    """What has been found so far."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)

    def ok(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            self.failures.append(what)
            say(f"  FAILED {what}")

    def results(self, results, name):
        """The results of a program, as tap_lines() gives them."""
        for status, what in results:
            if status == "skip":
                self.skipped += 1
            else:
                self.ok(status == "ok", f"{name}: {what}")


def tap_lines(text):
    """The results in a TAP text: (status, description)."""
    for line in text.splitlines():
        if match := re.match(r"\s*(ok|not ok) \d+ ?-? ?(.*)$", line):
            skipped = re.search(r"# SKIP", match[2])
            yield "skip" if skipped else match[1], match[2]


# How many threads a core has, how many last-level caches and nodes there are
SHAPE = """cd /tmp
lscpu | sed -n 's/^Thread(s) per core: */# threads /p; s/^NUMA node(s): */# nodes /p'
echo "# caches $(cat /sys/devices/system/cpu/cpu*/cache/index3/shared_cpu_list | sort -u | wc -l)"
"""


# What the script and the programs call
TOOLS = "lscpu sed sort timeout true wc"


def guest_script(programs):
    """A shell script that runs the programs one after the other; none is disturbed by what it prints."""
    lines = [SHAPE]
    for program in programs:
        lines += [
            f"echo '# program {program}'",
            f"timeout -s KILL {TEST_SECONDS} {TESTS}/{program} > /tmp/said 2>&1",
            "status=$?; cat /tmp/said",
            "printf '\\n# status %s\\n' $status",
        ]
    return "\n".join(lines)


def count_programs(plan, output, count):
    """Count the TAP of each program; one that did not come to its end fails."""
    parts = re.split(r"^# program (\S+)\n", output, flags=re.M)[1:]
    seen = dict(zip(parts[::2], parts[1::2], strict=True))
    for program in plan.programs:
        text = seen.get(program, "")
        planned = re.search(r"^1\.\.(\d+)", text, re.M)
        results = list(tap_lines(text))
        count.results(results, f"{plan.name} {program}")
        if not planned or len(results) < int(planned[1]):
            ended = re.search(r"^# status (\d+)", text, re.M)
            why = f"status {ended[1]}" if ended else "the guest stopped"
            count.ok(False, f"{plan.name} {program}: came to no end ({why}): {' | '.join(text.splitlines()[-3:])}")


def boot_checks(plan, result, count):
    """The log is clean and the scheduler is the one asked for."""
    log = result.log.read_text(errors="replace")
    count.ok(
        f"are scheduled by {plan.sched}" in log,
        f"{plan.name}: the log names the scheduler",
    )
    trouble = result.trouble()
    count.ok(not trouble, f"{plan.name}: the log is clean: {trouble[:1]}, see {result.log}")
    if result.timed_out or result.status is None:
        tail = " | ".join(log.splitlines()[-5:])
        count.ok(False, f"{plan.name}: the guest hung or died, see {result.log}: {tail}")


def topology_check(plan, output, count):
    """Has the guest the topology that the plan is about?"""
    shape = dict(re.findall(r"^# (threads|caches|nodes) (\d+)$", output, re.M))
    expected = {"smt": "threads", "llc": "caches", "nodes": "nodes"}.get(plan.topology)
    count.ok(not expected or shape.get(expected) == "2", f"{plan.name}: the guest has {shape}")


def boot(plan):
    """Boot a guest that runs the plan's programs; returns its Result."""
    script = guest_script(plan.programs)
    options = {
        "mode": plan.mode,
        "cpus": plan.cpus,
        "smp": TOPOLOGIES.get(plan.topology, ""),
        "append": f"sched={plan.sched} {plan.append}",
        "timeout": 1200,
        "name": plan.name,
    }
    if plan.mode == "parallel":
        return guest.run_in_guest(f"export HOST_STOPS_CPUS=1\n{script}", **options)
    root = memory_guest.root(TOOLS.split())
    for program in plan.programs:
        root.program(TESTS / program)
    # the line that names the scheduler is not a warning
    options["append"] += " loglevel=7"
    archive = root.content() + memory_guest.command(script)
    return memory_guest.boot(archive, image=image_path(), seed=number("SEED", 1), **options)


def judge(plan, result, count):
    """Count what a plan's guest gave."""
    before = count.passed, count.failed, count.skipped
    boot_checks(plan, result, count)
    topology_check(plan, result.output, count)
    count_programs(plan, result.output, count)
    after = [now - then for now, then in zip((count.passed, count.failed, count.skipped), before, strict=True)]
    say(f"{plan.name}: {after[0]} passed, {after[1]} failed, {after[2]} skipped, {result.seconds:.0f} s")


def run_plans(plans, number_at_once, count):
    """Boot the guests of plans, so many at once."""
    with at_once(number_at_once) as pool:
        for plan, result in zip(plans, pool.map(boot, plans), strict=True):
            judge(plan, result, count)


def kunit(count, result, suite):
    """A KUnit suite ran in that boot, and passed."""
    log = result.log.read_text(errors="replace")
    name = result.log.parent.name
    match = re.search(rf"# Subtest: {suite}$(.*?)# {suite}: pass:", log, re.M | re.S)
    count.ok(match, f"KUnit, {name}: {suite} ran")
    lines = re.findall(r"\] (    (?:not )?ok \d+ .*)$", match[1], re.M) if match else []
    count.results(tap_lines("\n".join(lines)), f"KUnit, {name}: {suite}")


BAD_VALUE = r"sched: (sched=cfs is neither|cache_scost_threshold=lots is not|renew_affinity=perhaps is neither)"


def boot_parameter(count):
    """A bad value on the command line warns once and takes the default; KUnit's tests pass."""
    script = "cat /sys/kernel/sched/active; cat /proc/sys/kernel/sched_vrq_cache_scost_threshold 2> /dev/null"
    for value, expected in (
        ("sched=cfs", "fair"),
        ("", "fair"),
        ("sched=vrq cache_scost_threshold=lots", "vrq\n-1"),
        ("sched=fair sched=vrq cache_scost_threshold=7", "vrq\n7"),
        ("renew_affinity=perhaps", "fair"),
    ):
        result = guest.run_in_guest(script, cpus=1, append=value, timeout=120, name="boot")
        log = result.log.read_text(errors="replace")
        count.ok(result.output.strip() == expected, f"boot with '{value}': {result.output!r}")
        warnings = len(re.findall(BAD_VALUE, log))
        count.ok(warnings == len(re.findall("cfs|lots|perhaps", value)), f"boot with '{value}': {warnings} warnings")
    for sched, cpus in (("vrq", 1), ("vrq", 2), ("fair", 2)):
        append = f"sched={sched} kunit.enable=1"
        result = guest.run_in_guest(
            "true", mode="virtual", cpus=cpus, append=append, timeout=120, name=f"kunit-{sched}-{cpus}"
        )
        for suite in ("vrq_deadline", "vrq_utilisation", "vrq_yield_to"):
            kunit(count, result, suite)
    say("boot parameter and KUnit: done")


def rules(count):
    """Replay traces of real loads: no CPU idle beside who waits, deadlines in order."""
    traces = guest.RUN / "traces"
    traces.mkdir(parents=True, exist_ok=True)
    script = [f"cd /tmp; export BENCH={TOP}/tests/bench"]
    script += [f"{TOP}/scripts/waits.py --record {traces}/{name} {load}" for name, load in LOADS.items()]
    result = guest.run_in_guest("\n".join(script), mode="virtual", append="sched=vrq", timeout=1200, name="rules")
    for name in LOADS:
        path = traces / name
        if not path.exists():
            count.ok(False, f"rules: no trace of {name}: {result.output[-200:]}")
            continue
        with open(path, errors="replace") as lines:
            replay = waits.Replay().run(lines)
        count.ok(len(replay.done) > 200, f"rules, {name}: only {len(replay.done)} waits, see {path}")
        for rule in (1, 2):
            breaches = [breach for breach in replay.breaches if breach.rule == rule]
            count.ok(not breaches, f"{name}, {len(breaches)} breaches, see {path}: {breaches[:1]}")
        say(f"rules, {name}: {len(replay.done)} waits, {len(replay.breaches)} breaches")


def suspended(count):
    """Masks after suspend, with and without their renewal."""
    for sched, append, arguments in (("vrq", "", ""), ("fair", "", ""), ("fair", "renew_affinity=off", "lost")):
        result = suspend.suspend_guest(sched, append, arguments)
        text, name = result.log.read_text(errors="replace"), f"suspend, {sched} {append}"
        planned = re.search(r"^1\.\.(\d+)", text, re.M)
        results = list(tap_lines("\n".join(re.findall(r"^(?:not )?ok \d+ .*$", text, re.M))))
        count.results(results, name)
        count.ok(planned and len(results) == int(planned[1]), f"{name}: came to its end, see {result.log}")
        trouble = result.trouble()
        count.ok(not trouble, f"{name}: the log is clean: {trouble[:1]}, see {result.log}")
    say("suspend: done")


def build_tests():
    run("make", "-s", "-C", TOP / "tests/guest", f"OUT={TESTS}", f"TREE={TREE}")


def scripts_tests(count):
    """pytest on the host's scripts."""
    done = subprocess.run(
        [BUILD / "venv/bin/pytest", "-q", "-p", "no:cacheprovider", TOP / "tests/scripts"],
        capture_output=True,
        text=True,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    count.passed += int(passed[1]) if passed else 0
    for what in re.findall(r"^(?:FAILED|ERROR) (.*)$", done.stdout, re.M):
        count.ok(False, f"scripts: {what}")
    if done.returncode:
        print(done.stdout, done.stderr)
    if not passed:
        count.ok(False, "scripts: none passed")
    say(f"scripts: {passed[0] if passed else 'none passed'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="the names of all plans")
    parser.add_argument("names", nargs="*", default=os.environ.get("PLANS", "").split())
    options = parser.parse_args()
    steps = {
        "scripts": scripts_tests,
        "boot": boot_parameter,
        "suspend": suspended,
        **{plan.name: lambda count, plan=plan: run_plans([plan], 1, count) for plan in PLANS},
        "rules": rules,
        "selftests": selftests.compare,
    }
    if options.list:
        print("\n".join(steps))
        return 0
    unknown = set(options.names) - set(steps)
    if unknown:
        raise Failure(f"no plan named {unknown.pop()}; run_tests.py --list names them")
    guest.check(image_path())
    build_tests()
    count = Count()
    names = options.names or list(steps)
    # virtual time does not care for what else runs on the host
    virtual = [plan for plan in PLANS if plan.mode == "virtual" and plan.name in names]
    names = [name for name in names if name not in {plan.name for plan in virtual}]
    if virtual:
        say(f"{len(virtual)} plans in virtual time")
    run_plans(virtual, jobs(), count)
    for place, name in enumerate(names, 1):
        say(f"[{place}/{len(names)}] {name}")
        steps[name](count)
    for what in count.failures:
        print(f"FAILED {what}")
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return bool(count.failed)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
