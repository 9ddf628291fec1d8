# SPDX-License-Identifier: GPL-2.0-only
"""Coherence mode: its model of caches, what is read from the build and from the plugin, and a guest that is watched."""

import shutil

import pytest

from benchmark import coherence, report, runner, symbols
from benchmark.workloads import WORKLOADS, Setting, Workload, watch_rows
from common import TOP, Failure, run
from kernel import image_path

guests = pytest.mark.skipif(not image_path().exists(), reason="no kernel image; make kernel")

PAHOLE = """
struct rq {
	/* typedef raw_spinlock_t */ struct raw_spinlock {
		union {
			/* typedef atomic_t */ struct {
				int    counter;                                  /*     0     4 */
			} val; /*     0     4 */
			/* typedef u8 -> __u8 */ unsigned char locked;   /*     0     1 */
		};                                                               /*     0     4 */
	} __lock; /*     0     4 */
	/* XXX 4 bytes hole, try to pack */
	struct cfs_rq {
		/* typedef smp_call_func_t */ void               (*func)(void *);        /*    64     8 */
		unsigned int       flags:3;                                              /*    72: 0  4 */
		long unsigned int  parts[2];                                             /*    80    16 */
	} cfs __attribute__((__aligned__(64))); /*    64    32 */

	/* size: 128, cachelines: 2, members: 2 */
} __attribute__((__aligned__(64)));
"""

OUT = """begin
executed 1000
switches 10
longest 300
migrations 3 2 1
function 0 600 0
function 1 60 2000
move 0 ffff888000001000 1 2 3 4 5 6
move 1 ffff888100002008 10 0 0 0 0 0
lock ffffffff82000000 50 7 5
task ffff888100002000
percpu 0 ffff888000001000
off 9 4
end
begin
executed 5
"""


class FakeKernel:
    """Two functions, one variable, one task."""

    functions = (symbols.Function("schedule", 16, 32, "s"), symbols.Function("vrq_pick", 32, 48, "v"))
    per_cpu_end = 0x100
    members = {"task_struct": (64, [(0, "state"), (8, "on_cpu")])}  # noqa: RUF012

    def symbol(self, address):
        return ("shared", 0) if address > 0x1000 else ("runqueues", address)


def test_the_model_counts_known_patterns_of_accesses(tmp_path):
    program = tmp_path / "lines_test"
    run("gcc", "-Wall", "-D_GNU_SOURCE", "-I", TOP / "tests/bench", "-o", program, TOP / "tests/scripts/lines_test.c")
    assert run(program) == ""


def test_a_topology_has_a_place_for_each_cpu(monkeypatch):
    assert str(coherence.topology(64)) == "2x4x8"
    places = coherence.topology(64).places()
    assert [places[cpu] for cpu in (0, 7, 8, 31, 32, 63)] == [(0, 0), (0, 0), (1, 0), (3, 0), (4, 1), (7, 1)]
    assert coherence.topology(6).places() == [(0, 0)] * 6
    assert "-numa node,cpus=32-63,memdev=m1" in coherence.topology(64).smp(2048)
    monkeypatch.setenv("TOPOLOGY", "2x1x3")
    assert coherence.topology(6).places()[3:] == [(1, 1)] * 3
    for wrong in ("2x2", "2x1x4", "x", "0x1x6"):
        monkeypatch.setenv("TOPOLOGY", wrong)
        with pytest.raises(Failure, match="TOPOLOGY"):
            coherence.topology(6)


def test_members_of_structures_inside_a_structure_have_their_path():
    size, members = symbols.members(PAHOLE)
    assert size == 128
    assert members == [
        (0, "__lock.val.counter"),
        (0, "__lock.locked"),
        (64, "cfs.func"),
        (72, "cfs.flags"),
        (80, "cfs.parts"),
    ]


def test_functions_are_where_most_of_a_section_says():
    section = [(0, 16, "one"), (16, 8, "helper"), (32, 8, "two")]
    addresses = {"one": [0x1000], "two": [0x1020], "helper": [0x500, 0x1010, 0x9000]}
    assert symbols.placed(section, addresses) == [
        ("one", 0x1000, 0x1010),
        ("helper", 0x1010, 0x1018),
        ("two", 0x1020, 0x1028),
    ]
    assert symbols.placed(section, {}) == []


