#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Build Debian packages of the kernel of build/tree in build/deb, VRQ built in.

KCONFIG=FILE   the configuration, a .config; KCONFIG=debian: that of Debian's package
               linux-config-6.12; default: that of the guest, and a disk (configs/deb.config)
DEFAULT=vrq    what it boots without sched=, vrq or fair; default fair

The kernel's own bindeb-pkg builds them. The kernel is named 6.12.y-vrq.

Usage: deb.py  (prints the packages)
"""

import os
import re
import shutil
from pathlib import Path

import kernel
from common import BUILD, TREE, Failure, main_wrapper, run, say

DEB = BUILD / "deb"
WORK = DEB / "work"  # removed at the end
OBJECTS = WORK / "objects"
# a program that is needed: the package that it is in
TOOLS = {
    "bison": "bison",
    "cpio": "cpio",
    "depmod": "kmod",
    "dh_testdir": "debhelper",
    "dpkg-buildpackage": "dpkg-dev",
    "flex": "flex",
    "openssl": "openssl",
    "rsync": "rsync",
    "zstd": "zstd",
}


def check_tools():
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        raise Failure(f"packages are missing; run: apt-get install {' '.join(missing)}")


def chosen_default():
    """The value of CONFIG_SCHED_VRQ_DEFAULT."""
    name = os.environ.get("DEFAULT") or "fair"
    if name not in ("vrq", "fair"):
        raise Failure(f"DEFAULT={name}: neither vrq nor fair")
    return "y" if name == "vrq" else "n"


def debian_config(directory):
    """Debian's configuration for this architecture, fetched into a directory."""
    run("apt-get", "-o", "APT::Sandbox::User=root", "-q", "download", "linux-config-6.12", cwd=directory)
    run("dpkg-deb", "-x", next(directory.glob("linux-config-*.deb")), directory / "content")
    arch = run("dpkg", "--print-architecture").strip()
    packed = next(directory.glob(f"content/usr/src/*/config.{arch}_none_{arch}.xz"), None)
    if not packed:
        raise Failure(f"linux-config-6.12 has no configuration for {arch}")
    return run("xzcat", packed)


def users_config(name):
    path = Path(name)
    if not path.is_file():
        raise Failure(f"KCONFIG={name}: no such file")
    return path.read_text()


def without_missing_keys(text, tree):
    """A configuration that names no file of certificates which the source does not have.

    A distribution's names its own, and the build would end with "No rule to make target".
    """

    def checked(match):
        option, name = match.groups()
        if not name or (tree / name).is_file():
            return match[0]
        say(f"deb: {option} is left empty: no {name} here")
        return f'{option}=""'

    return re.sub(r'^(CONFIG_SYSTEM_(?:TRUSTED|REVOCATION)_KEYS)="(.*)"$', checked, text, flags=re.M)


def configure(default):
    """The configuration asked for, with VRQ."""
    name = os.environ.get("KCONFIG", "")
    if not name:
        kernel.configure(OBJECTS, [*kernel.fragment_names(), "deb"])
    else:
        text = debian_config(WORK) if name == "debian" else users_config(name)
        (OBJECTS / ".config").write_text(without_missing_keys(text, TREE))
    options = {"SCHED_VRQ": "y", "SCHED_VRQ_DEFAULT": default}
    with open(OBJECTS / ".config", "a") as config:
        config.writelines(f"CONFIG_{option}={value}\n" for option, value in options.items())
    run(*kernel.make(OBJECTS, "olddefconfig"), env=kernel.environment())
    have = dict(kernel.wanted(OBJECTS / ".config"))
    for option, value in options.items():
        if (have.get(f"CONFIG_{option}") or "n").removeprefix(f"CONFIG_{option}=") != value:
            raise Failure(f"CONFIG_{option}: Kconfig does not give it the value {value}")


def collect():
    """Put the packages where they stay; the headers for user space are the distribution's business."""
    for old in DEB.glob("*.deb"):
        old.unlink()
    for package in sorted(WORK.glob("linux-*.deb")):
        if not package.name.startswith("linux-libc-dev"):
            say(str(shutil.move(package, DEB / package.name)))


def main():
    if not TREE.exists():
        raise Failure("no source yet; run: make tree")
    check_tools()
    default = chosen_default()
    shutil.rmtree(WORK, ignore_errors=True)
    OBJECTS.mkdir(parents=True)
    os.environ.update(DEBFULLNAME="vrq", DEBEMAIL="vrq@localhost", KDEB_CHANGELOG_DIST="unstable")
    try:
        configure(default)
        kernel.build(OBJECTS, "LOCALVERSION=-vrq", "bindeb-pkg", log=DEB / "build.log")
        collect()
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    main_wrapper(main)
