# SPDX-License-Identifier: GPL-2.0-only
import apt_sources


def write(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_deb822_and_one_line_sources_are_read(tmp_path):
    write(tmp_path, "sources.list", "deb [signed-by=/k] http://a/debian bookworm main contrib\n# deb http://b x main\n")
    write(
        tmp_path,
        "sources.list.d/debian.sources",
        "Types: deb\nURIs: http://c/debian\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: /key\n",
    )
    assert list(apt_sources.machine_sources(tmp_path)) == [
        ("http://a/debian", ["bookworm"], "signed-by=/k"),
        ("http://c/debian", ["bookworm", "bookworm-updates"], "signed-by=/key"),
    ]


def test_other_vendors_lists_are_left_out():
    lines = apt_sources.our_lines([("http://x/apt", ["cloud-sdk"], "")], "bookworm")
    assert lines == []


def test_source_packages_and_backports_are_added():
    lines = apt_sources.our_lines([("http://a/debian", ["bookworm"], "")], "bookworm")
    assert "deb-src http://a/debian bookworm main" in lines
    assert "deb http://a/debian bookworm-backports main" in lines
    assert "deb-src http://a/debian trixie main" in lines
