#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Torture the scheduler of guests, round after round, each left to the chance of a seed of its own.

A round is a guest in which hackbench, a compile and others run whose results are checked, beside
what its part is about:
  storms  CPU hotplug each 100 ms, live switches, moves between groups, limits, affinities, policies,
          nice levels, SCHED_ISO, real-time and deadline tasks, yields, fork bombs up to a limit,
          the freezer, suspend, ptrace: some of them, tests/torture/storms.c
  rcu     the kernel's rcutorture, and some storms
  locks   the kernel's locktorture, and some storms
  rt      the tests of rt-tests, and storms that leave them alone
rcu and locks want a kernel with modules, CONFIG=torture, and rt wants one without KASAN, with which
its tasks take many times what they ask for. The rounds take parts in turns, in virtual time, which
repeats a round to the last digit, and then in parallel mode, which finds races.

MINUTES= how long rounds are begun (60), ROUNDS= how many at the most, SEED= of the first one (1),
SECONDS= how long the storms of a round rage, of the guest's time (20). PARTS="storms rt" and
MODE=virtual|parallel choose, STORMS="hotplug suspend" takes these instead of chance.
CPUS= and SCHED= as for make shell.

Usage: torture.py
"""

import os
import random
import re
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import guest
import memory_guest
from benchmark import root as bench_root
from benchmark.runner import build_programs
from common import BUILD, TOP, TREE, Failure, main_wrapper, number, run, say
from fuzz import choice, faults
from kernel import has_option, image_path, object_directory
from tap import tap_lines

SOURCES = TOP / "tests/torture"
STORM = BUILD / "torture/storms"
# Where both are in a guest
IN_GUEST = Path("/torture")
MODES = ["virtual", "parallel"]
MODULE_FILES = ["kernel/torture.ko", "kernel/rcu/rcutorture.ko", "kernel/locking/locktorture.ko"]
# What round.sh calls, beside what the benchmark's workloads have in their root
TOOLS = "cmp cut grep gunzip gzip insmod rmmod sha256sum timeout tr"

RT_TESTS = [
    "rt-migrate-test",
    "pi_stress",
    "ptsematest",
    "sigwaittest",
    "svsematest",
    "signaltest",
    "cyclicdeadline",
    "deadline_test",
]
# Storms that do nothing to a real-time task and leave it its CPU. Not groups: in one nobody may
# become a real-time task, with RT_GROUP_SCHED
HARMLESS = ["yield", "bombs", "switch", "nice"]
RCU_TYPES = ["rcu", "srcu", "srcud"]
LOCK_TYPES = ["mutex_lock", "rtmutex_lock", "spin_lock", "spin_lock_irq", "rw_lock", "rwsem_lock", "ww_mutex_lock"]

# What a round depends on beside its seed, part and mode
ASKED = ["CONFIG", "CPUS", "SCHED", "SECONDS", "STORMS"]

# Of the guest's time: for a job to finish what it has begun when the storms are over
PATIENCE = {"virtual": 60, "parallel": 300}
# CONFIG_HZ of the guests
HZ = 1000

# Of the host's time, for a whole round: no end is a fault
TIMEOUT = 3600


@dataclass
class Round:
    """What one guest does; all of it depends on the seed, the part and the number of CPUs only."""

    seed: int
    part: str
    mode: str
    storms: list
    module: str = ""
    parameters: str = ""
    rt_tests: tuple = ()
    append: str = ""

    @property
    def again(self):
        asked = [f"{name}={shlex.quote(os.environ[name])}" for name in ASKED if os.environ.get(name)]
        words = [*asked, f"SEED={self.seed}", f"PARTS={self.part}", f"MODE={self.mode}", "ROUNDS=1"]
        return f"make torture {' '.join(words)}"


def known_storms():
    """The names of all storms, as their program has them."""
    return run(STORM, "--list").split()


def survivable(storms, chance):
    """Without one of two that mainline does not survive together, under fair either.

    The timer of a task that was a deadline one divides by zero where its CPU has gone offline
    meanwhile: dl_bw_cpus() of a CPU without a root domain, in inactive_task_timer() of 6.12.
    """
    if "deadline" not in storms:
        return storms
    away = chance.choice([["deadline"], ["hotplug", "suspend"]])
    return [name for name in storms if name not in away] if {"hotplug", "suspend"} & set(storms) else storms


def draw(seed, part, mode, cpus, storms):
    """A round, by the chance of its seed."""
    chance = random.Random(f"{seed} {part}")

    def some(least, among):
        names = set(chance.sample(among, chance.randint(min(least, len(among)), len(among))))
        return survivable([name for name in among if name in names], chance)

    domain = chance.choice([cpus, cpus, max(cpus // 2, 1), 1])
    append = f"sched_vrq_domain={domain} preempt={chance.choice(['full', 'full', 'voluntary', 'none'])}"
    made = Round(seed, part, mode, [], append=append)
    if part == "storms":
        made.storms = some(5, storms)
    elif part == "rt":
        made.storms = some(2, [name for name in storms if name in HARMLESS])
        made.rt_tests = tuple(chance.sample(RT_TESTS, len(RT_TESTS)))
    elif part == "rcu":
        made.storms = some(3, storms)
        made.module = "rcutorture"
        made.parameters = f"torture_type={chance.choice(RCU_TYPES)} stutter={chance.choice([0, 2])}"
    else:
        made.storms = some(3, storms)
        made.module = "locktorture"
        made.parameters = f"torture_type={chance.choice(LOCK_TYPES)} writer_fifo={chance.choice([0, 1])}"
    return made


def archive(made):
    """The guest's root and what it runs."""
    more = memory_guest.root([*TOOLS.split(), *made.rt_tests])
    more.own(STORM, IN_GUEST)
    more.own(SOURCES / "round.sh", IN_GUEST)
    if made.module:
        more.put("modules", 0o040755)
        for name in MODULE_FILES:
            path = object_directory() / name
            more.put(f"modules/{path.name}", 0o100644, path.read_bytes())
    return bench_root.content() + more.content()


