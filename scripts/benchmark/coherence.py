# SPDX-License-Identifier: GPL-2.0-only
"""Lines of memory that kernel/sched takes from other CPUs: tests/bench/coherence.c in the guest's emulator.

docs/benchmark/coherence.md says what the figures mean.
"""

import bisect
import functools
import os
import re
import shutil
from dataclasses import dataclass, field

from common import BUILD, TOP, Failure, run
from memory_guest import SHORT_ROUND, emulator

from .symbols import Kernel

SOURCE = TOP / "tests/bench/coherence.c"
PLUGIN = BUILD / "bench/coherence.so"
COMPILE = ("-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden", "-D_GNU_SOURCE")
NS_PER_INSTRUCTION = 2
MEMORY = 2048  # MiB

# The model of time: cycles at 3 GHz. A line from a CPU with the same last-level cache, of the same node,
# of another node; and how many instructions a cycle the rest of the code comes to
GIGAHERTZ = 3
CYCLES = (100, 300, 600)
IPC = 1.5
# The machine of the estimate that is too large to boot: nodes, caches of a node, CPUs of a cache
LARGE = (4, 4, 16)
# How many lines of a table are kept
KEPT = 40


@dataclass(frozen=True)
class Topology:
    """Nodes of so many last-level caches of so many CPUs."""

    nodes: int
    llcs: int
    cpus: int

    def __str__(self):
        return f"{self.nodes}x{self.llcs}x{self.cpus}"

    def total(self):
        return self.nodes * self.llcs * self.cpus

    def places(self):
        """(cache, node) of each CPU."""
        return [(cpu // self.cpus, cpu // (self.cpus * self.llcs)) for cpu in range(self.total())]

    def smp(self, memory):
        """QEMU's -smp and what else makes the guest see it; a socket has one cache. Memory is in MiB."""
        words = f"{self.total()},sockets={self.nodes * self.llcs},cores={self.cpus},threads=1"
        per_node = self.llcs * self.cpus
        for node in range(self.nodes if self.nodes > 1 else 0):
            words += f" -object memory-backend-ram,size={memory // self.nodes}M,id=m{node}"
            words += f" -numa node,cpus={node * per_node}-{(node + 1) * per_node - 1},memdev=m{node}"
        return words


# What is likely to be sold with so many
USUAL = {4: Topology(1, 1, 4), 16: Topology(1, 2, 8), 32: Topology(1, 4, 8), 64: Topology(2, 4, 8)}


def topology(cpus):
    """That of TOPOLOGY=nodes x caches x CPUs, or a usual one."""
    text = os.environ.get("TOPOLOGY", "")
    if not text:
        return USUAL.get(cpus, Topology(1, 1, cpus))
    match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)x([1-9]\d*)", text)
    found = Topology(*(int(word) for word in match.groups())) if match else None
    if not found or found.total() != cpus:
        raise Failure(f"TOPOLOGY={text}: not NODESxCACHESxCPUS, whose product is CPUS={cpus}")
    return found


def build():
    """The plugin."""
    if not shutil.which("gcc"):
        raise Failure("gcc is missing, which builds the plugin; run: make setup")
    PLUGIN.parent.mkdir(parents=True, exist_ok=True)
    part = PLUGIN.with_suffix(f".{os.getpid()}")
    run("gcc", *COMPILE, "-o", part, SOURCE)
    part.rename(PLUGIN)


@functools.cache
def check_emulator():
    """Does QEMU load it?"""
    qemu = emulator()
    text = run(qemu, "--help")
    if "-plugin" not in text:
        raise Failure("this QEMU cannot load plugins; MODE=coherence wants that of Debian 12's backports, or newer")
    match = re.search(r"version (\d+)", run(qemu, "--version"))
    if not match or int(match[1]) < 10:
        raise Failure("MODE=coherence wants QEMU 10 or newer; run: make setup")


@functools.cache
def kernel_of(image):
    return Kernel(image)


def options(kernel, places, directory):
    """What a guest that is watched is started with, and the file that the plugin writes."""
    words, out = directory / "map", directory / "out"
    words.write_text(kernel.map(places.places()))
    more = ("-plugin", f"{PLUGIN},map={words},out={out}")
    round_us = max(SHORT_ROUND, SHORT_ROUND * places.total() // 4)
    return {
        "round_us": round_us,
        "smp": places.smp(MEMORY),
        "memory": f"{MEMORY}M",
        "append": "nokaslr no5lvl",
        "more": more,
    }, out


@dataclass
class Watch:
    """What the plugin wrote between two marks."""

    executed: int = 0
    switches: int = 0
    longest: int = 0  # instructions with interrupts off in which VRQ's code was executed
    migrations: tuple = (0, 0, 0)
    functions: dict = field(default_factory=dict)  # number: (instructions, longest time with interrupts off)
    moves: list = field(default_factory=list)  # (function, address, [reads and writes by distance])
    locks: list = field(default_factory=list)  # (address, busy, entries, entries from VRQ)
    tasks: list = field(default_factory=list)
    per_cpu: dict = field(default_factory=dict)
    off: dict = field(default_factory=dict)  # log2 of instructions: how often


def parse(text):
    """All of the watches in the plugin's file; one without an end is none."""
    watches = []
    for part in re.findall(r"^begin\n(.*?)^end\n", text, re.M | re.S):
        watch = Watch()
        for line in part.splitlines():
            key, *words = line.split()
            if key == "move":
                watch.moves.append((int(words[0]), int(words[1], 16), [int(word) for word in words[2:]]))
            elif key == "function":
                watch.functions[int(words[0])] = (int(words[1]), int(words[2]))
            elif key == "lock":
                watch.locks.append((int(words[0], 16), *(int(word) for word in words[1:])))
            elif key == "task":
                watch.tasks.append(int(words[0], 16))
            elif key == "percpu":
                watch.per_cpu[int(words[0])] = int(words[1], 16)
            elif key == "off":
                watch.off[int(words[0])] = int(words[1])
            elif key == "migrations":
                watch.migrations = tuple(int(word) for word in words)
            else:
                setattr(watch, key, int(words[0]))
        watches.append(watch)
    return watches


class Names:
    """What is at an address: a variable, a task, a stack."""

    STACKS = range(0xFFFFC90000000000, 0xFFFFE90000000000)

    def __init__(self, kernel, watch):
        self.kernel = kernel
        self.tasks = sorted(watch.tasks)
        self.bases = sorted(base for base in watch.per_cpu.values() if base)
        self.unit = min((b - a for a, b in zip(self.bases, self.bases[1:], strict=False)), default=1 << 18)

    def member(self, structure, offset):
        size, members = self.kernel.members.get(structure, (0, []))
        index = bisect.bisect_right(members, offset, key=lambda member: member[0]) - 1
        if index < 0:
            return f"+{offset & ~63:#x}"
        # the first of a union
        index = bisect.bisect_left(members, members[index][0], key=lambda member: member[0])
        return f".{members[index][1]}"

    def per_cpu(self, offset):
        if offset >= self.kernel.per_cpu_end:
            return "allocated per CPU"
        name, offset = self.kernel.symbol(offset)
        return f"rq{self.member('rq', offset)}" if name == "runqueues" else name

    @functools.lru_cache(maxsize=1 << 20)  # noqa: B019 - lives as long as its report
    def of(self, address):
        index = bisect.bisect_right(self.bases, address) - 1
        if index >= 0 and address - self.bases[index] < self.unit:
            return self.per_cpu(address - self.bases[index])
        index = bisect.bisect_right(self.tasks, address) - 1
        size = self.kernel.members.get("task_struct", (8192, []))[0]
        if index >= 0 and address - self.tasks[index] < size:
            return f"task_struct{self.member('task_struct', address - self.tasks[index])}"
        if address in self.STACKS:
            return "stack"
        if address >= 0xFFFFFFFF80000000:
            name, offset = self.kernel.symbol(address)
            return f"{name}+{offset & ~63:#x}" if offset > 63 else name
        return "heap"


def cycles(watch, of_lines):
    """The time that kernel/sched takes, in cycles of all CPUs; of_lines: how many lines by distance."""
    executed = sum(count for count, _ in watch.functions.values())
    return executed / IPC + sum(cost * count for cost, count in zip(CYCLES, of_lines, strict=True))


def in_large(of_lines):
    """The same lines in the large machine: those that left their cache go to any other of its caches."""
    nodes, llcs, _ = LARGE
    near = (llcs - 1) / (nodes * llcs - 1)
    left = of_lines[1] + of_lines[2]
    return (of_lines[0], left * near, left * (1 - near))


def figures(watch, units, kernel):
    """The rows of one watch."""
    by_distance = [sum(counts[at] + counts[at + 3] for _, _, counts in watch.moves) for at in range(3)]
    reads = sum(sum(counts[:3]) for _, _, counts in watch.moves)
    lines = sum(by_distance)
    switches = max(watch.switches, 1)
    executed = sum(count for count, _ in watch.functions.values())
    rows = {
        "lines": lines / units,
        "reads": reads / units,
        "writes": (lines - reads) / units,
        "far": (by_distance[1] + by_distance[2]) / units,
        "lines-switch": lines / switches,
        "instructions": executed / switches,
        "switches": watch.switches,
        "migrations": sum(watch.migrations) / switches * 1000,
        "migrations-far": sum(watch.migrations[1:]) / switches * 1000,
        "estimate": cycles(watch, by_distance) / GIGAHERTZ / units,
        "estimate-256": cycles(watch, in_large(by_distance)) / GIGAHERTZ / units,
    }
    of_vrq = sum(count for number, (count, _) in watch.functions.items() if kernel.functions[number].kind == "v")
    if of_vrq < executed / 100:  # fair calls some of its hooks
        return rows
    if watch.off:
        longest = max(length for _, length in watch.functions.values())
        rows["irqs-off"] = max(longest, 2 ** max(watch.off)) * NS_PER_INSTRUCTION / 1000
        rows["irqs-off-all"] = watch.longest * NS_PER_INSTRUCTION / 1000
    names = Names(kernel, watch)
    shared = [lock for lock in watch.locks if not names.of(lock[0]).startswith(("rq.", "rq+", "task_struct"))]
    rows["locks"] = sum(lock[3] for lock in shared) / switches
    rows["lock-busy"] = max((lock[1] for lock in shared), default=0) / max(watch.executed, 1) * 100
    return rows


def by_name(entries, switches):
    """[name, figures...] of (name, figures), added up for each name and a switch, the most first."""
    sums = {}
    for name, values in entries:
        sums[name] = [a + b for a, b in zip(sums.get(name, [0] * len(values)), values, strict=True)]
    ordered = sorted(sums.items(), key=lambda entry: (-sum(entry[1]), entry[0]))[:KEPT]
    return [[name, *(value / switches for value in values)] for name, values in ordered]


def tables(watch, kernel):
    """Where lines, instructions and time go: [name, figures...], the most first."""
    names = Names(kernel, watch)
    switches = max(watch.switches, 1)
    moves = [(number, address, (sum(counts[:3]), sum(counts[3:]))) for number, address, counts in watch.moves]
    longest = [(kernel.functions[number].name, longest) for number, (_, longest) in watch.functions.items() if longest]
    locks = {}
    for address, busy, entries, _ in watch.locks:
        entry = locks.setdefault(names.of(address), [0, 0])
        entry[0] += entries / switches
        entry[1] = max(entry[1], busy / max(watch.executed, 1) * 100)
    return {
        "functions": by_name(((kernel.functions[number].name, counts) for number, _, counts in moves), switches),
        "data": by_name(((names.of(address), counts) for _, address, counts in moves), switches),
        "instructions": by_name(
            ((kernel.functions[number].name, (count,)) for number, (count, _) in watch.functions.items()), switches
        ),
        "irqs-off": [
            [name, length * NS_PER_INSTRUCTION / 1000]
            for name, length in sorted(longest, key=lambda entry: -entry[1])[:KEPT]
        ],
        "locks": [[name, *entry] for name, entry in sorted(locks.items(), key=lambda entry: -entry[1][1])[:KEPT]],
    }


def read(path, output, kernel):
    """Rows and tables of what the plugin wrote, and of the names that the guest's output has for it."""
    watches = parse(path.read_text()) if path.exists() else []
    rows, found = {}, {}
    told = re.findall(r"^watched (\S+) (\d+)$", output, re.M)
    for (name, units), watch in zip(told, watches, strict=False):
        rows |= {f"{name}-{row}": value for row, value in figures(watch, int(units), kernel).items()}
        found[name] = tables(watch, kernel)
    return rows, found
