# SPDX-License-Identifier: GPL-2.0-only
"""Where the functions and the data of a kernel image are, from what its build has left beside it."""

import bisect
import functools
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from common import BUILD, Failure, run

# What kernel/sched calls, and is watched when it does: locks, trees, lists, bitmaps
HELPERS = {
    "l": re.compile(r"_raw_(spin|read|write)_(try)?lock\w*|(native_)?queued_(spin|read|write)_lock_slowpath"),
    "u": re.compile(r"_raw_(spin|read|write)_unlock\w*"),
    "h": re.compile(
        r"(__)?rb_(erase|first|insert|last|next|prev|replace)\w*|llist_\w+|plist_\w+"
        r"|_find_\w+|cpumask_(any|next)\w*|__bitmap_\w+"
    ),
    "e": re.compile(r"asm_(sysvec|exc|common|spurious)_\w+|entry_SYSCALL_64"),
    "x": re.compile(r"__switch_to_asm"),
    "c": re.compile(r"__switch_to"),
}
# A real machine's clock is the same on all CPUs; the emulator's is not known to be, and that costs lines
CLOCK = re.compile(r"(local|sched|running)_clock\w*|__sched_clock\w*|irqtime_\w+")


@dataclass(frozen=True)
class Function:
    name: str
    start: int
    end: int
    kind: str


def beside(image):
    """The directory with System.map and kernel/sched's objects that belong to an image."""
    image = Path(image).resolve()
    for directory in (image.parent, *image.parents[3:4]):
        if (directory / "System.map").exists() and list((directory / "kernel/sched").glob("*.o")):
            return directory
    raise Failure(f"{image}: no System.map and kernel/sched/*.o beside it or where it was built")


def system_map(directory):
    """(address, type, name) of all symbols, in order."""
    words = (line.split() for line in (directory / "System.map").read_text().splitlines())
    return sorted((int(address, 16), kind, name) for address, kind, name in words)


def object_functions(path):
    """For each section of an object: (offset, size, name) of its functions."""
    sections = {}
    for line in run("readelf", "-sW", path).splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC" and words[6].isdecimal():
            sections.setdefault(words[6], []).append((int(words[1], 16), int(words[2], 0), words[7]))
    return sections


def placed(functions, addresses):
    """Where the linker has put the functions of one section; it keeps them together.

    A name may stand for functions of several files: what most names agree on is right.
    """
    bases = [address - offset for offset, _, name in functions for address in addresses.get(name, ())]
    if not bases:
        return []  # dropped
    base = max(set(bases), key=bases.count)
    return [(name, base + offset, base + offset + size) for offset, size, name in functions if size]


def scheduler(directory, addresses):
    """The functions of kernel/sched."""
    found = []
    for path in sorted((directory / "kernel/sched").rglob("*.o")):
        kind = "v" if path.parent.name == "vrq" else "s"
        if path.name.endswith("_test.o"):
            continue
        for functions in object_functions(path).values():
            for name, start, end in placed(functions, addresses):
                if not CLOCK.fullmatch(name):
                    found.append(Function(name, start, end, kind))
    return found


def helpers(symbols):
    """The functions around kernel/sched that matter; each ends where the next symbol begins."""
    text = [(address, name) for address, kind, name in symbols if kind in "tTwW"]
    found = []
    for (address, name), (after, _) in zip(text, text[1:], strict=False):
        kind = next((kind for kind, pattern in HELPERS.items() if pattern.fullmatch(name)), None)
        if kind and after > address:
            found.append(Function(name, address, after, kind))
    return found


