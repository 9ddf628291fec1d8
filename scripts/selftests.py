# SPDX-License-Identifier: GPL-2.0-only
"""Mainline's own selftests under sched=vrq, with sched=fair as the reference of what fails.

VRQ may fail none that fair passes, except those that
tests/selftests-exceptions.toml names with a reason.
"""

import re
import tomllib

import guest
from common import BUILD, TOP, TREE, run, say
from kernel import environment, make, object_directory
from tap import tap_lines

WHERE = BUILD / "tests/selftests"
SOURCE = TREE / "tools/testing/selftests"
EXCEPTIONS = TOP / "tests/selftests-exceptions.toml"
DIRECTORIES = ["cgroup", "futex/functional", "membarrier", "rseq", "sched"]
# Two threads a core, so that core scheduling has something to schedule
TOPOLOGY = "4,sockets=1,cores=2,threads=2"

# In virtual time, which a busy host does not disturb: those that compare CPU
# time with the clock to 1%, and those that give ten threads 10 ms to begin to
# wait. Beside three busy guests 132 of 300 runs of futex_requeue failed under
# sched=fair and 92 under sched=vrq; in virtual time, under vrq, none of 300 did.
TIMED = [
    "cgroup/test_cpu",
    "cgroup/test_freezer",
    "futex/functional/futex_requeue",
    "futex/functional/futex_wait",
    "futex/functional/futex_waitv",
]
PROGRAMS = [
    "cgroup/test_core",
    "cgroup/test_cpuset",
    "cgroup/test_kill",
    "futex/functional/futex_requeue_pi",
    "futex/functional/futex_requeue_pi -b -l -t 500000",
    "futex/functional/futex_requeue_pi_mismatched_ops",
    "futex/functional/futex_requeue_pi_signal_restart",
    "futex/functional/futex_wait_private_mapped_file",
    "futex/functional/futex_wait_timeout",
    "futex/functional/futex_wait_uninitialized_heap",
    "futex/functional/futex_wait_wouldblock",
    "membarrier/membarrier_test_multi_thread",
    "membarrier/membarrier_test_single_thread",
    "rseq/basic_test",
    "rseq/basic_percpu_ops_mm_cid_test",
    "rseq/param_test -T m -r 200 -t 8",
    "sched/cs_prctl_test",
]
# Tests that look whether a task is frozen or stopped again right after they have woken
# it: 10 of 40 runs of test_freezer failed under sched=fair, and 10 under sched=vrq. Or right
# after any change of cgroup.events (test_cgfreezer_tree): a bound kworker tells that a group is
# populated, and if the test begins to watch before that, it takes it for "frozen"
RACES = [
    "cgroup/test_freezer",
    "cgroup/test_freezer: test_cgfreezer_migrate",
    "cgroup/test_freezer: test_cgfreezer_ptrace",
    "cgroup/test_freezer: test_cgfreezer_stopped",
    "cgroup/test_freezer: test_cgfreezer_tree",
    "cgroup/test_freezer: test_cgfreezer_vfork",
]
# What tap_lines() calls them
RESULTS = {"ok": "passed", "not ok": "failed", "skip": "skipped"}
# From the source tree, as shell scripts are not built
SCRIPTS = ["cpu-hotplug/cpu-on-off-test.sh"]
# What runs in each mode: programs, scripts
RUNS = {"virtual": (TIMED, []), "parallel": (PROGRAMS, SCRIPTS)}


def build():
    """Build the programs against the headers of our kernel."""
    objects = object_directory()
    run(*make(objects, "headers"), env=environment())
    for directory in DIRECTORIES:
        (WHERE / directory).mkdir(parents=True, exist_ok=True)
        run(
            "make",
            "-s",
            "-C",
            (SOURCE / directory).resolve(),
            f"OUTPUT={WHERE / directory}",
            f"KHDR_INCLUDES=-isystem {objects}/usr/include",
            f"top_srcdir={TREE.resolve()}",
        )


def script(programs, scripts):
    """A shell script that runs them, and tells where each begins."""
    lines = [
        "cd /tmp",  # where they may write
        "export LD_LIBRARY_PATH=" + str(WHERE / "rseq"),
        "mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup",
        'for c in cpu cpuset memory; do echo "+$c" > /sys/fs/cgroup/cgroup.subtree_control; done',
    ]
    commands = [(program, WHERE / program.split()[0], program.split()[1:]) for program in programs]
    commands += [(name, SOURCE.resolve() / name, []) for name in scripts]
    for name, path, arguments in commands:
        lines += [
            f"echo '# program {name}'",
            f"timeout -s KILL 300 {path} {' '.join(arguments)} 2>&1",
            "printf '\\n# status %s\\n' $?",
        ]
    return "\n".join(lines)


def outcomes(output):
    """What each program and each of its TAP tests came to."""
    found = {}
    parts = re.split(r"^# program (.*)\n", output, flags=re.M)[1:]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        status = re.search(r"^# status (\d+)", text, re.M)
        code = int(status[1]) if status else None
        found[name] = {0: "passed", 4: "skipped", None: "no end"}.get(code, "failed")
        for result, what in tap_lines(text):
            found[f"{name}: {what.split('# SKIP')[0].strip()}"] = RESULTS[result]
    return found


def boot(sched, mode, programs, scripts, count):
    """Boot and run them; the outcomes."""
    result = guest.run_in_guest(
        script(programs, scripts),
        mode=mode,
        smp=TOPOLOGY,
        append=f"sched={sched}",
        timeout=1500,
        name=f"selftests-{sched}-{mode}",
    )
    what = f"selftests under {sched}, {mode}"
    count.clean_log(what, result)
    count.ok(result.status is not None, f"{what}: came to their end, see {result.log}")
    found = outcomes(result.output)
    for name in programs + scripts:
        count.ok(name in found, f"{what}: {name} ran, see {result.log}")
    summary = ", ".join(f"{list(found.values()).count(key)} {key}" for key in sorted(set(found.values())))
    say(f"{what}: {summary}, {result.seconds:.0f} s")
    return found


def judge(ours, reference, exceptions, count):
    """Count as failed what VRQ does not pass, and fair does; the reference has what VRQ did not pass."""
    for name in {**reference, **ours}:
        outcome = ours.get(name)
        if name in exceptions:
            count.skipped += 1
            count.ok(outcome != "passed", f"selftest {name} passes: take it off the list of exceptions")
        elif outcome == "passed":
            count.ok(True, name)
        elif name in RACES or reference.get(name) != "passed":
            count.skipped += 1
        else:
            count.ok(False, f"selftest {name}: passes under fair, {outcome} under vrq")


def compare(mode, count):
    """Run those of a mode under vrq, and under fair the programs that did not pass in all they test."""
    say("selftests: building")
    build()
    exceptions = tomllib.loads(EXCEPTIONS.read_text())
    runs = RUNS[mode]
    ours = boot("vrq", mode, *runs, count)
    settled = {*RACES, *exceptions, *(name for name, outcome in ours.items() if outcome == "passed")}
    open_programs = {name.split(": ")[0] for name in ours if name not in settled}
    again = [[name for name in names if name in open_programs] for names in runs]
    reference = boot("fair", mode, *again, count) if any(again) else {}
    judge(ours, reference, exceptions, count)
