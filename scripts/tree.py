#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Get a 6.12 source, unpack it to build/linux-<version>, push the series.

KSRC=DIRECTORY or KSRC=TARBALL names a source of the user's, which is copied
and never written to. Otherwise the newest of: what build/dl holds, the
distribution's source packages, kernel.org, the package linux-source-6.12.

Usage: tree.py  (prints the path of the tree as its last line)
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

from common import BUILD, PATCHES, TOP, TREE, Failure, main_wrapper, run, say, series, sha256

DOWNLOADS = BUILD / "dl"
KERNEL_ORG = "https://cdn.kernel.org/pub/linux/kernel/v6.x"
STAMP = ".vrq-tree"


def version_key(version):
    return tuple(int(number) for number in re.findall(r"\d+", version))


# --- where a source comes from ------------------------------------------------


def apt_options():
    run(sys.executable, TOP / "scripts/apt_sources.py", BUILD / "apt")
    return [
        *("-o", f"Dir::Etc::sourcelist={BUILD / 'apt/sources.list'}"),
        *("-o", "Dir::Etc::sourceparts=-"),
        *("-o", f"Dir::State::lists={BUILD / 'apt/lists'}"),
        *("-o", "APT::Sandbox::User=root"),
    ]


def apt_update(options):
    say("tree: reading the lists of Debian's source packages")
    run("apt-get", *options, "-q", "update")


def debian_versions(options, package):
    """Versions of a source package that are a 6.12, newest first."""
    output = run("apt-cache", *options, "showsrc", "--only-source", package)
    versions = set(re.findall(r"^Version: (6\.12\.\S+)$", output, re.M))
    return sorted(versions, key=version_key, reverse=True)


def remember(path):
    """Note the checksum of a download that its source vouches for."""
    Path(f"{path}.sha256").write_text(f"{sha256(path)}\n")
    return path


def cached():
    """The newest complete download, or None."""
    found = []
    for path in DOWNLOADS.glob("*.tar.xz"):
        note = Path(f"{path}.sha256")
        if note.exists() and re.search(r"6\.12\.\d+", path.name):
            found.append(path)
    found.sort(key=lambda path: version_key(re.search(r"6\.12\.\d+", path.name)[0]))
    return found[-1] if found else None


def from_debian():
    """The newest upstream tarball that a Debian source package delivers."""
    options = apt_options()
    apt_update(options)
    offers = []
    for package in ("linux-6.12", "linux"):
        with contextlib.suppress(Failure):  # a release without such a package
            offers += [(version, package) for version in debian_versions(options, package)]
    # one tarball serves every Debian revision of a version
    offers.sort(key=lambda offer: version_key(offer[0].split("-")[0]), reverse=True)
    for version, package in offers:
        upstream = version.split("-")[0]
        target = DOWNLOADS / f"linux-{upstream}.tar.xz"
        part = DOWNLOADS / "part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        say(f"tree: fetching {upstream} from Debian's package {package} {version} (150 MB)")
        try:
            # apt checks the size and SHA-256 that the signed list gives
            run("apt-get", *options, "-q", "source", "--download-only", "--tar-only", f"{package}={version}", cwd=part)
            (tarball,) = part.glob("*.orig.tar.xz")
        except (Failure, ValueError):
            say(f"tree: {version} is listed but not delivered, trying an older one")
            continue
        finally:
            if not list(part.glob("*.orig.tar.xz")):
                shutil.rmtree(part, ignore_errors=True)
        tarball.rename(target)
        shutil.rmtree(part)
        return remember(target)
    raise Failure("no Debian source package delivers a 6.12 tarball")


