#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make the patches that only add our own files, or check that they are in sync.

The message of such a patch stands in the patch itself, above the line "---",
and is kept. Patches on existing kernel files are refreshed with quilt from
build/tree; only their form is mended here, see patchform.py.

Usage: series.py           write the generated patches, mend the form of the others
       series.py --check   fail if one differs from the files, or has another form
       series.py --stats   lines added to existing kernel files, and our own
       series.py --patch FILE   write the all-in-one patch of the tree
"""

import sys

import patchform
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
        "kernel/sched/vrq/core.h",
        "kernel/sched/vrq/counters.c",
        "kernel/sched/vrq/counters.h",
        "kernel/sched/vrq/debugfs.c",
        "kernel/sched/vrq/debugfs.h",
        "kernel/sched/vrq/domain.c",
        "kernel/sched/vrq/domain.h",
        "kernel/sched/vrq/enabled.h",
        "kernel/sched/vrq/entity.c",
        "kernel/sched/vrq/entity.h",
        "kernel/sched/vrq/fault.c",
        "kernel/sched/vrq/fault.h",
        "kernel/sched/vrq/group.c",
        "kernel/sched/vrq/group.h",
        "kernel/sched/vrq/hot.c",
        "kernel/sched/vrq/hot.h",
        "kernel/sched/vrq/idle.c",
        "kernel/sched/vrq/idle.h",
        "kernel/sched/vrq/iso.c",
        "kernel/sched/vrq/iso.h",
        "kernel/sched/vrq/limit.c",
        "kernel/sched/vrq/limit.h",
        "kernel/sched/vrq/load.c",
        "kernel/sched/vrq/load.h",
        "kernel/sched/vrq/place.c",
        "kernel/sched/vrq/place.h",
        "kernel/sched/vrq/queue.c",
        "kernel/sched/vrq/queue.h",
        "kernel/sched/vrq/requeue.c",
        "kernel/sched/vrq/requeue.h",
        "kernel/sched/vrq/rq.h",
        "kernel/sched/vrq/shared.c",
        "kernel/sched/vrq/shared.h",
        "kernel/sched/vrq/throttle.c",
        "kernel/sched/vrq/throttle.h",
        "kernel/sched/vrq/trace.c",
        "kernel/sched/vrq/trace.h",
        "kernel/sched/vrq/tunables.c",
        "kernel/sched/vrq/tunables.h",
        "kernel/sched/vrq/weight.c",
        "kernel/sched/vrq/weight.h",
        "kernel/sched/vrq/weight_test.c",
    ],
    "0003-sched-vrq-pick-wake-up-and-the-scheduling-class.patch": [
        "kernel/sched/vrq/Kconfig",
        "kernel/sched/vrq/Makefile",
        "kernel/sched/vrq/answer.c",
        "kernel/sched/vrq/answer.h",
        "kernel/sched/vrq/boot.c",
        "kernel/sched/vrq/choose.c",
        "kernel/sched/vrq/choose.h",
        "kernel/sched/vrq/class.c",
        "kernel/sched/vrq/even.c",
        "kernel/sched/vrq/even.h",
        "kernel/sched/vrq/expire.c",
        "kernel/sched/vrq/expire.h",
        "kernel/sched/vrq/hooks.h",
        "kernel/sched/vrq/pick.c",
        "kernel/sched/vrq/pick.h",
        "kernel/sched/vrq/proc.c",
        "kernel/sched/vrq/report.c",
        "kernel/sched/vrq/report.h",
        "kernel/sched/vrq/search.c",
        "kernel/sched/vrq/search.h",
        "kernel/sched/vrq/setup.c",
        "kernel/sched/vrq/setup.h",
        "kernel/sched/vrq/smt.c",
        "kernel/sched/vrq/smt.h",
        "kernel/sched/vrq/spread.c",
        "kernel/sched/vrq/spread.h",
        "kernel/sched/vrq/steal.c",
        "kernel/sched/vrq/steal.h",
        "kernel/sched/vrq/switch.c",
        "kernel/sched/vrq/switch.h",
        "kernel/sched/vrq/sysfs.c",
        "kernel/sched/vrq/util.c",
        "kernel/sched/vrq/util.h",
        "kernel/sched/vrq/util_test.c",
        "kernel/sched/vrq/wakeup.c",
        "kernel/sched/vrq/wakeup.h",
        "kernel/sched/vrq/watchdog.c",
        "kernel/sched/vrq/watchdog.h",
        "kernel/sched/vrq/yield_test.c",
    ],
    "0004-docs-scheduler-sched-vrq.patch": [
        "Documentation/scheduler/sched-vrq-packaging.rst",
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


def message(path):
    """The message of a generated patch, which stands in it."""
    if not path.exists():
        raise Failure(f"{path.name}: missing; write its message, ending in a line ---, first")
    return patchform.read(path)[0]


def addition(name):
    """The diff that adds a file."""
    text = (TOP / name).read_text()
    if not text.endswith("\n"):
        raise Failure(f"{name}: no newline at its end")
    lines = text.splitlines()
    return patchform.Diff(name, True, [f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])


def generate(name):
    """The text of a generated patch."""
    return patchform.compose(message(PATCHES / name), [addition(file) for file in GENERATED[name]])


def stray_files():
    """Own files that no generated patch adds."""
    return sorted(set(own_files()) - {file for files in GENERATED.values() for file in files})


def none_stray():
    if stray_files():
        raise Failure(f"{stray_files()[0]}: in no patch; add it to GENERATED in scripts/series.py")


def check():
    none_stray()
    for name in GENERATED:
        if (PATCHES / name).read_text() != generate(name):
            raise Failure(f"{name}: differs from the files that it adds; run: make series")
    for patch in series():
        if patch.read_text() != patchform.mended(patch):
            raise Failure(f"{patch.name}: has not the form that scripts/patchform.py describes; run: make series")
    listed = {patch.name for patch in series()}
    there = {patch.name for patch in PATCHES.glob("*.patch")}
    if listed != there:
        raise Failure(f"series and patches differ: {', '.join(sorted(listed ^ there))}")
    say(f"series: {len(listed)} patches, in sync with {len(own_files())} files")


def write():
    none_stray()
    for patch in series():
        text = generate(patch.name) if patch.name in GENERATED else patchform.mended(patch)
        if patch.read_text() != text:
            patch.write_text(text)
            say(f"series: {patch.name} written")


def stats():
    diffs = [diff for patch in series() if patch.name not in GENERATED for diff in patchform.read(patch)[1]]
    added, removed = (sum(diff.count(sign) for diff in diffs) for sign in "+-")
    say(f"existing kernel files: {added} lines added, {removed} removed (at most 400 to be added)")
    for name in own_files():
        say(f"{len((TOP / name).read_text().splitlines()):6} {name}")
    total = sum(len((TOP / name).read_text().splitlines()) for name in own_files())
    say(f"{total:6} lines in {len(own_files())} files of our own")
    if added > 400:
        raise Failure("more than 400 lines added to existing kernel files")


def all_in_one(target, tree=TREE):
    done = quilt(tree, "diff", "--combine", "-", "-p", "ab", "--no-timestamps", "--no-index", "--sort")
    if done.returncode or not done.stdout:
        raise Failure(f"quilt diff failed in {tree}: {done.stderr.strip()}")
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
