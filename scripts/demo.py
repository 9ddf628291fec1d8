#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Boot the guest twice, under fair and under vrq, with the same short load.

The load: a parallel compile, hackbench, and a task that wakes up every 10 ms
beside them. The table shows how long each took. One run in the emulator's
parallel mode scatters by 10 to 20%: a look, not a measurement.

Usage: demo.py
"""

import re
import sys

import guest
from common import TOP, TREE, Failure, main_wrapper, say

SOURCES = TOP / "tests/guest"
LOAD = f"""
cd {SOURCES}
echo "active $(cat /sys/kernel/sched/active)"
now() {{ cut -d' ' -f1 /proc/uptime; }}
switches() {{ sed -n 's/^ctxt //p' /proc/stat; }}
cyclictest -q -t 1 -p 0 -i 10000 -D 1000 > /tmp/cyclictest 2>&1 &
cyclic=$!
before=$(switches)
start=$(now)
for source in forks.c yield.c policy.c affinity.c; do
        gcc -O1 -D_GNU_SOURCE -I {TREE.resolve()}/tools/testing/selftests -c -o /tmp/$source.o $source &
        jobs="$jobs $!"
done
failed=0
for job in $jobs; do wait $job || failed=1; done
echo "compile $start $(now) $failed"
for round in 1 2; do
        hackbench --pipe --groups 4 --loops 50 > /tmp/hackbench || failed=1
        sed -n 's/^Time: /hackbench /p' /tmp/hackbench
done
echo "switches $before $(switches)"
kill -INT $cyclic
wait $cyclic
sed -n 's/.*Avg: *\\([0-9]*\\) Max: *\\([0-9]*\\).*/periodic \\1 \\2/p' /tmp/cyclictest
exit $failed
"""


def look(sched):
    """Run the load under a scheduler; the figures by name."""
    say(f"run: booting 4 CPUs with sched={sched} (half a minute)")
    result = guest.run_in_guest(LOAD, append=f"sched={sched}", timeout=400, name=f"demo-{sched}")
    if result.status is None or result.trouble():
        raise Failure(f"the guest failed, see {result.log}: {(result.trouble() or ['no result'])[0]}")

    def numbers(key):
        return [[float(n) for n in line.split()] for line in re.findall(rf"^{key} (.*)$", result.output, re.M)]

    try:
        ((start, end, failed),) = numbers("compile")
        ((before, after),) = numbers("switches")
        ((average, longest),) = numbers("periodic")
        hackbench = [row[0] for row in numbers("hackbench")]
        active = re.search(r"^active (\w+)$", result.output, re.M)[1]
    except (ValueError, TypeError):
        raise Failure(f"the load did not come to its end: {result.output[-200:]!r}, see {result.log}") from None
    if failed or result.status:
        raise Failure(f"a program of the load failed, see {result.log.parent}/output")
    return {
        "active scheduler": active,
        "compile, 4 jobs": f"{end - start:.1f} s",
        "hackbench, 4 groups": f"{min(hackbench):.2f} s",
        "10 ms task beside them, average delay": f"{average / 1000:.2f} ms",
        "10 ms task beside them, longest delay": f"{longest / 1000:.1f} ms",
        "context switches": f"{after - before:.0f}",
    }


def main():
    columns = [look(sched) for sched in ("fair", "vrq")]
    width = max(map(len, columns[0]))
    print()
    for name in columns[0]:
        print(f"  {name:{width}}  " + "  ".join(f"{column[name]:>10}" for column in columns))
    print()
    print("  The same image, booted twice. To look around in it: make shell")


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main_wrapper(main)
