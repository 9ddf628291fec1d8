#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run the guest tests, and mainline's selftests, and count.

Usage: run_tests.py [--list] [NAME ...]   names of plans, see --list; default all
The last line is "N passed, N failed, N skipped". SEED= is the chance that guests in
virtual time are left to, default 1; JOBS= how many of them run at once. With
CONFIG=many it boots the kernel for many CPUs, and runs the plans for that only.
"""

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import containers
import guest
import matrix
import memory_guest
import selftests
import suspend
import waits
from common import BUILD, TOP, TREE, Failure, jobs, main_wrapper, number, run, say
from kernel import extra_fragments, has_option, image_path
from processes import at_once
from tap import tap_lines

TESTS = BUILD / "tests/guest"
# Where a guest in virtual time has them: what happens there must not depend on where this repository is
TESTS_IN_GUEST = Path("/tests")
# Of make matrix: 32 bits, sleeping locks and threads for interrupts, no groups
MATRIX_ROWS = ["i386-rt-no-groups"]
# One test program may take this long, in the guest's time
TEST_SECONDS = 240


@dataclass
class Topology:
    """A machine: for each of its nodes, how many CPUs there are at each last-level cache."""

    nodes: list
    threads: int = 1  # of a core
    line: bool = False  # the nodes are one: from the first to the third it is two hops

    @property
    def caches(self):
        """How many CPUs there are at each last-level cache of the machine."""
        return [cpus for node in self.nodes for cpus in node]

    @property
    def smp(self):
        """QEMU's -smp, and what else it takes: a socket has one such cache, and need not be full."""
        caches = self.caches
        cores = max(caches) // self.threads
        full = len(set(caches)) == 1
        sockets = f"sockets={len(caches)},cores={cores},threads={self.threads}"
        here = sum(caches) if full else caches[0]
        words = [f"{here},maxcpus={len(caches) * max(caches)},{sockets}"]
        if len(self.nodes) > 1:
            words += self.numa()
        if not full:
            # the others are put into their sockets one by one
            places = [(socket, core) for socket, cpus in enumerate(caches) for core in range(cpus) if socket]
            words += [f"-device max-x86_64-cpu,socket-id={place[0]},core-id={place[1]},thread-id=0" for place in places]
        return " ".join(words)

    def numa(self):
        """Nodes that have their sockets, and their parts of the 2 GB of memory."""
        part = 2048 // len(self.nodes)
        socket = 0
        for at, node in enumerate(self.nodes):
            size = part if at else 2048 - part * (len(self.nodes) - 1)
            yield f"-object memory-backend-ram,size={size}M,id=m{at} -numa node,nodeid={at},memdev=m{at}"
            for _ in node:
                yield f"-numa cpu,node-id={at},socket-id={socket}"
                socket += 1
        for at, other in itertools.combinations(range(len(self.nodes)) if self.line else [], 2):
            yield f"-numa dist,src={at},dst={other},val={self.distance(at, other)}"

    def distance(self, node, other):
        """Between two nodes, as ACPI has it: 10 is at home."""
        return 10 + 10 * (abs(node - other) if self.line else node != other)

    def shape(self):
        """What the guest must show, as the scripts SHAPE and DISTANCES print it."""
        shown = {
            "threads": [str(self.threads)],
            "cache": cpu_lists(self.caches),
            "node": cpu_lists(sum(node) for node in self.nodes),
        }
        if self.line:
            nodes = range(len(self.nodes))
            shown["distances"] = [",".join(str(self.distance(at, to)) for to in nodes) for at in nodes]
        return shown


def cpu_lists(sizes):
    """So many CPUs, one after the other, as the kernel lists them."""
    lists, first = [], 0
    for size in sizes:
        lists.append(f"{first}-{first + size - 1}" if size > 1 else str(first))
        first += size
    return lists


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
    provokes: str = ""  # a pattern of what the log is to tell, and would be a fault elsewhere
    short_turns: bool = False  # emulated CPUs take short turns, for times that are shorter than a tick

    @property
    def name(self):
        words = [self.sched, self.mode, self.topology or str(self.cpus), self.what]
        return "-".join(word for word in words if word)


