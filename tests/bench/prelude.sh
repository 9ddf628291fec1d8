# SPDX-License-Identifier: GPL-2.0-only
# What the workloads of the benchmark share. bash sources this file; then comes
# the workload's script, see scripts/benchmark/workloads.py. A figure is a line
#	row NAME VALUE
# a bin of a latency histogram a line
#	bin NAME UPPER-NS COUNT
# and anything else is for whoever reads the log.
# shellcheck shell=bash

set -eEu -o pipefail
set -m	# a background job is a process group, see stop()
directory=$(mktemp -d)
cd "$directory"
load=	# what start() started
trap 'rm -rf "$directory"; [ -z "$load" ] || stop 2> /dev/null' EXIT
trap 'echo "failed: $BASH_COMMAND: $(cat ./*.out 2> /dev/null | tail -n 1)" >&2' ERR
CPUS=$(getconf _NPROCESSORS_ONLN)
sleep 1	# what a boot started comes to rest

row()
{
	echo "row $1 $2"
}

die()
{
	echo "$*" >&2
	exit 1
}

# Prefix each figure of a program with a name: PROGRAM | under NAME
under()
{
	sed "s/^row /row $1-/"
}

# mean TIMES PROGRAM...: the mean of each of a program's figures
mean()
{
	local times=$1 i
	shift
	for ((i = 0; i < times; i++)); do
		"$@"
	done | awk '{ sum[$2] += $3; n[$2]++ } END { for (name in n) print "row", name, sum[name] / n[name] }'
}

# Context switches and interrupts since the boot, without a fork
switches_and_interrupts()
{
	local key first rest
	switches=0 interrupts=0
	while read -r key first rest; do
		case $key in
		ctxt) switches=$first ;;
		intr) interrupts=$first ;;
		esac
	done < /proc/stat
}

# The same, interrupts sent to other CPUs to make them reschedule, and the
# entries to the locks of shared queues if VRQ is at work and counts them
counters()
{
	shared_lock=
	switches_and_interrupts
	kicks=$(awk '/^ *(RES|CAL|IWI):/ { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts)
	if [ -r /sys/kernel/debug/sched/vrq ] && grep -q '^vrq' /sys/kernel/sched/active; then
		shared_lock=$(awk '$1 == "shared_lock" { print $2 }' /sys/kernel/debug/sched/vrq)
	fi
}

# Run a command, and report what it made of switches and interrupts
counted()
{
	local name=$1 before
	shift
	counters
	before=("$switches" "$interrupts" "$kicks" "$shared_lock")
	"$@"
	counters
	row "$name-switches" $((switches - before[0]))
	row "$name-interrupts" $((interrupts - before[1]))
	row "$name-kicks" $((kicks - before[2]))
	if [ -n "$shared_lock" ] && [ "$switches" -gt "${before[0]}" ]; then
		row "$name-shared-lock" "$(awk "BEGIN { print ($shared_lock - ${before[3]}) / ($switches - ${before[0]}) }")"
	fi
}

# What the emulator's plugin watches, if there is one: watched NAME UNITS PROGRAM...
# UNITS is how much work that is, to divide by; "said": the program tells how many
# operations a second each of its threads did. What it says goes to watched.out
watched()
{
	local name=$1 units=$2
	shift 2
	"$BIN/mark" begin
	"$@" > watched.out 2>&1
	"$BIN/mark" end
	if [ "$units" = said ]; then
		units=$(awk '{ for (i = 2; i <= NF; i++) if ($i == "ops/sec") n += $(i - 1) } END { print n + 0 }' watched.out)
	fi
	echo "watched $name $units"
}

# Keep a command going in the background, again and again, until stop()
start()
{
	(while "$@" > load.out 2>&1; do :; done) &
	load=$!
	sleep 0.3
}

stop()
{
	local ended=$load
	load=
	kill -KILL -- "-$ended" || die "the load beside it failed: $(tail -n 1 load.out)"
	wait "$ended" 2> /dev/null || true
}

# compile LOAD UNITS [PREFIX...]: LOAD percent of the CPUs have a job, which
# PREFIX may give a policy
compile()
{
	local load=$1 units=$2
	shift 2
	rm -f unit*.o
	"$@" make -s -j $(((CPUS * load + 99) / 100)) -f "$BENCH/compile.mk" \
		SOURCE="$BENCH/unit.c" UNITS="$units"
}

# Percentiles and a histogram, 10 bins a decade, of the lines
# "thread:cycle:ns" that cyclictest -v -N prints
latencies()
{
	sed -n 's/^ *[0-9]*: *[0-9]*: *\([0-9]*\)$/\1/p' cyclictest.out | sort -n | awk -v name="$1" '
	{
		value[NR] = $1
		sum += $1
		bins[int(log($1 > 1 ? $1 : 1) / log(10) * 10) + 1]++
	}
	function percentile(p,  i) {
		i = int(NR * p + 0.999999)
		return value[i < 1 ? 1 : i] / 1000
	}
	END {
		if (!NR)
			exit 1
		printf "row %s-avg %.3f\n", name, sum / NR / 1000
		printf "row %s-p99 %.3f\n", name, percentile(0.99)
		printf "row %s-p999 %.3f\n", name, percentile(0.999)
		printf "row %s-max %.3f\n", name, value[NR] / 1000
		for (i in bins)
			printf "bin %s %.0f %d\n", name, 10 ^ (i / 10), bins[i]
	}'
}

# cyclic LOOPS OPTIONS...: one thread a CPU, which wakes up at no fixed distance
# from the tick; latencies() reports
cyclic()
{
	local loops=$1
	shift
	"$BIN/slack" 1 cyclictest -v -N -m -i 1237 -d 53 -t "$CPUS" -l "$loops" "$@" > cyclictest.out 2>&1
}

# storm NAME SECONDS OPTIONS...: operations a second of a stressor of stress-ng,
# which skips some, exec among them, if it runs as root
storm()
{
	local name=$1 seconds=$2 user=() rate
	shift 2
	[ "$(id -u)" -ne 0 ] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${user[@]}" stress-ng "$@" --timeout "${seconds}s" --metrics-brief --no-rand-seed \
		--temp-path /tmp > storm.out 2>&1 || true
	# name, operations, real, user and system time, operations a second
	rate=$(awk '$2 == "metrc:" && $5 ~ /^[0-9]+$/ { print $9 }' storm.out)
	[ -n "$rate" ] || die "$name: no figure from stress-ng: $(sed -n 's/^stress-ng: //p' storm.out | tail -n 1)"
	row "$name" "$rate"
}
