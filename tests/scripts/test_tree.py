# SPDX-License-Identifier: GPL-2.0-only
import pytest

import tree
from common import Failure


def source(directory, version="6", patchlevel="12", sublevel="42"):
    directory.mkdir(exist_ok=True)
    (directory / "Makefile").write_text(
        f"# SPDX\nVERSION = {version}\nPATCHLEVEL = {patchlevel}\nSUBLEVEL = {sublevel}\n"
    )
    return directory


def test_version_is_read_from_the_makefile(tmp_path):
    assert tree.kernel_version(source(tmp_path)) == "6.12.42"


def test_another_kernel_is_refused_by_name(tmp_path):
    with pytest.raises(Failure, match="not a 6.12 kernel"):
        tree.kernel_version(source(tmp_path, patchlevel="13"))


def test_a_directory_without_makefile_is_refused(tmp_path):
    with pytest.raises(Failure, match="no Makefile"):
        tree.kernel_version(tmp_path)


def test_a_damaged_tarball_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "BUILD", tmp_path)
    tarball = tmp_path / "linux-6.12.1.tar.xz"
    tarball.write_bytes(b"cut short")
    with pytest.raises(Failure, match="cannot be unpacked"):
        tree.prepare(tarball)
    assert [path.name for path in tmp_path.iterdir()] == ["linux-6.12.1.tar.xz"]


def test_newest_version_sorts_by_number():
    assert max(["6.12.94", "6.12.107"], key=tree.version_key) == "6.12.107"


def patched_tree(tmp_path, monkeypatch, diff):
    patches = tmp_path / "patches"
    patches.mkdir()
    (patches / "series").write_text("a.patch\n")
    (patches / "a.patch").write_text(diff)
    monkeypatch.setattr(tree, "PATCHES", patches)
    work = source(tmp_path / "linux")
    (work / "file").write_text("one\n")
    return work


def test_a_patch_that_does_not_apply_is_named_and_undone(tmp_path, monkeypatch):
    work = patched_tree(tmp_path, monkeypatch, "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-two\n+three\n")
    with pytest.raises(Failure, match="a.patch does not apply to file"):
        tree.push(work)
    assert (work / "file").read_text() == "one\n"


def test_a_file_that_stays_the_same_keeps_its_time(tmp_path, monkeypatch):
    work = patched_tree(tmp_path, monkeypatch, "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+two\n")
    tree.push(work)
    time = (work / "file").stat().st_mtime_ns
    tree.push(work)
    assert (work / "file").read_text() == "two\n"
    assert (work / "file").stat().st_mtime_ns == time
