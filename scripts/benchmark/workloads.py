# SPDX-License-Identifier: GPL-2.0-only
"""What is measured: the workloads, their scripts, and the rows they fill.

A script is bash, run after tests/bench/prelude.sh in the guest or on this
machine; $BENCH is tests/bench, $BIN where its programs are built.
"""

from collections.abc import Callable
from dataclasses import dataclass

LOADS = (50, 100, 150, 200, 250, 300)
BESIDE = {"nice19": "nice -n 19", "batch": "chrt --batch 0", "normal": ""}


@dataclass(frozen=True)
class Setting:
    """How the suite is run; what a script's sizes depend on."""

    mode: str  # virtual, coherence, parallel, or here: no guest
    cpus: int
    quick: bool = False

    def size(self, amount, steady=1):
        """An amount of work, adapted to how fast the mode is.

        In virtual time chance is all that is left to disturb: where it does,
        STEADY times as much work evens it out.
        """
        return amount * {"virtual": steady, "coherence": 1, "parallel": 2, "here": 20}[self.mode]

    def guest_mode(self):
        """How the emulator runs."""
        return "virtual" if self.mode == "coherence" else self.mode

    def seconds(self, virtual):
        return virtual * (1 if self.mode == "virtual" else 3)

    def share(self, busy):
        """How much of a CPU's speed is left when all CPUs are busy, times busy.

        In virtual time all CPUs together execute one instruction each 2 ns.
        """
        return busy / self.cpus if self.mode == "virtual" else busy


@dataclass(frozen=True)
class Row:
    """A figure: what it is called, its unit, which way is better."""

    title: str
    unit: str
    better: str = "lower"  # lower, higher, or "" for what is told, not judged
    kind: str = "throughput"  # throughput, latency, count
    cpus: int = 1  # there is no such row with fewer


@dataclass(frozen=True)
class Workload:
    """One boot of the guest."""

    title: str
    script: Callable[[Setting], str]
    rows: dict[str, Row]
    needs: tuple[str, ...] = ()
    quick: bool = False
    root: bool = False
    cpus: int = 0  # 0: as many as the setting says
    quick_rows: tuple[str, ...] = ()  # all that --quick measures, if it is not all
    modes: tuple[str, ...] = ("virtual", "parallel", "here")
    turns: bool = False  # CPUs have to take short ones, though no latency is measured
    memory: str = "2G"  # of the guest

    def short_turns(self):
        """In virtual time, do CPUs have to take turns of some microseconds?"""
        return self.turns or any(row.kind == "latency" for row in self.rows.values())

    def expected(self, setting):
        """The rows that a run must fill: those that are judged."""
        names = self.quick_rows if setting.quick and self.quick_rows else self.rows
        return [name for name in names if self.rows[name].better and self.rows[name].cpus <= setting.cpus]


def counted(name, title):
    """The rows that the prelude's counted() adds."""
    return {
        f"{name}-switches": Row(f"{title}: context switches", "", "", "count"),
        f"{name}-interrupts": Row(f"{title}: interrupts", "", "", "count"),
        f"{name}-kicks": Row(f"{title}: interrupts from CPU to CPU", "", "", "count"),
        f"{name}-shared-lock": Row(f"{title}: entries to locks of shared queues per switch", "", "", "count"),
    }


def compile_loads(setting):
    return (100,) if setting.quick else LOADS


def compile_workload(policy, prefix):
    rows = {}
    for load in LOADS:
        rows[f"{load}"] = Row(f"{load}%", "s")
        rows[f"{load}-user"] = Row(f"{load}%, user", "s", "")
        rows[f"{load}-sys"] = Row(f"{load}%, system", "s", "")
        rows |= counted(f"{load}", f"{load}%")

    def script(setting):
        units = setting.size(3 * setting.cpus)
        text = "compile 100 1 > /dev/null\n"  # into the page cache
        for load in compile_loads(setting):
            text += f"""
TIMEFORMAT='row {load} %3R
row {load}-user %3U
row {load}-sys %3S'
timed() {{ time compile {load} {units} {prefix}; }}
counted {load} timed 2>&1
"""
        return text

    needs = ("gcc", "make", "chrt")
    return Workload(f"compile, {policy}", script, rows, needs, quick=policy == "NORMAL", quick_rows=("100",))


