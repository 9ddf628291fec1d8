#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Unpacks herd7, which tests/model needs, into build/herd; does nothing when it is there.
# Only Debian's unstable and testing have it, and it wants the libc of those: both are fetched
# through lists of our own, and nothing is installed. Usage: scripts/herd.sh
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build}
herd=$build/herd
log=$build/herd.log

die()
{
	echo "herd: $*" >&2
	exit 1
}

[ ! -x "$herd/herd7" ] || exit 0
! command -v herd7 >/dev/null || exit 0

[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
	die "herd7 is missing; install herdtools7 yourself"
echo "herd: unpacking herd7 into $herd"
rm -rf "$herd"
mkdir -p "$herd/lists/partial" "$herd/cache/archives/partial" "$herd/root"
"$top/scripts/apt_sources.py" "$herd" >"$log" 2>&1 ||
	die "no Debian source found in /etc/apt to derive unstable from"
# of the machine's own archive, whatever its release, unstable
sed -n 's/^\(deb .*\) [a-z]* main$/\1 sid main/p' "$herd/sources.list" | sort -u |
	head -n 1 >"$herd/unstable.list"
set -- -o "Dir::Etc::sourcelist=$herd/unstable.list" -o Dir::Etc::sourceparts=- \
	-o "Dir::State::lists=$herd/lists" -o "Dir::Cache=$herd/cache" \
	-o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
	-o APT::Sandbox::User=root
apt-get -q "$@" update >>"$log" 2>&1 || die "apt-get update failed, see $log"
(cd "$herd" && apt-get -q "$@" download herdtools7 libc6 libgmp10) >>"$log" 2>&1 ||
	die "apt-get download failed, see $log"
for package in "$herd"/*.deb; do
	dpkg-deb -x "$package" "$herd/root"
done
rm -rf "$herd"/*.deb "$herd/lists" "$herd/cache"
# whole at once: it is the sign that all is there
cat >"$herd/herd7.part" <<'END'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")/root
lib=$root/usr/lib/x86_64-linux-gnu
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$root/usr/bin/herd7" \
	-set-libdir "$root/usr/share/herdtools7/herd" "$@"
END
chmod +x "$herd/herd7.part"
mv "$herd/herd7.part" "$herd/herd7"