def script(made, seconds):
    """What the guest runs."""
    settings = {
        "SEED": made.seed,
        "SECONDS_LONG": seconds,
        "PATIENCE": PATIENCE[made.mode],
        "BENCH": bench_root.IN_GUEST,
        "STORM": IN_GUEST / STORM.name,
        "STORMS": " ".join(made.storms),
        "MODULE": made.module,
        "PARAMETERS": made.parameters,
        "RT_TESTS": " ".join(made.rt_tests),
    }
    words = [f"export {name}={shlex.quote(str(value))}" for name, value in settings.items()]
    if made.mode == "parallel":
        words.append("export HOST_STOPS_CPUS=1")
    return "\n".join([*words, f". {IN_GUEST}/round.sh", ""])


def stalls_under_fair(log):
    """RCU stalls that began and were found while the fair class ran, as lines.

    They are mainline's: what is runnable in a group with cpu.idle has 3 parts of the CPU where one
    of nice 0 has 1024, also within an RCU read-side critical section. VRQ runs it when it is overdue.
    """
    found, stall, switched = [], None, None
    for line in log.splitlines():
        stamp = re.match(r"\[ *([\d.]+)\] ", line)
        if not stamp:
            continue
        seconds = float(stamp[1])
        if switch := re.search(r"SCHED_IDLE are scheduled by (\w+)", line):
            switched = (switch[1], seconds)
        if "rcu: INFO: " in line:
            stall = line
        # told on the last line of several, or with the stall where the grace period was expedited
        if stall and (length := re.search(r"(?:\bt=|} )(\d+) jiffies", line)):
            if switched and switched[0] == "fair" and seconds - int(length[1]) / HZ > switched[1]:
                found.append(stall)
            stall = None
    return found