def test_figures_are_a_unit_of_work_and_a_switch(tmp_path):
    out = tmp_path / "out"
    out.write_text(OUT)
    rows, tables = coherence.read(out, "watched x 4\nwatched y 1\n", FakeKernel())
    assert rows["x-lines"] == 31 / 4 and rows["x-reads"] == 16 / 4 and rows["x-writes"] == 15 / 4
    assert rows["x-far"] == 16 / 4 and rows["x-lines-switch"] == 3.1
    assert rows["x-instructions"] == 66 and rows["x-migrations"] == 600 and rows["x-migrations-far"] == 300
    assert rows["x-irqs-off"] == 4 and rows["x-irqs-off-all"] == 0.6
    assert rows["x-locks"] == 0.5 and rows["x-lock-busy"] == 5
    assert rows["x-estimate"] == pytest.approx((660 / 1.5 + 15 * 100 + 7 * 300 + 9 * 600) / 3 / 4)
    assert tables["x"]["functions"] == [["schedule", 0.6, 1.5], ["vrq_pick", 1, 0]]
    assert tables["x"]["data"] == [["rq+0x0", 0.6, 1.5], ["task_struct.on_cpu", 1, 0]]
    assert "y" not in tables  # it had no end


def test_a_watch_without_an_end_leaves_its_rows_out(tmp_path):
    assert coherence.read(tmp_path / "none", "watched x 4\n", FakeKernel()) == ({}, {})


def test_tables_are_in_the_report():
    kernels = runner.parse_kernels("", "bzImage")
    tables = {"many": {"functions": [["try_to_wake_up", 1, 2]], "locks": []}}
    outcomes = [
        runner.Outcome("coherence-hackbench", name, 0, {"many-lines": lines}, {}, "", tables=tables)
        for name, lines in (("fair", 2.0), ("vrq", 1.0))
    ]
    facts = {"date": "", "commit": "", "machine": {}, "passes": 1, "minutes": 1.0}
    content = report.gather(outcomes, kernels, Setting("coherence", 16), facts)
    text = report.markdown(content)
    assert "| `try_to_wake_up` | 1.00 + 2.00 | 1.00 + 2.00 |" in text
    assert "(0.50) | 0.5 | ✓" in text


def test_an_image_without_its_build_is_told(tmp_path):
    with pytest.raises(Failure, match=r"no System\.map"):
        symbols.Kernel(tmp_path / "bzImage")


@pytest.mark.parametrize("help, version, cause", [("-accel", "10.0", "plugins"), ("-plugin", "9.2", "QEMU 10")])
def test_an_emulator_that_cannot_do_it_is_told(monkeypatch, help, version, cause):
    texts = {"--help": help, "--version": f"QEMU emulator version {version}"}
    monkeypatch.setattr(coherence, "run", lambda _, option: texts[option])
    with pytest.raises(Failure, match=cause):
        coherence.check_emulator.__wrapped__()


def test_a_missing_compiler_is_told(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(Failure, match="gcc is missing"):
        coherence.build()


@guests
def test_a_guest_is_watched_and_does_the_same_each_time(monkeypatch):
    runner.build_programs()
    coherence.build()
    script = 'watched made 100 "$BIN/pairs" 1 100\n'
    rows = watch_rows("made", "made up", "a round")
    monkeypatch.setitem(WORKLOADS, "made-up", Workload("made up", lambda setting: script, rows, modes=("coherence",)))
    kernel = runner.Kernel("vrq", str(image_path()), "sched=vrq")
    first, second = (runner.measure("made-up", kernel, 0, Setting("coherence", 2)) for _ in range(2))
    assert first.failure == ""
    assert first.rows == second.rows
    assert first.rows["made-switches"] > 100
    assert 0 < first.rows["made-lines"] < 1000
    assert first.rows["made-irqs-off"] < 1000
    assert any(name.startswith("vrq_") for name, *_ in first.tables["made"]["instructions"])
