#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Install the package that "make deb" made into a Debian root, and boot that in QEMU.

The root is made by mmdebstrap from the archive that this machine uses, and put on an
ext4 disk. QEMU loads the kernel and the initramfs that the installation left in /boot;
systemd starts a service that tells what runs. There is no network in the guest. The
package must have ext4 and virtio disks, built in or as modules.

Usage: deb_guest.py  (prints what was checked; exit status 1 if something was not so)
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

import apt_sources
import memory_guest
from common import BUILD, Failure, main_wrapper, run, say
from deb import DEB

PACKAGES = "initramfs-tools,kmod,systemd-sysv,udev"
MEGABYTES = 2048

# Its output is a serial port; memory_guest.boot() wants the status at the end
SERVICE = """[Unit]
Description=Tell what runs, and end

[Service]
Type=oneshot
StandardOutput=tty
TTYPath=/dev/ttyS1
ExecStart=/bin/sh /said
ExecStopPost=/bin/sh -c 'echo b > /proc/sysrq-trigger'
"""
SAID = """stty -F /dev/ttyS1 raw
echo "active $(cat /sys/kernel/sched/active)"
echo "release $(uname -r)"
echo "root $(sed -n 's/^\\S* \\/ \\(\\S*\\) .*/\\1/p' /proc/mounts)"
echo "package $(dpkg -S /boot/vmlinuz-$(uname -r))"
echo "first $(cat /proc/1/comm)"
echo "status 0"
sleep 1
"""


def package():
    """The newest image that make deb made."""
    found = [path for path in DEB.glob("linux-image-*.deb") if "-dbg_" not in path.name]
    if not found:
        raise Failure("no package yet; run: make deb")
    return max(found, key=lambda path: path.stat().st_mtime)


def archive_list(path):
    """This machine's Debian archive, without sources and backports, as a file for mmdebstrap."""
    suite = apt_sources.codename()
    lines = apt_sources.our_lines(list(apt_sources.machine_sources()), suite)
    chosen = [line for line in lines if line.startswith("deb ") and "-backports" not in line]
    if not chosen:
        raise Failure("no Debian source with component main in /etc/apt")
    path.write_text("\n".join([*chosen, ""]))
    return suite


def make_root(root, image, work):
    """A Debian root in which the package is installed, as a user would do it."""
    suite = archive_list(work / "sources.list")
    say(f"deb_guest: a Debian root of {suite}, and {image.name} in it")
    run(
        *("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={PACKAGES}"),
        *("--customize-hook", f"copy-in {image} /root"),
        *("--customize-hook", f'chroot "$1" dpkg -i /root/{image.name}'),
        *(suite, root, work / "sources.list"),
    )
    units = root / "etc/systemd/system"
    (units / "said.service").write_text(SERVICE)
    (root / "said").write_text(SAID)
    wants = units / "multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "said.service").symlink_to("../said.service")


def make_disk(root, disk):
    with open(disk, "wb") as file:
        file.truncate(MEGABYTES << 20)
    run("mkfs.ext4", "-q", "-d", root, disk)


def default(root, release):
    """The scheduler that the package's configuration chooses."""
    text = (root / f"boot/config-{release}").read_text()
    if "CONFIG_SCHED_VRQ=y\n" not in text:
        raise Failure(f"the package of {release} was built without CONFIG_SCHED_VRQ")
    return "vrq" if "CONFIG_SCHED_VRQ_DEFAULT=y\n" in text else "fair"


def boot(root, disk, release, parameter):
    """Boot the disk with its own kernel and initramfs; returns a Result."""
    return memory_guest.boot(
        (root / f"boot/initrd.img-{release}").read_bytes(),
        image=root / f"boot/vmlinuz-{release}",
        mode="parallel",
        cpus=2,
        append=f"root=/dev/vda rw {parameter}",
        timeout=400,
        name="deb",
        more=("-drive", f"file={disk},if=virtio,format=raw,snapshot=on"),
    )


def check(result, parameter, expected):
    """Print what one boot said; were all lines as expected?"""
    said = dict(re.findall(r"^(\w+) (.*)$", result.output, re.M))
    wrong = [f"{key} is {said.get(key)}, not {value}" for key, value in expected.items() if said.get(key) != value]
    wrong += result.trouble()[:1]
    say(f"deb_guest: booted with '{parameter}' in {result.seconds:.0f} s: active {said.get('active')}")
    for what in wrong:
        say(f"deb_guest: FAILED: {what}, see {result.log}")
    return not wrong


def main():
    for tool in ("mmdebstrap", "mkfs.ext4"):
        if not shutil.which(tool):
            raise Failure(f"{tool} is missing; run: apt-get install mmdebstrap e2fsprogs")
    if os.geteuid():
        raise Failure("needs root, to make a Debian root")
    image = package()
    with tempfile.TemporaryDirectory(prefix="deb-", dir=BUILD) as directory:
        work = Path(directory)
        root, disk = work / "root", work / "disk"
        make_root(root, image, work)
        release = next((root / "boot").glob("vmlinuz-*")).name.removeprefix("vmlinuz-")
        if not (root / f"boot/initrd.img-{release}").exists():
            raise Failure(f"installing {image.name} made no initramfs")
        make_disk(root, disk)
        good = True
        for parameter in ("", "sched=vrq", "sched=fair"):
            expected = {
                "active": parameter.removeprefix("sched=") or default(root, release),
                "release": release,
                "root": "ext4",
                "package": f"linux-image-{release}: /boot/vmlinuz-{release}",
                "first": "systemd",
            }
            good &= check(boot(root, disk, release, parameter), parameter, expected)
    return not good


if __name__ == "__main__":
    main_wrapper(main)
