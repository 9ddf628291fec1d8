#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs what building, booting and testing need: Debian packages through
# apt, Python tools into build/venv. Says what it does; does nothing when all
# is there. Usage: scripts/setup.sh
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build}
requirements=$top/scripts/requirements.txt

packages="bc bison build-essential ccache crun dwarves flex gcc-i686-linux-gnu git kmod
libc6-dev-i386-cross libcap-dev libelf-dev libssl-dev linux-perf patch python3
python3-venv quilt rt-tests shellcheck sparse stress-ng xz-utils"

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

# QEMU before 8 loses an int3 of the kernel's static branches now and then; 10
# still does in parallel mode, but rarely. The backports of Debian 12 have it;
# they are read through lists of our own, so that the machine's stay as they are.
install_qemu()
{
	# shellcheck disable=SC1091 # not ours
	release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	if [ "$release" != bookworm ]; then
		apt_install qemu-system-x86
		return
	fi
	need_root -t bookworm-backports qemu-system-x86
	"$top/scripts/apt_sources.py" "$build/apt" ||
		die "no Debian source found in /etc/apt to derive backports from"
	set -- -o "Dir::Etc::sourcelist=$build/apt/sources.list" \
		-o Dir::Etc::sourceparts=- -o "Dir::State::lists=$build/apt/lists"
	$as_root apt-get -q "$@" update >"$build/setup.log" 2>&1 ||
		die "apt-get update failed, see $build/setup.log"
	apt_install "$@" -t bookworm-backports qemu-system-x86
}

command -v dpkg-query >/dev/null ||
	die "this is not a Debian system; install yourself: $packages qemu-system-x86 (8 or newer)"
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

version=$(qemu_version)
[ "${version:-0}" -ge 8 ] || install_qemu

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