def from_kernel_org():
    """The newest tarball on kernel.org."""
    try:
        with urllib.request.urlopen(f"{KERNEL_ORG}/sha256sums.asc", timeout=30) as answer:
            sums = dict(reversed(line.split()) for line in answer.read().decode().splitlines() if "linux-6.12." in line)
    except OSError as error:
        raise Failure(f"kernel.org: {error}") from None
    name = max((name for name in sums if name.endswith(".tar.xz")), key=version_key)
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    part = DOWNLOADS / f"{name}.part"
    say(f"tree: fetching {name} from kernel.org (150 MB)")
    try:
        with urllib.request.urlopen(f"{KERNEL_ORG}/{name}", timeout=60) as answer, open(part, "wb") as file:
            shutil.copyfileobj(answer, file)
        if sha256(part) != sums[name]:
            raise Failure(f"{name}: the download does not have the published checksum")
        part.rename(DOWNLOADS / name)
    finally:
        part.unlink(missing_ok=True)
    return remember(DOWNLOADS / name)


def from_linux_source():
    """The distribution's patched source, package linux-source-6.12."""
    options = apt_options()
    part = DOWNLOADS / "part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        say("tree: fetching Debian's package linux-source-6.12 (150 MB)")
        run("apt-get", *options, "-q", "download", "linux-source-6.12", cwd=part)
        return remember(unpack_linux_source(next(part.glob("*.deb"))))
    finally:
        shutil.rmtree(part, ignore_errors=True)


def unpack_linux_source(package):
    """The tarball inside a linux-source package, in build/dl."""
    version = re.search(r"_(6\.12\.\d+)", package.name)[1]
    content = package.parent / "content"
    run("dpkg-deb", "-x", package, content)
    target = DOWNLOADS / f"linux-source-{version}.tar.xz"
    shutil.move(next(content.glob("usr/src/*.tar.xz")), target)
    return target


def download():
    """A verified tarball in build/dl."""
    tarball = cached()
    if tarball:
        if sha256(tarball) != Path(f"{tarball}.sha256").read_text().strip():
            raise Failure(f"{tarball}: damaged since it was fetched; delete it and try again")
        return tarball
    reasons = []
    for source in (from_debian, from_kernel_org, from_linux_source):
        try:
            return source()
        except Failure as error:
            reasons.append(str(error))
    raise Failure("no source to be had: " + "; ".join(reasons))


# --- the tree -----------------------------------------------------------------


def kernel_version(directory):
    """6.12.x, from the Makefile of a source."""
    makefile = directory / "Makefile"
    if not makefile.exists():
        raise Failure(f"{directory}: no kernel source, it has no Makefile")
    field = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\S+)$", makefile.read_text()[:400], re.M))
    if (field.get("VERSION"), field.get("PATCHLEVEL")) != ("6", "12"):
        raise Failure(f"{makefile}: not a 6.12 kernel ({'.'.join(field.values()) or 'no version'})")
    return f"6.12.{field.get('SUBLEVEL', '0')}"


