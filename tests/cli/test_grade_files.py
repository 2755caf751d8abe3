"""Files of other evaluation tools on the command line, without a server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from toolevals.cli.main import main, with_kind
from toolevals.cli.output import Exit

DATA = Path(__file__).parents[1] / "grading" / "files" / "evaluation_files" / "data"


def test_a_file_of_another_tool_is_graded_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", str(DATA / "adk.evalset_result.json")]) == Exit.OK
    printed = capsys.readouterr()
    graded = [json.loads(line) for line in printed.out.splitlines()]
    assert [(each["id"], each["mode"]) for each in graded] == [("order-1", "wrong_value"), ("order-2", "")]
    assert "Read as ADK evaluation result: has eval_case_results." in printed.err
    assert re.search(r"2 × \w+ is a reference for a judge", printed.err)


def test_what_cannot_be_graded_is_named_and_ends_in_the_status_of_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", str(DATA / "deepeval_test_run.json"), "--format", "csv"]) == Exit.DATA
    assert "entry 3: /conversationalTestCases/0: expects nothing that can be graded" in capsys.readouterr().err


def test_a_file_is_imported_without_its_kind() -> None:
    assert with_kind(["import", "results.json", "--dataset", "core"])[:3] == ["import", "auto", "results.json"]
    assert with_kind(["import", "jsonl", "results.json"])[:2] == ["import", "jsonl"]
    assert with_kind(["grade", "results.json"]) == ["grade", "results.json"]