def hackbench(kind, tasks):
    rows = {}
    for groups in (1, 4, 10):
        title = f"{groups} group{'s' if groups > 1 else ''}"
        rows[f"{groups}"] = Row(title, "s")
        rows |= counted(f"{groups}", title)
    options = f"{'--pipe' if kind == 'pipe' else ''} {'--threads' if tasks == 'thread' else '--process'}"

    def script(setting):
        text = ""
        for groups in (4,) if setting.quick else (1, 4, 10):
            loops = setting.size(400, 2) // groups
            text += f"""
counted {groups} hackbench {options} --groups {groups} --loops {loops} > hackbench.out
sed -n 's/^Time: /row {groups} /p; /^row /p' hackbench.out
"""
        return text

    title = f"hackbench, {kind}s, {tasks}"
    return Workload(title, script, rows, ("hackbench",), quick=kind == "pipe", quick_rows=("4",))


# Two threads have one address space: a switch between processes costs the emulator all
# translations that it has, some 100 us, on whatever CPUs and under whatever scheduler
PINGPONG = {"pipe": ("processes", ""), "thread": ("threads", "--threaded")}


def pingpong(setting):
    text = ""
    for row, (_, option) in PINGPONG.items():
        text += f"""
counted {row} perf bench sched pipe {option} --loop {setting.size(5000, 4)} > perf.out 2>&1
sed -n 's/^ *\\([0-9.]*\\) usecs\\/op$/row {row} \\1/p; /^row /p' perf.out
"""
    return text


def pingpong_rows():
    rows = {}
    for row, (title, _) in PINGPONG.items():
        rows |= {row: Row(f"{title}, an exchange", "µs")} | counted(row, title)
    return rows


def ring(setting):
    text = ""
    for processes in (2, 8, 16):
        for kib in (0, 16, 64):
            name = f"{processes}p-{kib}K"
            if not setting.quick or name in RING_QUICK:
                rounds = setting.size(2000, 4) // processes
                text += f'"$BIN/ring" {processes} {kib} {rounds} | sed -n "s/switch-us/{name}/p"\n'
    return text


RING_ROWS = {f"{p}p-{k}K": Row(f"{p} processes, {k} KiB", "µs") for p in (2, 8, 16) for k in (0, 16, 64)}
RING_QUICK = ("2p-0K", "16p-16K")


def cyclic_rows():
    rows = {}
    for policy in ("fifo", "other"):
        for figure, title in (("avg", "average"), ("p99", "99%"), ("p999", "99.9%"), ("max", "maximum")):
            rows[f"{policy}-{figure}"] = Row(f"{policy.upper()}, {title}", "µs", kind="latency")
    return rows


def cyclictest(beside, load):
    def script(setting):
        # beyond 16 CPUs, as many wake-ups in all as with 16
        loops = (800 if setting.quick else 3200) * 16 // max(setting.cpus, 16)
        start = f"start {load(setting)}\n" if load else ""
        stop = "stop\n" if load else ""
        return f"""
{start}cyclic {loops} --policy fifo -p 80 -a
{stop}latencies fifo
{start}cyclic {loops} --policy other
{stop}latencies other
"""

    return Workload(
        f"cyclictest, {beside}", script, cyclic_rows(), ("cyclictest",), quick=beside != "beside a compile", root=True
    )


def rps(setting):
    text = ""
    for load in (50, 100, 200):
        share = round(setting.share(load))
        text += f'"$BIN/rps" 2 {2 * setting.cpus} 500 {share} {setting.seconds(2)} | under {load}\n'
    return text


