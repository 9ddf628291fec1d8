# SPDX-License-Identifier: GPL-2.0-only
import run_tests as runner


def plan():
    return runner.Plan("parallel", 1, "vrq", ["a"])


def counted(text):
    count = runner.Count()
    runner.count_programs(plan(), text, count)
    return count.passed, count.failed, count.skipped


def test_results_are_counted():
    text = "# program a\n1..3\nok 1 x\nnot ok 2 y\nok 3 z # SKIP no\n# status 1\n"
    assert counted(text) == (1, 1, 1)


def test_a_program_that_stops_half_way_fails():
    assert counted("# program a\n1..3\nok 1 x\n# status 137\n") == (1, 1, 0)


def test_a_program_that_never_ran_fails():
    assert counted("") == (0, 1, 0)
