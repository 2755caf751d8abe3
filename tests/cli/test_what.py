"""`toolevals what`: what a file is, said without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolevals.cli.exits import Exit
from toolevals.cli.main import main

EXAMPLE: dict[str, Any] = {"id": "a", "input": {"messages": [{"role": "user", "content": "Where is A-1?"}]}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_a_file_is_named_and_counted(file, capsys):
    file.write_text(json.dumps(EXAMPLE) + "\n")
    assert main(["what", str(file)]) == Exit.OK
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Read as examples, JSON Lines: lines have id and input with messages."
    assert printed[1:3] == ["examples: 1", "to label: 1"]
    assert printed[3].split() == ["a", "Where", "is", "A-1?"]


def test_errors_stand_with_their_line_and_are_a_status(file, capsys):
    file.write_text(json.dumps(EXAMPLE) + '\n{"id": "b"}\n')
    assert main(["what", str(file)]) == Exit.DATA
    assert "line 2" in capsys.readouterr().err
    assert main(["what", str(file), "--json"]) == Exit.DATA
    shown = json.loads(capsys.readouterr().out)
    assert (shown["kind"]["format"], shown["errors"][0]["line"]) == ("jsonl", 2)


def test_an_unknown_file_is_refused_with_the_nearest_format(file, capsys):
    file.write_text('{"eval_set_id": "x", "conversation": []}')
    assert main(["what", str(file)]) == Exit.DATA
    assert "The nearest format is ADK evaluation set" in capsys.readouterr().err


def test_a_format_that_only_the_import_reads_has_its_lines_counted(file, capsys):
    file.write_text('{"question_row": {}, "category": "x"}\n{"question_row": {}, "category": "x"}\n')
    assert main(["what", str(file)]) == Exit.OK
    assert "lines: 2" in capsys.readouterr().out
