# SPDX-License-Identifier: GPL-2.0-only
import pytest

import check_versions
import patchform
import tree
from common import Failure

MESSAGE = "From: A <a@b>\nSubject: [PATCH] x\n\nWhy.\n\nSigned-off-by: A <a@b>\n"
HUNK = "@@ -1 +1 @@\n-one\n+two\n"
GOOD = f"{MESSAGE}---\n\ndiff --git a/file b/file\n--- a/file\n+++ b/file\n{HUNK}"


def mended(text):
    return patchform.compose(*patchform.parse(text))


@pytest.mark.parametrize(
    "head",
    [
        "diff --git a/file b/file\n--- a/file\n+++ b/file\n",
        "diff --git a/file b/file\nindex 5626abf..f719efd 100644\n--- a/file\n+++ b/file\n",
        "--- a/file\n+++ b/file\n",
        f"Index: b/file\n{'=' * 67}\n--- a/file\t2026-01-01 00:00:00.000000000 +0000\n+++ b/file\t2026-01-02\n",
    ],
)
@pytest.mark.parametrize("end", ["", "---\n\n"])
def test_what_quilt_and_git_write_becomes_one_form(head, end):
    assert mended(f"{MESSAGE}{end}\n{head}{HUNK}") == GOOD


def test_the_end_of_a_mail_is_taken_off():
    assert mended(f"{GOOD}-- \n2.39.5\n\n") == GOOD


def test_a_new_file_is_told_from_a_changed_one():
    text = f"{MESSAGE}---\n\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+one\n--- a/file\n+++ b/file\n{HUNK}"
    _, diffs = patchform.parse(text)
    assert [(diff.name, diff.new) for diff in diffs] == [("new", True), ("file", False)]
    assert "b/new\nnew file mode 100644\n--- /dev/null\n" in mended(text)


def test_lines_of_a_hunk_are_not_taken_for_heads():
    hunk = "@@ -1,3 +1,3 @@\n--- a/b\n+++ b/b\n \n index 12\n"
    text = GOOD.replace(HUNK, hunk)
    assert mended(text) == text
    _, (diff,) = patchform.parse(text)
    assert (diff.count("+"), diff.count("-")) == (1, 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GOOD.replace("Subject: ", "About: "), "no line Subject:"),
        (GOOD.replace("--- a/file", "--- linux.orig/file"), "not the form"),
        (GOOD.replace("+++ b/file", "+++ /dev/null"), "not the form"),
        (GOOD.replace("--- a/file", "rename from other"), "between its diffs"),
        (GOOD.replace("+two\n", ""), "inside a hunk"),
    ],
)
def test_what_has_no_such_form_is_refused(text, why):
    with pytest.raises(Failure, match=why):
        mended(text)


def small_series(tmp_path, monkeypatch, patches):
    directory = tmp_path / "patches"
    directory.mkdir()
    (directory / "series").write_text("".join(f"{name}\n" for name in patches))
    for name, text in patches.items():
        (directory / name).write_text(text)
    files = [directory / name for name in patches]
    monkeypatch.setattr(tree, "PATCHES", directory)
    monkeypatch.setattr(check_versions, "series", lambda: files)
    monkeypatch.setattr(check_versions, "BUILD", tmp_path)


def test_originals_are_what_was_before_the_first_patch(tmp_path, monkeypatch):
    second = GOOD.replace(HUNK, "@@ -1 +1 @@\n-two\n+three\n")
    small_series(tmp_path, monkeypatch, {"1.patch": GOOD, "2.patch": second})
    work, before = tmp_path / "work", tmp_path / "before"
    work.mkdir()
    (work / "file").write_text("one\n")
    tree.push(work)
    check_versions.originals(work, before)
    assert (work / "file").read_text() == "three\n"
    assert (before / "file").read_text() == "one\n"
    check_versions.check(lambda directory: check_versions.originals(work, directory))


def test_a_series_that_does_not_apply_is_told(tmp_path, monkeypatch):
    small_series(tmp_path, monkeypatch, {"1.patch": GOOD})
    with pytest.raises(Failure, match="does not apply to file"):
        check_versions.check(lambda directory: (directory / "file").write_text("zero\n"))
