#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Who waited how long for what, and has the scheduler kept its word?

Reads a trace of sched_vrq:*, sched:sched_switch and softirqs, and checks three of the rules
that always hold:
 1. no CPU is idle while a task waits that may run there, in whatever domain, for
    longer than a wake-up takes; one that finds a run queue locked and looks again does
    not idle, for up to 10 ms, nor one that runs softirqs, for up to 2 ms, before it can look;
 2. no CPU picks a task while one with an earlier deadline that it may run is in
    the shared queue of its domain, unless the home of that one was locked;
 3. no CPU picks a task while one with a much earlier deadline that it may run has
    been in the shared queue of another domain for long.

Usage: waits.py --record FILE COMMAND ...   run a command under sched=vrq, keep its trace (root)
       waits.py [options] FILE              report and check; exit status 1 if a rule was broken
"""

import argparse
import re
import subprocess
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from common import Failure, main_wrapper

INSTANCE = Path("/sys/kernel/tracing/instances/vrq-waits")
EVENTS = ("sched_vrq", "sched/sched_switch", "irq/softirq_entry", "irq/softirq_exit")
BUFFER_KIB = 65536  # for each CPU
LINE = re.compile(r"^.{16}-\d+ +\[(\d+)\] \S+ +(\d+)\.(\d{6}): (\w+): (.*)$")
FIELDS = re.compile(r"(\w+)=(.*?)(?= \w+=| ==>|$)")
LEVEL = 1 << 60  # as in vrq_key_of(): the level goes above the deadline
NEVER = float("inf")
# What the rules allow for, microseconds: a tick and a wake-up; a pick that was under way
IDLE_US = 1500
ORDER_US = 1000
# In virtual time a CPU that holds a lock may lose its turn, and has the next one after all others
LOOKS_AGAIN_US = 10_000
# Rule 3: how long a task must have been there, and by how much its deadline must be
# earlier. A CPU looks at one other domain each slice, and takes what is earlier by one
# or two turns
FAR_US = 200_000
FAR_EARLIER_NS = 1_000_000_000


@dataclass
class Wait:
    """A task that waits."""

    pid: int
    comm: str
    since: int  # all times are microseconds
    home: int = -1
    domain: int = -1
    places: list = field(default_factory=list)  # (since, name)
    key: int = 0
    cpus: frozenset = frozenset()
    until: int = 0
    cpu: int = -1  # that has picked it

    @property
    def length(self):
        return self.until - self.since


@dataclass
class Breach:
    """A rule that was broken."""

    rule: int
    time: int
    text: str

    def __str__(self):
        return f"rule {self.rule} at {self.time / 1e6:.6f}: {self.text}"


def cpu_set(text):
    """The CPUs of a mask as the kernel prints it: hexadecimal, commas between words."""
    mask = int(text.replace(",", ""), 16)
    return frozenset(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)


def events(lines):
    """The events of a trace: (time, cpu, name, fields)."""
    for line in lines:
        if match := re.match(r"# entries-in-buffer/entries-written: (\d+)/(\d+)", line):
            if match[1] != match[2]:
                raise Failure(f"the trace has lost {int(match[2]) - int(match[1])} events: record for a shorter time")
        elif match := LINE.match(line):
            cpu, seconds, micros, name, rest = match.groups()
            yield int(seconds) * 1_000_000 + int(micros), int(cpu), name, dict(FIELDS.findall(rest))
        elif "LOST" in line:
            raise Failure(f"the trace has gaps: {line.strip()}")


class Replay:
    """Goes through a trace and keeps account of who waits and which CPU is idle."""

    def __init__(self, idle_bound=IDLE_US, order_bound=ORDER_US):
        self.idle_bound, self.order_bound = idle_bound, order_bound
        self.waiting = {}  # pid: Wait
        self.idle = {}  # CPU: since
        self.interrupted = set()  # idle CPUs that run softirqs
        self.looks = {}  # CPU that finds a run queue locked, time and again: since
        self.runs = defaultdict(list)  # CPU: (since, comm)
        self.done = []  # Waits that ended in a pick
        self.picks = Counter()
        self.suspects = []  # (time, rule, description of the pick, Wait, its place)
        self.longest_idle = 0
        self.breaches = []

    def run(self, lines):
        for time, cpu, name, fields in events(lines):
            handler = getattr(self, name, None)
            if handler:
                self.settle(time)
                handler(time, cpu, fields)
        self.settle(NEVER)
        return self

    def sched_vrq_enqueue(self, time, _cpu, fields):
        pid = int(fields["pid"])
        wait = self.waiting.setdefault(pid, Wait(pid, fields["comm"], time))
        wait.home = int(fields["home"])
        wait.domain = int(fields["domain"])
        wait.places.append((time, fields["place"]))
        wait.key = int(fields["level"]) * LEVEL + int(fields["deadline"])
        wait.cpus = cpu_set(fields["cpus"])

    def sched_vrq_dequeue(self, time, _cpu, fields):
        self.ends(self.waiting.pop(int(fields["pid"]), None), time)

    def sched_vrq_pick(self, time, cpu, fields):
        self.picks[fields["reason"]] += 1
        wait = self.waiting.pop(int(fields["pid"]), None)
        if wait:
            self.ends(wait, time)
            wait.until, wait.cpu = time, cpu
            self.done.append(wait)
        if fields["missed"] == "1":
            self.looks_again(cpu, time)
            return
        self.looks.pop(cpu, None)
        none = fields["reason"] == "none"
        key = NEVER if none else int(fields["level"]) * LEVEL + int(fields["deadline"])
        pick = f"CPU {cpu} picked {fields['comm'] or 'nothing'} ({fields['reason']})"
        for other in self.waiting.values():
            since, place = other.places[-1]
            if place != "shared" or cpu not in other.cpus:
                continue
            here = other.domain == int(fields["domain"])
            earlier, waited = (0, self.order_bound) if here else (FAR_EARLIER_NS, FAR_US)
            if other.key + earlier < key and time - since > waited:
                self.suspects.append((time, 2 if here else 3, pick, other, other.places[-1]))

    def sched_switch(self, time, cpu, fields):
        comm, pid = fields["next_comm"], int(fields["next_pid"])
        self.runs[cpu].append((time, comm))
        if pid == 0:
            self.idle[cpu] = time
            return
        self.looks.pop(cpu, None)
        if cpu in self.idle:
            self.stops_idling(cpu, time)

    def softirq_entry(self, time, cpu, _fields):
        if cpu in self.idle:
            self.stops_idling(cpu, time)
            self.interrupted.add(cpu)

    def softirq_exit(self, time, cpu, _fields):
        if cpu in self.interrupted:
            self.interrupted.remove(cpu)
            self.idle[cpu] = time

    def looks_again(self, cpu, time):
        """A CPU has found a run queue locked, and looks until it is not: it idles from its last look on.

        Whoever holds the lock needs a microsecond or two, but in virtual time may lose its turn meanwhile.
        """
        if cpu in self.idle and time - self.looks.setdefault(cpu, time) <= LOOKS_AGAIN_US:
            self.idled(cpu, time)
            self.idle[cpu] = time

    def stops_idling(self, cpu, time):
        """An idle CPU has something to do."""
        self.idled(cpu, time)
        del self.idle[cpu]

    def idled(self, cpu, time):
        """A CPU was idle until now: beside whom?"""
        for wait in self.waiting.values():
            self.overlap(wait, cpu, time)

    def ends(self, wait, time):
        """A wait ends: which CPUs were idle meanwhile?"""
        if wait:
            for cpu in self.idle:
                self.overlap(wait, cpu, time)

    def overlap(self, wait, cpu, time):
        """Rule 1: a CPU was idle and a task waited, until now."""
        if cpu not in wait.cpus:
            return
        length = time - max(wait.since, self.idle[cpu])
        self.longest_idle = max(self.longest_idle, length)
        if length > self.idle_bound:
            where = ", ".join(place for _, place in wait.places)
            text = (
                f"CPU {cpu} was idle for {length} us while {wait.comm}-{wait.pid} waited ({where} of CPU {wait.home})"
            )
            self.breaches.append(Breach(1, time, text))

    def settle(self, now):
        """Rules 2 and 3: whoever was passed over and is still there has been passed over indeed."""
        while self.suspects and now - self.suspects[0][0] > self.order_bound:
            time, rule, pick, wait, place = self.suspects.pop(0)
            if self.waiting.get(wait.pid) is wait and wait.places[-1] == place:
                text = f"{pick}, and left {wait.comm}-{wait.pid}, in a shared queue for {time - place[0]} us"
                self.breaches.append(Breach(rule, time, text))

    def ran_meanwhile(self, wait):
        """What the CPU that has picked a task ran while it waited: (us, comm), longest first."""
        runs = self.runs[wait.cpu]
        shares = Counter()
        first = max(bisect_right(runs, (wait.since, "")) - 1, 0)
        for index in range(first, len(runs)):
            start, comm = runs[index]
            if start >= wait.until:
                break
            end = runs[index + 1][0] if index + 1 < len(runs) else wait.until
            shares[comm] += max(0, min(end, wait.until) - max(start, wait.since))
        return shares.most_common(3)


def show(replay, longest):
    """The report: waits by name, the longest ones, the picks, the rules."""
    by_comm = defaultdict(list)
    for wait in replay.done:
        by_comm[wait.comm].append(wait.length)
    print(f"{'task':16} {'waits':>8} {'mean us':>9} {'99% us':>9} {'max us':>9}")
    for comm, lengths in sorted(by_comm.items(), key=lambda item: -sum(item[1])):
        lengths.sort()
        tail = lengths[int(len(lengths) * 0.99)]
        print(f"{comm:16} {len(lengths):8} {sum(lengths) / len(lengths):9.1f} {tail:9} {lengths[-1]:9}")
    print("\nThe longest waits:")
    for wait in sorted(replay.done, key=lambda wait: -wait.length)[:longest]:
        ran = ", ".join(f"{comm} {us} us" for us, comm in ((us, comm) for comm, us in replay.ran_meanwhile(wait)))
        where = ", ".join(f"{place} from {since - wait.since} us" for since, place in wait.places)
        print(f"  {wait.comm}-{wait.pid}: {wait.length} us ({where}), then CPU {wait.cpu}, which had run {ran}")
    print("\nPicks: " + ", ".join(f"{reason} {count}" for reason, count in replay.picks.most_common()))
    print(f"Longest time of an idle CPU beside a task that waited: {replay.longest_idle} us")
    for breach in replay.breaches[:20]:
        print(breach)
    print(f"{len(replay.breaches)} breaches of the rules")


def record(path, command):
    """Run a command and keep the trace of it."""
    if not Path("/sys/kernel/tracing/events/sched_vrq").exists():
        raise Failure("no tracepoints of VRQ here: root, tracefs and a kernel with CONFIG_SCHED_VRQ are needed")
    try:
        INSTANCE.mkdir()
    except FileExistsError:
        raise Failure(f"another recording runs; if not, it was ended before its time: rmdir {INSTANCE}") from None
    try:
        (INSTANCE / "tracing_on").write_text("0")
        (INSTANCE / "buffer_size_kb").write_text(str(BUFFER_KIB))
        for event in EVENTS:
            (INSTANCE / "events" / event / "enable").write_text("1")
        (INSTANCE / "tracing_on").write_text("1")
        status = subprocess.run(command).returncode
        (INSTANCE / "tracing_on").write_text("0")
        with open(INSTANCE / "trace") as trace, open(path, "w") as file:
            file.writelines(trace)
    finally:
        INSTANCE.rmdir()
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="run COMMAND and write FILE")
    parser.add_argument("--idle-us", type=int, default=IDLE_US, help="rule 1: how long (1500: a tick and a wake-up)")
    parser.add_argument("--order-us", type=int, default=ORDER_US, help="rule 2: not who was there for less (1000)")
    parser.add_argument("--longest", type=int, default=5, help="how many waits to show (5)")
    parser.add_argument("file")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.record:
        if not options.command:
            parser.error("--record wants a command")
        return record(options.file, options.command)
    with open(options.file, errors="replace") as lines:
        replay = Replay(options.idle_us, options.order_us).run(lines)
    if not replay.picks:
        raise Failure(f"{options.file}: no pick of VRQ in it")
    show(replay, options.longest)
    return bool(replay.breaches)


if __name__ == "__main__":
    main_wrapper(main)
