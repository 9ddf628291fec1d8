#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check what VRQ says about memory ordering, with herd7 and the kernel's own memory model.

Each *.litmus here models one claim of kernel/sched/vrq. Its `exists` clause is the outcome
that must not happen. As written herd7 has to say Never, and find no data race. To show that
each barrier is needed it is taken away: a line that ends with /* [X] */ is deleted, for each
letter X in turn, and CODE in a line /* without [X]: CODE */ takes effect. Then herd7 has to
say Sometimes.

Of what the design names, "open" is offered-near and offered-afar, with work-domains and
idle-domains for several domains, and "grq" is wake-shared.

Masks have one bit for each CPU that takes part. What the model of this kernel has no name
for is written as the model defines the others: __atomic_op(mask, |, 1) is atomic_or(),
__atomic_op(mask, &, 0) atomic_andnot(); __atomic_fetch_op{mb} returns the old value.

Usage: run.py [FILE.litmus ...]   needs build/tree, and herd7: that of HERD7=, else of
                                  build/herd, which scripts/herd.sh makes, else of the PATH
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))

from common import BUILD, TREE, Failure, main_wrapper, run, say  # noqa: E402

OURS = BUILD / "herd" / "herd7"
HERD7 = os.environ.get("HERD7") or (OURS if OURS.exists() else "herd7")
MODEL = TREE / "tools" / "memory-model"
MARK = re.compile(r"/\* \[(\w)\] \*/$")
INSTEAD = re.compile(r"/\* without \[(\w)\]: (.*) \*/$")


def without(text, letter):
    """The same test with what is marked by this letter taken away."""
    lines = []
    for line in text.splitlines():
        mark, instead = MARK.search(line), INSTEAD.search(line)
        if instead and instead[1] == letter:
            lines.append(instead[2])
        elif not mark or mark[1] != letter:
            lines.append(line)
    return "\n".join(lines) + "\n"


def verdict(name, text):
    """What herd7 says of a test: Never, Sometimes or Always, and whether there is a data race."""
    with tempfile.NamedTemporaryFile("w", suffix=".litmus") as file:
        file.write(text)
        file.flush()
        output = run(HERD7, "-conf", "linux-kernel.cfg", file.name, cwd=MODEL)
    match = re.search(r"^Observation \S+ (\w+)", output, re.M)
    if not match:
        raise Failure(f"{HERD7} cannot read {name}")
    return match[1], "Flag data-race" in output


def passes(name, text, expected):
    """Run one test and print a line on it: is the verdict the one expected?"""
    found, race = verdict(name, text)
    passed = found == expected and not (race and expected == "Never")
    say(f"{'ok  ' if passed else 'FAIL'} {name}: {found}{', a data race' if race else ''}")
    return passed


def check(path):
    """Run a test as written, and without each of its barriers; yields what passes() says."""
    text = path.read_text()
    letters = sorted(set(re.findall(MARK.pattern, text, re.M)))
    if not letters:
        raise Failure(f"{path.name} marks no barrier to take away")
    yield passes(path.stem, text, "Never")
    for letter in letters:
        yield passes(f"{path.stem} without [{letter}]", without(text, letter), "Sometimes")


def main():
    if not (MODEL / "linux-kernel.cfg").exists():
        raise Failure("build/tree has no memory model; run: make tree")
    if not shutil.which(HERD7):
        raise Failure(f"{HERD7} is missing; run: make model")
    paths = [Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("*.litmus"))
    results = [passed for path in paths for passed in check(path)]
    say(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return not all(results)


main_wrapper(main)
