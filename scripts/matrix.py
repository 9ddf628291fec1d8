#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the series build and work in the configurations and on the machines of tests/matrix/rows.toml?

Each row is built, booted under both schedulers, and runs some tests of tests/guest; it gets a
line, and all of them a table at the end. A row that fails does not stop the others. Its objects
are thrown away, its logs stay in build/matrix.

Usage: matrix.py [NAME ...]   MATRIX="name ..." chooses rows too
       matrix.py --list
"""

import argparse
import os
import re
import shutil
import sys
import time
import tomllib
from dataclasses import dataclass, field

import guest
import kernel
from common import BUILD, TOP, TREE, Failure, main_wrapper, run, say
from deb import debian_config
from initramfs import Archive
from processes import run_for
from tap import tap_lines

OUT = BUILD / "matrix"
ROWS = TOP / "tests/matrix/rows.toml"
FRAGMENTS = ["small", "sched", "vrq"]
TESTS = ["affinity", "forks", "policy"]
BUILD_SECONDS = 3 * 3600
GUEST_SECONDS = 900


@dataclass
class Machine:
    """What an architecture is built with, and what emulates it."""

    arch: str  # the kernel's name for it
    qemu: str
    image: str
    cross: str = ""  # what its compiler's names begin with
    console: str = "-serial file:{log}"
    programs: str = ""  # the same for the tests, where it is another

    @property
    def words(self):
        """For make."""
        if not self.cross:
            return [f"ARCH={self.arch}"]
        return [f"ARCH={self.arch}", f"CROSS_COMPILE={self.cross}", f"CC=ccache {self.cross}gcc"]

    @property
    def compiler(self):
        return f"{self.programs or self.cross}gcc"


X86 = "-machine q35 -accel tcg,thread=single -icount shift=1,sleep=off -append console=ttyS0,tsc=reliable"
WEAK = "-machine virt -accel tcg,thread=multi -append HOST_STOPS_CPUS=1"
MACHINES = {
    "x86_64": Machine("x86_64", f"qemu-system-x86_64 -cpu max {X86}", "arch/x86/boot/bzImage"),
    "i386": Machine(
        "i386",
        # AMD's, which it is else, a 32-bit kernel takes for one that is not made for SMP, and warns
        f"qemu-system-x86_64 -cpu max,vendor=GenuineIntel {X86}",
        "arch/x86/boot/bzImage",
        programs="i686-linux-gnu-",
    ),
    "arm64": Machine(
        "arm64",
        f"qemu-system-aarch64 -cpu cortex-a72 {WEAK},console=ttyAMA0",
        "arch/arm64/boot/Image",
        cross="aarch64-linux-gnu-",
    ),
    "riscv64": Machine(
        "riscv",
        f"qemu-system-riscv64 {WEAK},console=ttyS0",
        "arch/riscv/boot/Image",
        cross="riscv64-linux-gnu-",
    ),
    # the highest byte of a number comes first
    "s390x": Machine(
        "s390",
        "qemu-system-s390x -cpu max -machine s390-ccw-virtio -accel tcg,thread=multi"
        " -append HOST_STOPS_CPUS=1,console=ttysclp0",
        "arch/s390/boot/bzImage",
        cross="s390x-linux-gnu-",
        console="-chardev file,id=console,path={log} -device sclpconsole,chardev=console",
    ),
}


@dataclass
class Row:
    """A configuration, see tests/matrix/rows.toml."""

    name: str
    options: list = field(default_factory=list)
    boots: list = field(default_factory=lambda: [""])
    base: object = field(default_factory=lambda: FRAGMENTS)
    arch: str = "x86_64"
    cpus: object = 4
    build: str = ""
    llvm: bool = False
    tests: list = field(default_factory=lambda: TESTS)

    @property
    def machine(self):
        return MACHINES[self.arch]

    @property
    def objects(self):
        return OUT / self.name / "objects"

    @property
    def words(self):
        """For make."""
        return [*self.machine.words, *(("LLVM=1", "CC=ccache clang") if self.llvm else ())]


def rows():
    """All rows, by name."""
    with open(ROWS, "rb") as file:
        return {name: Row(name, **table) for name, table in tomllib.load(file).items()}


def check_tools(row):
    """One line if something is missing."""
    needed = [row.machine.qemu.split()[0], row.machine.compiler, *(["clang", "ld.lld"] if row.llvm else ())]
    missing = [tool for tool in needed if not shutil.which(tool)]
    if missing:
        raise Failure(f"{missing[0]} is missing; run: make setup{'-matrix' if row.machine.cross or row.llvm else ''}")


def debian_fragment(row):
    """Debian's configuration, without what asks for keys of Debian's or only makes the build longer."""
    directory = row.objects.parent / "debian"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    left_out = r"^CONFIG_(SYSTEM_TRUSTED_KEYS|MODULE_SIG_KEY|DEBUG_INFO_BTF)=.*$"
    path = directory / "debian.config"
    path.write_text(re.sub(left_out, "", debian_config(directory), flags=re.M))
    return path


def configure(row):
    """Its own options hold; what they exclude of the base is left out."""
    own = row.objects.parent / "options.config"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("".join(f"{line}\n" for line in row.options))
    if row.base == "debian":
        base = [debian_fragment(row), TOP / "configs/vrq.config"]
    else:
        base = [TOP / f"configs/{name}.config" for name in row.base]
    kernel.merge(row.objects, [*base, own], more=row.words)
    kernel.check_options(row.objects, {"CONFIG_SCHED_VRQ": "CONFIG_SCHED_VRQ=y", **dict(kernel.wanted(own))})


def build(row):
    """An image, or what row.build names, without a warning on the scheduler."""
    log = row.objects.parent / "build.log"
    targets = [row.build] if row.build else [row.machine.image.rsplit("/", 1)[1]]
    if row.build:
        run(*kernel.make(row.objects, "prepare", *row.words), env=kernel.environment())
    with open(log, "w") as said:
        command = kernel.make(row.objects, *targets, *row.words)
        status, timed_out = run_for(BUILD_SECONDS, command, said, env=kernel.environment())
    text = log.read_text(errors="replace")
    if timed_out or status:
        raise Failure(f"the build failed, see {log}: {kernel.first_error(text)}")
    kernel.check_warnings(log)


def archive(row):
    """The root of its guests: init, and tests that need no libraries."""
    tests = OUT / f"tests-{row.arch}"
    compiler = f"{row.machine.compiler} -static"
    run("make", "-s", "-C", TOP / "tests/guest", f"OUT={tests}", f"TREE={TREE}", f"CC={compiler}")
    run(*compiler.split(), "-O2", "-Wall", "-o", tests / "init", TOP / "tests/matrix/init.c")
    root = Archive()
    root.console()
    root.put("init", 0o100755, (tests / "init").read_bytes())
    root.put("tests", 0o040755)
    for name in row.tests:
        root.put(f"tests/{name}", 0o100755, (tests / name).read_bytes())
    return root.content()


def boot(row, root, sched, append):
    """Boot once: how many tests passed. Raises Failure if one did not, or the log tells of a fault."""
    directory = row.objects.parent
    log = directory / f"{sched}{'-' if append else ''}{re.sub(r'[^a-z0-9]+', '-', append)}.log"
    (directory / "root").write_bytes(root)
    log.unlink(missing_ok=True)
    *qemu, words = row.machine.qemu.split()
    command = [
        *(*qemu, f"{words.replace(',', ' ')} loglevel=5 panic=-1 oops=panic kunit.enable=0 sched={sched}"),
        *("-smp", row.cpus, "-m", "1G", "-nodefaults", "-display", "none", "-no-reboot"),
        *("-kernel", row.objects / row.machine.image, "-initrd", directory / "root"),
        *row.machine.console.format(log=log).split(),
    ]
    command[command.index("-append") + 1] += f" sysctl.kernel.sched_rt_runtime_us=-1 {append}"
    with open(directory / "qemu.log", "w") as said:
        _, timed_out = run_for(GUEST_SECONDS, command, said)
    text = log.read_text(errors="replace").replace("\r\n", "\n") if log.exists() else ""
    where = f"{sched} {append}".strip()
    trouble = [line for line in text.splitlines() if guest.TROUBLE.search(line)]
    failed = [what for status, what in tap_lines(text) if status == "not ok"]
    passed = sum(status == "ok" for status, _ in tap_lines(text))
    if trouble or failed:
        raise Failure(f"{where}: {(trouble + failed)[0]}, see {log}")
    if not re.search(rf"^{sched}\n# the end$", text, re.M) or len(re.findall(r"^# status 0$", text, re.M)) < len(
        row.tests
    ):
        raise Failure(f"{where}: {'took too long' if timed_out else 'did not come to its end'}, see {log}")
    return passed


def do(row):
    """What the row's line says of it, and whether it is good."""
    start = time.monotonic()
    try:
        check_tools(row)
        configure(row)
        build(row)
        said = f"built in {time.monotonic() - start:.0f} s"
        if row.build:
            return f"{said}, {row.build} only", True
        root, passed = archive(row), 0
        for append in row.boots:
            for sched in ("vrq", "fair"):
                passed += boot(row, root, sched, append)
        return f"{said}, {2 * len(row.boots)} boots, {passed} passed, {time.monotonic() - start:.0f} s", True
    except (Failure, OSError) as error:
        return str(error), False
    except Exception as error:  # a fault of ours in one row must not stop the others
        return repr(error), False
    finally:
        shutil.rmtree(row.objects, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="the names of all rows")
    parser.add_argument("names", nargs="*", default=os.environ.get("MATRIX", "").split())
    options = parser.parse_args()
    known = rows()
    if options.list:
        print("\n".join(known))
        return 0
    if unknown := set(options.names) - set(known):
        raise Failure(f"no row named {unknown.pop()}; matrix.py --list names them")
    if not TREE.exists():
        raise Failure("no source yet; run: make tree")
    results = {}
    for name in options.names or known:
        text, good = results[name] = do(known[name])
        say(f"{name}: {'ok' if good else 'FAILED'}: {text}")
    say("")
    for name, (text, good) in results.items():
        say(f"| {name} | {'ok' if good else 'FAILED'} | {text} |")
    return not all(good for _, good in results.values())


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