def unpack(source, part):
    """Put a source, a tarball or a directory, into the new directory part."""
    if source.is_dir():
        kernel_version(source)
        say(f"tree: copying {source}")
        shutil.copytree(source, part, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        run("make", "-s", "mrproper", cwd=part)
        return
    say(f"tree: unpacking {source.name}")
    part.mkdir(parents=True)
    try:
        run("tar", "xf", source, "--strip-components=1", "-C", part)
    except Failure as error:
        raise Failure(f"{source}: cannot be unpacked ({error})") from None


def quilt(tree, *arguments):
    """Run quilt on the series in a tree."""
    environment = {**os.environ, "QUILT_PATCHES": str(PATCHES), "QUILT_NO_DIFF_INDEX": "1", "LC_ALL": "C"}
    return subprocess.run(
        ["quilt", "--quiltrc", "-", *arguments], cwd=tree, env=environment, capture_output=True, text=True
    )


def touched_files(tree):
    """Content and time of every file that the applied patches touch."""
    listed = quilt(tree, "applied")
    files = {}
    for patch in listed.stdout.split() if listed.returncode == 0 else []:
        for name in quilt(tree, "files", Path(patch).name).stdout.split():
            path = tree / name
            if path.exists():
                files[name] = (sha256(path), path.stat().st_mtime_ns)
    return files


def why_not_applied(output):
    """One line from what quilt push says: the patch, the file, the cause."""
    patch = file = "?"
    for line in output.splitlines():
        if match := re.match(r"Applying patch (\S+)", line):
            patch = Path(match[1]).name
        elif match := re.match(r"patching file (\S+)", line):
            file = match[1]
        elif match := re.match(r"can't find file to patch|No file to patch", line):
            return f"{patch} does not apply: a file that it changes is missing"
        elif re.match(r"Hunk .* FAILED|patch: \*\*\*\*|File .* already exists|.*[Nn]o space", line):
            return f"{patch} does not apply to {file}: {line}"
    return f"{patch} does not apply: {output.strip().splitlines()[-1]}"


def push(tree):
    """Apply the series without fuzz, or leave the tree as it came."""
    before = touched_files(tree)
    if (tree / ".pc").exists():
        popped = quilt(tree, "pop", "-a", "-f", "-q")
        if popped.returncode not in (0, 2):
            raise Failure(f"{tree}: quilt cannot take the old series off; delete the tree and try again")
        shutil.rmtree(tree / ".pc", ignore_errors=True)
    pushed = quilt(tree, "push", "-a", "--fuzz=0")
    if pushed.returncode:
        quilt(tree, "pop", "-a", "-f", "-q")
        raise Failure(why_not_applied(pushed.stdout + pushed.stderr))
    # What is as it was keeps its time, so that make does not build it again
    for name, (checksum, time) in before.items():
        path = tree / name
        if path.exists() and sha256(path) == checksum:
            os.utime(path, ns=(time, time))


def identity(source):
    """What tells one source from another."""
    if source.is_dir():
        return f"{source} {(source / 'Makefile').stat().st_mtime_ns}"
    return f"{source.name} {source.stat().st_size} {source.stat().st_mtime_ns}"


def series_checksum():
    total = hashlib.sha256((PATCHES / "series").read_bytes())
    for patch in series():
        if not patch.exists():
            raise Failure(f"{PATCHES / 'series'} names {patch.name}, which is missing")
        total.update(patch.read_bytes())
    return total.hexdigest()


def find_source():
    """What to build the tree from: KSRC or a download."""
    name = os.environ.get("KSRC")
    if not name:
        return download()
    source = Path(name).resolve()
    if not source.exists():
        raise Failure(f"KSRC={name}: no such file or directory")
    return source


def prepare(source):
    """The unpatched tree of a source, unpacked if it is not there yet."""
    wanted = identity(source)
    for stamp in BUILD.glob(f"linux-6.12.*/{STAMP}"):
        if stamp.read_text().splitlines()[0] == wanted:
            return stamp.parent
    part = BUILD / "linux.part"
    shutil.rmtree(part, ignore_errors=True)
    try:
        unpack(source, part)
        tree = BUILD / f"linux-{kernel_version(part)}"
        (part / STAMP).write_text(f"{wanted}\n")
        shutil.rmtree(tree, ignore_errors=True)
        part.rename(tree)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return tree


def main():
    BUILD.mkdir(parents=True, exist_ok=True)
    tree = prepare(find_source())
    stamp = tree / STAMP
    checksum = series_checksum()
    source = stamp.read_text().splitlines()[0]
    if stamp.read_text().splitlines()[1:] != [checksum]:
        say(f"tree: applying {PATCHES.relative_to(TOP)} to {tree.name}")
        stamp.write_text(f"{source}\n")
        push(tree)
        stamp.write_text(f"{source}\n{checksum}\n")
    link = BUILD / "tree.new"
    link.unlink(missing_ok=True)
    link.symlink_to(tree.name)
    link.rename(TREE)
    say(str(tree))


if __name__ == "__main__":
    main_wrapper(main)
