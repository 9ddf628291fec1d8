# SPDX-License-Identifier: GPL-2.0-only
"""The benchmark's judgements, and that its tables fit together."""

import math

import pytest

from benchmark import figures, plots, report, runner
from benchmark.workloads import WORKLOADS, Row, Setting, Workload
from common import TOP, Failure

MODES = ("virtual", "coherence", "parallel", "here")


def outcome(kernel, number, rows, failure=""):
    return runner.Outcome("pingpong", kernel, number, rows, {}, "6.12.0", failure)


def made_report(outcomes, mode="virtual"):
    kernels = runner.parse_kernels("", "bzImage")
    facts = {"date": "today", "commit": "abc", "machine": {}, "passes": 2, "minutes": 1.0}
    return report.gather(outcomes, kernels, Setting(mode, 4), facts)


def test_a_ratio_is_a_cost():
    assert figures.cost_ratio(2, 1, "lower") == 0.5
    assert figures.cost_ratio(1, 2, "higher") == 0.5
    assert figures.cost_ratio(0, 0, "lower") == 1
    assert figures.cost_ratio(0, 3, "lower") == math.inf


@pytest.mark.parametrize(
    "base, values, verdict",
    [
        ([1.00, 1.01], [0.90, 0.91], "better"),
        ([1.00, 1.01], [1.10, 1.11], "worse"),
        ([1.00, 1.10], [1.05, 1.20], "cannot tell"),  # ranges touch
        ([1.000, 1.001], [1.010, 1.011], "cannot tell"),  # apart, but by 1% only
        ([10, 11, 9, 10, 12, 10, 11], [8, 7, 8, 9, 7, 8, 7.5], "better"),
        ([10, 11, 9, 10, 12, 10, 11], [10, 9, 12, 10, 11, 10, 11], "cannot tell"),
        ([0, 0], [0, 0], "cannot tell"),
        ([1.0], [0.5, 0.5], "cannot tell"),  # one pass has no spread
    ],
)
def test_verdicts_respect_the_spread(base, values, verdict):
    assert figures.compare(base, values, "lower").verdict == verdict


def test_a_target_missed_by_less_than_the_spread_is_near():
    comparison = figures.Comparison(ratio=0.57, spread=0.05, verdict="better")
    assert comparison.against(0.60) == "met"
    assert comparison.against(0.55) == "near"
    assert comparison.against(0.50) == "missed"


def test_a_limit_is_near_if_some_pass_met_it():
    assert figures.against_limit([0.2, 0.24], 0.25) == "met"
    assert figures.against_limit([0.24, 0.4], 0.25) == "near"
    assert figures.against_limit([0.3, 0.4], 0.25) == "missed"


def test_kernels_are_added_and_replaced():
    kernels = runner.parse_kernels("'bmq=/x/bzImage:quiet splash' vrq=/y/bzImage:sched=vrq", "/z/bzImage")
    assert [(kernel.name, kernel.image, kernel.cmdline) for kernel in kernels] == [
        ("fair", "/z/bzImage", "sched=fair"),
        ("vrq", "/y/bzImage", "sched=vrq"),
        ("bmq", "/x/bzImage", "quiet splash"),
    ]
    for wrong in ("bmq", "=x", "a b=x", "bmq="):
        with pytest.raises(Failure):
            runner.parse_kernels(wrong, "/z/bzImage")


@pytest.mark.parametrize("mode", ["virtual", "coherence", "parallel"])
@pytest.mark.parametrize("cpus", [4, 16, 64])
def test_every_target_names_a_row_of_its_mode(mode, cpus):
    wanted, default, limits, growth = report.targets(mode, cpus)
    assert default == 1 and wanted
    others = [other for other, _ in growth.values()]
    for names in (wanted, limits, growth, others):
        assert set(report.in_order(names)) == set(names)
    for name in (*wanted, *growth, *others):
        assert mode in WORKLOADS[name.partition("/")[0]].modes


def test_targets_of_one_number_of_cpus_are_no_targets_of_another():
    four = report.targets("virtual", 4)[0]
    limits = report.targets("virtual", 2)[2]
    assert four["hackbench-pipe-process/4"] == 0.5
    assert report.targets("virtual", 16)[0]["hackbench-pipe-process/4"] == 0.42
    assert report.targets("virtual", 8)[0] == {}
    assert report.targets("parallel", 2)[0] == report.targets("parallel", 8)[0] != {}
    assert report.targets("virtual", 8)[2] == limits != report.targets("virtual", 16)[2]
    assert report.targets("coherence", 64)[2].keys() > limits.keys()


