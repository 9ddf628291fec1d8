# SPDX-License-Identifier: GPL-2.0-only
# Reading the host's files takes a guest as much virtual time as chance has it:
# whenever all CPUs wait for the host the clock jumps from timer to timer. So the
# programs that the workloads start again and again, and all that they open, are
# copied into the guest's memory first. bash sources this file.
# shellcheck shell=bash

# A path and the files that it links to
with_targets()
{
	local path=$1
	while echo "$path" && [ -L "$path" ]; do
		path=$(realpath -s "$(dirname "$path")/$(readlink "$path")")
	done
}

# What a program opens, but for its data
files_of()
{
	local path
	path=$(command -v "$1") || return 0
	with_targets "$path"
	for path in $(ldd "$path" 2> /dev/null | grep -o '/[^ ]*'); do
		with_targets "$path"
	done
}

# Make a root directory with these programs in memory, and print its name.
# Directories below / are an overlay, in which a changed file is a copy; links in
# / itself are made anew.
memory_root()
{
	local root entry program
	root=$(mktemp -d)
	mount -t tmpfs none "$root"
	for entry in /*; do
		if [ -L "$entry" ]; then
			ln -s "$(readlink "$entry")" "$root$entry"
		elif [ -d "$entry" ]; then
			mkdir "$root$entry"
			mount --rbind "$entry" "$root$entry"
		fi
	done
	{
		for program in "$@"; do
			files_of "$program"
		done
		echo /etc/ld.so.cache
		gcc -M "$BENCH/unit.c" 2> /dev/null | grep -o '/usr[^ ]*'
	} | sort -u | xargs touch -ch
	echo "$root"
}
