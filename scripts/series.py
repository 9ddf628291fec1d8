#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the patches that only add our own files, or check that they are in sync.

The message of such a patch stands in the patch itself, above the line "---",
and is kept. Patches on existing kernel files are not touched: refresh them
with quilt from build/tree.

Usage: series.py           write the generated patches
       series.py --check   fail if one differs from the files
       series.py --stats   lines added to existing kernel files, and our own
       series.py --patch FILE   write the all-in-one patch of the tree
"""

import re
import sys

from common import PATCHES, TOP, TREE, Failure, main_wrapper, run, say, series
from tree import quilt

# generated patch: the files that it adds
GENERATED = {
    "0001-sched-vrq-arithmetic-of-virtual-deadlines.patch": [
        "kernel/sched/vrq/deadline.c",
        "kernel/sched/vrq/deadline.h",
        "kernel/sched/vrq/deadline_test.c",
    ],
    "0002-sched-vrq-tasks-queues-and-the-locking-contract.patch": [
        "include/linux/sched/vrq.h",
        "kernel/sched/vrq/cache.c",
        "kernel/sched/vrq/cache.h",
        "kernel/sched/vrq/core.h",
        "kernel/sched/vrq/counters.c",
        "kernel/sched/vrq/counters.h",
        "kernel/sched/vrq/debugfs.c",
        "kernel/sched/vrq/debugfs.h",
        "kernel/sched/vrq/entity.c",
        "kernel/sched/vrq/entity.h",
        "kernel/sched/vrq/grq.c",
        "kernel/sched/vrq/grq.h",
        "kernel/sched/vrq/hot.c",
        "kernel/sched/vrq/hot.h",
        "kernel/sched/vrq/idle.c",
        "kernel/sched/vrq/idle.h",
        "kernel/sched/vrq/iso.c",
        "kernel/sched/vrq/iso.h",
        "kernel/sched/vrq/place.c",
        "kernel/sched/vrq/place.h",
        "kernel/sched/vrq/queue.c",
        "kernel/sched/vrq/queue.h",
        "kernel/sched/vrq/rq.h",
        "kernel/sched/vrq/steal.c",
        "kernel/sched/vrq/steal.h",
        "kernel/sched/vrq/trace.c",
        "kernel/sched/vrq/trace.h",
        "kernel/sched/vrq/tunables.c",
        "kernel/sched/vrq/tunables.h",
    ],
    "0003-sched-vrq-pick-wake-up-and-the-scheduling-class.patch": [
        "kernel/sched/vrq/Kconfig",
        "kernel/sched/vrq/Makefile",
        "kernel/sched/vrq/boot.c",
        "kernel/sched/vrq/class.c",
        "kernel/sched/vrq/hooks.h",
        "kernel/sched/vrq/pick.c",
        "kernel/sched/vrq/pick.h",
        "kernel/sched/vrq/smt.c",
        "kernel/sched/vrq/smt.h",
        "kernel/sched/vrq/spread.c",
        "kernel/sched/vrq/spread.h",
        "kernel/sched/vrq/util.c",
        "kernel/sched/vrq/util.h",
        "kernel/sched/vrq/util_test.c",
        "kernel/sched/vrq/wakeup.c",
        "kernel/sched/vrq/wakeup.h",
        "kernel/sched/vrq/yield_test.c",
    ],
    "0004-docs-scheduler-sched-vrq.patch": [
        "Documentation/scheduler/sched-vrq.rst",
    ],
    "0013-sched-remember-affinity-across-hotplug.patch": [
        "Documentation/scheduler/renew-affinity.rst",
        "kernel/sched/Kconfig.affinity",
        "kernel/sched/renew_affinity.c",
        "kernel/sched/renew_affinity.h",
    ],
}
OWN_DIRECTORIES = ("kernel", "include", "Documentation")


def own_files():
    """All files of the repository that the series adds to the kernel."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *OWN_DIRECTORIES, cwd=TOP)
    return sorted(listed.split())


def header(path):
    """The message of a patch: all above the first diff."""
    if not path.exists():
        raise Failure(f"{path.name}: missing; write its message, ending in a line ---, first")
    message = re.split(r"^diff --git ", path.read_text(), maxsplit=1, flags=re.M)[0]
    if not message.rstrip().endswith("---"):
        raise Failure(f"{path.name}: its message does not end in a line ---")
    return message.rstrip() + "\n\n"


def addition(name):
    """The diff that adds a file, as git prints it."""
    text = (TOP / name).read_text()
    if not text.endswith("\n"):
        raise Failure(f"{name}: no newline at its end")
    lines = text.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    return (
        f"diff --git a/{name} b/{name}\nnew file mode 100644\n"
        f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@\n{body}"
    )


def generate(name):
    """The text of a generated patch."""
    return header(PATCHES / name) + "".join(addition(file) for file in GENERATED[name])


def stray_files():
    """Own files that no generated patch adds."""
    return sorted(set(own_files()) - {file for files in GENERATED.values() for file in files})


def check():
    if stray_files():
        raise Failure(f"{stray_files()[0]}: in no patch; add it to GENERATED in scripts/series.py")
    for name in GENERATED:
        if (PATCHES / name).read_text() != generate(name):
            raise Failure(f"{name}: differs from the files that it adds; run: make series")
    listed = {patch.name for patch in series()}
    there = {patch.name for patch in PATCHES.glob("*.patch")}
    if listed != there:
        raise Failure(f"series and patches differ: {', '.join(sorted(listed ^ there))}")
    say(f"series: {len(listed)} patches, in sync with {len(own_files())} files")


def write():
    if stray_files():
        raise Failure(f"{stray_files()[0]}: in no patch; add it to GENERATED in scripts/series.py")
    for name in GENERATED:
        text = generate(name)
        if (PATCHES / name).read_text() != text:
            (PATCHES / name).write_text(text)
            say(f"series: {name} written")


def stats():
    added = removed = files = 0
    for patch in series():
        if patch.name in GENERATED:
            continue
        for line in patch.read_text().splitlines():
            files += line.startswith("diff --git ")
            added += line.startswith("+") and not line.startswith("+++ ")
            removed += line.startswith("-") and not line.startswith(("--- ", "-- ", "---"))
    say(f"existing kernel files: {added} lines added, {removed} removed (at most 400 to be added)")
    for name in own_files():
        say(f"{len((TOP / name).read_text().splitlines()):6} {name}")
    total = sum(len((TOP / name).read_text().splitlines()) for name in own_files())
    say(f"{total:6} lines in {len(own_files())} files of our own")
    if added > 400:
        raise Failure("more than 400 lines added to existing kernel files")


def all_in_one(target):
    done = quilt(TREE, "diff", "--combine", "-", "-p", "ab", "--no-timestamps", "--no-index", "--sort")
    if done.returncode or not done.stdout:
        raise Failure(f"quilt diff failed in {TREE}: {done.stderr.strip()}")
    with open(target, "w") as file:
        file.write(done.stdout)
    say(str(target))


def main():
    match sys.argv[1:]:
        case []:
            write()
        case ["--check"]:
            check()
        case ["--stats"]:
            stats()
        case ["--patch", target]:
            all_in_one(target)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main_wrapper(main)