TOPOLOGIES = {
    "smt": Topology([[8]], threads=2),
    "llc": Topology([[2, 2]]),
    "alone": Topology([[3, 1]]),
    "nodes": Topology([[2], [2]]),
    "unequal": Topology([[2], [4], [10]]),
    # more than a domain may have
    "wide": Topology([[20]]),
    "line": Topology([[2], [2], [2]], line=True),
    "2x4x8": Topology([[8] * 4] * 2),
    "2x4x16": Topology([[16] * 4] * 2),
}

# Races show in parallel mode, shares and times can be relied upon in virtual
RACES = ["affinity", "policy", "hotplug", "forks"]
TIMES = ["fairness", "yield", "masks", "tunables", "policy", "forks", "accounting", "cache"]

# With long turns of emulated CPUs the wake-ups take 0.1 to 0.5 ms, which is the emulator's time, and
# real-time tasks that want 20 us have a CPU for a tick
SHORT_TIMES = ["wakeups", "counters"]

# Groups of tasks: their weights and limits, and what is said about them
GROUPS = ["groups", "limits", "uring", "threaded", "groupfiles"]

# These take longer than all the others
LONG = ["iso", "realtime", "favour", "slices", "starved"]

PLANS = [
    *(Plan("parallel", cpus, "vrq", RACES) for cpus in (1, 2, 3, 8, 16)),
    Plan("parallel", 4, "vrq", [*RACES, "renew"]),
    Plan("virtual", 2, "vrq", TIMES),
    *(Plan("virtual", cpus, "vrq", TIMES + LONG) for cpus in (1, 4)),
    Plan("parallel", 8, "vrq", RACES, "smt"),
    Plan("virtual", 8, "vrq", ["topology", "smt", *TIMES], "smt"),
    Plan("parallel", 4, "vrq", RACES, "llc"),
    Plan("parallel", 4, "vrq", RACES, "nodes"),
    Plan("parallel", 4, "vrq", RACES, "alone"),
    Plan("virtual", 4, "vrq", [*TIMES, "favour"], "alone"),
    Plan("virtual", 16, "vrq", TIMES, "unequal"),
    *(
        Plan("virtual", cpus, "vrq", SHORT_TIMES, topology, what="soon", short_turns=True)
        for cpus, topology in ((1, ""), (2, ""), (4, ""), (8, "smt"), (4, "alone"))
    ),
    # one cache of more CPUs than a domain may have; and nodes two hops away
    Plan("virtual", 20, "vrq", ["domains"], "wide"),
    Plan("virtual", 6, "vrq", ["domains"], "line"),
    # several domains, whatever the topology
    Plan("parallel", 4, "vrq", RACES, append="sched_vrq_domain=1", what="domains"),
    Plan(
        "virtual", 8, "vrq", ["domains", "fairness", "masks", "counters"], append="sched_vrq_domain=2", what="domains"
    ),
    Plan("virtual", 16, "vrq", ["reach"], append="sched_vrq_domain=1", what="domains"),
    Plan("virtual", 4, "vrq", ["counters"], append="isolcpus=3", what="isolated", short_turns=True),
    *(Plan("virtual", 4, sched, ["isolated"], append="isolcpus=2-3", what="isolcpus") for sched in ("vrq", "fair")),
    # under both; cgroup v1 needs a guest in which v2 has not taken the controller
    *(Plan("virtual", 4, sched, GROUPS, what="groups") for sched in ("vrq", "fair")),
    *(Plan("virtual", 4, sched, ["groupsv1"], what="groupsv1") for sched in ("vrq", "fair")),
    Plan("virtual", 8, "vrq", GROUPS, append="sched_vrq_domain=2", what="groups"),
    Plan("virtual", 16, "vrq", ["shares"], what="shares", short_turns=True),
    Plan("virtual", 4, "vrq", ["overdraft"], what="overdraft", short_turns=True),
    Plan("virtual", 8, "vrq", ["overdraft"], append="sched_vrq_domain=2", what="overdraft", short_turns=True),
    Plan("parallel", 4, "vrq", ["storm"], what="groups"),
    Plan("virtual", 4, "vrq", ["storm"], what="storm"),
    # The scheduler is changed while the machine runs, from either. Not in parallel mode: QEMU
    # (10.0, notdirty_write()) drops what it has translated before it stores the new code. Another
    # CPU that translates in between keeps the old code, an int3 of a static key: "Oops: int3"
    Plan("virtual", 4, "vrq", ["switch"], what="switch"),
    Plan("virtual", 8, "fair", ["switch"], "smt", what="switch"),
    Plan("virtual", 16, "vrq", ["switch"], what="switch"),
    Plan("virtual", 1, "fair", ["switch"], what="switch"),
    # what a user without privilege gets by tricks. With preempt=full a task that holds a lock of the
    # kernel's may be preempted, and root's shell waits for it: under fair as well
    Plan("virtual", 4, "vrq", ["attackers"], append="preempt=voluntary", what="attackers"),
    # a task is lost on purpose, and found
    *(
        Plan(
            "virtual",
            cpus,
            "vrq",
            ["watchdog"],
            what="watchdog",
            provokes=r"soft lockup .*\[watchdog:|to fair: soft lockup",
        )
        for cpus in (1, 4)
    ),
    # full is the default
    *(
        Plan("virtual", 4, "vrq", ["fairness"], append=f"preempt={model}", what=model)
        for model in ("none", "voluntary")
    ),
    # the control: what fair promises too, the tests must find in it
    Plan("parallel", 4, "fair", [*RACES, "renew"]),
    Plan("virtual", 4, "fair", TIMES + LONG),
    # and what mainline does with masks, under both
    *(Plan("parallel", 4, sched, ["renew"], append="renew_affinity=off", what="norenew") for sched in ("vrq", "fair")),
]

