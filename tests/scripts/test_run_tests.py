# SPDX-License-Identifier: GPL-2.0-only
import re

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


def test_a_program_that_skips_all_is_of_no_use():
    count = runner.Count()
    runner.count_programs(plan(), "# program a\n1..1\nok 1 z # SKIP no\n# status 4\n", count)
    assert count.programs - count.useful == {"a"}
    other = runner.Count()
    runner.count_programs(plan(), "# program a\n1..2\nok 1 z # SKIP no\nok 2 x\n# status 0\n", other)
    count.add(other)
    assert not count.programs - count.useful


def test_a_program_that_stops_half_way_fails():
    assert counted("# program a\n1..3\nok 1 x\n# status 137\n") == (1, 1, 0)


def test_a_program_that_never_ran_fails():
    assert counted("") == (0, 1, 0)


def test_a_machine_of_full_sockets_has_its_cpus_at_once():
    topology = runner.Topology([[2, 2], [2, 2]])
    assert topology.smp.startswith("8,maxcpus=8,sockets=4,cores=2,threads=1 ")
    assert topology.smp.count("-numa cpu,node-id=1") == 2
    assert "-device" not in topology.smp
    assert topology.shape() == {
        "threads": ["1"],
        "cache": ["0-1", "2-3", "4-5", "6-7"],
        "node": ["0-3", "4-7"],
    }


def test_sockets_that_are_not_full_get_their_cpus_one_by_one():
    topology = runner.Topology([[3, 1]])
    assert topology.smp.startswith("3,maxcpus=6,sockets=2,cores=3,threads=1 -device max-x86_64-cpu,socket-id=1")
    assert topology.smp.count("-device") == 1
    assert topology.shape()["cache"] == ["0-2", "3"]


def test_nodes_share_all_of_the_memory():
    topology = runner.Topology([[2], [4], [10]])
    assert sum(map(int, re.findall(r"size=(\d+)M", topology.smp))) == 2048


def test_nodes_in_a_line_are_hops_away():
    topology = runner.Topology([[2], [2], [2]], line=True)
    assert topology.smp.count("-numa dist") == 3
    assert "-numa dist,src=0,dst=2,val=30" in topology.smp
    assert topology.shape()["distances"] == ["10,20,30", "20,10,20", "30,20,10"]


def test_a_guest_of_another_shape_fails():
    count = runner.Count()
    of_llc = runner.Plan("virtual", 4, "vrq", [], "llc")
    shown = "# threads 1\n# cache 0-1\n# cache 2-3\n# node 0-3\n"
    runner.topology_check(of_llc, shown, count)
    assert (count.passed, count.failed) == (1, 0)
    runner.topology_check(of_llc, shown.replace("2-3", "2"), count)
    runner.topology_check(of_llc, "", count)
    assert (count.passed, count.failed) == (1, 2)


def test_steps_at_once_are_counted_together():
    count = runner.Count()
    runner.together([lambda own: own.ok(True, "a"), lambda own: own.ok(False, "b")], 2, count)
    assert (count.passed, count.failed, count.failures) == (1, 1, ["b"])
