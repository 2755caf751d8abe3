"""Downloading the benchmark: what is taken out of its package, and what is not."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from tests.agents.leaderboard_like import SOURCES, data_files
from toolevals.agents.code.leaderboard_turns import PACKAGE
from toolevals.cli import downloading
from toolevals.cli import main as command
from toolevals.cli.output import Exit

DATA = {
    "bfcl_eval/data/BFCL_v4_multiple.json": b'{"id": "multiple_0"}\n',
    "bfcl_eval/data/possible_answer/BFCL_v4_multiple.json": b'{"id": "multiple_0", "ground_truth": []}\n',
    "bfcl_eval/data/BFCL_v4_irrelevance.json": b'{"id": "irrelevance_0"}\n',
}
OTHERS = [
    "bfcl_eval/data/BFCL_v4_web_search.json",
    "bfcl_eval/data/unused_datasets/question/BFCL_v4_multiple.json",
    "bfcl_eval/data/../../BFCL_v4_multiple.json",
    "/bfcl_eval/data/BFCL_v4_parallel.json",
    "../bfcl_eval/data/BFCL_v4_parallel.json",
    "bfcl_eval/__init__.py",
    f"{PACKAGE.replace('.', '/')}/web_search.py",
    f"{PACKAGE.replace('.', '/')}/../gorilla_file_system.py",
    "gorilla_file_system.py",
]
# Not the one whose hash is known.
RELEASE = "1.2.3"


def wheel(folder: Path, files: dict[str, bytes], release: str = RELEASE) -> Path:
    """Return a package as small as pip takes it."""
    path = folder / f"bfcl_eval-{release}-py3-none-any.whl"
    about = f"bfcl_eval-{release}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: bfcl-eval\nVersion: {release}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_only_data_that_can_be_graded_is_taken_out(tmp_path, capsys):
    package = wheel(tmp_path, DATA | dict.fromkeys(OTHERS, b"{}"))
    target = tmp_path / "far" / "bfcl"
    assert command.main(["download", "bfcl", str(target), "--wheel", str(package)]) == Exit.OK
    assert names_in(target) == [
        "BFCL_v4_irrelevance.json",
        "BFCL_v4_multiple.json",
        "possible_answer/BFCL_v4_multiple.json",
    ]
    assert (target / "possible_answer" / "BFCL_v4_multiple.json").read_bytes() == list(DATA.values())[1]
    assert names_in(tmp_path / "far") == [f"bfcl/{name}" for name in names_in(target)]
    assert "--categories multiple,irrelevance" in capsys.readouterr().out


def test_pip_fetches_the_package_from_where_it_is_told_to_look(tmp_path, monkeypatch):
    wheel(tmp_path, DATA)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert command.main(["download", "bfcl", str(tmp_path / "bfcl"), "--release", RELEASE]) == Exit.OK
    assert len(names_in(tmp_path / "bfcl")) == 3


def with_simulators() -> dict[str, bytes]:
    """Return a package's files with conversations of several turns and simulators of our own."""
    data = {f"bfcl_eval/data/{name}": text for name, text in data_files().items() if name.endswith(".json")}
    code = {f"{PACKAGE.replace('.', '/')}/{name}.py": text for name, text in SOURCES.items()}
    return {name: text.encode() for name, text in (data | code).items()}


def test_conversations_of_several_turns_come_with_their_simulators_and_where_these_are_from(tmp_path, capsys):
    target = tmp_path / "bfcl"
    package = wheel(tmp_path, with_simulators() | dict.fromkeys(OTHERS, b"{}"))
    assert command.main(["download", "bfcl", str(target), "--wheel", str(package)]) == Exit.OK
    assert names_in(target) == sorted([*data_files(), "simulators/source.json"])
    source = json.loads((target / "simulators" / "source.json").read_text())
    assert (source["package"], source["release"], source["licence"]) == ("bfcl-eval", RELEASE, "Apache-2.0")
    assert source["sha256"] == {
        f"simulators/{name}.py": hashlib.sha256(text.encode()).hexdigest() for name, text in SOURCES.items()
    }
    assert f"--option simulators={target}" in capsys.readouterr().out


def test_the_known_release_must_be_as_it_was_published(tmp_path, capsys, monkeypatch):
    package = wheel(tmp_path, with_simulators(), downloading.RELEASE)
    asked = ["download", "bfcl", str(tmp_path / "bfcl"), "--wheel", str(package)]
    assert command.main(asked) == Exit.DATA
    found = hashlib.sha256(package.read_bytes()).hexdigest()
    assert f"is not bfcl-eval {downloading.RELEASE} as published: its SHA-256 is {found}" in capsys.readouterr().err
    assert not (tmp_path / "bfcl").exists()
    monkeypatch.setattr(downloading, "SHA256", found)
    assert command.main(asked) == Exit.OK


def test_a_package_that_cannot_be_had_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    asked = ["download", "bfcl", str(tmp_path / "bfcl"), "--release", "1999.1.1"]
    assert command.main(asked) == Exit.UNREACHABLE
    said = capsys.readouterr().err
    assert "pip could not fetch bfcl-eval 1999.1.1" in said
    assert "--wheel" in said
    assert not (tmp_path / "bfcl").exists()


def test_what_is_no_package_of_the_benchmark_is_said(tmp_path, monkeypatch, capsys):
    def download(path: Path) -> int:
        return command.main(["download", "bfcl", str(tmp_path / "bfcl"), "--wheel", str(path)])

    (tmp_path / "text").write_text("not a zip")
    assert download(tmp_path / "text") == Exit.DATA
    assert download(tmp_path / "missing") == Exit.DATA
    assert download(wheel(tmp_path, {"bfcl_eval/__init__.py": b""})) == Exit.DATA
    assert "holds no data" in capsys.readouterr().err
    monkeypatch.setattr(downloading, "MAX_BYTES", 5)
    assert download(wheel(tmp_path, DATA)) == Exit.DATA
    assert "longer than" in capsys.readouterr().err


@pytest.mark.parametrize("blocked", ["bfcl", "bfcl/possible_answer"])
def test_a_folder_that_cannot_be_written_is_said(tmp_path, blocked, capsys):
    (tmp_path / blocked).parent.mkdir(exist_ok=True)
    (tmp_path / blocked).write_text("in the way")
    assert (
        command.main(["download", "bfcl", str(tmp_path / "bfcl"), "--wheel", str(wheel(tmp_path, DATA))]) == Exit.DATA
    )
    assert "cannot write" in capsys.readouterr().err
