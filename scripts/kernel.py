#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Build the guest kernel of build/tree in build/kernel, with ccache.

CONFIG=name adds configs/name.config (several, with commas) and builds in
build/kernel-name, modules too if it has any. JOBS= says how many compilers run at once.

Usage: kernel.py           build; the last line printed is the path of the image
       kernel.py --config  only make the configuration
"""

import os
import re
import subprocess
import sys
import time

from common import BUILD, TOP, TREE, Failure, jobs, main_wrapper, run, say

BASE = ["guest", "sched", "vrq"]
# Fragments that are a configuration of their own, not additions to BASE
ALONE = {"up32"}


def extra_fragments():
    return [name for name in os.environ.get("CONFIG", "").split(",") if name]


def object_directory():
    return BUILD / "-".join(["kernel", *extra_fragments()])


def image_path():
    return object_directory() / "arch/x86/boot/bzImage"


def has_option(name, objects=None):
    """Is an option on in the configuration of a kernel, of this one if no other is given?"""
    return dict(wanted((objects or object_directory()) / ".config")).get(name) == f"{name}=y"


def check_static_keys(mode):
    """Raise Failure if the scheduler cannot be changed while a guest runs.

    QEMU in parallel mode may keep a breakpoint of a static key that is changed, and then the
    kernel ends in an Oops of an int3.
    """
    if mode == "parallel" and has_option("CONFIG_JUMP_LABEL"):
        raise Failure("in parallel mode QEMU needs a kernel without JUMP_LABEL for this: CONFIG=debug, or MODE=virtual")


def check_image(image):
    """Raise Failure if there is no such kernel image."""
    if not os.path.exists(image):
        raise Failure(f"{image}: no kernel image; run: make kernel")


def make(objects, *targets, tree=TREE):
    """The command line of a kernel build."""
    return ["make", "-C", tree, f"O={objects}", "CC=ccache gcc", f"-j{jobs()}", *targets]


def environment():
    return {
        **os.environ,
        "CCACHE_DIR": str(BUILD / "ccache"),
        "CCACHE_BASEDIR": str(BUILD),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_MAXSIZE": "5G",
        # a constant, so that an unchanged file is found in the cache
        "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
        "KBUILD_BUILD_USER": "vrq",
        "KBUILD_BUILD_HOST": "vrq",
        # else it is counted up at each build, and no two images of one source are the same
        "KBUILD_BUILD_VERSION": "1",
        "KCONFIG_NOTIMESTAMP": "1",
    }


def wanted(fragment):
    """The options that a fragment asks for."""
    for line in fragment.read_text().splitlines():
        if match := re.match(r"(CONFIG_\w+)=(.*)$", line):
            yield match[1], line
        elif match := re.match(r"# (CONFIG_\w+) is not set$", line):
            yield match[1], ""


def fragment_names():
    extra = extra_fragments()
    return extra if ALONE & set(extra) else BASE + extra


def configure(objects, names, tree=TREE):
    """tinyconfig and the fragments; an option that Kconfig drops is an error."""
    fragments = []
    for name in names:
        fragment = TOP / "configs" / f"{name}.config"
        if not fragment.exists():
            raise Failure(f"{fragment}: no such configuration")
        fragments.append(fragment)
    options = {name: line for fragment in fragments for name, line in wanted(fragment)}
    text = "".join(fragment.read_text() for fragment in fragments)
    stamp = objects / ".vrq-config"
    kconfig = str((tree / "Makefile").resolve())
    if stamp.exists() and stamp.read_text() == kconfig + text and (objects / ".config").exists():
        return
    say(f"kernel: configuring {objects.name} from {', '.join(f.name for f in fragments)}")
    merge(objects, fragments, tree=tree)
    check_options(objects, options)
    stamp.write_text(kconfig + text)


def merge(objects, fragments, start="tinyconfig", more=(), tree=TREE):
    """A configuration from a target of make's and fragments; more are further words for make."""
    objects.mkdir(parents=True, exist_ok=True)
    quiet = {"env": environment()}
    run(*make(objects, start, *more, tree=tree), **quiet)
    script = tree / "scripts/kconfig/merge_config.sh"
    run(script, "-m", "-O", objects, objects / ".config", *fragments, cwd=tree, **quiet)
    run(*make(objects, "olddefconfig", *more, tree=tree), **quiet)


def check_options(objects, options):
    """Raise Failure if the configuration has not these options: a name, and its line or nothing."""
    have = dict(wanted(objects / ".config"))
    for name, line in options.items():
        if have.get(name, "") != line:
            raise Failure(f"{name}: asked for '{line or 'not set'}', Kconfig gives '{have.get(name) or 'not set'}'")


def first_error(text):
    """The first line of a build's output that tells of an error."""
    signs = r"error:|Error \d|undefined reference|No space|No rule to make|not found|Killed"
    error = re.search(rf"^.*(?:{signs}).*$", text, re.M)
    return error[0] if error else "no error line"


def check_warnings(log):
    """Raise Failure if the compiler warned of the scheduler's files, in a build with this log."""
    if warning := re.search(r"^.*kernel/sched/.*warning:.*$", log.read_text(errors="replace"), re.M):
        raise Failure(f"{warning[0]}, see {log}")


def build(objects, *targets, tree=TREE, log=None):
    """Build with a line of progress every few seconds; what make says goes to the log."""
    log = log or objects / "build.log"
    start = shown = time.monotonic()
    compiled = 0
    with open(log, "w") as file:
        process = subprocess.Popen(
            [str(word) for word in make(objects, *targets, tree=tree)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(),
        )
        for line in process.stdout:
            file.write(line)
            compiled += line.startswith("  CC")
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                say(f"kernel: {compiled} files compiled, {shown - start:.0f} s")
    if process.wait():
        raise Failure(f"the build failed, see {log}: {first_error(log.read_text())}")
    say(f"kernel: built in {time.monotonic() - start:.0f} s, {compiled} files compiled")


def main():
    if not TREE.exists():
        raise Failure("no source yet; run: make tree")
    objects = object_directory()
    configure(objects, fragment_names())
    if sys.argv[1:] == ["--config"]:
        return
    modules = ["modules"] if has_option("CONFIG_MODULES", objects) else []
    build(objects, "bzImage", *modules)
    say(str(image_path()))


if __name__ == "__main__":
    main_wrapper(main)
