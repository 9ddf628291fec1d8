#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write an apt source list of our own, derived from the machine's.

It adds source packages to every Debian suite that the machine uses, and the
backports of its release. The machine's own files stay untouched.

Usage: apt_sources.py DIRECTORY  (writes DIRECTORY/sources.list)
"""

import os
import re
import sys
from pathlib import Path


def machine_sources(root=Path("/etc/apt")):
    """Yield (uri, suites, options) for every binary Debian source."""
    lists = [root / "sources.list", *sorted((root / "sources.list.d").glob("*.list"))]
    for path in lists:
        if not path.exists():
            continue
        for line in path.read_text().splitlines():
            match = re.match(r"deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s+.*\bmain\b", line)
            if match:
                yield match[2], [match[3]], match[1] or ""
    for path in sorted((root / "sources.list.d").glob("*.sources")):
        for stanza in re.split(r"\n\s*\n", path.read_text()):
            field = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*)$", stanza, re.M))
            if "deb" not in field.get("Types", "").split() or "main" not in field.get("Components", ""):
                continue
            option = f"signed-by={field['Signed-By']}" if field.get("Signed-By") else ""
            for uri in field["URIs"].split():
                yield uri, field["Suites"].split(), option


def our_lines(sources, codename):
    """The lines of our list."""
    lines, archive = [], None
    for uri, suites, option in sources:
        bracket = f"[{option}] " if option else ""
        for suite in suites:
            if codename not in suite:
                continue
            lines += [f"{kind} {bracket}{uri} {suite} main" for kind in ("deb", "deb-src")]
            if suite == codename:
                archive = (bracket, uri)
    if archive:
        bracket, uri = archive
        lines.append(f"deb {bracket}{uri} {codename}-backports main")
        if codename == "bookworm":  # its source package `linux` is a 6.12
            lines.append(f"deb-src {bracket}{uri} trixie main")
    return list(dict.fromkeys(lines))


def codename():
    """The name of this machine's Debian release."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return release.get("VERSION_CODENAME", "").strip('"')


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = our_lines(list(machine_sources()), codename())
    if not lines:
        sys.exit("apt_sources: no Debian source with component main in /etc/apt")
    target = Path(sys.argv[1])
    os.makedirs(target / "lists" / "partial", exist_ok=True)
    (target / "sources.list").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