# These need the kernel of configs/many.config. In virtual time only: in parallel mode a
# CPU would have a fraction of one of the host's. Where the length of a delay loop is
# known it is not measured, which takes each CPU 25 ticks at boot.
SLOW_CPUS = "lpj=4000000"
MANY = [
    Plan("virtual", 64, "vrq", ["affinity", "hotplug", "forks", "yield"], "2x4x8", SLOW_CPUS),
    Plan("virtual", 128, "vrq", ["affinity", "forks"], "2x4x16", SLOW_CPUS),
]

# And these that of configs/ext.config, with sched_ext
EXT = [
    Plan("virtual", 4, "vrq", ["ext"], what="ext"),
    Plan("virtual", 8, "fair", ["ext"], "smt", what="ext"),
]

# The plans of a kernel that is not for all of them
SPECIAL = {"many": MANY, "ext": EXT}


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
    # programs that ran, and those of which a test was not skipped
    programs: set = field(default_factory=set)
    useful: set = field(default_factory=set)

    def add(self, other):
        """What has been found elsewhere."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.programs |= other.programs
        self.useful |= other.useful

    def ok(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            self.failures.append(what)
            say(f"  FAILED {what}")

    def clean_log(self, what, result, known=""):
        """The guest's log tells of no fault, but of what matches known."""
        trouble = [line for line in result.trouble() if not (known and re.search(known, line))]
        self.ok(not trouble, f"{what}: the log is clean: {trouble[:1]}, see {result.log}")

    def results(self, results, name):
        """The results of a program, as tap_lines() gives them."""
        for status, what in results:
            if status == "skip":
                self.skipped += 1
            else:
                self.ok(status == "ok", f"{name}: {what}")


# How many threads a core has, and which CPUs are at each last-level cache and in each node
SHAPE = """cd /tmp
lscpu | sed -n 's/^Thread(s) per core: */# threads /p'
sort -u /sys/devices/system/cpu/cpu*/cache/index3/shared_cpu_list | sed 's/^/# cache /'
sed 's/^/# node /' /sys/devices/system/node/node*/cpulist
"""
DISTANCES = "sed 's/^/# distances /;s/ /,/3g' /sys/devices/system/node/node*/distance"


# Memory that nothing points to any more: it takes two scans, and leaves out what is younger than
# 5 s. What is found is a line of the kernel's log
LEAKS = """sleep 6
echo scan > /sys/kernel/debug/kmemleak
echo scan > /sys/kernel/debug/kmemleak
"""