def test_growth_is_judged_within_a_report():
    rows = {"coherence-hackbench": {"many-instructions": 1300}, "coherence-hackbench-4": {"many-instructions": 1000}}
    outcomes = [runner.Outcome(name, "vrq", 0, rows[name], {}, "") for name in rows]
    facts = {"date": "", "commit": "", "machine": {}, "passes": 1, "minutes": 1.0}
    content = report.gather(outcomes, runner.parse_kernels("", ""), Setting("coherence", 64), facts)
    marks = {name: (target, mark) for name, _, _, mark, target in report.table_rows(content)}
    assert marks["coherence-hackbench/many-instructions"] == (1300, "met")
    assert marks["coherence-hackbench-4/many-instructions"] == ("", "")


@pytest.mark.parametrize("name, mode", [(name, mode) for name in WORKLOADS for mode in WORKLOADS[name].modes])
def test_every_script_is_valid_bash(name, mode, tmp_path):
    assert mode in MODES
    script = tmp_path / "script"
    script.write_text(WORKLOADS[name].script(Setting(mode, 2)))
    runner.run("bash", "-n", script)


def test_a_failure_is_told_and_the_rest_goes_on():
    content = made_report(
        [
            outcome("fair", 0, {"pipe": 2.0}),
            outcome("fair", 1, {"pipe": 2.1}),
            outcome("vrq", 0, {"pipe": 1.0}),
            outcome("vrq", 1, {}, "the guest died, see log"),
        ]
    )
    assert content["failures"] == [
        {"workload": "pingpong", "kernel": "vrq", "pass": 2, "cause": "the guest died, see log"}
    ]
    text = report.markdown(content)
    assert "FAILED** pingpong, vrq, pass 2: the guest died" in text
    assert "(0.49)" in text and "✓" in text


def test_a_kernel_without_figures_leaves_a_gap():
    content = made_report([outcome("fair", 0, {"pipe": 2.0}), outcome("vrq", 0, {}, "no such image")])
    assert "—" in report.markdown(content)


def test_a_ratio_to_nothing_is_not_shown():
    content = made_report([outcome("fair", 0, {"pipe-kicks": 0}), outcome("vrq", 0, {"pipe-kicks": 12})])
    text = report.markdown(content)
    assert "12" in text and "inf" not in text


def test_pictures_have_a_bar_for_each_workload_and_for_each_row(tmp_path):
    content = made_report([outcome("fair", 0, {"pipe": 2.0}), outcome("vrq", 0, {"pipe": 1.0})])
    assert plots.costs(content, "vrq")["pingpong"]["pingpong/pipe"].ratio == 0.5
    assert plots.draw(content, tmp_path) == ["ratios", "rows"]
    assert "rows.svg" not in report.markdown(content, ["ratios"])
    assert "[The rows one by one](rows.svg)" in report.markdown(content, ["ratios", "rows"])
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{n}.{k}" for n in ("ratios", "rows") for k in ("png", "svg")
    }
    # nothing to compare with
    content = made_report([outcome("fair", 0, {"pipe": 2.0})])
    assert plots.draw(content, tmp_path) == []


@pytest.mark.parametrize("ratio, drawn", [(0, 0.1), (0.02, 0.1), (0.5, 0.5), (1, 1), (math.inf, 10)])
def test_a_row_counts_for_no_more_than_its_bound(ratio, drawn):
    assert plots.bounded(ratio) == drawn


def test_a_file_that_is_no_report_is_refused(tmp_path):
    (tmp_path / "report.json").write_text("[]")
    with pytest.raises(Failure, match="not a report"):
        report.load(tmp_path)
    with pytest.raises(Failure, match="No such file"):
        report.load(tmp_path / "nothing.json")


def measured(monkeypatch, script, mode="here", image="", **options):
    """The outcome of a workload with rows a and b, of this script."""
    rows = {"a": Row("A", "s"), "b": Row("B", "s"), "told": Row("C", "", "")}
    monkeypatch.setitem(WORKLOADS, "made-up", Workload("made up", lambda setting: script, rows, **options))
    return runner.measure("made-up", runner.Kernel("vrq", image), 0, Setting(mode, 1))


