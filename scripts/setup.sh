#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs what building, booting and testing need: Debian packages through
# apt, Python tools into build/venv. Says what it does; does nothing when all
# is there. Usage: scripts/setup.sh [matrix]
# With matrix what its rows of other machines and of clang need, too.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build}
requirements=$top/scripts/requirements.txt

packages="bc bison build-essential ccache crun dwarves flex gcc-i686-linux-gnu git kmod
libc6-dev-i386-cross libcap-dev libelf-dev libssl-dev linux-perf patch procps python3
python3-venv quilt rt-tests shellcheck sparse stress-ng trinity xz-utils"
emulators=qemu-system-x86
matrix_packages="clang gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu gcc-s390x-linux-gnu
libc6-dev-arm64-cross libc6-dev-riscv64-cross libc6-dev-s390x-cross lld llvm"
matrix_emulators="opensbi qemu-system-arm qemu-system-misc"

die()
{
	echo "setup: $*" >&2
	exit 1
}

installed()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Sets $as_root to what makes a command run as root
need_root()
{
	if [ "$(id -u)" = 0 ]; then
		as_root=
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		as_root=sudo
	else
		die "needs root; run: sudo apt-get install -y --no-install-recommends $*"
	fi
}

apt_install()
{
	need_root "$@"
	echo "setup: installing $*"
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
		--no-install-recommends "$@" >"$build/setup.log" 2>&1 ||
		die "apt-get install failed, see $build/setup.log: $(grep '^E:' "$build/setup.log" | tail -n 1)"
}

qemu_version()
{
	qemu-system-x86_64 --version 2>/dev/null |
		sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p'
}

# An emulator that was not installed as a package will do, if it is new enough
emulators_are_there()
{
	version=$(qemu_version)
	[ "${version:-0}" -ge 8 ] || return 1
	for emulator in $emulators; do
		[ "$emulator" = qemu-system-x86 ] || installed "$emulator" || return 1
	done
}

# QEMU before 8 loses an int3 of the kernel's static branches now and then; 10
# still does in parallel mode, but rarely. The backports of Debian 12 have it;
# they are read through lists of our own, so that the machine's stay as they are.
install_emulators()
{
	# shellcheck disable=SC1091 # not ours
	release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	if [ "$release" != bookworm ]; then
		# shellcheck disable=SC2086 # a list of words
		apt_install $emulators
		return
	fi
	need_root -t bookworm-backports "$emulators"
	"$top/scripts/apt_sources.py" "$build/apt" ||
		die "no Debian source found in /etc/apt to derive backports from"
	set -- -o "Dir::Etc::sourcelist=$build/apt/sources.list" \
		-o Dir::Etc::sourceparts=- -o "Dir::State::lists=$build/apt/lists"
	$as_root apt-get -q "$@" update >"$build/setup.log" 2>&1 ||
		die "apt-get update failed, see $build/setup.log"
	# shellcheck disable=SC2086 # a list of words
	apt_install "$@" -t bookworm-backports $emulators
}

case "${1:-}" in
"") ;;
matrix)
	packages="$packages $matrix_packages"
	emulators="$emulators $matrix_emulators"
	;;
*) die "no argument, or matrix, not $1" ;;
esac
command -v dpkg-query >/dev/null ||
	die "this is not a Debian system, and no other is supported; it would need: $packages $emulators (QEMU 8 or newer)"
mkdir -p "$build"

missing=
for package in $packages; do
	installed "$package" || missing="$missing $package"
done
if [ -n "$missing" ]; then
	need_root "$missing"
	echo "setup: reading the package lists"
	$as_root apt-get -q update >"$build/setup.log" 2>&1 ||
		echo "setup: apt-get update failed, going on with the lists that are there" >&2
	# shellcheck disable=SC2086 # a list of words
	apt_install $missing
fi

emulators_are_there || install_emulators

if ! cmp -s "$requirements" "$build/venv/requirements.txt"; then
	echo "setup: making $build/venv"
	rm -rf "$build/venv"
	python3 -m venv "$build/venv" >"$build/setup.log" 2>&1 ||
		die "python3 -m venv failed, see $build/setup.log"
	"$build/venv/bin/pip" -q install -r "$requirements" >"$build/setup.log" 2>&1 ||
		die "pip install failed, see $build/setup.log"
	cp "$requirements" "$build/venv/requirements.txt"
fi
echo "setup: all there"
