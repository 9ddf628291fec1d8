# SPDX-License-Identifier: GPL-2.0-only
"""What a guest's log is taken for."""

import pytest

import guest
import kcsan

THROTTLED = "[   33.314067] sched: RT throttling activated"
LOCKUP = "[   40.1] watchdog: BUG: soft lockup - CPU#1 stuck for 22s!"


def trouble_in(directory, mode, line):
    """What is found in a log with this line."""
    log = directory / "log"
    log.write_text(f"[    0.0] Linux version\n{line}\n")
    return guest.Result(mode, 0, "", log, 1.0, False).trouble()


@pytest.mark.parametrize(
    ("mode", "line", "trouble"),
    [
        ("virtual", "[    1.0] smpboot: CPU0: done", False),
        ("virtual", THROTTLED, True),
        ("parallel", THROTTLED, False),
        ("virtual", LOCKUP, True),
        ("parallel", LOCKUP, True),
        ("parallel", "[    9.1] UBSAN: shift-out-of-bounds in kernel/sched/vrq/place.c:1:2", True),
        ("parallel", "[    9.1] BUG: KFENCE: use-after-free read in vrq_place+0x1/0x2", True),
        ("parallel", "[    9.1] kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)", True),
        ("parallel", "[    0.9] kmemleak: Kernel memory leak detector initialized", False),
    ],
)
def test_trouble(tmp_path, mode, line, trouble):
    assert trouble_in(tmp_path, mode, line) == ([line] if trouble else [])


@pytest.mark.parametrize(
    ("functions", "trouble"),
    [
        ("pipe_write / pipe_write", False),
        ("enqueue_task_vrq / watch", True),
        ("sum_up / _find_next_bit", True),
        ("_find_next_bit / sum_up.isra.0", True),
    ],
)
def test_kcsan_reports_of_vrq(tmp_path, monkeypatch, functions, trouble):
    monkeypatch.setattr(kcsan, "functions", lambda: {"watch", "sum_up", "sum_up.isra.0"})
    line = f"[    9.1] BUG: KCSAN: data-race in {functions}"
    assert trouble_in(tmp_path, "parallel", line) == ([line] if trouble else [])
