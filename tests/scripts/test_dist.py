# SPDX-License-Identifier: GPL-2.0-only
"""A release: what it is made from, and that it is the same each time."""

import os
import subprocess
import tarfile

import pytest

import dist
from common import TOP, Failure, run, series, sha256


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with three commits, in place of this one; call it to add another."""
    top = tmp_path / "top"
    top.mkdir()
    monkeypatch.setattr(dist, "TOP", top)
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-11-25T12:00:00+0000")
    run("git", "init", "-q", ".", cwd=top)

    def commit(title):
        (top / "file").write_text(title)
        run("git", "add", "-A", cwd=top)
        run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", title, cwd=top)

    for title in ("Start", "vrq: One thing", "tests, vrq: Another"):
        commit(title)
    commit.top = top
    return commit


def test_changes_are_grouped_by_prefix(repository):
    repository('Revert "vrq: One thing"')
    repository("vrq: A third: with a colon")
    found = {prefix: [title for title, _ in titles] for prefix, titles in dist.changes("").items()}
    assert found == {
        "vrq": ["A third: with a colon", "One thing"],
        "tests, vrq": ["Another"],
        "": ['Revert "vrq: One thing"', "Start"],
    }


def test_notes_begin_at_the_tag_before(repository, monkeypatch):
    monkeypatch.setattr(dist, "kernel_version", lambda tree: "6.12.1")
    monkeypatch.setattr(dist, "TABLE", repository.top / "none")
    assert "Changes since the beginning" in dist.notes("x")
    run("git", "tag", "v1", cwd=repository.top)
    repository("vrq: New")
    run("git", "tag", "v2", cwd=repository.top)
    text = dist.notes("x")
    assert "## Changes since v1\n\n### vrq\n\n- New (" in text
    assert "One thing" not in text
    assert "`make check-versions` was not run for this series" in text
    assert "\n    patch -p1 < $VRQ/vrq.patch " in text


def test_a_table_of_another_series_is_not_used(tmp_path, monkeypatch, capsys):
    table = tmp_path / "table"
    monkeypatch.setattr(dist, "TABLE", table)
    table.write_text(f"{dist.series_checksum()}\n6.12.1: applies\n")
    assert dist.versions_table() == ["    6.12.1: applies"]
    table.write_text("another\n6.12.1: applies\n")
    assert "was not run" in dist.versions_table()[0]
    assert "was not run" in capsys.readouterr().out


def test_the_name_is_the_tag_or_the_commit(repository):
    commit = dist.git("rev-parse", "HEAD")
    assert dist.version() == f"20261125-{commit[:12]}"
    run("git", "tag", "1.0", cwd=repository.top)
    assert dist.version() == "1.0"


@pytest.mark.parametrize("name", ["file", "new"])
def test_what_is_not_committed_is_refused(repository, name):
    dist.refuse_changes()
    (repository.top / name).write_text("changed")
    with pytest.raises(Failure, match=f"1 files are not committed, {name} for one"):
        dist.refuse_changes()


def test_the_tarball_does_not_depend_on_times_and_modes(tmp_path):
    sums = []
    for place, mode in (("one", 0o600), ("two", 0o664)):
        directory = tmp_path / place / "release"
        (directory / "patches").mkdir(parents=True)
        names = ["b", "a", "patches/c"] if place == "one" else ["patches/c", "a", "b"]
        for name in names:
            (directory / name).write_text(name)
            (directory / name).chmod(mode)
        os.utime(directory / "a", (mode, mode))
        dist.pack(directory, tmp_path / place / "tar", 1234)
        sums.append(sha256(tmp_path / place / "tar"))
    assert sums[0] == sums[1]
    with tarfile.open(tmp_path / "two" / "tar") as archive:
        assert archive.getnames() == ["release", "release/a", "release/b", "release/patches", "release/patches/c"]
        assert {member.mtime for member in archive} == {1234}


def test_sums_are_those_of_all_files(tmp_path):
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches/a").write_text("a")
    (tmp_path / "b").write_text("b")
    dist.write_sums(tmp_path)
    assert len((tmp_path / "SHA256SUMS").read_text().splitlines()) == 2
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_a_release_has_the_series_and_a_mailbox_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(dist, "one_patch", lambda target: target.write_text("all"))
    monkeypatch.setattr(dist, "notes", lambda name: "notes")
    release = tmp_path / "release"
    dist.fill(release, "release")
    for path in series():
        assert (release / "patches" / path.name).read_bytes() == path.read_bytes()
    assert (release / "report.sh").read_bytes() == (TOP / "scripts/report.sh").read_bytes()
    mails = tmp_path / "mails"
    mails.mkdir()
    assert int(run("git", "mailsplit", f"-o{mails}", release / "vrq.mbox")) == len(series())
