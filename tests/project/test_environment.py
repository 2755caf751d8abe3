"""Test what `./dev` says where it cannot go on, and when it has nothing to install."""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.dev import bench, checks, environment
from scripts.dev.environment import ROOT, DevError
from scripts.dev.locks import pins
from toolevals.cli.output import CommandError
from toolevals.cli.serve import port_free, require_writable


def test_a_port_in_use_is_said_with_another_to_choose() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=rf"port {port} .* --port {port + 1}"):
            port_free("127.0.0.1", port)


def test_an_impossible_port_is_said() -> None:
    with pytest.raises(CommandError, match="70000 is not a port"):
        port_free("127.0.0.1", 70000)


def test_a_folder_that_cannot_be_written_is_said() -> None:
    with pytest.raises(DevError, match="Cannot write in /proc/nowhere"):
        environment.writable(Path("/proc/nowhere"))
    with pytest.raises(CommandError, match=r"cannot write in /proc/nowhere .* --data"):
        require_writable(Path("/proc/nowhere"))


def test_a_python_without_venv_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(DevError, match="apt-get install python3"):
        environment.make()


def pythons(folder: Path, names: tuple[str, ...], status: int) -> None:
    """Put programs into a folder that are called as Python is, say their name, and end with a status."""
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\necho {name}\nexit {status}\n")
        (folder / name).chmod(0o755)


def dev(*words: str, path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `./dev` with these programs first on the PATH."""
    return subprocess.run(
        ["/bin/sh", ROOT / "dev", *words],
        env={"PATH": f"{path}:{os.defpath}", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_old_python_is_said(tmp_path: Path) -> None:
    pythons(tmp_path, ("uname", "python3", "python3.11", "python3.12", "python3.13", "python3.14"), status=1)
    result = dev("run", path=tmp_path)
    assert result.returncode == 1
    assert "This needs Python 3.11 or newer. On Debian" in result.stderr


def test_a_chosen_python_is_taken_or_refused_by_name(tmp_path: Path) -> None:
    pythons(tmp_path, ("mine",), status=0)
    result = dev("run", path=tmp_path, PYTHON="mine")
    assert (result.returncode, result.stdout) == (0, "mine\n")
    pythons(tmp_path, ("mine",), status=1)
    result = dev("run", path=tmp_path, PYTHON="mine")
    assert result.returncode == 1
    assert "and PYTHON=mine is not" in result.stderr


def test_the_python_of_the_distribution_comes_first(tmp_path: Path) -> None:
    code = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
    asked = subprocess.run(["/bin/sh", "-c", f"/usr/bin/python3 -c '{code}'"], check=False, capture_output=True)
    comes_first = sys.platform == "linux" and asked.returncode == 0
    pythons(tmp_path, ("python3",), status=0)
    result = dev("--help", path=tmp_path)
    assert result.stdout.startswith("usage: ./dev" if comes_first else "python3")


class TestEnsure:
    @pytest.fixture
    def installs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """What was installed, in a project of its own whose environment is healthy."""
        done: list[str] = []
        (tmp_path / "bin").mkdir()
        for kind in ("run", "dev"):
            (tmp_path / f"{kind}.txt").write_text(f"{kind}==1\n")
        monkeypatch.setattr(environment, "ROOT", tmp_path)
        monkeypatch.setattr(environment, "VENV", tmp_path)
        monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path)
        monkeypatch.setattr(environment, "STAMP", tmp_path / "installed.json")
        monkeypatch.setattr(environment, "healthy", lambda: True)
        monkeypatch.setattr(environment, "install", lambda path: done.append(path.name))
        return done

    def test_installs_once(self, installs: list[str]) -> None:
        environment.ensure("run")
        environment.ensure("run")
        assert installs == ["run.txt"]

    def test_what_tests_need_includes_what_the_application_needs(self, installs: list[str]) -> None:
        environment.ensure("dev")
        environment.ensure("run")
        assert installs == ["dev.txt"]

    def test_installs_again_after_a_change(self, installs: list[str], tmp_path: Path) -> None:
        environment.ensure("run")
        (tmp_path / "run.txt").write_text("run==2\n")
        environment.ensure("run")
        assert installs == ["run.txt", "run.txt"]

    def test_a_damaged_stamp_counts_as_none(self, installs: list[str], tmp_path: Path) -> None:
        environment.ensure("run")
        (tmp_path / "installed.json").write_text("{")
        environment.ensure("run")
        assert installs == ["run.txt", "run.txt"]
        assert json.loads((tmp_path / "installed.json").read_text()).keys() == {"run"}


def test_locks_agree_when_only_hashes_differ() -> None:
    hashes = [f" \\\n    --hash=sha256:0{number}" for number in range(3)]
    text = f"a==1 ; python_version < '3.12'{hashes[0]}{hashes[1]}\nb==2{hashes[2]}\n"
    assert pins(text) == ["a==1 ; python_version < '3.12'", "b==2"]
    assert pins(text) == pins(text.replace(hashes[1], ""))
    assert pins(text) != pins(text.replace("b==2", "b==3"))


def test_every_lock_is_hashed_and_names_no_address() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text()
        assert text.count("--hash=sha256:") >= len(pins(text))
        assert "://" not in text


@pytest.mark.parametrize("verb", [bench.bench, checks.test, checks.check])
def test_what_starts_many_processes_keeps_what_python_compiles(
    verb: Callable[[argparse.Namespace], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    class BegunError(Exception):
        pass

    def begin(*_: object) -> None:
        raise BegunError

    # What the verbs set is put back.
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PREPARED_FOLDERS"):
        monkeypatch.setenv(name, "/nowhere")
    for module in (bench, checks):
        monkeypatch.setattr(module, "ensure", lambda _: None)
    monkeypatch.setattr(bench, "become", begin)
    monkeypatch.setattr(checks, "Session", begin)
    with pytest.raises(BegunError):
        verb(argparse.Namespace(options=[]))
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ
    assert os.environ["PYTHONPYCACHEPREFIX"] == str(environment.VENV / "bytecode")
