"""Others on the machine may read nothing of the data folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolevals.settings.private_files import keep_private


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_a_new_data_folder_is_its_owners_alone(tmp_path, capsys):
    data = tmp_path / "data"
    keep_private(data)
    assert [mode(data), mode(data / "uploads"), mode(data / "uploads" / "arriving")] == [0o700] * 3
    assert capsys.readouterr().err == ""


def test_an_earlier_folder_is_corrected_which_is_said_once(tmp_path, capsys):
    data = tmp_path / "data"
    (data / "uploads").mkdir(parents=True)
    data.chmod(0o755)
    files = [data / f"toolevals.sqlite3{ending}" for ending in ("", "-wal", "-shm")]
    for file in files:
        file.touch()
        file.chmod(0o644)
    keep_private(data)
    assert capsys.readouterr().err.startswith(f"Others on this machine could read {data}.")
    assert [mode(file) for file in files] == [0o600] * 3
    assert mode(data) == mode(data / "uploads") == 0o700
    keep_private(data)
    assert capsys.readouterr().err == ""


def test_a_folder_of_everybodys_stays_so_and_what_is_in_it_is_corrected(tmp_path):
    tmp_path.chmod(0o1777)
    file = tmp_path / "toolevals.sqlite3"
    file.touch()
    file.chmod(0o644)
    keep_private(tmp_path)
    assert (mode(tmp_path), mode(file), mode(tmp_path / "uploads")) == (0o1777, 0o600, 0o700)


def test_a_folder_that_cannot_be_corrected_is_said(tmp_path, capsys, monkeypatch: pytest.MonkeyPatch):
    tmp_path.chmod(0o755)

    def refused(path: Path, _: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", refused)
    keep_private(tmp_path)
    assert f"may read {tmp_path}: Operation not permitted" in capsys.readouterr().err