@pytest.mark.parametrize("mode", MODES)
def test_in_a_guest_no_workload_depends_on_where_the_repository_is(mode):
    for workload in WORKLOADS.values():
        text = runner.whole_script(workload, Setting(mode, 4))
        assert (str(TOP) in text) == (mode == "here")


def test_rows_that_do_not_come_are_told_and_the_others_kept(monkeypatch):
    outcome = measured(monkeypatch, "row a 1")
    assert (outcome.failure, outcome.rows) == ("printed no figure for b", {"a": 1})


@pytest.mark.parametrize(
    "script, cause",
    [
        ("row a 1; die 'out of paper'", "out of paper"),
        ("false", "failed: false"),
        ("start sleep 1000; false", "failed: false"),  # and does not wait for the load
        ("no-such-program", "failed: no-such-program"),
    ],
)
def test_a_script_that_fails_says_why(monkeypatch, script, cause):
    assert measured(monkeypatch, script).failure.startswith(cause)


def test_a_script_that_hangs_is_ended_with_all_it_started(monkeypatch):
    monkeypatch.setitem(runner.TIMEOUT, "here", 3)
    assert measured(monkeypatch, "start sleep 1234; sleep 1234").failure == "no end after 3 s"


def test_one_boot_gives_the_outcomes_of_both(monkeypatch):
    rows = {"a": Row("A", "s"), "b": Row("B", "s")}
    monkeypatch.setitem(WORKLOADS, "made-up", Workload("made up", lambda setting: "", rows))
    output = "under vrq\nrelease 6 vrq\nrow a 1\nrow b 2\nstatus 0\nunder fair\nrow a 3\nno room\nstatus 1\n"
    monkeypatch.setattr(runner, "run_guest", lambda text, *rest: (0, output, ""))
    kernels = runner.parse_kernels("", "bzImage")
    (name, order, number) = runner.plan_in_one_boot(["made-up"], kernels, 2)[1]
    vrq, fair = runner.attempt_in_one_boot(name, order, number, Setting("virtual", 4))
    assert (vrq.kernel, vrq.rows, vrq.release, vrq.failure) == ("vrq", {"a": 1, "b": 2}, "6 vrq", "")
    assert (fair.kernel, fair.rows, fair.failure) == ("fair", {"a": 3}, "no room")


def test_one_boot_that_ends_early_fails_for_who_was_not_reached(monkeypatch):
    rows = {"a": Row("A", "s")}
    monkeypatch.setitem(WORKLOADS, "made-up", Workload("made up", lambda setting: "", rows))
    monkeypatch.setattr(runner, "run_guest", lambda text, *rest: (None, "under fair\nrow a 1\nstatus 0\n", "it died"))
    outcomes = runner.measure_in_one_boot("made-up", runner.parse_kernels("", "bzImage"), 0, Setting("virtual", 4))
    assert [(outcome.rows, outcome.failure) for outcome in outcomes] == [({"a": 1}, "it died"), ({}, "it died")]


def test_what_is_missing_is_told(monkeypatch):
    assert measured(monkeypatch, "", needs=("no-such-tool",)).failure == "no-such-tool is missing; run: make setup"
    assert "no kernel image" in measured(monkeypatch, "", mode="virtual", image="/nowhere/bzImage").failure


def test_two_reports_tell_how_far_they_disagree(capsys):
    first = made_report([outcome("fair", 0, {"pipe": 1.0}), outcome("vrq", 0, {"pipe": 1.0})])
    second = made_report([outcome("fair", 0, {"pipe": 1.0}), outcome("vrq", 0, {"pipe": 1.1})])
    report.compare(first, second)
    said = " ".join(capsys.readouterr().out.split())
    assert "Medians of throughput rows and averages disagree by 9.5% at most (pingpong/pipe, vrq)" in said
    assert "1 of 2 by more than 2%" in said


@pytest.mark.parametrize("workload", WORKLOADS.values())
def test_quick_rows_are_rows(workload):
    assert set(workload.quick_rows) <= set(workload.rows)


def test_output_is_parsed():
    rows, bins, release = runner.parse("release 6.12.1 vrq\nrow a 1.5\nrow b x\nnoise\nbin a 100 3\nbin a 200 1\n")
    assert (rows, bins, release) == ({"a": 1.5}, {"a": {"100": 3, "200": 1}}, "6.12.1 vrq")