def rps_rows():
    rows = {}
    for load in (50, 100, 200):
        for timed, words in (("wakeup", "wake-up"), ("request", "from request to answer")):
            for figure, title in (("p50", "50%"), ("p99", "99%"), ("p999", "99.9%"), ("max", "maximum")):
                rows[f"{load}-{timed}-{figure}-us"] = Row(f"load {load}%, {words}, {title}", "µs", kind="latency")
        rows[f"{load}-requests-per-s"] = Row(f"load {load}%, requests", "1/s", "higher")
    return rows


def chat(cpus):
    def script(setting):
        # a run of half a second scatters by a third
        rooms, messages = (2, 500) if setting.mode == "virtual" else (5, setting.size(200))
        return f'counted chat "$BIN/chat" {rooms} 10 {messages}\n'

    return Workload(
        f"chat rooms, {cpus} CPU{'s' if cpus > 1 else ''}",
        script,
        {"messages-per-s": Row("messages", "1/s", "higher")} | counted("chat", "chat"),
        cpus=cpus,
    )


def frames(setting):
    work = round(setting.share(8000))
    units = 12 * setting.cpus
    text = f"work=$(\"$BIN/frames\" calibrate {work} | awk '{{ print $3 }}')\n"
    for name, prefix in BESIDE.items():
        text += f"""
start compile 300 {units} {prefix}
"$BIN/frames" 60 {work} {setting.seconds(8)} $work | under {name}
stop
"""
    return text


def frames_rows():
    rows = {}
    for name in BESIDE:
        rows[f"{name}-late"] = Row(f"beside {name}: late frames", "", kind="latency")
        rows[f"{name}-dropped"] = Row(f"beside {name}: dropped frames", "", kind="latency")
        rows[f"{name}-waited"] = Row(f"beside {name}: frames that waited too long", "", kind="latency")
        rows[f"{name}-delay-avg-us"] = Row(f"beside {name}: average delay", "µs", kind="latency")
        rows[f"{name}-delay-max-us"] = Row(f"beside {name}: longest delay", "µs", kind="latency")
    return rows


NAPS_ROWS = {
    "gap-max-us": Row("longest time without a turn", "µs", kind="latency"),
    "turns-per-s": Row("turns", "1/s", "higher"),
    "least-percent": Row("who has the fewest turns, of the mean", "%", "higher", "fairness"),
    "most-percent": Row("who has the most", "%", "lower", "fairness"),
}

DESKTOP = {
    "video": "60 frames a second of 5 ms",
    "audio": "5 ms of sound in 0.3 ms",
    "editor": "keystrokes of 3 ms",
    "browser": "8 threads, bursts of 0.2 to 20 ms",
}


def desktop(setting):
    seconds = setting.seconds(8)
    return f"""
iterations=$("$BIN/desktop" calibrate | awk '{{ print int($3 * {setting.share(100):.0f} / 100) }}')
start compile 200 {8 * setting.cpus}
"$BIN/desktop" {seconds} "$iterations"
stop
"""


def desktop_rows():
    rows = {}
    for name, title in DESKTOP.items():
        for figure, words in (("avg", "average"), ("p99", "99%"), ("max", "longest")):
            rows[f"{name}-{figure}-us"] = Row(f"{name}, {title}: {words} delay", "µs", kind="latency")
    return rows


SHARES = {
    "equal": ("equal hogs, one more than CPUs", 0, lambda cpus: [0] * (cpus + 1)),
    "nice": ("hogs at nice -5 to 10, 5 a CPU", 0, lambda cpus: [0, 5, 0, -5, 10] * cpus),
    "sleepers": ("the same beside sleepers", 2, lambda cpus: [0, 5, 0, -5, 10] * cpus),
}


def shares(setting):
    text = ""
    for name, (_, sleepers, levels) in SHARES.items():
        nice = " ".join(str(level) for level in levels(setting.cpus))
        text += f'"$BIN/shares" 5 {sleepers} {nice} | under {name}\n'
    return text


