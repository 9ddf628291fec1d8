# SPDX-License-Identifier: GPL-2.0-only
"""What mainline's selftests say of VRQ."""

import selftests
from run_tests import Count

EXCEPTIONS = {"sched/excused": "a reason"}
RACE = selftests.RACES[0]


def judged(ours, reference):
    count = Count()
    selftests.judge(ours, reference, EXCEPTIONS, count)
    return count.passed, count.failed, count.skipped


def test_what_passes_needs_no_reference():
    assert judged({"a/b": "passed", "a/b: one": "passed"}, {}) == (2, 0, 0)


def test_what_fails_under_both_is_skipped():
    assert judged({"a/b": "failed"}, {"a/b": "failed"}) == (0, 0, 1)


def test_what_only_fair_passes_has_failed():
    assert judged({"a/b": "failed"}, {"a/b": "passed"}) == (0, 1, 0)
    assert judged({"a/b": "skipped"}, {"a/b": "passed"}) == (0, 1, 0)


def test_what_fair_reports_and_vrq_does_not_has_failed():
    assert judged({"a/b": "no end"}, {"a/b": "passed", "a/b: one": "passed"}) == (0, 2, 0)


def test_a_race_of_the_tests_own_is_skipped():
    assert judged({RACE: "failed"}, {}) == (0, 0, 1)


def test_an_exception_that_passes_has_to_go():
    assert judged({"sched/excused": "failed"}, {}) == (1, 0, 1)
    assert judged({"sched/excused": "passed"}, {}) == (0, 1, 1)


def fake(monkeypatch, ours):
    """Guests that say what they are told to, under VRQ, and that all passes, under fair; the boots."""
    boots = []

    def boot(sched, mode, programs, scripts, count):
        boots.append((sched, programs, scripts))
        return ours if sched == "vrq" else dict.fromkeys(programs + scripts, "passed")

    monkeypatch.setattr(selftests, "build", lambda: None)
    monkeypatch.setattr(selftests, "boot", boot)
    return boots


def test_fair_runs_what_vrq_does_not_pass(monkeypatch):
    programs, scripts = selftests.RUNS["parallel"]
    ours = {name: "passed" for name in programs + scripts} | {f"{programs[1]}: a part": "failed", scripts[0]: "failed"}
    boots = fake(monkeypatch, ours)
    count = Count()
    selftests.compare("parallel", count)
    assert boots == [("vrq", programs, scripts), ("fair", [programs[1]], scripts)]
    assert [what for what in count.failures if scripts[0] in what]


def test_fair_is_not_booted_for_nothing(monkeypatch):
    programs, scripts = selftests.RUNS["virtual"]
    boots = fake(monkeypatch, dict.fromkeys(programs, "passed") | {RACE: "failed"})
    selftests.compare("virtual", Count())
    assert [sched for sched, *_ in boots] == ["vrq"]
