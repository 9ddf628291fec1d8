#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a release of the commit that is checked out, in build/dist.

A directory and the same as a tarball: the quilt series in patches/, all of it as a
mailbox for git am and as one patch, recipes for packagers, release notes, checksums.
The same commit gives the same bytes, if build/tree is of the same 6.12.y (the one patch
has line numbers of that) and "make check-versions" had the same to say.

A release is named after the tag of the commit; without one after its date and hash.

Usage: dist.py  (the last line printed is the path of the tarball)
"""

import lzma
import re
import shutil
import tarfile
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from check_versions import TABLE, originals
from common import BUILD, PATCHES, TOP, TREE, Failure, main_wrapper, run, say, series, sha256
from series import all_in_one, check
from tree import kernel_version, push, series_checksum

DIST = BUILD / "dist"
INSTALL = """
## How to install

With this directory as `$VRQ`, in a vanilla source of 6.12.y that has the configuration of your kernel:

    (cd $VRQ && sha256sum -c --quiet SHA256SUMS)
    patch -p1 < $VRQ/vrq.patch          # or: git am $VRQ/vrq.mbox
    scripts/kconfig/merge_config.sh -m .config $VRQ/packaging/vrq.config
    make olddefconfig && make

`packaging/README.md` has recipes for distributions, `Documentation/scheduler/sched-vrq-packaging.rst`
says what the options do. `sched=vrq` on the kernel's command line, or
`echo vrq > /sys/kernel/sched/active`, chooses VRQ.
""".strip().splitlines()
# What a release has besides what is made for it, by the name it has there
COPIES = {
    "COPYING": "COPYING",
    "Documentation": "Documentation",
    "packaging": "packaging",
    "report.sh": "scripts/report.sh",
}


def git(*arguments):
    return run("git", *arguments, cwd=TOP).strip()


def git_or_nothing(*arguments):
    """Where a failure only says that there is none."""
    try:
        return git(*arguments)
    except Failure:
        return ""


def refuse_changes():
    """A release is what a commit has, and nothing else."""
    changed = git("status", "--porcelain").splitlines()
    if changed:
        raise Failure(f"{len(changed)} files are not committed, {changed[0].split()[-1]} for one; commit them first")


def commit_time():
    return int(git("log", "-1", "--format=%ct"))


def version():
    tag = git_or_nothing("describe", "--tags", "--exact-match")
    if tag:
        return tag.replace("/", "-")
    return f"{time.strftime('%Y%m%d', time.gmtime(commit_time()))}-{git('rev-parse', 'HEAD')[:12]}"


def changes(since):
    """What the commits since then did: for each prefix of a title, (rest of the title, commit)."""
    found = defaultdict(list)
    for line in git("log", "--no-merges", "--format=%H %s", f"{since}..HEAD" if since else "HEAD").splitlines():
        commit, title = line.split(" ", 1)
        match = re.match(r"([\w/, .-]+): (.+)", title)
        found[match[1] if match else ""].append((match[2] if match else title, commit[:12]))
    return found


def versions_table():
    """What make check-versions last said, if that was of this series."""
    lines = TABLE.read_text().splitlines() if TABLE.exists() else []
    if lines[:1] != [series_checksum()]:
        text = "Other versions were not checked for this release: `make check-versions` was not run for this series."
        say(f"dist: {text}")
        return [text]
    return [f"    {line}" for line in lines[1:]]


def notes(name):
    """The text of the release notes."""
    since = git_or_nothing("describe", "--tags", "--abbrev=0", "HEAD~")
    made = time.strftime("%Y-%m-%d", time.gmtime(commit_time()))
    lines = [
        f"# {name}",
        "",
        f"Commit {git('rev-parse', 'HEAD')} of {made}, {len(series())} patches.",
        f"`vrq.patch` was made on {kernel_version(TREE)}.",
        "",
        *INSTALL,
        "",
        "## Versions",
        "",
        *versions_table(),
        "",
        f"## Changes since {since or 'the beginning'}",
    ]
    found = changes(since)
    for prefix in sorted(found, key=lambda prefix: (not prefix, prefix)):
        lines += ["", f"### {prefix or 'Others'}", ""]
        lines += [f"- {title} ({commit})" for title, commit in found[prefix]]
    return "\n".join([*lines, ""])


def one_patch(target):
    """All patches in one, as make patch does it, but on the source as it came."""
    with tempfile.TemporaryDirectory(prefix="dist-", dir=BUILD) as work:
        originals(TREE, Path(work))
        push(Path(work))
        all_in_one(target, Path(work))


def fill(directory, name):
    """All that belongs to a release."""
    (directory / "patches").mkdir(parents=True)
    for path in [PATCHES / "series", *series()]:
        shutil.copy(path, directory / "patches")
    # each begins with a line "From ", as in a mailbox
    (directory / "vrq.mbox").write_bytes(b"".join(patch.read_bytes() for patch in series()))
    one_patch(directory / "vrq.patch")
    for target, source in COPIES.items():
        for path in git("ls-files", "--", source).splitlines():
            copy = directory / target / Path(path).relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / path, copy)
    (directory / "RELEASE-NOTES.md").write_text(notes(name))
    write_sums(directory)


def write_sums(directory):
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    (directory / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.relative_to(directory)}\n" for path in files))


def normal(member, when):
    """A member of the tarball as everybody has it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = when
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def pack(directory, tarball, when):
    """A tarball of a directory; adding one sorts what is in it."""
    with (
        lzma.open(tarball, "wb", preset=6) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        archive.add(directory, directory.name, filter=lambda member: normal(member, when))


def main():
    if not TREE.exists():
        raise Failure("no source yet; run: make tree")
    refuse_changes()
    check()
    name = f"vrq-{PATCHES.name}-{version()}"
    DIST.mkdir(parents=True, exist_ok=True)
    directory, tarball = DIST / name, DIST / f"{name}.tar.xz"
    shutil.rmtree(directory, ignore_errors=True)
    tarball.unlink(missing_ok=True)
    fill(directory, name)
    pack(directory, tarball, commit_time())
    Path(f"{tarball}.sha256").write_text(f"{sha256(tarball)}  {tarball.name}\n")
    say(str(tarball))


if __name__ == "__main__":
    main_wrapper(main)