def wrong(made, result, sched):
    """What is not as it should be, as lines."""
    log = result.log.read_text(errors="replace")
    mainlines = stalls_under_fair(log)
    for line in mainlines:
        print(f"  mainline's, under fair: {line}")
    found = [line for line in faults(result) if line not in mainlines]
    found += re.findall(r"^.*(?:Freezing \S+ .*failed|refusing to freeze).*$", log, re.M)
    found += re.findall(r"^FAILED (.*)$", result.output, re.M)
    found += [f"not ok: {what}" for status, what in tap_lines(result.output) if status == "not ok"]
    if not result.output.rstrip().endswith("ended"):
        found.append(f"the guest {'timed out' if result.timed_out else 'came to no end'}")
        return found
    if f"\nactive {sched}\n" not in result.output:
        found.append("the scheduler is another one at the end")
    if "\nfallbacks 0\n" not in result.output:
        found.append("VRQ fell back to fair")
    if len(list(tap_lines(result.output))) != len(made.storms) + 2:
        found.append("the storms came to no end")
    if made.module and "End of test: SUCCESS" not in log:
        found.append(f"{made.module} does not tell of success")
    return found


def torture(made, cpus, sched, seconds):
    """One round; what was wrong with it."""
    what = " ".join([*made.rt_tests, made.module, made.parameters, *made.storms, made.append])
    say(f"torture: seed {made.seed}, {made.part}, {made.mode}: {' '.join(what.split())}")
    result = memory_guest.boot(
        archive(made) + memory_guest.command(script(made, seconds)),
        image=image_path(),
        mode=made.mode,
        cpus=cpus,
        append=f"sched={sched} loglevel=7 no_console_suspend {made.append}",
        timeout=TIMEOUT,
        name=f"torture-{made.part}-{made.seed}",
        memory="3G",
        seed=made.seed,
    )
    (result.log.parent / "said").write_text(result.output)
    found = wrong(made, result, sched)
    for line in re.findall(r"^(?:job|test|ok|# [a-z]+:).*$", result.output, re.M):
        print(f"  {line}")
    for line in found:
        print(f"  FAILED {line}")
    verdict = f"{len(found)} faults, log {result.log}" if found else "ok"
    say(f"torture: {verdict}; {result.seconds:.0f} s; again: {made.again}")
    return found


def chosen(name, among):
    """Words of the environment, or all."""
    words = os.environ.get(name, "").split() or among
    for word in words:
        if word not in among:
            raise Failure(f"{name}: no {word}; with this kernel there are: {' '.join(among)}")
    return words


def parts_here():
    """Those for which there is a kernel."""
    modules = all((object_directory() / name).exists() for name in MODULE_FILES)
    works = {"storms": True, "rcu": modules, "rt": not has_option("CONFIG_KASAN"), "locks": modules}
    return [part for part in works if works[part]]


def main():
    guest.check(image_path())
    run("make", "-s", "-C", SOURCES, f"OUT={STORM.parent}", f"TREE={TREE}")
    build_programs()
    cpus, sched = number("CPUS", 4), choice("SCHED", ["vrq", "fair"])
    parts, modes = chosen("PARTS", parts_here()), chosen("MODE", MODES)
    storms = known_storms()
    forced = os.environ.get("STORMS") and chosen("STORMS", storms)
    first, rounds, seconds = number("SEED", 1), number("ROUNDS", 1 << 30), number("SECONDS", 20)
    end = time.monotonic() + 60 * number("MINUTES", 60)
    bad = []
    done = 0
    while done < rounds and (not done or time.monotonic() < end):
        mode = modes[done // len(parts) % len(modes)]
        made = draw(first + done, parts[done % len(parts)], mode, cpus, storms)
        made.storms = forced or made.storms
        done += 1
        if torture(made, cpus, sched, seconds):
            bad.append(made)
    for made in bad:
        print(f"FAILED {made.again}")
    say(f"torture: {done} rounds, {len(bad)} with faults")
    return bool(bad)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
