#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The first program of a guest whose root is in memory, see scripts/memory_guest.py.
# It runs /command, whose output and status go to the second serial port, and
# resets the guest, which ends QEMU.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mount -t devtmpfs none /dev
mkdir /dev/pts /dev/shm
mount -t devpts none /dev/pts
mount -t tmpfs none /dev/shm
mount -t proc none /proc
mount -t sysfs none /sys
mount -t debugfs none /sys/kernel/debug
stty -F /dev/ttyS1 raw
# Open to the end: as its last user closes it, a port drops what it has not sent in time
exec 3> /dev/ttyS1

# In parallel mode it boots on one CPU, see scripts/guest.py
for online in /sys/devices/system/cpu/cpu[1-9]*/online; do
	[ ! -e "$online" ] || [ "$(cat "$online")" = 1 ] || echo 1 > "$online"
done

# A session, as a login has: mainline's autogroup makes it a task group
setsid -w bash /command >&3 2>&1 3>&- < /dev/null
echo "status $?" >&3
sleep 1	# the port is slower than the CPU
echo b > /proc/sysrq-trigger
