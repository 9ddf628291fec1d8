# SPDX-License-Identifier: GPL-2.0-only
"""What make passes on empty counts as not set, and a wrong value is one line."""

import os
import subprocess
import sys

import pytest

from common import TOP, Failure, choice, number


def run_script(name, *arguments, **environment):
    """A script with these variables; what it writes to stderr."""
    done = subprocess.run(
        [sys.executable, TOP / "scripts" / name, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    return done.stderr


def make(*arguments, **environment):
    """What make would do."""
    return subprocess.run(
        ["make", "-n", "-C", TOP, *arguments],
        env={**{name: text for name, text in os.environ.items() if name != "MAKEFLAGS"}, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("text", ["0", "-1", "0.5", "x", "1 2"])
def test_number(monkeypatch, text):
    monkeypatch.setenv("CPUS", text)
    with pytest.raises(Failure, match="CPUS=.*: not a whole number above 0"):
        number("CPUS", 4)


def test_empty(monkeypatch):
    monkeypatch.setenv("CPUS", "")
    monkeypatch.setenv("MODE", "")
    assert number("CPUS", 4) == 4
    assert choice("MODE", ["parallel", "virtual"]) == "parallel"


@pytest.mark.parametrize(
    ("script", "arguments"),
    [("guest.py", ["--sched", "none"]), ("soak.py", ["none"])],
)
def test_scripts_take_empty_variables(script, arguments):
    names = ("CPUS", "MODE", "SCHED", "MINUTES", "VIRTUAL_MINUTES", "SEED", "CALLS", "WORKERS", "SWITCH")
    said = run_script(script, *arguments, **dict.fromkeys(names, ""))
    assert "Traceback" not in said
    assert "none" in said


@pytest.mark.parametrize("value", ["", "some/where"])
def test_clean_stays_in_build(value):
    for words in (make("clean", f"BUILD={value}"), make("clean", BUILD=value)):
        paths = [word for word in words.split() if word.startswith("/")]
        assert paths
        assert all(path.startswith(f"{TOP}/{value or 'build'}/") for path in paths)
