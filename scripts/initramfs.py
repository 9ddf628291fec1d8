# SPDX-License-Identifier: GPL-2.0-only
"""The archive of files that a guest's kernel unpacks into memory as its root."""

import os
import re
import shutil
from pathlib import Path

from common import Failure, run


def entry(number, name, mode, content=b"", device=(0, 0)):
    """A file of a cpio archive, in the format that the kernel calls newc."""
    name = name.encode() + b"\0"
    fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0]
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    return b"".join(part + b"\0" * (-len(part) % 4) for part in (head, content))


class Archive:
    """Files under the names they have here, and others; the kernel reads archives one after another as one."""

    def __init__(self):
        self.parts = []
        self.names = set()

    def put(self, name, mode, content=b"", device=(0, 0)):
        """A file of any kind, once."""
        if name not in self.names:
            self.names.add(name)
            self.parts.append(entry(len(self.names), name, mode, content, device))

    def directory(self, path):
        """A directory and those above it; not what is in it."""
        for above in (*reversed(path.parents), path):
            if above != Path("/"):
                self.put(str(above)[1:], 0o040755)

    def copy(self, path):
        """A file of this machine, what it links to, and a directory's files."""
        path = Path(path)
        path = Path(os.path.realpath(path.parent)) / path.name
        self.directory(path.parent)
        name = str(path)[1:]
        if path.is_symlink():
            target = os.readlink(path)
            self.put(name, 0o120777, target.encode())
            self.copy(path.parent / target)
        elif path.is_dir():
            self.directory(path)
            for child in sorted(path.iterdir()):
                self.copy(child)
        elif name not in self.names:
            self.put(name, 0o100755 if os.access(path, os.X_OK) else 0o100644, path.read_bytes())

    def console(self):
        """What the kernel gives init as its input and output."""
        self.put("dev", 0o040755)
        self.put("dev/console", 0o020600, device=(5, 1))

    def links_of_root(self):
        """/bin and its like, where they are links into /usr."""
        for path in sorted(Path("/").iterdir()):
            if path.is_symlink():
                self.put(path.name, 0o120777, os.readlink(path).encode())

    def program(self, name):
        """A program and the libraries that it is linked with."""
        path = shutil.which(name)
        if not path:
            raise Failure(f"{name} is missing; run: make setup")
        self.copy(path)
        self.libraries_of(path)

    def own(self, path, directory):
        """A program of ours, in a directory of the guest: the archive is the same wherever the repository is."""
        self.directory(directory)
        self.put(str(directory / path.name)[1:], 0o100755, path.read_bytes())
        self.libraries_of(path)

    def libraries_of(self, path):
        """The libraries that a program is linked with."""
        # it fails for a script or a static program, which want no libraries
        try:
            libraries = re.findall(r"(/\S+) \(0x", run("ldd", path))
        except Failure:
            libraries = []
        for library in libraries:
            self.copy(library)

    def content(self):
        """The bytes of the archive, whole."""
        return b"".join([*self.parts, entry(0, "TRAILER!!!", 0)])
