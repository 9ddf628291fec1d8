# SPDX-License-Identifier: GPL-2.0-only
"""What make deb is told, and what it leaves behind."""

import pytest

import deb
import deb_guest
from common import Failure


@pytest.mark.parametrize(("name", "value"), [("", "n"), ("fair", "n"), ("vrq", "y")])
def test_the_default_is_an_option_of_the_kernel(monkeypatch, name, value):
    monkeypatch.setenv("DEFAULT", name)
    assert deb.chosen_default() == value


def test_another_default_is_refused(monkeypatch):
    monkeypatch.setenv("DEFAULT", "cfs")
    with pytest.raises(Failure, match="neither vrq nor fair"):
        deb.chosen_default()


def test_a_configuration_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(Failure, match="no such file"):
        deb.users_config(str(tmp_path / "none"))


def test_certificates_that_are_not_in_the_source_are_left_out(tmp_path, capsys):
    (tmp_path / "mine.pem").touch()
    trusted, revoked = "CONFIG_SYSTEM_TRUSTED_KEYS", "CONFIG_SYSTEM_REVOCATION_KEYS"
    text = f'CONFIG_SMP=y\n{trusted}="debian/certs/debian-uefi-certs.pem"\n{revoked}=""\n'
    assert deb.without_missing_keys(text, tmp_path) == f'CONFIG_SMP=y\n{trusted}=""\n{revoked}=""\n'
    assert f"{trusted} is left empty: no debian/certs/debian-uefi-certs.pem" in capsys.readouterr().out
    for there in ("mine.pem", tmp_path / "mine.pem"):
        text = f'{trusted}="{there}"\n'
        assert deb.without_missing_keys(text, tmp_path) == text


def test_a_tool_that_is_missing_is_named_by_its_package(monkeypatch):
    monkeypatch.setattr(deb.shutil, "which", lambda tool: tool != "depmod")
    with pytest.raises(Failure, match="run: apt-get install kmod$"):
        deb.check_tools()


def test_packages_replace_those_of_before(tmp_path, monkeypatch):
    monkeypatch.setattr(deb, "DEB", tmp_path)
    monkeypatch.setattr(deb, "WORK", tmp_path / "work")
    monkeypatch.setattr(deb_guest, "DEB", tmp_path)
    with pytest.raises(Failure, match="run: make deb"):
        deb_guest.package()
    (tmp_path / "work").mkdir()
    (tmp_path / "linux-image-6.12.1-vrq_1.deb").touch()
    for name in ("linux-image-6.12.2-vrq_1.deb", "linux-image-6.12.2-vrq-dbg_1.deb", "linux-libc-dev_1.deb"):
        (tmp_path / "work" / name).touch()
    deb.collect()
    assert sorted(path.name for path in tmp_path.glob("*.deb")) == [
        "linux-image-6.12.2-vrq-dbg_1.deb",
        "linux-image-6.12.2-vrq_1.deb",
    ]
    assert deb_guest.package().name == "linux-image-6.12.2-vrq_1.deb"


@pytest.mark.parametrize(("line", "name"), [("CONFIG_SCHED_VRQ_DEFAULT=y\n", "vrq"), ("", "fair")])
def test_what_a_package_boots_is_read_from_its_configuration(tmp_path, line, name):
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot/config-1").write_text(f"CONFIG_SCHED_VRQ=y\n{line}")
    assert deb_guest.default(tmp_path, "1") == name


def test_a_package_without_vrq_is_refused(tmp_path):
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot/config-1").write_text("CONFIG_SMP=y\n")
    with pytest.raises(Failure, match="without CONFIG_SCHED_VRQ"):
        deb_guest.default(tmp_path, "1")
