#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Let the guest suffer for a long time, and see that nothing gives way.

stress-ng's scheduler and cpu classes, hackbench and a compile run together
under sched=vrq: 30 minutes on 4 CPUs in parallel mode, then 10 minutes (of the
host's time) on 16 CPUs in virtual time. No warning in the log, no stalled task,
no failed job. MINUTES= shortens the first part, VIRTUAL_MINUTES= the second. The CPUs
are one domain, or with DOMAINS=N as many. With SWITCH=N the scheduler is changed each
N ms meanwhile.

The last part, quiet, takes 5 minutes: tasks wait for long, the host stops the guest and
a CPU of it, and VRQ's watchdog takes nobody for stuck, see tests/guest/quiet.c.

Usage: soak.py [parallel] [virtual] [quiet]
"""

import os
import sys
import threading
import time

import guest
import quiet
from common import TOP, TREE, Failure, main_wrapper, number, say
from kernel import check_image, check_static_keys, image_path

# Stressors that are about something else: real-time hogs meant to lock up the
# machine, CPU hotplug, hardware watchdogs, the network; and system management
# interrupts, which stress-ng refuses without --pathological
EXCLUDED = "softlockup|smi|cpu-online|watchdog|netdev|netlink-proc|netlink-task|sctp|dccp|ping-sock"

LOAD = """
cd /tmp  # the root is read-only
end={end}
now() {{ date +%s; }}
jobs_loop() {{
        name=$1; shift
        rounds=0
        while [ $(now) -lt $end ]; do
                "$@" > /tmp/$name.out 2>&1
                code=$?
                [ $code = 0 ] || {{ echo "FAILED $name: status $code: $(tail -n 3 /tmp/$name.out | tr '\\n' ' ')"; }}
                rounds=$((rounds + 1))
        done
        echo "$name: $rounds rounds"
}}
compile() {{
        pids=
        for source in {sources}/*.c; do
                gcc -O1 -D_GNU_SOURCE -I {headers} -c -o /tmp/$(basename $source).o $source &
                pids="$pids $!"
        done
        failed=0
        for pid in $pids; do wait $pid || failed=1; done
        return $failed
}}
# The next stressor of a class, in an order by chance
stress() {{
        stressor=$(sed -n "$((rounds % $(wc -l < /tmp/$1.list) + 1))p" /tmp/$1.list)
        stress-ng --$stressor {instances} --timeout 2s --oomable --no-rand-seed
        code=$?
        # 3, 4: a stressor wants what this kernel or machine does not have; 2: it failed, but
        # the children of resched may count on when their sum has been taken, under fair too
        case $code in
        3|4) code=0;;
        2) grep fail: /tmp/$name.out | grep -qv -e 'resched instance' -e metrics-check: || code=0;;
        esac
        return $code
}}
for class in scheduler cpu; do
        stress-ng --class "$class?" | sed 's/.*: //' | tr ' ' '\\n' | grep -vwE '{excluded}' | shuf > /tmp/$class.list
done
# To the fair class and back; a host that stops a CPU for seconds is answered by EBUSY
switch_over() {{
        chrt --fifo -p 10 $(sh -c 'echo $PPID')
        count=0
        while [ $(now) -lt $end ]; do
                for name in fair vrq; do
                        sleep {pause}
                        echo $name > /sys/kernel/sched/active || echo "FAILED switch to $name"
                        count=$((count + 1))
                done
                [ $((count % 100)) = 0 ] && echo "switches: $count"
        done
        echo "switches: $count"
}}
[ {pause} = 0 ] || switch_over &
jobs_loop hackbench hackbench --pipe --groups 4 --loops {loops} &
jobs_loop sockets hackbench --threads --groups 2 --loops {loops} &
jobs_loop compile compile &
jobs_loop scheduler stress scheduler &
jobs_loop cpu stress cpu &
# What has not come to its end two minutes later is told before the guest is killed
late() {{
        sleep $((end + 120 - $(now)))
        echo "late:"
        chrt --fifo 10 ps --deselect -p 2 --ppid 2 -o pid,psr,stat,etimes,times,wchan:20,args
}}
late &
watcher=$!
wait $(jobs -p | grep -vx $watcher)
kill $watcher 2> /dev/null
# Memory that nothing points to any more, where the kernel looks for that: it takes two scans,
# and leaves out what is younger than 5 s
leaks=/sys/kernel/debug/kmemleak
if [ -e $leaks ]; then
        sleep 6
        echo scan > $leaks
        echo scan > $leaks
        head -n 100 $leaks
        echo "leaks looked for"
fi
echo "soaked"
"""


def tell(stop, name, seconds):
    """A line of progress each minute."""
    start = time.monotonic()
    while not stop.wait(60):
        say(f"soak: {name}: {(time.monotonic() - start) / 60:.0f} of {seconds / 60:.0f} minutes")


def soak(name, mode, cpus, seconds, loops):
    """One soak; what went wrong, as a list of lines."""
    seconds = int(seconds)
    say(f"soak: {name}: {cpus} CPUs, {mode} mode, {seconds / 60:.0f} minutes")
    domains = number("DOMAINS", 1)
    if cpus % domains:
        raise Failure(f"DOMAINS={domains} does not divide {cpus} CPUs")
    load = LOAD.format(
        # in virtual time the guest's clock does not tell the host's
        end=f"$(($(date +%s) + {seconds if mode == 'parallel' else 36000}))",
        sources=TOP / "tests/guest",
        headers=TREE.resolve() / "tools/testing/selftests",
        excluded=EXCLUDED,
        instances=cpus,
        loops=loops,
        pause=number("SWITCH", 1) / 1000 if os.environ.get("SWITCH") else 0,
    )
    stop = threading.Event()
    threading.Thread(target=tell, args=(stop, name, seconds), daemon=True).start()
    # the last round of each job may take long to end
    patience = 900 if mode == "parallel" else 0
    append = f"sched=vrq sched_vrq_domain={cpus // domains}"
    result = guest.run_in_guest(
        load, mode=mode, cpus=cpus, append=append, timeout=seconds + patience, name=f"soak-{name}", memory="6G"
    )
    stop.set()
    print(result.output)
    wrong = result.trouble() + [line for line in result.output.splitlines() if "FAILED" in line]
    if mode == "parallel" and "soaked" not in result.output:
        wrong.append(f"the guest did not come to its end, see {result.log}")
    if mode == "virtual" and not result.timed_out:
        wrong.append(f"the guest ended early, see {result.log}")
    say(f"soak: {name}: {len(wrong)} faults in {result.seconds / 60:.0f} minutes, log {result.log}")
    return wrong


def soak_quietly():
    """The part in which nobody is stuck; what went wrong."""
    say(f"soak: quiet: 4 CPUs, parallel mode, {quiet.TASKS} tasks")
    result, wrong = quiet.quiet()
    print(result.output)
    say(f"soak: quiet: {len(wrong)} faults in {result.seconds / 60:.0f} minutes, log {result.log}")
    return wrong


def main():
    if os.environ.get("SWITCH"):
        check_image(image_path())
        check_static_keys("parallel")
    minutes = number("MINUTES", 30)
    virtual_minutes = number("VIRTUAL_MINUTES", 10)
    parts = {
        "parallel": lambda: soak("parallel", "parallel", 4, minutes * 60, 50),
        "virtual": lambda: soak("virtual", "virtual", 16, virtual_minutes * 60, 20),
        "quiet": soak_quietly,
    }
    wrong = []
    for name in sys.argv[1:] or parts:
        if name not in parts:
            raise Failure(f"no part named {name}; there are {' and '.join(parts)}")
        wrong += parts[name]()
    for line in wrong:
        print(f"FAILED {line}")
    return bool(wrong)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