def shares_rows():
    rows = {}
    for name, (title, _, _) in SHARES.items():
        rows[f"{name}-deviation-1s-percent"] = Row(f"{title}: after 1 s", "%", kind="fairness")
        rows[f"{name}-deviation-percent"] = Row(f"{title}: after 5 s", "%", kind="fairness")
    return rows


# Groups of this name in the root, for what a script starts, see in_group()
CGROUPS = """
cgroups=/sys/fs/cgroup
[ -e $cgroups/cgroup.procs ] || mount -t cgroup2 none $cgroups
echo +cpu > $cgroups/cgroup.subtree_control
in_group()
{
	echo "$BASHPID" > "$cgroups/$1/cgroup.procs"
	"${@:2}"
}
"""

GROUPS_DESKTOP = {
    "frames-late": ("frames of 5 ms: late", ""),
    "frames-dropped": ("frames of 5 ms: dropped", ""),
    "video-p99-us": ("a second video: 99% delay", "µs"),
    "video-max-us": ("a second video: longest delay", "µs"),
    "editor-p99-us": ("keystrokes: 99% delay", "µs"),
}


def groups(setting):
    # a frame takes so long while all CPUs are busy, see desktop() as well
    work, seconds = round(setting.share(5000)), setting.seconds(8)
    return f"""
"$BIN/groups" weights tasks leaves 2> groups.out
{CGROUPS}
mkdir $cgroups/compile $cgroups/desktop
work=$("$BIN/frames" calibrate {work} | awk '{{ print $3 }}')
iterations=$("$BIN/desktop" calibrate | awk '{{ print int($3 * {setting.share(100):.0f} / 100) }}')
start in_group compile compile {1600 // setting.cpus} 64
(in_group desktop "$BIN/frames" 60 {work} {seconds} "$work") > frames &
frames=$!
(in_group desktop "$BIN/desktop" {seconds} "$iterations") | under desktop
wait $frames
stop
under desktop-frames < frames
"$BIN/groups" limits nested refill 2> groups.out
"""


def groups_rows():
    rows = {"weights-percent": Row("weights 300:100, a hog a CPU each: the ratio after 2 s", "%", kind="fairness")}
    rows["tasks-percent"] = Row("the same, other numbers of tasks: largest deviation", "%", kind="fairness")
    for a, b in ((1, 16), (3, 8), (20, 4)):
        rows[f"tasks-{a}-{b}-percent"] = Row(f"of this {a}:{b} tasks", "%", "", "fairness")
    rows["leaves-percent"] = Row("12 groups on three levels, after 5 s: largest deviation", "%", kind="fairness")
    for name, (title, unit) in GROUPS_DESKTOP.items():
        rows[f"desktop-{name}"] = Row(f"beside compile -j16 in another group, {title}", unit, kind="latency")
    rows["limits-percent"] = Row("20 to 350 ms of 100: largest deviation of the use", "%", kind="fairness")
    for tasks in (1, 4, 64):
        title = f"of this {tasks} task{'s' if tasks > 1 else ''}"
        rows[f"limits-{tasks}-percent"] = Row(title, "%", "", "fairness")
    rows["nested-percent"] = Row("limits in limits: largest deviation of the use", "%", kind="fairness")
    rows["refill-wait-ms"] = Row("longest wait after a refill, 20 ms of 100", "ms", kind="latency", cpus=2)
    return rows


# A group three levels below the root, with weights and a limit that it never reaches, and no autogroups
THREE_LEVELS = f"""
autogroup=/proc/sys/kernel/sched_autogroup_enabled
[ ! -e $autogroup ] || echo 0 > $autogroup
{CGROUPS}
group=
for weight in 200 50 300; do
	group+=/a
	mkdir $cgroups$group
	echo +cpu > $cgroups${{group%/a}}/cgroup.subtree_control
	echo $weight > $cgroups$group/cpu.weight
done
echo $((CPUS * 2))00000 > $cgroups$group/cpu.max
"""


