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

    def measure(script, number=0, cmdline="sched=vrq", kind="throughput"):
        rows = {"a": Row("A", "s", kind=kind), "b": Row("B", "s")}
        name = f"made-up-{kind}"
        monkeypatch.setitem(WORKLOADS, name, Workload("made up", lambda setting: script, rows))
        kernel = runner.Kernel("vrq", str(image_path()), cmdline)
        return runner.measure(name, kernel, number, Setting("virtual", 4))

    return measure


def test_the_same_seed_gives_the_same_figures_and_another_gives_others(measured):
    # microseconds: by chance two seeds agree to a millisecond
    script = """
hackbench --pipe --groups 2 --loops 20 | sed -n 's/^Time: /row a /p'
row b "${EPOCHREALTIME/./}"
"""
    with ThreadPoolExecutor() as pool:
        first, second, other = (outcome.rows for outcome in pool.map(lambda seed: measured(script, seed), (0, 0, 1)))
    assert len(first) == 2
    assert first == second
    assert first != other


def test_an_interrupt_waits_for_short_turns_only(measured):
    """Else for those that last until the next tick of some CPU."""
    script = """
for cpu in 0 1 2 3; do (while :; do :; done) & done
"$BIN/slack" 1 cyclictest -q -m -p 80 -i 1237 -d 53 -t 4 -a -l 60 > out
kill $(jobs -p)
sed -n 's/.*Avg: *\\([0-9]*\\).*/row a \\1/p' out | sort -k 3 -n | tail -n 1
"""
    with ThreadPoolExecutor() as pool:
        latency, throughput = pool.map(lambda kind: measured(script, kind=kind).rows["a"], ("latency", "throughput"))
    assert 0 < 2 * latency < throughput


def test_a_guest_that_dies_is_told_and_what_it_measured_is_kept(measured):
    outcome = measured("row a 1; sleep 1; echo c > /proc/sysrq-trigger")
    assert "Kernel panic" in outcome.failure
    assert outcome.rows == {"a": 1}


def test_a_guest_without_an_init_is_told(measured):
    assert "Kernel panic" in measured("", cmdline="rdinit=/nowhere").failure