# What the script and the programs call
TOOLS = "lscpu sed sort timeout"


def guest_script(plan, tests):
    """A shell script that runs programs of this directory one after the other; none is disturbed by what it prints."""
    lines = [SHAPE]
    if plan.topology and TOPOLOGIES[plan.topology].line:
        lines.append(DISTANCES)
    for program in plan.programs:
        lines += [
            f"echo '# program {program}'",
            f"timeout -s KILL {TEST_SECONDS} {tests}/{program} > /tmp/said 2>&1",
            "status=$?; cat /tmp/said",
            "printf '\\n# status %s\\n' $status",
        ]
    if has_option("CONFIG_DEBUG_KMEMLEAK"):
        lines.append(LEAKS)
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
        count.programs.add(program)
        if any(status != "skip" for status, _ in results):
            count.useful.add(program)
        if not planned or len(results) < int(planned[1]):
            ended = re.search(r"^# status (\d+)", text, re.M)
            why = f"status {ended[1]}" if ended else "the guest stopped"
            count.ok(False, f"{plan.name} {program}: came to no end ({why}): {' | '.join(text.splitlines()[-3:])}")
        # a child of it did, and what is tested with that child has not been
        elif bail := re.search(r"^Bail out!.*", text, re.M):
            count.ok(False, f"{plan.name} {program}: {bail[0]}")


def boot_checks(plan, result, count):
    """The log is clean and the scheduler is the one asked for."""
    log = result.log.read_text(errors="replace")
    count.ok(
        f"are scheduled by {plan.sched}" in log,
        f"{plan.name}: the log names the scheduler",
    )
    if plan.provokes:
        provoked = any(re.search(plan.provokes, line) for line in result.trouble())
        count.ok(provoked, f"{plan.name}: the log tells what was provoked, {plan.provokes}")
    count.clean_log(plan.name, result, plan.provokes)
    if result.timed_out or result.status is None:
        tail = " | ".join(log.splitlines()[-5:])
        count.ok(False, f"{plan.name}: the guest hung or died, see {result.log}: {tail}")


def topology_check(plan, output, count):
    """Has the guest the topology that the plan is about?"""
    if plan.topology:
        expected = TOPOLOGIES[plan.topology].shape()
        shape = {key: re.findall(rf"^# {key} (\S+)$", output, re.M) for key in expected}
        same = all(sorted(shape[key]) == sorted(expected[key]) for key in expected)
        count.ok(same, f"{plan.name}: the guest has {shape}, expected {expected}")


def boot(plan):
    """Boot a guest that runs the plan's programs; returns its Result."""
    options = {
        "mode": plan.mode,
        "cpus": plan.cpus,
        "smp": TOPOLOGIES[plan.topology].smp if plan.topology else "",
        "append": f"sched={plan.sched} {plan.append}",
        "timeout": 3600 if plan.cpus > 16 else 1200,
        "name": plan.name,
    }
    if plan.mode == "parallel":
        return guest.run_in_guest(f"export HOST_STOPS_CPUS=1\n{guest_script(plan, TESTS)}", **options)
    # All CPUs share the instructions of one: a program that starts hundreds of children
    # as a real-time task may need more of a second than such tasks have
    options["append"] += " sysctl.kernel.sched_rt_runtime_us=-1"
    root = memory_guest.root(TOOLS.split())
    for program in plan.programs:
        root.own(TESTS / program, TESTS_IN_GUEST)
    if plan.short_turns:
        options["round_us"] = memory_guest.short_round(plan.cpus)
    # the line that names the scheduler is not a warning
    options["append"] += " loglevel=7"
    archive = root.content() + memory_guest.command(guest_script(plan, TESTS_IN_GUEST))
    return memory_guest.boot(archive, image=image_path(), seed=number("SEED", 1), **options)


def judge(plan, result, count):
    """Count what a plan's guest gave."""
    before = count.passed, count.failed, count.skipped
    boot_checks(plan, result, count)
    topology_check(plan, result.output, count)
    count_programs(plan, result.output, count)
    after = [now - then for now, then in zip((count.passed, count.failed, count.skipped), before, strict=True)]
    say(f"{plan.name}: {after[0]} passed, {after[1]} failed, {after[2]} skipped, {result.seconds:.0f} s")


