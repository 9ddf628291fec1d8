#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Collects in one text file what a report about VRQ needs. To be run on the
# machine with the trouble, as root if possible: others may not read all of it.
# It needs nothing else of this repository.
#
# It leaves out what is nobody's business: names of the machine and its users,
# command lines, names of processes, addresses, serial numbers. Two things it
# cannot do without: the model of the CPU, and the names of the tasks that VRQ's
# own lines in the kernel's log tell of.
# Usage: report.sh [FILE]   default: vrq-report-DATE.txt, here
set -eu

PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin
LC_ALL=C
export PATH LC_ALL

parameters='sched|sched_vrq_[a-z]+|cache_scost_threshold|renew_affinity|sched_verbose|schedstats|preempt
isolcpus|nohz|nohz_full|rcu_nocbs|rcutree\.[a-z_]+|rcupdate\.[a-z_]+|irqaffinity|threadirqs|maxcpus|nr_cpus
possible_cpus|nosmt|nosmp|mitigations|numa|numa_balancing|idle|cpuidle\.[a-z_]+|intel_idle\.[a-z_]+
processor\.max_cstate|intel_pstate|amd_pstate|cpufreq\.[a-z_]+|clocksource|tsc|hpet|skew_tick|highres
psi|cgroup_disable|noautogroup|lockdep|softlockup_panic|nowatchdog|nmi_watchdog|hung_task_panic|lpj'

options='SCHED_|PREEMPT|SMP|UP_|NR_CPUS|CPUMASK_OFFSTACK|MAXSMP|HZ|NO_HZ|HIGH_RES_TIMERS|NUMA|CGROUPS|CGROUP_
FAIR_GROUP|CFS_|RT_GROUP|UCLAMP|PSI|CPUSETS|CPU_FREQ_(DEFAULT|GOV)|CPU_IDLE|CPU_ISOLATION|HOTPLUG_CPU|RCU_
TREE_RCU|PARAVIRT|VIRT_CPU_ACCOUNTING|TICK_CPU|IRQ_TIME|DEBUG_(PREEMPT|LOCK|ATOMIC|OBJECTS|LIST|FS|KERNEL)
PROVE_|LOCKDEP|KASAN|KCSAN|UBSAN|DETECT_HUNG|SOFTLOCKUP|HARDLOCKUP|WQ_WATCHDOG|JUMP_LABEL|LTO_|CC_(VERSION|OPT)
MAGIC_SYSRQ|SYSCTL|64BIT|X86_32'

sysctls='rr_interval yield_type interactive iso_cpu smt_nice sched_* numa_balancing hung_task_* watchdog*
soft_watchdog softlockup_panic nmi_watchdog sysrq tainted threads-max panic_on_rcu_stall'

section()
{
	printf '\n== %s\n' "$1"
}

