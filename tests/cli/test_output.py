"""Output that cannot be written, and readers that go: a sentence and a status, and no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolevals.cli.output import Exit

ROOT = Path(__file__).parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
NO_MORE: Mapping[str, str] = {}
FULL = Path("/dev/full")
ROW: dict[str, Any] = {
    "id": "ex-1",
    "input": {"messages": [{"role": "user", "content": "Hi"}]},
    "tools": [],
    "expected_tool": None,
    "tool_calls": [],
}
GATE = ["gate", "rows.jsonl", "--threshold-name", "0.5"]
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with rows that pass and many rows."""
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    many = "".join(json.dumps({**ROW, "id": f"ex-{number}"}) + "\n" for number in range(500))
    (tmp_path / "many.jsonl").write_text(many)
    return tmp_path


def run(
    folder: Path, words: list[str], more: Mapping[str, str] = NO_MORE, **streams: Any
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolevals.cli.main", *words]
    streams = {"stderr": subprocess.PIPE} | streams
    return subprocess.run(command, cwd=folder, env={**ENVIRONMENT, **more}, text=True, check=False, **streams)


@needs_full
@pytest.mark.parametrize("words", [["grade", "rows.jsonl"], ["grade", "many.jsonl"], GATE], ids=" ".join)
def test_a_full_disk_is_a_sentence(folder, words):
    with FULL.open("w") as full:
        done = run(folder, words, stdout=full)
    assert done.returncode == Exit.CONFIGURATION
    assert done.stderr == "toolevals: cannot write to standard output: No space left on device\n"


@needs_full
def test_an_error_that_cannot_be_said_keeps_its_status(folder):
    with FULL.open("w") as full:
        done = run(folder, ["grade", "gone.jsonl"], stdout=subprocess.PIPE, stderr=full)
    assert done.returncode == Exit.CONFIGURATION


@pytest.fixture
def unread() -> Iterator[int]:
    """The end of a pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def test_a_reader_that_goes_ends_the_grading(folder, unread):
    done = run(folder, ["grade", "many.jsonl"], stdout=unread)
    assert (done.returncode, done.stderr) == (Exit.OK, "")


def test_a_reader_that_goes_does_not_let_a_gate_pass(folder, unread):
    (folder / "rows.jsonl").write_text(json.dumps({**ROW, "tool_calls": [{"name": "x", "arguments": {}}]}) + "\n")
    done = run(folder, [*GATE, "--junit", "gate.xml"], stdout=unread)
    assert (done.returncode, done.stderr) == (Exit.FAILED, "")
    assert (folder / "gate.xml").exists()


def test_closed_streams_are_no_crash(folder):
    command = f"{sys.executable} -m toolevals.cli.main grade rows.jsonl >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=folder, env=ENVIRONMENT, check=False).returncode == Exit.OK


def test_a_terminal_without_a_character_is_told_it_in_another_way(folder):
    (folder / "rows.jsonl").write_text(json.dumps({**ROW, "id": "é"}) + "\n")
    done = run(folder, ["grade", "rows.jsonl"], {"PYTHONIOENCODING": "ascii"}, stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert r"\xe9" in done.stdout


def test_a_pipe_is_written_to_and_not_replaced(folder):
    pipe, read = folder / "pipe", folder / "read.jsonl"
    os.mkfifo(pipe)
    with read.open("wb") as file, subprocess.Popen(["cat", pipe], stdout=file) as reader:
        try:
            done = run(folder, ["grade", "many.jsonl", "--output", "pipe"])
            assert (done.returncode, done.stderr) == (Exit.OK, "")
            assert pipe.is_fifo()
            assert reader.wait(timeout=60) == 0
        finally:
            reader.kill()
    assert [json.loads(line)["id"] for line in read.read_text().splitlines()] == [f"ex-{each}" for each in range(500)]
    assert not (folder / "pipe.part").exists()
