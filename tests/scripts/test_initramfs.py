# SPDX-License-Identifier: GPL-2.0-only
from pathlib import Path

from initramfs import Archive, entry


def names(content):
    """The names in an archive, read as the kernel reads it: head, name, content."""
    at, found = 0, []
    while at < len(content):
        fields = [int(content[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        found.append(content[at + 110 : at + 110 + fields[11] - 1].decode())
        for size in (110 + fields[11], fields[6]):
            at += size + -size % 4
    return found


def test_an_entry_is_laid_out_as_newc():
    laid = entry(3, "init", 0o100755, b"12345", (5, 1))
    assert laid[:6] == b"070701"
    fields = [int(laid[at : at + 8], 16) for at in range(6, 110, 8)]
    assert fields == [3, 0o100755, 0, 0, 1, 0, 5, 0, 0, 5, 1, 5, 0]
    # name and content begin on multiples of four
    assert laid[110:] == b"init\0\0" + b"12345\0\0\0"


def test_an_archive_ends_as_one():
    assert names(Archive().content()) == ["TRAILER!!!"]


def test_directories_come_first_links_bring_their_targets_and_nothing_comes_twice(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/file").write_text("content")
    (tmp_path / "link").symlink_to("a/file")
    archive = Archive()
    archive.copy(tmp_path / "link")
    archive.copy(tmp_path / "a/../a/file")
    found = names(archive.content())
    top = str(tmp_path)[1:]
    assert found[-4:] == [f"{top}/link", f"{top}/a", f"{top}/a/file", "TRAILER!!!"]
    assert found[:-4] == [*(str(path)[1:] for path in reversed(tmp_path.parents[:-1])), top]


def test_a_program_brings_its_libraries():
    archive = Archive()
    archive.program("sh")
    assert any("ld-linux" in name for name in archive.names)


def test_our_own_program_is_the_same_from_anywhere(tmp_path):
    archives = []
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "program").write_text("#!/bin/sh\n")
        archive = Archive()
        archive.own(tmp_path / place / "program", Path("/tests"))
        archives.append(archive.content())
    assert names(archives[0]) == ["tests", "tests/program", "TRAILER!!!"]
    assert archives[0] == archives[1]
