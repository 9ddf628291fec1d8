# SPDX-License-Identifier: GPL-2.0-only
"""What a guest's log is taken for."""

import pytest

import guest

THROTTLED = "[   33.314067] sched: RT throttling activated"
LOCKUP = "[   40.1] watchdog: BUG: soft lockup - CPU#1 stuck for 22s!"


@pytest.mark.parametrize(
    ("mode", "line", "trouble"),
    [
        ("virtual", "[    1.0] smpboot: CPU0: done", False),
        ("virtual", THROTTLED, True),
        ("parallel", THROTTLED, False),
        ("virtual", LOCKUP, True),
        ("parallel", LOCKUP, True),
    ],
)
def test_trouble(tmp_path, mode, line, trouble):
    log = tmp_path / "log"
    log.write_text(f"[    0.0] Linux version\n{line}\n")
    result = guest.Result(mode, 0, "", log, 1.0, False)
    assert result.trouble() == ([line] if trouble else [])
