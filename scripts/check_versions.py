#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the series apply, without fuzz, to every 6.12.y that the archives deliver?

Upstream tarballs come from Debian's source packages, patched sources from the
packages linux-source-6.12. quilt push -a and git am must give the same tree.

Usage: check_versions.py
"""

import os
import re
import shutil
import subprocess
import sys

from common import BUILD, PATCHES, Failure, main_wrapper, run, say, series
from tree import apt_options, apt_update, debian_versions, push, quilt, unpack_linux_source, version_key

WORK = BUILD / "versions"
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
    """The files that the series touches or adds."""
    names = set()
    for patch in series():
        names |= set(re.findall(r"^diff --git a/(\S+) ", patch.read_text(), re.M))
    return sorted(names)


def fetch_upstream(options, version, package):
    """An upstream tarball, or None if the archive lists but does not deliver it."""
    try:
        run("apt-get", *options, "-q", "source", "--download-only", "--tar-only", f"{package}={version}", cwd=WORK)
    except Failure:
        return None
    return next(WORK.glob("*.orig.tar.xz"))


def fetch_patched(version):
    try:
        run("apt-get", "-o", "APT::Sandbox::User=root", "-q", "download", f"linux-source-6.12={version}", cwd=WORK)
    except Failure:
        return None
    tarball = unpack_linux_source(next(WORK.glob("*.deb")))
    return shutil.move(tarball, WORK / tarball.name)


def extract(tarball, directory):
    """Only the files that the series touches: all that patch and git am need."""
    directory.mkdir()
    existing = [name for name in touched() if not any(f"b/{name}\n@@ -0,0" in patch.read_text() for patch in series())]
    run("tar", "xf", tarball, "--strip-components=1", "-C", directory, "--wildcards", *(f"*/{n}" for n in existing))


def same_by_git(directory):
    """git am gives what quilt gave."""
    other = directory.with_name("git")
    shutil.copytree(directory, other, ignore=shutil.ignore_patterns(".pc"))
    quilt(directory, "pop", "-a", "-q")
    shutil.rmtree(other)
    shutil.copytree(directory, other, ignore=shutil.ignore_patterns(".pc"))
    identity = ["-c", "user.name=check", "-c", "user.email=check@localhost"]
    run("git", "init", "-q", ".", cwd=other)
    run("git", "add", "-A", cwd=other)
    run("git", *identity, "commit", "-qm", "vanilla", cwd=other)
    run("git", *identity, "am", "-q", *series(), cwd=other)
    push(directory)
    done = subprocess.run(
        ["diff", "-r", "-x", ".git", "-x", ".pc", directory, other], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Failure(f"git am and quilt differ: {done.stdout.splitlines()[0]}")


def check(tarball):
    """Push the series to a fresh extract of a tarball, then compare with git am."""
    directory = WORK / "tree"
    for path in (directory, WORK / "git"):
        shutil.rmtree(path, ignore_errors=True)
    extract(tarball, directory)
    push(directory)
    same_by_git(directory)


def main():
    os.makedirs(BUILD, exist_ok=True)
    options = apt_options()
    apt_update(options)
    offers = [
        (f"{version} ({package}, upstream)", lambda o=(version, package): fetch_upstream(options, *o))
        for version, package in upstream_offers(options)
    ]
    offers += [(f"{version} (linux-source-6.12)", lambda v=version: fetch_patched(v)) for version in patched_offers()]
    good, bad = [], []
    for name, fetch in offers:
        if version_key(name.split("-")[0]) < version_key(OLDEST):
            say(f"{name}: older than {OLDEST}, not supported")
            continue
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir()
        tarball = fetch()
        if tarball is None:
            say(f"{name}: listed, not delivered")
            continue
        try:
            check(tarball)
            good.append(name)
            say(f"{name}: applies, quilt and git am agree")
        except Failure as error:
            bad.append(name)
            say(f"{name}: FAILED: {error}")
    shutil.rmtree(WORK, ignore_errors=True)
    say(f"{len(good)} versions, {len(bad)} failed, series of {len(series())} patches in {PATCHES.name}")
    return bool(bad or not good)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