def run_plan(plan, count):
    judge(plan, boot(plan), count)


# Nothing in them depends on when the host's CPUs are there for them
PATIENT = [
    *(f"matrix-{name}" for name in MATRIX_ROWS),
    *("selftests-timed", "rules", "scripts", "boot", "report", "suspend", "containers"),
]


def together(steps, number_at_once, count):
    """Run steps, so many at once, each with a count of its own."""

    def counted(step):
        own = Count()
        step(own)
        return own

    with at_once(number_at_once) as pool:
        for own in pool.map(counted, steps):
            count.add(own)


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
        result = guest.run_in_guest(script, cpus=1, append=value, timeout=600, name="boot")
        log = result.log.read_text(errors="replace")
        count.ok(result.output.strip() == expected, f"boot with '{value}': {result.output!r}")
        warnings = len(re.findall(BAD_VALUE, log))
        count.ok(warnings == len(re.findall("cfs|lots|perhaps", value)), f"boot with '{value}': {warnings} warnings")
        count.clean_log(f"boot with '{value}'", result)
    for sched, cpus in (("vrq", 1), ("vrq", 2), ("fair", 2)):
        append = f"sched={sched} kunit.enable=1"
        result = guest.run_in_guest(
            "true", mode="virtual", cpus=cpus, append=append, timeout=600, name=f"kunit-{sched}-{cpus}"
        )
        for suite in ("vrq_deadline", "vrq_weight", "vrq_utilisation", "vrq_yield_to"):
            kunit(count, result, suite)
        count.clean_log(f"KUnit, {result.log.parent.name}", result)


# What must be in a report, by root and by others, and what must not
REPORT = f"""
hostname plantedhost; echo plantedname:x:1234:1234::/tmp:/bin/sh >> /etc/passwd; cd /tmp
cp /bin/sleep plantedtask && ./plantedtask 60 &
echo '<4>sched: of plantedname, on plantedhost' > /dev/kmsg
echo '<3>INFO: task plantedtask:99 blocked for more than 122 seconds.' > /dev/kmsg
echo fair > /sys/kernel/sched/active
sh {TOP}/scripts/report.sh root && cat root
echo SECOND; cd /var/tmp && mkdir -m 777 said && cd said
setpriv --reuid 1234 --clear-groups sh {TOP}/scripts/report.sh user && cat user
"""
REPORTED = {
    "active: fair": 2,
    "switches: 1": 2,
    "sched=vrq": 2,
    "/sched_vrq_stall_ms: 30000": 2,
    "/rr_interval: 3": 2,
    "CPUs that share a cache": 2,
    "CONFIG_SCHED_VRQ=y": 2,
    "/proc/loadavg": 2,
    "some avg10=": 6,
    "are scheduled by vrq": 2,
    "are scheduled by fair; all CPUs were stopped": 2,
    "sched: of (a name), on (a name)": 2,
    "task (a process):99 blocked": 2,
    "\nshared_lock ": 1,
    "debug/sched/vrq: (not readable)": 1,
    "sched_ext/state: (not there)": 2,
    "== End": 2,
    "planted": 0,
}


def reported(count):
    """scripts/report.sh on a machine with VRQ: all that matters is in it, no name is."""
    result = guest.run_in_guest(REPORT, cpus=2, append="sched=vrq secret=planted", timeout=600, name="report")
    for what, times in REPORTED.items():
        seen = result.output.count(what)
        count.ok(seen == times, f"report: {what!r} {seen} times, expected {times}, see {result.log}")
    count.clean_log("report", result, "plantedtask")


def record_loads(append):
    """Run LOADS in a guest: a trace of each, by name, and the guest's Result."""
    traces = guest.RUN / "traces" / (append or "one-domain")
    shutil.rmtree(traces, ignore_errors=True)
    traces.mkdir(parents=True)
    script = [f"cd /tmp; export BENCH={TOP}/tests/bench"]
    script += [f"{TOP}/scripts/waits.py --record '{traces}/{name}' {load}" for name, load in LOADS.items()]
    result = guest.run_in_guest(
        "\n".join(script), mode="virtual", append=f"sched=vrq {append}", timeout=1800, name="rules"
    )
    return {name: traces / name for name in LOADS}, result


