"""The commands of docs/from-openai-evals.md, as they stand there, against the running application."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest

from scripts.dev.environment import ROOT
from tests.cli.served import server
from toolevals.cli import main as command
from toolevals.cli.output import Exit

__all__ = ["server"]

pytestmark = pytest.mark.servers
PAGE = (ROOT / "docs" / "from-openai-evals.md").read_text()
FILES = ROOT / "docs" / "examples" / "openai-evals"


def blocks() -> list[list[str]]:
    return [block.strip().splitlines() for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def test_the_commands_of_the_page_bring_the_saved_files_in(server, tmp_path, monkeypatch, capsys):
    shutil.copytree(FILES, tmp_path / "evals")
    monkeypatch.chdir(tmp_path)
    said = []
    for block in blocks():
        for line in block:
            program, *arguments = shlex.split(line)
            assert program == "toolevals"
            assert command.main(arguments) == Exit.OK, (line, capsys.readouterr())
            printed = capsys.readouterr()
            said.append(printed.out + printed.err)
    _, what, tools, examples, run, labels, required = said
    counts = ("examples: 3", "predictions: 3", "labels given elsewhere: 2", "people who gave them: 2", "notes: 1")
    assert all(count in what for count in counts)
    assert "shop@1: 3 tools" in tools
    assert "added 4" in examples
    assert "version 1: 4 examples" in examples
    assert "outcome      3 of 4, 75.0%" in run
    assert "added 3" in labels
    assert "labels 2, labels of people 2, notes 1" in labels
    assert "rating fails the recorded call without a correction: kept as a note" in labels
    assert "gate: passed" in required