def groups_hackbench(setting):
    """In the root, and three groups below it; twice each, so that what grows meanwhile counts for both."""
    options = f"--pipe --process --groups 4 --loops {setting.size(400) // 4}"
    return f"""
{THREE_LEVELS}
for place in root cgroup cgroup root; do
	[ $place = root ] && below= || below=$group
	(in_group "$below" hackbench {options}) > hackbench.out
	sed -n "s/^Time: /$place /p" hackbench.out
done | awk '
	{{ sum[$1] += $2 }}
	END {{
		print "row root", sum["root"] / 2
		print "row cgroup", sum["cgroup"] / 2
		print "row quotient", sum["cgroup"] / sum["root"]
	}}'
"""


STORMS = {  # title, seconds, options
    "fork": ("fork", 2, "--fork {n}"),
    "exec": ("exec", 2, "--exec {n}"),
    "futex": ("futex", 4, "--futex {n}"),
    "epoll": ("epoll", 4, "--epoll {n} --epoll-domain unix"),
    "timer": ("timers", 2, "--timerfd {n}"),
}


def storms(setting):
    text = ""
    for name, (_, seconds, options) in STORMS.items():
        text += f"(storm {name} {setting.seconds(seconds)} {options.format(n=setting.cpus)}) || failed=1\n"
    return text + "exit ${failed:-0}\n"


def idle(setting):
    # nothing between the readings but one sleep
    seconds = setting.seconds(20)
    return f"""
sleep 2
switches_and_interrupts; before=("$switches" "$interrupts")
sleep {seconds}
switches_and_interrupts
awk "BEGIN {{
        print \\"row switches\\", ($switches - ${{before[0]}}) / {seconds}
        print \\"row interrupts\\", ($interrupts - ${{before[1]}}) / {seconds}
}}"
"""


def price(setting):
    # under fair a wake-up may take 10% longer for all the life of a process
    return f'mean 10 "$BIN/price" {setting.size(2000)}\n'


PRICE_ROWS = {
    "switch-ns": Row("a switch between two that yield", "ns"),
    "wake-local-ns": Row("a wake-up, same CPU, no preemption", "ns"),
    "wake-remote-ns": Row("a wake-up, another CPU that is idle", "ns", cpus=2),
}

PAUSE_TASKS = (100, 1000, 10000, 50000)


def pause(setting):
    sizes = PAUSE_TASKS[:3] if setting.quick else PAUSE_TASKS
    return "".join(f'"$BIN/pause" {kind} {size} | under {kind}-{size}\n' for kind in ("sleep", "run") for size in sizes)


def pause_rows():
    return {
        f"{kind}-{size}-to-{to}-us": Row(f"to {to}, {size:,} tasks that {kind}", "µs", "")
        for kind in ("sleep", "run")
        for size in PAUSE_TASKS
        for to in ("fair", "vrq")
    }


# Loops of hackbench in all groups together, whatever the number of CPUs: 400 messages each
MANY = 800


