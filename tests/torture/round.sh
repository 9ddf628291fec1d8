# SPDX-License-Identifier: GPL-2.0-only
# A round of make torture, in the guest: jobs that must come out right, and storms or tests of
# the kernel's beside them. scripts/torture.py says what: SEED, SECONDS_LONG, PATIENCE, STORMS,
# MODULE with its PARAMETERS, RT_TESTS. What is wrong is a line FAILED; the last line is "ended".
# shellcheck shell=bash disable=SC2153 # they are set by the caller
set -u
cd /tmp || exit 1
CPUS=$(getconf _NPROCESSORS_ONLN)
SOURCES=8

failed()
{
	echo "FAILED $*"
}

compile()
{
	rm -f unit*.o
	make -s -j $((CPUS + CPUS / 2)) -f "$BENCH/compile.mk" SOURCE="$BENCH/unit.c" UNITS=$SOURCES &&
		sha256sum unit*.o
}

# The objects are those that came out before the storms
compile_again()
{
	compile > sums && cmp sums ../sums
}

# Sorted, packed and unpacked, a text is what it was
pack_again()
{
	seq $((RANDOM % 100 + 20000)) > text && sort -R --random-source=text text | gzip | gunzip | sort -n | cmp - text
}

# job NAME COMMAND...: again and again in a directory of its own, until the file end is there
job()
{
	local name=$1 rounds=0
	shift
	mkdir -p "job-$name" && cd "job-$name" || exit 1
	RANDOM=$SEED
	until [ -e ../end ]; do
		"$@" > said 2>&1 || failed "$name, round $rounds: status $?: $(tail -n 1 said)"
		rounds=$((rounds + 1))
	done
	echo "job $name: $rounds rounds"
	: > ended
}

start_jobs()
{
	job pipes hackbench --pipe --process --groups 2 --loops 40 &
	job sockets hackbench --threads --groups 2 --loops 40 &
	job compile compile_again &
	job pack pack_again &
}

still_at_work()
{
	local name
	for name in pipes sockets compile pack; do
		[ -e "job-$name/ended" ] || echo "$name"
	done
}

# They may finish what they have begun; then it is told who does not
await_jobs()
{
	local waited=0 name
	: > end
	while [ -n "$(still_at_work)" ] && [ "$waited" -lt "$PATIENCE" ]; do
		sleep 1
		waited=$((waited + 1))
	done
	for name in $(still_at_work); do
		failed "$name came to no end in $PATIENCE s"
	done
	[ -z "$(still_at_work)" ] || tell_of_tasks
}

# Also into the kernel's log, beside what it may say itself
tell_of_tasks()
{
	local task
	for task in /proc/[0-9]*; do
		[ "$(cut -d ' ' -f 6 "$task/stat" 2> /dev/null)" = "$SESSION" ] || continue
		echo "# $(cut -c 1-150 "$task/stat"): $(cat "$task/wchan" "$task/stack" 2> /dev/null | tr '\n' ' ')"
		sed 's/^/#   /' "$task/sched"
	done 2> /dev/null
	echo w > /proc/sysrq-trigger
	cat /sys/kernel/debug/sched/vrq 2> /dev/null
}

# A module of the kernel's that tests RCU or locks, while the storms rage
begin_module()
{
	insmod /modules/torture.ko || failed "insmod torture"
	# shellcheck disable=SC2086 # a list of words
	insmod "/modules/$MODULE.ko" $PARAMETERS || failed "insmod $MODULE"
}

end_module()
{
	rmmod "$MODULE" || failed "rmmod $MODULE"
	rmmod torture || failed "rmmod torture"
}

# Each runs for some seconds; how fast is not judged, whether it ends well is
rt_test()
{
	local name=$1 status
	shift
	case $name in
	# it goes on until it is interrupted
	deadline_test) timeout --preserve-status -s INT -k 30 4 "$name" "$@" > "$name.said" 2>&1 ;;
	*) timeout -s KILL 60 "$name" "$@" > "$name.said" 2>&1 ;;
	esac
	status=$?
	echo "test $name: status $status: $(grep -v '^ *$' "$name.said" | tail -n 1 | tr '\r' ' ')"
	# where a host stops CPUs a task of theirs needs more than it said, for which one ends with -1;
	# a signal is none of that
	case $name in
	cyclicdeadline | deadline_test)
		[ -z "${HOST_STOPS_CPUS:-}" ] || { [ "$status" -ge 128 ] && [ "$status" -lt 255 ]; } || status=0 ;;
	esac
	[ "$status" = 0 ] || { failed "$name: status $status"; sed "s/^/# $name: /" "$name.said" | tail -n 20; }
}

rt_tests()
{
	local name
	for name in $RT_TESTS; do
		case $name in
		rt-migrate-test) rt_test "$name" -l 20 ;;
		pi_stress) rt_test "$name" -q -D 4 -g 2 ;;
		ptsematest | svsematest) rt_test "$name" -q -a -t -p 80 -i 5000 -D 3 ;;
		sigwaittest) rt_test "$name" -q -a -t -p 80 -i 5000 -D 3 ;;
		signaltest) rt_test "$name" -q -t "$CPUS" -p 80 -l 500 ;;
		cyclicdeadline) rt_test "$name" -q -t "$CPUS" -i 20000 -D 3 ;;
		deadline_test) rt_test "$name" -t "$CPUS" -i 20000 -p 20 ;;
		esac
	done
}

SESSION=$(cut -d ' ' -f 6 /proc/$$/stat)
compile > sums || failed "the first compile: $(tail -n 1 sums)"
# It and the storms go first; what they start is normal
chrt -R -f -p 60 $$ > /dev/null
start_jobs
[ -z "$MODULE" ] || begin_module
# shellcheck disable=SC2086 # a list of words
"$STORM" "$SEED" "$SECONDS_LONG" $STORMS > storms &
storms=$!
rt_tests
wait "$storms"
cat storms
[ -z "$MODULE" ] || end_module
await_jobs
echo "active $(cat /sys/kernel/sched/active)"
echo "fallbacks $(cat /sys/kernel/sched/fallbacks)"
echo "ended"
