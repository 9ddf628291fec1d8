#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What must hold before a commit: the series in sync with our files, in its form,
# and applied in full, by quilt and by git am alike; checkpatch --strict, W=1 and
# sparse silent on our files, linters silent on the scripts. Needs build/tree.
# Usage: scripts/check.sh
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build}
tree=$build/tree
patches=$top/patches/6.12
failed=0

# step NAME COMMAND...: fails if the command fails or prints anything
step()
{
	name=$1
	shift
	if output=$("$@" 2>&1) && [ -z "$output" ]; then
		echo "check: $name: ok"
	else
		echo "check: $name: FAILED"
		echo "$output" | head -n 30
		failed=$((failed + 1))
	fi
}

in_sync()
{
	python3 "$top/scripts/series.py" --check >/dev/null
	python3 "$top/scripts/series.py" --stats >/dev/null
}

# The source that build/tree is made from; make check-versions does all others
applies()
{
	python3 "$top/scripts/check_versions.py" --at-hand >/dev/null
}

# New files want an entry in MAINTAINERS, which is the kernel's own
checkpatch()
{
	sed '/^#/d' "$patches/series" | while read -r patch; do
		ignore=FILE_PATH_CHANGES
		# A linker script's * is no operator, TRACE_EVENT() is laid out in a
		# way of its own, and a loop names its variable more than once
		! grep -q '^+++ .*vmlinux.lds.h' "$patches/$patch" ||
			ignore=$ignore,SPACING
		"$tree/scripts/checkpatch.pl" --root="$tree" --no-tree --strict --terse \
			--showfile --no-summary --ignore "$ignore" "$patches/$patch" || true
	done | grep -Ev \
		-e '^kernel/sched/vrq/trace.h:.*(Lines should not end with|Alignment should|open parenthesis)' \
		-e "^kernel/sched/vrq/core.h:.*Macro argument reuse 'cpu'" || true
}

# compile CONFIGURATION DIRECTORY [MAKE ARGUMENTS]: what the compiler or sparse
# has to say about our files
compile()
{
	objects=$build/kernel-$1
	directory=$2
	log=$build/check.log
	CONFIG=$1 "$top/scripts/kernel.py" --config >/dev/null || return 1
	shift 2
	make -s -C "$tree" O="$objects" -j"$(nproc)" prepare >"$log" 2>&1 ||
		{ tail -n 5 "$log"; return 1; }
	# what is up to date would be passed over in silence
	rm -rf "$objects/kernel/sched/vrq" "$objects/kernel/sched/renew_affinity.o"
	make -C "$tree" O="$objects" -j"$(nproc)" "$@" "$directory" >"$log" 2>&1 ||
		{ grep -E 'error|Error' "$log"; return 1; }
	grep -E 'sched/(vrq/|renew_affinity).*(warning|error)' "$log" || true
}

# 64-bit divisions that want libgcc, which the kernel does without
divisions()
{
	nm -A "$build"/kernel-up32/kernel/sched/vrq/*.o | grep -E ' U __(u?(div|mod)|u?divmod)di[34]$' || true
}

tools_c()
{
	make -s -C "$top/tests/guest" OUT="$build/tests/guest" TREE="$tree"
	make -s -C "$top/tests/torture" OUT="$build/torture" TREE="$tree"
}

step "series in sync, and in its form" in_sync
step "series applies with quilt and git am" applies
step "checkpatch --strict" checkpatch
step "W=1, with sched_ext" compile ext kernel/sched/ W=1
step "sparse" compile ext kernel/sched/vrq/ C=2
step "sparse, affinity" compile ext kernel/sched/renew_affinity.o C=2
step "W=1, 32 bits, one CPU" compile up32 kernel/sched/ W=1
step "sparse, 32 bits, one CPU" compile up32 kernel/sched/vrq/ C=2
step "32 bits link, one CPU" divisions
step "shellcheck" shellcheck "$top"/scripts/*.sh "$top"/tests/bench/*.sh "$top"/tests/torture/*.sh \
	"$top/.ci/run" "$top/packaging/arch/PKGBUILD"
step "ruff" "$build/venv/bin/ruff" check -q "$top/scripts" "$top/tests"
step "ruff format" "$build/venv/bin/ruff" format -q --check "$top/scripts" "$top/tests"
step "guest tests compile" tools_c

[ "$failed" = 0 ] || exit 1
