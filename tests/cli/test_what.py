"""`toolevals what`: what a file is, said without a server."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from toolevals.cli.main import main
from toolevals.cli.output import Exit

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


def test_a_file_is_read_as_the_import_reads_it(file, capsys):
    row: dict[str, Any] = {
        "question_row": {"id": "q", "question": [[{"role": "user", "content": "Hi"}]], "function": []}
    }
    row |= {"answer_row": None, "category": "irrelevance"}
    file.write_text(f'{json.dumps(row)}\n{{"question_row": {{}}, "category": "x"}}\n{json.dumps(row)}\n')
    assert main(["what", str(file)]) == Exit.DATA
    said = capsys.readouterr()
    assert "examples: 1" in said.out
    assert "line 2" in said.err
    assert "line 3 /id: the id q is already used in line 1" in said.err


def test_a_zip_is_counted_by_its_rows(file, capsys):
    question = {"id": "multiple_0", "question": [[{"role": "user", "content": "Hi"}]], "function": []}
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("BFCL_v4_irrelevance.json", f"{json.dumps(question)}\n")
    assert main(["what", str(file)]) == Exit.OK
    assert "examples: 1" in capsys.readouterr().out


def test_a_table_shows_what_its_columns_hold(file, capsys):
    file.write_text("id,question\na,Hi\nb,Ho\n")
    assert main(["what", str(file)]) == Exit.OK
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:4] == ["rows: 2", "columns: 2", "  id  a, b"]


def test_rows_for_grading_are_told_from_examples(file, capsys):
    row = {**EXAMPLE, "tools": [], "expected_tool": None, "text": "It is at sea."}
    file.write_text("\n".join(json.dumps(each) for each in (row, {**row, "id": 7})) + "\n")
    assert main(["what", str(file)]) == Exit.DATA
    shown = capsys.readouterr()
    assert shown.out.splitlines()[:3] == [
        "Read as rows, for `toolevals grade` and `toolevals gate`: lines have input, what is expected, and text.",
        "rows: 1",
        "  a  Where is A-1?: It is at sea.",
    ]
    assert shown.err.startswith("line 2 /id: ")