# show FILE...: each with its name
show()
{
	for path in "$@"; do
		above=$path
		while [ -n "$above" ] && [ ! -e "$above" ]; do
			above=${above%/*}
		done
		if [ "$above" != "$path" ] && [ -x "$above" ]; then
			echo "$path: (not there)"
		elif ! text=$(cat "$path" 2>/dev/null); then
			echo "$path: (not readable)"
		elif [ "$(printf '%s\n' "$text" | wc -l)" -gt 1 ]; then
			printf '%s:\n%s\n' "$path" "$text"
		else
			echo "$path: $text"
		fi
	done
}

# alike FILE...: how many have the same content
alike()
{
	cat "$@" 2>/dev/null | sort | uniq -c
}

# Lines to one extended regular expression
any_of()
{
	printf '%s' "$1" | tr '\n' '|'
}

boot_parameters()
{
	tr ' ' '\n' </proc/cmdline | grep -E "^($(any_of "$parameters"))(=|\$)" || echo "(none that matter)"
}

configuration()
{
	release=$(uname -r)
	if [ -r /proc/config.gz ]; then
		gzip -dc /proc/config.gz
	elif [ -r "/boot/config-$release" ]; then
		cat "/boot/config-$release"
	elif [ -r "/lib/modules/$release/config" ]; then
		cat "/lib/modules/$release/config"
	else
		echo "(not readable)"
		return
	fi | grep -E "^(# )?CONFIG_($(any_of "$options"))" || echo "(not readable)"
}

topology()
{
	lscpu 2>/dev/null || echo "lscpu: (not there)"
	lscpu -e 2>/dev/null || true
	show /sys/devices/system/cpu/possible /sys/devices/system/cpu/online \
		/sys/devices/system/cpu/isolated /sys/devices/system/cpu/nohz_full \
		/sys/devices/system/cpu/smt/control
	echo "CPUs that share a cache, by level, and how many say so:"
	for cache in /sys/devices/system/cpu/cpu[0-9]*/cache/index*; do
		[ ! -e "$cache" ] ||
			echo "level $(cat "$cache/level") $(cat "$cache/size"), CPUs $(cat "$cache/shared_cpu_list")"
	done 2>/dev/null | sort | uniq -c
	echo "How the frequency is chosen, and for how many policies:"
	alike /sys/devices/system/cpu/cpufreq/policy*/scaling_driver
	alike /sys/devices/system/cpu/cpufreq/policy*/scaling_governor
	show /sys/devices/system/clocksource/clocksource0/current_clocksource
}

kernel_log()
{
	dmesg 2>/dev/null ||
		journalctl -k -b -o short-monotonic --no-hostname 2>/dev/null || return 1
}

# Lines of the log that tell of scheduling, and the backtraces after them. What has
# another form than expected is left out: it may be anything.
of_scheduling()
{
	awk '{
		line = $0
		sub(/^<[0-9]+>/, "", line)
		sub(/^\[[ 0-9.]+\] ?(\[ *[TC][0-9]+\])? *(kernel: )?[ \t]*/, "", line)
	}
	line ~ /^(sched|sched_ext|rcu|hrtimer|clocksource|tsc|smp|psi|NOHZ tick-stop error): / ||
	line ~ /^(watchdog|NMI watchdog): / || line ~ /^INFO: (task .* blocked|rcu)/ ||
	line ~ /^BUG: (workqueue lockup|scheduling|using)/ || line ~ /^WARNING: .*sched/ ||
	line ~ /^(NMI backtrace|Renew affinity)/ {
		left = 100
		print
		next
	}
	left-- > 0 && (line ~ /^(CPU: |task:|Call Trace:|Workqueue: |\(t=|\(detected by|Sending NMI)/ ||
		line ~ /^<\/?(TASK|IRQ|NMI|SOFTIRQ)>/ || line ~ /^RIP: 0010:[A-Za-z_]/ ||
		line ~ /^(\? )?[A-Za-z_][A-Za-z0-9_.]*\+0x[0-9a-f]+\/0x[0-9a-f]+( \[[a-z0-9_]+\])?$/)' |
		tail -n 3000
}

# Kernel threads keep their names, others do not; nor do files keep the directory of a build
without_names()
{
	threads='(swapper|kworker|ksoftirqd|migration|cpuhp)/|rcu_[a-z]+|vrq_watchdog'
	sed -E -e "s,(^|[^[:alnum:]])/[^ ]*/(kernel/),\\1\\2," -e 's/ UID: [0-9]+//' \
		-e "\\,(Comm: |task |task:|: |\\[)($threads),b" -e 'tnames' -e ':names' \
		-e 's/( Comm: ).*( Not tainted| Tainted)/\1(a process)\2/' -e t \
		-e 's/( Comm: ).*/\1(a process)/' \
		-e 's/(INFO: task ).*(:[0-9]+ blocked)/\1(a process)\2/' \
		-e 's/(task:).*( state:)/\1(a process)\2/' \
		-e 's/(stuck for [0-9]+s! \[).*(:[0-9]+\])/\1(a process)\2/' \
		-e 's/(BUG: .*: ).*(\/[0-9]+)/\1(a process)\2/'
}

# log COMMAND...: the lines of scheduling in what it prints
log()
{
	text=$("$@" 2>/dev/null) || { echo "(not readable; as root it may be)"; return; }
	found=$(printf '%s\n' "$text" | of_scheduling | without_names)
	echo "${found:-(nothing of the scheduler)}"
}

collect()
{
	echo "A report about the VRQ scheduler."
	echo
	echo "What happened, since when, how often, and what ran (please fill in):"
	section "Kernel"
	uname -srvm
	section "Scheduler"
	show /sys/kernel/sched/active /sys/kernel/sched/switches /sys/kernel/sched/fallbacks \
		/sys/kernel/sched/fallback_reason /sys/kernel/sched_ext/state /sys/kernel/sched_ext/root/ops
	section "Boot parameters that matter"
	boot_parameters
	section "Tunables"
	for name in $sysctls; do
		# shellcheck disable=SC2086 # a pattern
		show /proc/sys/kernel/$name
	done
	section "CPUs"
	topology
	section "Load"
	show /proc/loadavg /proc/uptime /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io /proc/cgroups
	grep -E '^(MemTotal|MemAvailable|SwapTotal|SwapFree):' /proc/meminfo || true
	grep -E '^(cpu |ctxt|processes|procs_)' /proc/stat || true
	section "Counters of VRQ"
	show /sys/kernel/debug/sched/vrq /sys/kernel/debug/sched/vrq_cache /sys/kernel/debug/sched/preempt
	section "Kernel configuration"
	configuration
	section "Log of this boot"
	log kernel_log
	section "Log of the boot before"
	log journalctl -k -b -1 -o short-monotonic --no-hostname
	section "End"
}

# Names of this machine and its users, as a sed script that takes them out of a line
scrub()
{
	{
		uname -n
		uname -n | cut -d. -f1
		awk -F: '$3 >= 1000 && $3 < 60000 { print $1 }' /etc/passwd
		printf '%s\n' "${SUDO_USER:-root}" "${USER:-root}" "${LOGNAME:-root}"
	} 2>/dev/null | grep -Evx 'root|localhost|[[:punct:]]*' | sort -u |
		sed -e 's/[].[*^$/+?(){}|\\]/\\&/g' \
			-e 's/.*/s\/(^|[^[:alnum:]])&($|[^[:alnum:]])\/\\1(a name)\\2\/g/' -e p
}

die()
{
	echo "report: $*" >&2
	exit 1
}

[ "$#" -le 1 ] || die "one file at most"
case "${1:-}" in
-*) die "usage: report.sh [FILE]" ;;
esac
umask 077
report=${1:-vrq-report-$(date +%Y%m%d-%H%M%S).txt}
[ ! -e "$report" ] || die "$report exists; name another file"
true 2>/dev/null >"$report" || die "cannot write $report"
work=$(mktemp -d) || die "cannot make a temporary directory"
trap 'rm -rf "$work"' EXIT
scrub >"$work/scrub"
collect 2>/dev/null >"$work/report"
sed -E -f "$work/scrub" "$work/report" >"$report"
echo "report: $report is written. Please read it before you send it: no name of this machine or of a user"
echo "report: and no command line should be in it, but VRQ's own lines in the log name the tasks concerned."
