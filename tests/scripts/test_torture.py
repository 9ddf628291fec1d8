# SPDX-License-Identifier: GPL-2.0-only
"""scripts/torture.py: what of a guest's log is a fault, and what a round depends on."""

import pytest

import torture
from common import TOP

SWITCH = "[{}] sched: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE are scheduled by {}; all CPUs were stopped for 9 us\n"
STALL = """\
[  158.089048] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
[  158.089108] rcu: \tTasks blocked on level-0 rcu_node (CPUs 0-3): P1796/1:b..l
[  158.089498] rcu: \t(detected by 1, t=35002 jiffies, g=5229, q=14923 ncpus=2)
"""
EXPEDITED = (
    "[  158.353256] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { P1561 } 35002 jiffies s: 5\n"
)


def stalls(*switches, stall=STALL):
    log = "".join(SWITCH.format(*switch) for switch in switches) + stall
    return torture.stalls_under_fair(log)


def test_a_stall_that_began_under_fair_is_mainlines():
    assert stalls(("   90.1", "vrq"), ("  123.0", "fair")) == [STALL.splitlines()[0]]


def test_so_is_one_of_an_expedited_grace_period():
    assert stalls(("   90.1", "vrq"), ("  123.0", "fair"), stall=EXPEDITED) == [EXPEDITED.strip()]
    assert stalls(("   90.1", "vrq"), ("  123.4", "fair"), stall=EXPEDITED) == []


def test_a_stall_that_began_under_vrq_is_not():
    assert stalls(("   90.1", "vrq"), ("  123.2", "fair")) == []


def test_a_stall_under_vrq_is_not():
    assert stalls(("   90.1", "fair"), ("  123.0", "vrq")) == []
    assert stalls() == []


@pytest.mark.parametrize("part", ["storms", "rcu", "locks", "rt"])
def test_a_round_does_not_depend_on_where_the_repository_is(part):
    made = torture.draw(3, part, "virtual", 4, ["yield", "nice", "switch", "bombs", "hotplug"])
    assert str(TOP) not in torture.script(made, 20)
    assert torture.script(made, 20).endswith("\n. /torture/round.sh\n")
