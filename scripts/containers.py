# SPDX-License-Identifier: GPL-2.0-only
"""A real container runtime, and what systemd writes for a unit with limits.

crun starts a container with cpu.shares, a quota and a set of CPUs from its
configuration; then the writes of "systemd-run --scope -p CPUQuota=30%
-p CPUWeight=50" follow in systemd's order. In virtual time, where use of the
CPU can be compared with a limit to the percent.
"""

import json
import re

import guest

GROUPS = "/sys/fs/cgroup"
CONTAINER = f"{GROUPS}/pod/one"
SCOPE = f"{GROUPS}/system.slice/run-u1.scope"
HOG = "while :; do :; done"

CONFIGURATION = {
    "ociVersion": "1.0.0",
    "process": {
        "user": {"uid": 0, "gid": 0},
        "args": ["sh", "-c", " & ".join([HOG] * 4)],
        "env": ["PATH=/usr/bin:/bin"],
        "cwd": "/",
    },
    "root": {"path": "rootfs"},
    "mounts": [
        {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]},
        {"destination": "/proc", "type": "proc", "source": "proc"},
    ],
    "linux": {
        "cgroupsPath": "/pod/one",
        "namespaces": [{"type": "mount"}, {"type": "pid"}],
        "resources": {"cpu": {"shares": 512, "quota": 50000, "period": 100000, "cpus": "1-2"}},
    },
}

# Two samples of a group, "name uptime usage": over three seconds, for they may begin and end
# anywhere in a period of 100 ms, and that is one quota more or less. By the shell itself: a
# program comes from the host's file system, and to start one takes 30 to 100 ms of the guest's
# time
MEASURE = """sample() { read -r up idle < /proc/uptime; read -r key usage < $1/cpu.stat; echo "$2 $up $usage"; }
measure() { sleep 0.3; sample $1 "$2"; sleep 3; sample $1 "$2"; }
"""

SCRIPT = f"""
mkdir -p /tmp/bundle/rootfs && cd /tmp/bundle/rootfs
mkdir usr proc dev sys tmp && ln -s usr/bin usr/lib usr/lib64 . && cd ..
cat > config.json << 'END'
{json.dumps(CONFIGURATION)}
END
mountpoint -q {GROUPS} || mount -t cgroup2 none {GROUPS}
mount -t tmpfs none /run
crun --cgroup-manager=cgroupfs run -d one < /dev/null && echo crun started
echo "crun weight $(cat {CONTAINER}/cpu.weight)"
echo "crun max $(cat {CONTAINER}/cpu.max)"
echo "crun cpus $(cat {CONTAINER}/cpuset.cpus.effective)"
measure {CONTAINER} 'crun used'
crun --cgroup-manager=cgroupfs update --cpu-quota 120000 one && measure {CONTAINER} 'crun updated'
crun --cgroup-manager=cgroupfs delete --force one && sleep 0.2 && [ ! -e {CONTAINER} ] && echo crun deleted

echo +cpu > {GROUPS}/cgroup.subtree_control
mkdir -p {GROUPS}/system.slice && echo +cpu > {GROUPS}/system.slice/cgroup.subtree_control && mkdir -p {SCOPE}
echo 0 > {SCOPE}/cpu.idle && echo 50 > {SCOPE}/cpu.weight && echo '30000 100000' > {SCOPE}/cpu.max
for i in 1 2 3 4; do sh -c '{HOG}' & echo $! > {SCOPE}/cgroup.procs; done
measure {SCOPE} 'systemd used'
echo 1 > {SCOPE}/cgroup.kill
"""


def used_in_a_second(said, what):
    """CPU time between two samples, in ms a second; 0 without them."""
    samples = re.findall(f"^{what} ([\\d.]+) (\\d+)$", said, re.M)
    if len(samples) != 2:
        return 0
    (begin, before), (end, after) = samples
    return (int(after) - int(before)) / 1000 / (float(end) - float(begin))


def containers(count):
    """The limits of a container and of a unit hold, under both schedulers."""
    for sched in ("fair", "vrq"):
        result = guest.run_in_guest(
            MEASURE + SCRIPT, mode="virtual", append=f"sched={sched}", timeout=600, name=f"containers-{sched}"
        )
        said, name = result.output, f"containers under {sched}"
        for line in ("crun started", "crun weight 20", "crun max 50000 100000", "crun cpus 1-2", "crun deleted"):
            count.ok(re.search(f"^{line}$", said, re.M), f"{name}: no '{line}' in {said[-300:]}")
        for what, limit in (("crun used", 500), ("crun updated", 1200), ("systemd used", 300)):
            used = used_in_a_second(said, what)
            count.ok(abs(used - limit) <= limit * 0.05, f"{name}: {what} {used:.0f} ms of {limit}")
        count.clean_log(name, result)
