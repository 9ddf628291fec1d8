# SPDX-License-Identifier: GPL-2.0-only
"""Guests that measure, booted in earnest: make test has built a kernel."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmark import runner
from benchmark.workloads import WORKLOADS, Row, Setting, Workload
from kernel import image_path

pytestmark = pytest.mark.skipif(not image_path().exists(), reason="no kernel image; make kernel")


@pytest.fixture
def measured(monkeypatch):
    """What a script gives in a guest in virtual time."""
    runner.build_programs()

    def measure(script, number=0, cmdline="sched=vrq"):
        rows = {"a": Row("A", "s"), "b": Row("B", "s")}
        monkeypatch.setitem(WORKLOADS, "made-up", Workload("made up", lambda setting: script, rows))
        kernel = runner.Kernel("vrq", str(image_path()), cmdline)
        return runner.measure("made-up", kernel, number, Setting("virtual", 4))

    return measure


def test_the_same_seed_gives_the_same_figures_and_another_gives_others(measured):
    script = """
hackbench --pipe --groups 2 --loops 20 | sed -n 's/^Time: /row a /p'
read -r up idle < /proc/uptime
row b "$up"
"""
    with ThreadPoolExecutor() as pool:
        first, second, other = (outcome.rows for outcome in pool.map(lambda seed: measured(script, seed), (0, 0, 1)))
    assert len(first) == 2
    assert first == second
    assert first != other


def test_a_guest_that_dies_is_told_and_what_it_measured_is_kept(measured):
    outcome = measured("row a 1; sleep 1; echo c > /proc/sysrq-trigger")
    assert "Kernel panic" in outcome.failure
    assert outcome.rows == {"a": 1}


def test_a_guest_without_an_init_is_told(measured):
    assert "Kernel panic" in measured("", cmdline="rdinit=/nowhere").failure
