# SPDX-License-Identifier: GPL-2.0-only
"""waits.py finds what breaks the rules, and nothing else."""

import waits

FORMAT = "             hog-1       [{cpu:03}] d..2.  {time:12.6f}: {event}"


def trace(*events):
    """The text of a trace: (ms, CPU, event)."""
    return [FORMAT.format(time=ms / 1000, cpu=cpu, event=event) for ms, cpu, event in events]


def enqueue(pid, place, deadline, cpus="f", home=0, domain=0):
    return (
        f"sched_vrq_enqueue: comm=a b pid={pid} home={home} domain={domain} place={place} level=0 "
        f"deadline={deadline} cpus={cpus}"
    )


def pick(pid, reason, deadline=0, missed=0, domain=0):
    return (
        f"sched_vrq_pick: comm=a b pid={pid} domain={domain} reason={reason} missed={missed} level=0 "
        f"deadline={deadline}"
    )


def switch(pid):
    return (
        f"sched_switch: prev_comm=x prev_pid=9 prev_prio=120 prev_state=R ==> next_comm=p{pid} next_pid={pid} "
        "next_prio=120"
    )


def replay(*events):
    return waits.Replay().run(trace(*events))


def test_a_wait_is_counted_from_its_first_place():
    done = replay((1, 0, enqueue(5, "queue", 10)), (4, 0, enqueue(5, "shared", 10)), (9, 1, pick(5, "pulled", 10))).done
    assert [(wait.pid, wait.length, wait.cpu) for wait in done] == [(5, 8000, 1)]
    assert [place for _, place in done[0].places] == ["queue", "shared"]


def test_what_ran_meanwhile():
    done = replay(
        (0, 1, switch(7)),
        (1, 0, enqueue(5, "queue", 10)),
        (4, 1, switch(8)),
        (9, 1, pick(5, "stolen", 10)),
        (9, 1, switch(5)),
    )
    assert done.ran_meanwhile(done.done[0]) == [("p8", 5000), ("p7", 3000)]


def test_an_idle_cpu_beside_a_waiting_task_breaks_rule_1():
    events = [(0, 1, switch(0)), (1, 0, enqueue(5, "queue", 10, cpus="2"))]
    assert [breach.rule for breach in replay(*events, (9, 1, pick(5, "stolen", 10))).breaches] == [1]
    assert [breach.rule for breach in replay(*events, (9, 1, switch(7))).breaches] == [1]
    assert not replay(*events, (2, 1, pick(5, "stolen", 10))).breaches


def test_a_cpu_that_finds_a_run_queue_locked_and_looks_again_does_not_idle():
    def looks_at(*times, until):
        events = [(0, 1, switch(0)), (0.5, 0, enqueue(5, "queue", 10, cpus="2"))]
        events += [(time, 1, pick(0, "none", missed=1)) for time in times]
        return replay(*events, (until, 1, pick(5, "stolen", 10))).breaches

    assert not looks_at(1, 2, 3, until=4)
    assert [breach.rule for breach in looks_at(3, until=4)] == [1]
    assert [breach.rule for breach in looks_at(1, until=4)] == [1]
    # but not for ever
    assert not looks_at(*range(1, 12), until=12)
    assert [breach.rule for breach in looks_at(*range(1, 14), until=13.5)] == [1]


def test_an_idle_cpu_that_runs_softirqs_does_not_idle():
    def softirq(entry, end, until):
        events = [(0, 1, switch(0)), (0.5, 0, enqueue(5, "queue", 10, cpus="2"))]
        events += [(entry, 1, "softirq_entry: vec=9 [action=RCU]"), (end, 1, "softirq_exit: vec=9 [action=RCU]")]
        return replay(*events, (until, 1, pick(5, "stolen", 10))).breaches

    assert not softirq(1, 3, until=4)
    assert [breach.rule for breach in softirq(3, 4, until=5)] == [1]
    assert [breach.rule for breach in softirq(1, 3, until=5)] == [1]


def test_a_cpu_may_idle_beside_a_task_that_may_not_run_there():
    events = [(0, 1, switch(0)), (1, 0, enqueue(5, "pinned", 10, cpus="00000000,00000001"))]
    assert not replay(*events, (9, 0, pick(5, "pinned", 10))).breaches


def test_who_is_passed_over_in_a_shared_queue_breaks_rule_2():
    def passed_over(**how):
        events = [(1, 0, enqueue(5, "shared", how.get("deadline", 10), cpus=how.get("cpus", "f")))]
        events += [(how.get("at", 5), 1, pick(6, "queue", 20, how.get("missed", 0)))]
        return replay(*events, (how.get("until", 9), 0, pick(5, "shared", 10))).breaches

    assert [breach.rule for breach in passed_over()] == [2]
    assert not passed_over(deadline=30)
    assert not passed_over(cpus="1")
    assert not passed_over(missed=1)
    assert not passed_over(at=1.5)
    assert not passed_over(until=5.5)


def test_nothing_picked_beside_a_shared_queue_breaks_rule_2():
    events = [(1, 0, enqueue(5, "shared", 10)), (5, 1, pick(0, "none")), (9, 0, pick(5, "shared", 10))]
    assert [breach.rule for breach in replay(*events).breaches] == [2]


def test_who_was_taken_away_does_not_wait():
    events = [(1, 0, enqueue(5, "shared", 10)), (2, 0, "sched_vrq_dequeue: comm=a pid=5"), (5, 1, pick(6, "queue", 20))]
    assert not replay(*events).breaches


def test_a_trace_that_has_lost_events_is_refused():
    try:
        waits.Replay().run(["# entries-in-buffer/entries-written: 10/12   #P:4"])
    except waits.Failure as error:
        assert "lost 2 events" in str(error)
    else:
        raise AssertionError("accepted")


def test_who_is_much_later_in_another_domain_breaks_rule_3():
    late = enqueue(5, "shared", 10)
    for ms, deadline, broken in ((300, 2_000_000_000, [3]), (300, 10_000_000, []), (100, 2_000_000_000, [])):
        far = pick(6, "queue", deadline=deadline, domain=2)
        breaches = replay((1, 0, late), (ms, 2, far), (ms + 10, 2, switch(6))).breaches
        assert [breach.rule for breach in breaches] == broken