def many(setting):
    """hackbench's options for as many groups as CPUs, and how many messages that is."""
    loops = max(MANY // (8 if setting.quick else 1) // setting.cpus, 1)
    return f"--pipe --process --groups {setting.cpus} --loops {loops}", setting.cpus * loops * 400


def hackbench_many(setting):
    return f"""
counted many hackbench {many(setting)[0]} > hackbench.out
sed -n 's/^Time: /row many /p; /^row /p' hackbench.out
"""


def watch_rows(name, title, unit, judged=True):
    """The rows of what the prelude's watched() runs, which the emulator's plugin fills."""
    rows = {
        "lines": (f"lines from another CPU, {unit}", "", "lower"),
        "reads": (f"of these to read, {unit}", "", ""),
        "writes": (f"of these to write, {unit}", "", ""),
        "far": (f"of these from another cache, {unit}", "", ""),
        "lines-switch": ("lines from another CPU, a switch", "", ""),
        "instructions": ("instructions in kernel/sched, a switch", "", ""),
        "switches": ("context switches", "", ""),
        "migrations": ("tasks that changed the CPU, of 1,000 switches", "", ""),
        "migrations-far": ("of these to another cache, of 1,000 switches", "", ""),
        "locks": ("entries to VRQ's shared locks, a switch", "", ""),
        "lock-busy": ("the busiest of them is held", "%", ""),
        "irqs-off": ("interrupts off: most time in kernel/sched, VRQ's code included", "µs", ""),
        "irqs-off-all": ("the same with whatever else was done meanwhile", "µs", ""),
        "estimate": (f"estimate: time in kernel/sched, {unit}", "ns", "lower"),
        "estimate-256": (f"estimate for 256 CPUs if lines stay as they are, {unit}", "ns", ""),
    }
    return {
        f"{name}-{row}": Row(f"{title}: {text}", of, better if judged else "", "count")
        for row, (text, of, better) in rows.items()
    }


def watched(title, script, rows, needs=(), **options):
    """A workload of coherence mode."""
    return Workload(title, script, rows, needs, modes=("coherence",), turns=True, **options)


def watched_hackbench(setting):
    options, messages = many(setting)
    return f"watched many {messages} hackbench {options}\n"


def watched_groups(setting):
    options, messages = many(setting)
    return f"""{THREE_LEVELS}
watched root {messages} hackbench {options}
in_group "$group" watched cgroup {messages} hackbench {options}
"""


def watched_pairs(setting):
    pairs = max(setting.cpus // 2, 1)
    rounds = max((1000 if setting.quick else 8000) // pairs, 1)
    return f'watched pairs {pairs * rounds} "$BIN/pairs" {pairs} {rounds}\n'


def watched_futex(setting):
    threads = 4 * setting.cpus
    times = max((80 if setting.quick else 320) // setting.cpus, 1)
    return f"watched wake {threads * times} perf bench -r {times} futex wake -s -t {threads}\n"


def watched_epoll(setting):
    # the operations of all threads are told afterwards
    return f"""
watched epoll said perf bench epoll wait -r 1 -t {setting.cpus}
"""


def watched_hotplug(setting):
    """CPUs go and come while as many as 10 tasks a CPU are on their way."""
    last = setting.cpus - 1
    cpus = sorted({max(last // 4, 1), max(last // 2, 1), last}) if last else []
    text = "\n".join(f"echo {online} > /sys/devices/system/cpu/cpu{cpu}/online" for cpu in cpus for online in (0, 1))
    return f"""
unplug()
{{
{text or ":"}
sleep 0.1
}}
start hackbench --pipe --process --groups {max(setting.cpus // 4, 1)} --loops 1000
watched hotplug {max(len(cpus), 1)} unplug
stop
"""


WORKLOADS = {
    "price": Workload("one switch, one wake-up", price, PRICE_ROWS, quick=True),
    "hackbench-pipe-process": hackbench("pipe", "process"),
    "hackbench-pipe-thread": hackbench("pipe", "thread"),
    "hackbench-socket-process": hackbench("socket", "process"),
    "hackbench-socket-thread": hackbench("socket", "thread"),
    "hackbench-many": Workload(
        "hackbench, pipes, as many groups as CPUs",
        hackbench_many,
        {"many": Row("the same messages in all", "s")} | counted("many", "many groups"),
        ("hackbench",),
        turns=True,
    ),
    "pingpong": Workload("ping-pong through a pipe", pingpong, pingpong_rows(), ("perf",), quick=True),
    "ring": Workload("context switch ring", ring, RING_ROWS, quick=True, quick_rows=RING_QUICK),
    "cyclictest-idle": cyclictest("idle", None),
    "cyclictest-hackbench": cyclictest(
        "beside hackbench", lambda _: "hackbench --pipe --process --groups 4 --loops 100"
    ),
    "cyclictest-compile": cyclictest("beside a compile", lambda setting: f"compile 300 {12 * setting.cpus}"),
    "rps": Workload("requests, as schbench", rps, rps_rows()),
    "chat-1": chat(1),
    "chat-2": chat(2),
    "chat-4": chat(4),
    "chat-8": chat(8),
    "frames": Workload("60 frames a second beside a compile", frames, frames_rows(), ("gcc", "make", "chrt")),
    "naps": Workload(
        "100 short sleepers on one CPU",
        lambda setting: f'"$BIN/naps" 100 9 300 {setting.seconds(3)}\n',
        NAPS_ROWS,
    ),
    "desktop": Workload(
        "a desktop beside a compile at 200%",
        desktop,
        desktop_rows(),
        ("gcc", "make"),
    ),
    "pause": Workload(
        "all CPUs stopped for a live switch, one CPU",
        pause,
        pause_rows(),
        root=True,
        cpus=1,
        modes=("virtual",),
        memory="6G",
    ),
    "shares": Workload("fair shares, largest deviation", shares, shares_rows(), root=True),
    "groups": Workload(
        "groups: weights and limits",
        groups,
        groups_rows(),
        ("gcc", "make"),
        root=True,
        modes=("virtual", "parallel"),
    ),
    "groups-hackbench": Workload(
        "hackbench, pipes, 4 groups, in a cgroup",
        groups_hackbench,
        {
            "root": Row("in the root", "s"),
            "cgroup": Row("on the third level, with weights and a limit never reached", "s"),
            "quotient": Row("the second, of the first", "", ""),
        },
        ("hackbench",),
        root=True,
        modes=("virtual", "parallel"),
    ),
    "storms": Workload(
        "storms",
        storms,
        {name: Row(title, "1/s", "higher") for name, (title, _, _) in STORMS.items()},
        ("stress-ng", "setpriv"),
    ),
    "compile-normal": compile_workload("NORMAL", ""),
    "compile-batch": compile_workload("BATCH", "chrt --batch 0"),
    "compile-idle": compile_workload("IDLE", "chrt --idle 0"),
    "idle": Workload(
        "the machine idle",
        idle,
        {
            "interrupts": Row("interrupts", "1/s", kind="count"),
            "switches": Row("context switches", "1/s", kind="count"),
        },
    ),
    "coherence-hackbench": watched(
        "hackbench, pipes, as many groups as CPUs",
        watched_hackbench,
        watch_rows("many", "the same messages in all", "a message"),
        ("hackbench",),
        quick=True,
    ),
    "coherence-hackbench-4": watched(
        "hackbench, pipes, as many groups as CPUs, 4 CPUs to compare with",
        watched_hackbench,
        watch_rows("many", "the same messages in all", "a message"),
        ("hackbench",),
        cpus=4,
    ),
    "coherence-groups": watched(
        "the same, in a cgroup",
        watched_groups,
        watch_rows("root", "in the root", "a message", judged=False)
        | watch_rows("cgroup", "on the third level, with weights and a limit never reached", "a message"),
        ("hackbench",),
        root=True,
    ),
    "coherence-pairs": watched(
        "ping-pong in pairs on all CPUs", watched_pairs, watch_rows("pairs", "pipes", "a round"), quick=True
    ),
    "coherence-futex": watched(
        "perf bench futex", watched_futex, watch_rows("wake", "wake", "a thread woken"), ("perf",), quick=True
    ),
    "coherence-epoll": watched(
        "perf bench epoll", watched_epoll, watch_rows("epoll", "wait", "an operation"), ("perf",), quick=True
    ),
    "coherence-hotplug": watched(
        "hotplug beside hackbench, 10 tasks a CPU",
        watched_hotplug,
        watch_rows("hotplug", "3 CPUs", "a CPU", judged=False),
        ("hackbench",),
        root=True,
    ),
}
