# SPDX-License-Identifier: GPL-2.0-only
"""What several scripts need: where things are, and how to stop."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("BUILD", TOP / "build")).resolve()
PATCHES = TOP / "patches" / "6.12"
TREE = BUILD / "tree"  # symbolic link to the tree that is built
OBJECTS = BUILD / "kernel"
IMAGE = OBJECTS / "arch/x86/boot/bzImage"


class Failure(Exception):
    """Something that the user has to know, in one line."""


def main_wrapper(main):
    """Run main(); a Failure is one line on stderr and exit status 1."""
    name = Path(sys.argv[0]).stem
    try:
        sys.exit(main())
    except Failure as error:
        sys.exit(f"{name}: {error}")
    except OSError as error:  # a full disk, a directory that cannot be written
        sys.exit(f"{name}: {error.filename or ''}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(f"{name}: interrupted")


def say(text):
    """Tell the user what is going on, at once."""
    print(text, flush=True)


def run(*command, **options):
    """Run a command and return its output; a failure raises Failure."""
    options = {"capture_output": True, "text": True, **options}
    try:
        done = subprocess.run([str(word) for word in command], **options)
    except FileNotFoundError:
        raise Failure(f"{command[0]} is missing; run: make setup") from None
    if done.returncode:
        lines = [line for line in ((done.stderr or "") + (done.stdout or "")).splitlines() if line.strip()]
        raise Failure(f"{command[0]} failed: {lines[-1] if lines else f'exit status {done.returncode}'}")
    return done.stdout


def number(name, default):
    """A whole number above zero from the environment."""
    text = os.environ.get(name, "") or str(default)
    if not re.fullmatch(r"[1-9]\d*", text):
        raise Failure(f"{name}={text}: not a whole number above 0")
    return int(text)


def choice(name, values):
    """One of several words from the environment, by default the first."""
    word = os.environ.get(name) or values[0]
    if word not in values:
        raise Failure(f"{name}={word}: not one of {', '.join(values)}")
    return word


def jobs():
    """How many compilers, or guests in virtual time, run at once."""
    return number("JOBS", os.cpu_count())


def sha256(path):
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def series(directory=PATCHES):
    """The patches of the series, in order."""
    lines = (directory / "series").read_text().splitlines()
    return [directory / line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