class Kernel:
    """What System.map and the objects tell."""

    def __init__(self, image):
        self.directory = beside(image)
        self.symbols = system_map(self.directory)
        addresses = {}
        for address, _, name in self.symbols:
            addresses.setdefault(name, []).append(address)
        self.functions = []
        known = [*scheduler(self.directory, addresses), *helpers(self.symbols)]
        for function in sorted(known, key=lambda function: (function.start, function.kind != "v", function.kind)):
            if not self.functions or function.start >= self.functions[-1].end:
                self.functions.append(function)
        if not any(function.name == "__schedule" for function in self.functions):
            raise Failure(f"{self.directory}: System.map and kernel/sched/*.o do not fit together")
        self.per_cpu_end = addresses["__per_cpu_end"][0]
        self.current = next(addresses[name][0] for name in ("current_task", "pcpu_hot") if name in addresses)
        self.data = [entry for entry in self.symbols if entry[1] in "dDbBrRvV" or entry[0] < self.per_cpu_end]
        self.starts = [address for address, _, _ in self.data]

    def map(self, places):
        """The file that the plugin reads; places are the cache and the node of each CPU."""
        lines = [f"cpu {cpu} {llc} {node}" for cpu, (llc, node) in enumerate(places)]
        lines.append(f"current {self.current:x}")
        lines += [f"wake_up {f.start:x}" for f in self.functions if f.name == "try_to_wake_up"]
        lines += [f"function {f.start:x} {f.end:x} {f.kind} {f.name}" for f in self.functions]
        return "\n".join(lines) + "\n"

    def symbol(self, address):
        """The name of the data at an address, and the offset in it."""
        index = bisect.bisect_right(self.starts, address) - 1
        start, _, name = self.data[index]
        return name, address - start

    @functools.cached_property
    def members(self):
        """Structures by name, as far as debug information is to be had."""
        return structures(self.directory, ("task_struct", "rq"))


def changed(directory, command):
    """Has any file changed that an object was compiled from?"""
    words = re.findall(r"^  (\S+\.[ch]) \\$", command.read_text(), re.M)
    above = (directory / "source").resolve().parent
    needed = [above / word[3:] if word.startswith("../") else directory / word for word in words]
    built = (directory / "System.map").stat().st_mtime
    return any(not path.exists() or path.stat().st_mtime > built for path in needed)


def structures(directory, names):
    """{structure: (size, [(offset, member)])}, by compiling one file of kernel/sched again, with debug information.

    None if it has changed since, or what it includes.
    """
    command = directory / "kernel/sched/.build_policy.o.cmd"
    if not command.exists() or changed(directory, command):
        return {}
    line = re.search(r"^savedcmd_\S+ := (.*?-c -o )\S+ (\S+)", command.read_text(), re.M)
    target = BUILD / "bench/structures.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    words = [word for word in shlex.split(line[1]) if not word.startswith("-Wp,")] if line else []
    source = Path(line[2]) if line else Path("/nowhere")
    try:
        run(*words, target, "-g", source, cwd=directory)
        return {name: members(run("pahole", "-C", name, "--expand_types", target)) for name in names}
    except (Failure, OSError, subprocess.SubprocessError):
        return {}


def members(text):
    """The size and the members of a structure as pahole shows it, those of structures inside it by their path."""
    found, begins = [], []
    for line in text.splitlines():
        line = re.sub(r"/\* (typedef|XXX|---).*?\*/|__attribute__\(\(\w+(\(\d+\))?\)\)", "", line).strip()
        if re.match(r"(struct|union|enum)\b[^;]*\{$", line):
            begins.append(len(found))
        elif line.startswith("}") and len(begins) > 1:
            begin = begins.pop()
            if name := re.match(r"\}\s*(\w+)", line):
                found[begin:] = [(offset, f"{name[1]}.{member}") for offset, member in found[begin:]]
        elif member := re.search(r"(?:\(\*\s*(\w+)\)|(\w+)(?:\[|:|;)).*/\*\s+(\d+)", line):
            found.append((int(member[3]), member[1] or member[2]))
    size = re.search(r"/\* size: (\d+)", text)
    return (int(size[1]) if size else 0, sorted(found, key=lambda member: member[0]))
