"""`toolevals grade`: a file in, verdicts out."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from typing import Any

import pytest

from tests.grading.benchmark import SAMPLE, benchmark_rows, needs_benchmark
from toolevals.cli.main import main
from toolevals.cli.output import Exit
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.values.verdicts import CaseGrade

TOOLS = [
    {"name": "refund", "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}}},
    {"name": "track", "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}}},
]
INPUT = {"messages": [{"role": "user", "content": "Where is A-1?"}]}


def row(name: str, **rest: Any) -> dict[str, Any]:
    plain = {"id": name, "input": INPUT, "tools": TOOLS, "expected_tool": "track", "expected_args": {"order": "A-1"}}
    return {**plain, **rest}


ROWS = [
    row("right", tool_calls=[{"name": "track", "arguments": '{"order": "A-1"}'}]),
    row("value", trial=1, tool_calls=[{"name": "track", "arguments": {"order": "A-2"}}]),
    row("tool", text="[refund(order='A-1')]"),
    row("missed", answer="It is on its way."),
    row("=evil()", messages=[{"role": "assistant", "content": "On its way."}]),
    row("nothing"),
    row("down", error="connection refused"),
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\ufeff" + "\n\n".join(json.dumps(each) for each in ROWS) + "\n", "utf-8")
    return path


def test_every_row_gets_its_verdicts_in_order(file, capsys):
    assert main(["grade", str(file)]) == Exit.OK
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["id"] for line in lines] == [each["id"] for each in ROWS]
    assert [line["verdicts"]["outcome"]["status"] for line in lines] == [
        "passed",
        "failed",
        "failed",
        "failed",
        "failed",
        "unscored",
        "errored",
    ]
    assert [line["mode"] for line in lines[:5]] == ["", "wrong_value", "wrong_tool", "missed_call", "missed_call"]
    assert lines[1]["trial"] == 1
    CaseGrade.from_document({key: value for key, value in lines[1].items() if key not in ("id", "trial", "metrics")})
    assert set(lines[1]["metrics"]) == set(METRICS)


def test_a_row_without_an_id_has_its_lines_number(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    bare = {key: value for key, value in ROWS[0].items() if key != "id"}
    path.write_text(f"{json.dumps(bare)}\n\n{json.dumps(ROWS[1])}\n{json.dumps(bare)}\n")
    assert main(["grade", str(path)]) == Exit.OK
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ["1", "value", "4"]
    # A gate joins files by their ids: it takes none that is made up.
    assert main(["gate", str(path)]) == Exit.DATA


def test_the_leaderboards_dialect_takes_underscored_names(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    function = {"name": "geo.find", "description": "", "parameters": {"type": "dict", "properties": {}, "required": []}}
    about = {"category": "simple_python", "functions": [function], "possible_answer": [{"geo.find": {}}]}
    made = [("geo_find", {}), ("geo.find", {}), ("geo_find", {"underscore_names": False}), ("geofind", {})]
    rows = [{"id": str(place), **about, "prediction": [{name: {}}], **said} for place, (name, said) in enumerate(made)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert main(["grade", str(path), "--dialect", "bfcl"]) == Exit.OK
    valid = [json.loads(line)["valid"] for line in capsys.readouterr().out.splitlines()]
    assert valid == [True, True, False, False]


def test_csv_has_one_row_a_case_and_no_formula(file, capsys):
    assert main(["grade", str(file), "--format", "csv"]) == Exit.OK
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [line["outcome"] for line in lines].count("failed") == 4
    assert lines[4]["id"] == "'=evil()"
    assert (lines[2]["expected"], lines[2]["actual"]) == ("track", "refund")


def test_the_table_sums_up(file, capsys):
    assert main(["grade", str(file), "--format", "table"]) == Exit.OK
    out = capsys.readouterr().out
    outcome = next(line.split() for line in out.splitlines() if line.startswith("outcome"))
    assert outcome[1:6] == ["1", "4", "1", "1", "0.200"]
    assert next(line.split() for line in out.splitlines() if line.startswith("track")) == [
        "track", "5", "2", "1.000", "0.400", "0.571",
    ]  # fmt: skip
    assert "missed_call" in out


def test_an_empty_file_is_an_empty_answer(tmp_path, capsys):
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    for options in ([], ["--format", "table", "--dialect", "bfcl"]):
        assert main(["grade", str(path), *options]) == Exit.OK
        assert capsys.readouterr().out == ""


def test_formats_are_asserted_only_where_that_is_asked_for(tmp_path, capsys):
    tool = {"name": "book", "input_schema": {"type": "object", "properties": {"day": {"format": "date"}}}}
    case = row("a", tools=[tool], expected_tool="book", expected_args={"day": "31/01/2026"})
    case["tool_calls"] = [{"name": "book", "arguments": {"day": "31/01/2026"}}]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(case))
    statuses = []
    for options in ([], ["--assert-formats"]):
        assert main(["grade", str(path), *options]) == Exit.OK
        statuses.append(json.loads(capsys.readouterr().out)["verdicts"]["schema"]["status"])
    assert statuses == ["passed", "failed"]
    assert main(["grade", str(path), "--assert-formats", "--dialect", "bfcl"]) == Exit.CONFIGURATION
    assert "leave out --dialect" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2: not JSON at line 1, column 2"),
        ('{"id": "x", "id": "y"}', 'line 2: /id: the key "id" appears twice'),
        ("[1]", "line 2: is not an object"),
        (json.dumps({"id": "x", "input": INPUT, "text": "hi"}), "line 2: has neither expected_tool nor expectation"),
        (json.dumps(row("x", tools="shop@3")), "line 2: /tools: names a registry version"),
        (json.dumps(row("x", tool_calls=3)), "line 2: /tool_calls: 3 is not of types"),
        (json.dumps(row("x", expected_tol="y")), "line 2: Additional properties are not allowed ('expected_tol'"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_graded(tmp_path, capsys, line, words):
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(ROWS[0])}\n{line}\n{json.dumps(ROWS[1])}\n")
    assert main(["grade", str(path)]) == Exit.DATA
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 2
    assert words in captured.err


def test_many_bad_lines_are_counted(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    path.write_text("{\n" * 25)
    assert main(["grade", str(path)]) == Exit.DATA
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 21
    assert errors[-1] == "toolevals: 5 more bad lines"


def test_a_file_that_is_not_there_or_not_gzip(tmp_path, capsys):
    assert main(["grade", str(tmp_path / "none.jsonl")]) == Exit.CONFIGURATION
    path = tmp_path / "rows.jsonl.gz"
    path.write_text("no gzip")
    assert main(["grade", str(path)]) == Exit.DATA
    assert "damaged" in capsys.readouterr().err


def test_an_unknown_dialect_is_a_wrong_option(file):
    assert main(["grade", str(file), "--dialect", "esperanto"]) == Exit.CONFIGURATION


def test_the_dialect_gives_the_other_tools_verdicts_plain_or_packed(tmp_path, capsys):
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(SAMPLE.read_bytes()))
    wanted = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    for path in (SAMPLE, packed):
        assert main(["grade", str(path), "--dialect", "bfcl"]) == Exit.OK
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert lines == [{key: each[key] for key in ("id", "valid", "error_type")} for each in wanted]


def test_the_dialects_csv_and_table(capsys):
    assert main(["grade", str(SAMPLE), "--dialect", "bfcl", "--format", "csv"]) == Exit.OK
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head == "id,valid,error_type,reason,unscored"
    assert first.split(",")[1] in ("true", "false")
    assert main(["grade", str(SAMPLE), "--dialect", "bfcl", "--format", "table"]) == Exit.OK
    assert "value_error:string" in capsys.readouterr().out


def test_standard_input_is_read_without_the_server():
    code = (
        "import sys; from toolevals.cli.main import main; status = main(['grade', '-', '--dialect', 'bfcl']);"
        "assert not {'django', 'celery'} & set(sys.modules), 'the server was loaded'; sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=SAMPLE.read_bytes(), capture_output=True, check=True, timeout=60
    )
    assert len(done.stdout.splitlines()) == len(SAMPLE.read_text("utf-8").splitlines())


@needs_benchmark
def test_the_benchmarks_own_verdicts_on_simple_and_multiple_calls(tmp_path, capsys):
    rows = [each for each in benchmark_rows("oracle.jsonl.gz") if "parallel" not in each["category"]]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    assert main(["grade", str(path), "--dialect", "bfcl"]) == Exit.OK
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [{key: each[key] for key in ("id", "valid", "error_type")} for each in rows]
    assert len(lines) > 3000


def test_a_row_says_what_decides_it(tmp_path, capsys):
    gold = {"kind": "calls", "alternatives": [{"ordered": [{"tool": "track"}]}], "answer": {"contains": ["tomorrow"]}}
    said = {"id": "a", "input": INPUT, "tools": TOOLS, "expectation": gold, "answer": "It comes tomorrow."}
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in (said, said | {"id": "b", "decided_by": "answer"})))
    assert main(["grade", str(path)]) == Exit.OK
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["verdicts"]["outcome"]["status"] for line in lines] == ["failed", "passed"]
    assert [line.get("decided_by") for line in lines] == [None, "answer"]
    path.write_text(json.dumps(said | {"decided_by": "reward"}) + "\n")
    assert main(["grade", str(path)]) != Exit.OK
    assert "'reward' decides nothing" in capsys.readouterr().err


def test_messages_say_what_they_were_read_as_and_an_unknown_shape_is_never_no_call(tmp_path, capsys):
    said = [{"type": "thinking", "thinking": ""}, {"type": "tool_use", "id": "1", "name": "track", "input": {}}]
    unknown = [{"role": "assistant", "steps": [{"invoke": {"name": "track", "arguments": {"order": "A-1"}}}]}]
    rows = [row("known", messages=[{"role": "assistant", "content": said}]), row("unknown", messages=unknown)]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in rows), "utf-8")

    assert main(["grade", str(file), "--format", "csv"]) == Exit.DATA

    shown = capsys.readouterr()
    (only,) = csv.DictReader(io.StringIO(shown.out))
    assert (only["id"], only["format"], only["left_out"]) == (
        "known", "anthropic", "1 × reasoning at /messages/*/content/*",
    )  # fmt: skip
    assert "1 read as anthropic: a message has a block of type `thinking`" in shown.err
    assert "line 2: /messages/0/steps/0/invoke: looks like a call" in shown.err
    assert "Nearest known format: " in shown.err
