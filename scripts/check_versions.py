#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the series apply, without fuzz, to every 6.12.y that the archives deliver?

Upstream tarballs come from Debian's source packages, patched sources from the
packages linux-source-6.12. quilt push -a and git am must give the same tree, and
kernel/sched/ of it builds without a warning, with the options of the guest kernel.

Usage: check_versions.py
       check_versions.py --at-hand   only the source that build/tree is made from
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel
import patchform
from common import BUILD, PATCHES, TREE, Failure, main_wrapper, run, say, series
from tree import (
    apt_options,
    apt_update,
    debian_versions,
    kernel_version,
    push,
    series_checksum,
    unpack_linux_source,
    version_key,
)

WORK = BUILD / "versions"
# What the last full check said, after the checksum of the series that it was about; for make dist
TABLE = BUILD / "check-versions.txt"
# Before this the scheduler's counters had other names
OLDEST = "6.12.94"


def upstream_offers(options):
    """(version, package) for each upstream version, the newest revision of it."""
    offers = {}
    for package in ("linux-6.12", "linux"):
        try:
            versions = debian_versions(options, package)
        except Failure:
            continue
        for version in reversed(versions):
            offers[version.split("-")[0]] = (version, package)
    return [offers[key] for key in sorted(offers, key=version_key)]


def patched_offers():
    """Versions of linux-source-6.12."""
    output = run("apt-cache", "madison", "linux-source-6.12")
    versions = {line.split("|")[1].strip() for line in output.splitlines() if "Packages" in line}
    return sorted(versions, key=version_key)


def touched():
    """The kernel's own files that the series changes."""
    diffs = [diff for patch in series() for diff in patchform.read(patch)[1]]
    return sorted({diff.name for diff in diffs} - {diff.name for diff in diffs if diff.new})


def fetch_upstream(options, version, package):
    """An upstream tarball, or None if the archive lists but does not deliver it."""
    try:
        run("apt-get", *options, "-q", "source", "--download-only", "--tar-only", f"{package}={version}", cwd=WORK)
    except Failure:
        return None
    return next(WORK.glob("*.orig.tar.xz"), None)


def fetch_patched(version):
    try:
        run("apt-get", "-o", "APT::Sandbox::User=root", "-q", "download", f"linux-source-6.12={version}", cwd=WORK)
    except Failure:
        return None
    package = next(WORK.glob("*.deb"), None)
    if package is None:
        return None
    tarball = unpack_linux_source(package)
    return shutil.move(tarball, WORK / tarball.name)


def patched_tree(tarball):
    """A tree of what a tarball has, with the series."""
    tree = WORK / "tree"
    tree.mkdir()
    run("tar", "xf", tarball, "--strip-components=1", "-C", tree)
    push(tree)
    return tree


def originals(tree, directory):
    """The files that the series changes, from a tree that it is applied to, as they were before: quilt keeps them."""
    for name in touched():
        kept = [tree / ".pc" / patch.name / name for patch in series()]
        source = next((path for path in kept if path.exists()), tree / name)
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, directory / name)


def apply_with_git(directory):
    """git am of the whole series."""
    identity = ["-c", "user.name=check", "-c", "user.email=check@localhost"]
    run("git", "init", "-q", ".", cwd=directory)
    run("git", "add", "-A", cwd=directory)
    run("git", *identity, "commit", "-qm", "vanilla", cwd=directory)
    run("git", *identity, "am", "-q", *series(), cwd=directory)


def check(fill):
    """Apply the series with quilt and with git am to what fill(directory) puts there; both must give the same."""
    with tempfile.TemporaryDirectory(prefix="versions-", dir=BUILD) as work:
        by_git, by_quilt = Path(work, "git"), Path(work, "quilt")
        by_git.mkdir()
        fill(by_git)
        shutil.copytree(by_git, by_quilt)
        push(by_quilt)
        apply_with_git(by_git)
        command = ["diff", "-r", "-x", ".git", "-x", ".pc", by_quilt, by_git]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(f"git am and quilt differ: {done.stdout.splitlines()[0]}")


def build_scheduler(tree):
    """Compile kernel/sched/ of a tree that the series is applied to."""
    objects = WORK / "objects"
    kernel.configure(objects, kernel.BASE, tree=tree)
    kernel.build(objects, "prepare", "kernel/sched/", tree=tree)
    kernel.check_warnings(objects / "build.log")


def check_at_hand():
    """The source of build/tree; make check does that, and it needs no network."""
    if not TREE.exists():
        raise Failure("no source yet; run: make tree")
    check(lambda directory: originals(TREE, directory))
    say(f"{kernel_version(TREE)}: applies, quilt and git am agree")


def check_all():
    os.makedirs(BUILD, exist_ok=True)
    options = apt_options()
    apt_update(options)
    offers = [
        (f"{version} ({package}, upstream)", lambda o=(version, package): fetch_upstream(options, *o))
        for version, package in upstream_offers(options)
    ]
    offers += [(f"{version} (linux-source-6.12)", lambda v=version: fetch_patched(v)) for version in patched_offers()]
    good, bad, table = [], [], [series_checksum()]

    def tell(line):
        table.append(line)
        say(line)

    for name, fetch in offers:
        if version_key(name.split("-")[0]) < version_key(OLDEST):
            tell(f"{name}: older than {OLDEST}, not supported")
            continue
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir()
        try:
            tarball = fetch()
            if tarball is None:
                tell(f"{name}: listed, not delivered")
                continue
            tree = patched_tree(tarball)
            check(lambda directory, source=tree: originals(source, directory))
            build_scheduler(tree)
            good.append(name)
            tell(f"{name}: applies, quilt and git am agree, kernel/sched/ builds")
        except Failure as error:
            bad.append(name)
            tell(f"{name}: FAILED: {error}")
    shutil.rmtree(WORK, ignore_errors=True)
    tell(f"{len(good)} versions, {len(bad)} failed, series of {len(series())} patches in {PATCHES.name}")
    TABLE.write_text("".join(f"{line}\n" for line in table))
    return bool(bad or not good)


def main():
    match sys.argv[1:]:
        case []:
            return check_all()
        case ["--at-hand"]:
            return check_at_hand()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
