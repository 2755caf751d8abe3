"""`toolevals grade --dialect`: other tools' verdicts on our rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.leaderboard_like import row as turns_row
from tests.agents.leaderboard_like import write_folder
from tests.cli.test_grade import INPUT, ROWS, row
from toolevals.cli.main import main
from toolevals.cli.output import Exit

CASES = [
    row("right", tool_calls=[{"name": "track", "arguments": '{"order": "A-1"}'}]),
    row("value", trial=1, tool_calls=[{"name": "track", "arguments": {"order": "A-2"}}]),
    row("none", answer="It is on its way."),
    row("bad", tool_calls=[{"name": "track", "arguments": "{bad"}]),
    {"id": "any", "input": INPUT, "expectation": {"kind": "some_call"}, "text": "hi"},
    row("down", error="connection refused"),
    {"id": "registry", "input": INPUT, "tools": "shop@3", "expected_tool": None, "answer": "Hello."},
]


@pytest.fixture
def file(tmp_path):
    return written(tmp_path, CASES)


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.jsonl.gz"
    path.write_bytes(gzip.compress("".join(f"{json.dumps(each)}\n" for each in rows).encode()))
    return path


def printed(capsys: Any, *arguments: str) -> tuple[int, list[dict[str, Any]], list[str]]:
    status = main(["grade", *arguments])
    captured = capsys.readouterr()
    return status, [json.loads(line) for line in captured.out.splitlines()], captured.err.splitlines()


def test_a_line_has_the_metrics_the_error_and_why_it_is_unscored(file, capsys):
    status, lines, errors = printed(capsys, str(file), "--dialect", "ragas")
    assert status == Exit.OK
    both = ("tool_call_accuracy", "tool_call_f1")
    assert lines[0] == {"id": "right", "trial": 0, "metrics": dict.fromkeys(both, 1.0), "error": None}
    assert lines[1] == {"id": "value", "trial": 1, "metrics": dict.fromkeys(both, 0.0), "error": None}
    assert lines[2]["metrics"] == dict.fromkeys(both, 0.0)
    assert [line["id"] for line in lines if "unscored" in line] == ["bad", "any", "down"]
    assert lines[4]["metrics"] == dict.fromkeys(both)
    assert lines[6]["metrics"] == {"tool_call_accuracy": 1.0, "tool_call_f1": 0.0}
    assert errors == [f"toolevals: line {number}: unscored: {lines[number - 1]['unscored']}" for number in (4, 5, 6)]


def test_what_the_original_raises_is_an_error_and_not_unscored(file, capsys):
    _, lines, errors = printed(capsys, str(file), "--dialect", "agentevals")
    assert lines[3] == {
        "id": "bad",
        "trial": 0,
        "metrics": {"trajectory_strict_match": None},
        "error": "JSONDecodeError",
    }
    assert len(errors) == 2


def test_options_change_the_verdict(file, capsys):
    option = ("--option", "tool_args_match_mode=ignore", "--option", "trajectory_match_mode=superset")
    status, lines, _ = printed(capsys, str(file), "--dialect", "agentevals", *option)
    assert status == Exit.OK
    assert lines[1]["metrics"] == {"trajectory_superset_match": True}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dialect", "ragas", "--option", "strict_order"), "write it as key=value"),
        (("--dialect", "ragas", "--option", "strict_order=maybe"), "strict_order takes true | false, not maybe"),
        (("--dialect", "bfcl", "--option", "a=b"), "bfcl has no option a"),
        (("--option", "a=b"), "name one with --dialect"),
    ],
)
def test_a_wrong_option_is_a_wrong_configuration(file, capsys, arguments, words):
    assert main(["grade", str(file), *arguments]) == Exit.CONFIGURATION
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err


def test_text_is_read_by_the_tool_itself_and_its_definitions_are_the_rows_tools(tmp_path, capsys):
    rows = [
        row("dotted", text="shop.track(order='A-1')"),
        row("more", tool_calls=[{"name": "track", "arguments": {"order": 1, "x": 2}}]),
        row(
            "several",
            tool_calls=[{"name": "track", "arguments": {"order": "A-1"}}, {"name": "refund", "arguments": {}}],
        ),
    ]
    _, lines, _ = printed(capsys, str(written(tmp_path, rows)), "--dialect", "ai_evaluation")
    assert lines[0]["metrics"]["function_call_exact_match"] == 1.0
    assert lines[1]["metrics"]["parameter_validation"] == 0.0
    assert lines[2]["metrics"] == {
        "function_name_match": 0.0,
        "function_call_exact_match": 0.0,
        "parameter_validation": 0.0,
        "function_call_accuracy": 1.0,
    }


def test_a_bad_line_is_named_and_the_others_are_scored(tmp_path, capsys):
    path = written(tmp_path, [CASES[0], row("x", tool_calls=3), {"id": "x", "input": INPUT, "text": "hi"}, CASES[1]])
    status, lines, errors = printed(capsys, str(path), "--dialect", "deepeval")
    assert status == Exit.DATA
    assert [line["id"] for line in lines] == ["right", "value"]
    assert "line 2: /tool_calls" in errors[0]
    assert "line 3: has neither expected_tool nor expectation" in errors[1]


def test_many_unscored_lines_are_counted(tmp_path, capsys):
    _, lines, errors = printed(capsys, str(written(tmp_path, [CASES[5]] * 23)), "--dialect", "adk")
    assert len(lines) == 23
    assert len(errors) == 21
    assert errors[-1] == "toolevals: 3 more unscored lines"


def test_csv_and_table(file, capsys):
    assert main(["grade", str(file), "--dialect", "adk", "--format", "csv"]) == Exit.OK
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert lines[0] == {"id": "right", "trial": "0", "tool_trajectory_avg_score": "1.0", "error": "", "unscored": ""}
    assert lines[5]["unscored"].startswith("The agent could not be reached")
    assert main(["grade", str(file), "--dialect", "agentevals", "--format", "table"]) == Exit.OK
    out = capsys.readouterr().out
    assert [line.split() for line in out.splitlines() if line.startswith("trajectory")] == [
        ["trajectory_strict_match", "7", "4", "2", "0.500"]
    ]
    assert "JSONDecodeError" in out


def test_an_empty_file_is_an_empty_answer(tmp_path, capsys):
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    for format_ in ("jsonl", "table"):
        assert main(["grade", str(path), "--dialect", "ragas", "--format", format_]) == Exit.OK
        assert capsys.readouterr().out == ""


def test_our_own_verdicts_are_not_changed_by_a_dialect_on_the_same_rows(tmp_path, capsys):
    path = written(tmp_path, ROWS)
    assert main(["grade", str(path)]) == Exit.OK
    ids = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    assert main(["grade", str(path), "--dialect", "adk"]) == Exit.OK
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ids


def test_provider_messages_and_step_lists_are_read_too(tmp_path, capsys):
    use = {"type": "tool_use", "id": "1", "name": "track", "input": {"order": "A-1"}}
    rows = [
        row("anthropic", format="anthropic", messages=[{"role": "assistant", "content": [use]}]),
        row("steps", steps=[{"tool": "track", "arguments": {"order": "A-1"}, "result": "On its way."}]),
    ]
    path = written(tmp_path, rows)
    for name in ("agentevals", "adk", "deepeval"):
        status, lines, _ = printed(capsys, str(path), "--dialect", name)
        assert status == Exit.OK
        assert [set(line["metrics"].values()) for line in lines] == [{1}, {1}]
    status, lines, _ = printed(capsys, str(path))
    assert [line["verdicts"]["outcome"]["status"] for line in lines] == ["passed", "passed"]


TURNS = [
    turns_row(["[post(text='open', tags=['news'])]"], ["[like(number=1), read(number=1)]"]),
    turns_row(["[post(text='open', tags=['news'])]"], ["I liked it."]),
    turns_row(["[post(text=open())]"], []),
    {"id": "web_search_0", "result": []},
    {"id": "multi_turn_base_7", "result": []},
]


@pytest.mark.usefixtures("sandbox")
def test_results_of_several_turns_are_graded_with_the_simulators_that_were_downloaded(tmp_path, capsys):
    folder = write_folder(tmp_path / "bfcl")
    asked = (str(written(tmp_path, TURNS)), "--dialect", "bfcl", "--option", f"simulators={folder}")
    status, lines, errors = printed(capsys, *asked)
    assert status == Exit.DATA
    assert lines[0] == {"id": "multi_turn_base_0", "valid": True, "error_type": None}
    assert (lines[1]["error_type"], lines[1]["reason"]) == (
        "multi_turn:empty_turn_model_response",
        "turn 2: no call, and 2 expected",
    )
    assert [line["valid"] for line in lines] == [True, False, None, None]
    assert "nothing is evaluated here" in lines[2]["unscored"]
    assert "web_search is not graded here" in lines[3]["unscored"]
    assert [error.partition(":")[2].split(":")[0] for error in errors] == [" line 3", " line 4", " line 5"]
    main(["grade", *asked, "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["valid"], bool(row["reason"]), bool(row["unscored"])) for row in rows] == [
        ("true", False, False),
        ("false", True, False),
        ("", False, True),
        ("", False, True),
    ]
    main(["grade", *asked, "--format", "table"])
    table = capsys.readouterr().out.splitlines()
    assert table[1].split()[:6] == ["valid", "1", "1", "2", "0", "0.500"]


def test_without_simulators_several_turns_are_unscored_and_say_what_to_run(tmp_path, capsys):
    _, lines, errors = printed(capsys, str(written(tmp_path, TURNS[:1])), "--dialect", "bfcl")
    assert lines[0]["valid"] is None
    assert "Run `toolevals download bfcl DIR` and give --option simulators=DIR." in lines[0]["unscored"]
    assert len(errors) == 1


def test_a_folder_without_simulators_is_told_before_anything_is_read(tmp_path, capsys):
    status, lines, errors = printed(capsys, "missing.jsonl", "--dialect", "bfcl", "--option", f"simulators={tmp_path}")
    assert (status, lines) == (Exit.CONFIGURATION, [])
    assert "it holds none" in errors[0]
    assert "toolevals download bfcl DIR" in errors[0]
