# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/report.sh takes from a kernel's log, and what it leaves out."""

import os
import subprocess

import pytest

from common import TOP

LOG = """\
[    0.000000] Command line: root=UUID=0b3c secret=1
[    0.100000] sched: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE are scheduled by vrq
[    3.000000] eth0: address 52:54:00:12:34:56
[   61.000000] sched: vrq: make[1234] could run, and has not been run for 30012 ms:
[   61.000001] task:make            state:R  running task     stack:0     pid:1234  tgid:1234  ppid:1      flags:0x4000
[   61.000002] Call Trace:
[   61.000003]  <TASK>
[   61.000004]  __schedule+0x3d9/0x1a40
[   61.000005]  ? their_driver+0x1/0x2 [theirs]
[   61.000006] usb 1-1: SerialNumber: S3CR3T
[   61.000007] sched: vrq: falling back to fair: a task was not run
[   70.000000][  T77] INFO: task browser of bob:99 blocked for more than 122 seconds.
[   71.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [browser of bob:99]
[   71.000001] CPU: 1 UID: 1234 PID: 99 Comm: browser of bob Not tainted 6.12.107-vrq #1
[   71.000002] Hardware name: Maker Model-77
[   71.000003] RIP: 0033:0x7f0000000000
[   71.000004] CPU: 0 UID: 0 PID: 7 Comm: kworker/0:1 Tainted: G        W  6.12.107-vrq
[   71.000005] CPU: 0 UID: 0 PID: 7 Comm: (browser of bob)
[   72.000000] WARNING: CPU: 3 PID: 5 at /home/plantedname/linux/kernel/sched/core.c:1 x+0x1/0x2
[   73.000000] BUG: scheduling while atomic: browser/5/0x00000002
[   74.000000] sched: cannot switch to plantedhost.vrq: -16 plantedname plantedname
[   75.000000] audit: exe="/home/plantedname/a.out"
"""

# parts of LOG that must be left out
SECRETS = ("secret", "bob", "browser", "52:54", "S3CR3T", "Model-77", "0033", "1234 PID", "planted", "/home", "exe=")


def report(tmp_path, log=LOG, **environment):
    """The script on this machine, with such a log, host name and user."""
    tools = {
        "dmesg": f"cat <<'END'\n{log}END" if log else "exit 1",
        "journalctl": "exit 1",
        "uname": 'case $1 in -n) echo plantedhost.example.org ;; *) exec /usr/bin/uname "$@" ;; esac',
    }
    for name, text in tools.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["sh", TOP / "scripts/report.sh", "out"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "LOGNAME": "plantedname", **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert "out is written. Please read it" in done.stdout
    text = (tmp_path / "out").read_text()
    assert text.endswith("== End\n")
    return text


def log_of(text):
    return text.split("== Log of this boot\n")[1].split("\n== ")[0]


@pytest.mark.parametrize(
    "line",
    [
        "are scheduled by vrq",
        "sched: vrq: make[1234] could run",
        "task:(a process) state:R  running task",
        "  __schedule+0x3d9/0x1a40",
        "INFO: task (a process):99 blocked",
        "stuck for 22s! [(a process):99]",
        "CPU: 1 PID: 99 Comm: (a process) Not tainted 6.12.107-vrq",
        "Comm: kworker/0:1 Tainted: G",
        " at kernel/sched/core.c:1",
        "scheduling while atomic: (a process)/0x00000002",
        "cannot switch to (a name).vrq: -16 (a name) (a name)",
    ],
)
def test_the_log_is_that_of_the_scheduler(tmp_path, line):
    assert line in log_of(report(tmp_path))


def test_nothing_personal_is_in_it(tmp_path):
    text = report(tmp_path)
    assert [word for word in SECRETS if word in text] == []


def test_a_log_that_cannot_be_read_is_said(tmp_path):
    assert log_of(report(tmp_path, log="")) == "(not readable; as root it may be)\n"


def test_tools_that_are_missing_are_said(tmp_path):
    (tmp_path / "lscpu").write_text("#!/bin/sh\nexit 127\n")
    (tmp_path / "lscpu").chmod(0o755)
    assert "lscpu: (not there)" in report(tmp_path)


def test_a_file_that_cannot_be_written_is_one_line(tmp_path):
    done = subprocess.run(
        ["sh", TOP / "scripts/report.sh", tmp_path / "no/such"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "report: cannot write" in done.stderr
