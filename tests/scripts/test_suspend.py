# SPDX-License-Identifier: GPL-2.0-only
import suspend


def test_an_entry_is_laid_out_as_newc():
    entry = suspend.entry(3, "init", 0o100755, b"12345", (5, 1))
    assert entry[:6] == b"070701"
    fields = [int(entry[at : at + 8], 16) for at in range(6, 110, 8)]
    assert fields == [3, 0o100755, 0, 0, 1, 0, 5, 0, 0, 5, 1, 5, 0]
    # name and content begin on multiples of four
    assert entry[110:] == b"init\0\0" + b"12345\0\0\0"


def test_an_archive_ends_as_one():
    assert b"TRAILER!!!\0" in suspend.initramfs(b"")[-16:]
