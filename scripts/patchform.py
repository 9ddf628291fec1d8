# SPDX-License-Identifier: GPL-2.0-only
"""The one form that the patches of the series have, and what can be read from it.

A message as of a mail, with From:, Subject: and Signed-off-by:, a line "---", an
empty line, and the diffs. Each begins with "diff --git a/NAME b/NAME", and with
"new file mode 100644" if it adds the file; then come "--- a/NAME" (/dev/null if
it adds the file), "+++ b/NAME" and the hunks. There are no blob names, which hold
for one version only, no dates, and no lines "Index:". quilt, patch and git am all
read that. quilt refresh writes another form, and "make series" mends it.
"""

import re
from dataclasses import dataclass, field

from common import Failure

FIRST_DIFF = re.compile(r"^(?:diff |Index: |--- \S)", re.M)
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
# What git and quilt write around diffs; "-- " and a version end a mail of git's
NOT_NEEDED = re.compile(r"$|diff |index |Index: |={60,}$|new file mode 100644$|-- $|\d+(\.\d+)+$")
WANTED = ("From: ", "Subject: ", "Signed-off-by: ")


@dataclass
class Diff:
    """What a patch does to one file."""

    name: str
    new: bool
    lines: list = field(default_factory=list)  # of the hunks

    def text(self):
        old = "/dev/null" if self.new else f"a/{self.name}"
        mode = ["new file mode 100644"] if self.new else []
        head = [f"diff --git a/{self.name} b/{self.name}", *mode, f"--- {old}", f"+++ b/{self.name}"]
        return "".join(f"{line}\n" for line in [*head, *self.lines])

    def count(self, sign):
        """How many lines are added, or removed."""
        return sum(line.startswith(sign) for line in self.lines)


def file_name(line, marker, prefix):
    """The name in a line "--- a/NAME" or "+++ b/NAME"."""
    name = line.removeprefix(f"{marker} ").split("\t")[0]
    if name == "/dev/null" and marker == "---":
        return name
    if not line.startswith(f"{marker} {prefix}/"):
        raise Failure(f"'{line}': not the form of quilt refresh -p ab, or a file is removed")
    return name.removeprefix(f"{prefix}/")


def hunk(head, lines):
    """The lines of a hunk, as many as its head promises."""
    old, new = (int(count or 1) for count in HUNK.match(head).groups())
    found = [head]
    while old > 0 or new > 0:
        line = next(lines, "the end") or " "
        if line[0] not in " +-":
            raise Failure(f"'{line}' inside a hunk")
        old -= line[0] in " -"
        new -= line[0] in " +"
        found.append(line)
    return found


def parse(text):
    """The message of a patch, without the line "---", and its diffs."""
    first = FIRST_DIFF.search(text)
    start = first.start() if first else len(text)
    message = text[:start].rstrip().removesuffix("\n---")
    for word in WANTED:
        if not re.search(f"^{word}", message, re.M):
            raise Failure(f"its message has no line {word.strip()}")
    diffs = []
    lines = iter(text[start:].splitlines())
    for line in lines:
        if HUNK.match(line) and diffs:
            diffs[-1].lines += hunk(line, lines)
        elif line.startswith("--- "):
            old, new = file_name(line, "---", "a"), file_name(next(lines, ""), "+++", "b")
            diffs.append(Diff(new, old == "/dev/null"))
        elif not NOT_NEEDED.match(line):
            raise Failure(f"'{line}' between its diffs")
    return message, diffs


def compose(message, diffs):
    """A patch in its form."""
    return f"{message}\n---\n\n" + "".join(diff.text() for diff in diffs)


def read(path):
    """The message and the diffs of a patch; a Failure names the patch."""
    try:
        return parse(path.read_text())
    except Failure as error:
        raise Failure(f"{path.name}: {error}") from None


def mended(path):
    """What a patch should read, its diffs being what they are."""
    message, diffs = read(path)
    if not diffs:
        raise Failure(f"{path.name}: no diff in it")
    return compose(message, diffs)