def rules(count):
    """Replay traces of real loads: no CPU idle beside who waits, deadlines in order, in one domain and over two."""
    for append in ("", "sched_vrq_domain=2"):
        paths, result = record_loads(append)
        count.clean_log(f"rules {append}", result)
        for name, path in paths.items():
            if not path.exists():
                count.ok(False, f"rules: no trace of {name}: {result.output[-200:]}")
                continue
            with open(path, errors="replace") as lines:
                replay = waits.Replay().run(lines)
            count.ok(len(replay.done) > 200, f"rules, {name}: only {len(replay.done)} waits, see {path}")
            for rule in (1, 2, 3):
                breaches = [breach for breach in replay.breaches if breach.rule == rule]
                count.ok(not breaches, f"{name}, {len(breaches)} breaches, see {path}: {breaches[:1]}")
            say(f"rules, {name} {append}: {len(replay.done)} waits, {len(replay.breaches)} breaches")


def suspended(count):
    """Masks after suspend, with and without their renewal."""
    for sched, append, arguments in (("vrq", "", ""), ("fair", "", ""), ("fair", "renew_affinity=off", "lost")):
        result = suspend.suspend_guest(sched, append, arguments)
        text, name = result.log.read_text(errors="replace"), f"suspend, {sched} {append}"
        planned = re.search(r"^1\.\.(\d+)", text, re.M)
        results = list(tap_lines("\n".join(re.findall(r"^(?:not )?ok \d+ .*$", text, re.M))))
        count.results(results, name)
        count.ok(planned and len(results) == int(planned[1]), f"{name}: came to its end, see {result.log}")
        count.clean_log(name, result)


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


def matrix_row(name, count):
    """Another configuration is built, booted under both schedulers, and runs some tests."""
    text, good = matrix.do(matrix.rows()[name])
    count.ok(good, f"matrix {name}: {text}")
    say(f"matrix {name}: {text}")


def timed(name, step, count):
    """A step, and how long it took."""
    start = time.monotonic()
    step(count)
    say(f"{name}: done, {time.monotonic() - start:.0f} s")


def all_steps(plans):
    """What can be run, by name: guests for plans, and what else there is where they need no special kernel."""
    guests = {plan.name: partial(run_plan, plan) for plan in plans}
    if plans is not PLANS:
        return guests
    others = {
        "scripts": scripts_tests,
        "boot": boot_parameter,
        "report": reported,
        "suspend": suspended,
        "containers": containers.containers,
        "rules": rules,
        "selftests-timed": partial(selftests.compare, "virtual"),
        "selftests": partial(selftests.compare, "parallel"),
        **{f"matrix-{name}": partial(matrix_row, name) for name in MATRIX_ROWS},
    }
    return {**guests, **{name: partial(timed, name, step) for name, step in others.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="the names of all plans")
    parser.add_argument("names", nargs="*", default=os.environ.get("PLANS", "").split())
    options = parser.parse_args()
    plans = next((SPECIAL[name] for name in extra_fragments() if name in SPECIAL), PLANS)
    steps = all_steps(plans)
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
    # virtual time does not care for what else runs on the host; the longest first,
    # so that none of them runs alone at the end
    virtual = [plan for plan in plans if plan.mode == "virtual"]
    virtual.sort(key=lambda plan: -plan.cpus * len(plan.programs))
    patient = [name for name in [*PATIENT, *(plan.name for plan in virtual)] if name in names]
    names = [name for name in names if name not in patient]
    if patient:
        say(f"{len(patient)} plans, as many at once as there are jobs")
    together([steps[name] for name in patient], jobs(), count)
    for place, name in enumerate(names, 1):
        say(f"[{place}/{len(names)}] {name}")
        steps[name](count)
    if not options.names:
        for program in sorted(count.programs - count.useful):
            count.ok(False, f"{program}: all of its tests are skipped in all plans")
    for what in count.failures:
        print(f"FAILED {what}")
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return bool(count.failed)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
