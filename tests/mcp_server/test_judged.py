"""Our own MCP tools, judged by us: requests that fit the schemas, tools as listed, and the gate of the baseline."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mcp_server.judged import (
    BEGIN,
    END,
    FOLDER,
    NO_CALL,
    PAGE,
    answers,
    expected_tool,
    graded_rows,
    lines,
    listed_tools,
    specs,
    table,
)
from toolevals.cli.main import main
from toolevals.cli.output import Exit
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values import ToolSpec

AGAIN = "python -m tests.mcp_server.judged writes them anew"


def test_there_are_80_requests_of_every_tool_and_of_none():
    rows = lines("requests.jsonl.gz")
    counted = Counter(map(expected_tool, rows))
    assert len({row["id"] for row in rows}) == len(rows) == 80
    assert counted.keys() == {NO_CALL, *(tool.name for tool in specs())}
    assert min(counted.values()) >= 3
    assert len({row["input"]["messages"][-1]["content"] for row in rows}) == 80
    # Both halves hold every tool.
    for half in ("tuning", "held-out"):
        assert {expected_tool(row) for row in rows if row["strata"]["category"] == half} == counted.keys()


@pytest.mark.parametrize("row", lines("requests.jsonl.gz"), ids=lambda row: row["id"])
def test_what_is_expected_fits_the_schemas(row):
    example = read_example(row)
    assert example.expectation is not None
    assert expectation_problems(example.expectation, specs()) == []
    known = {tool.name: set(tool.input_schema.get("required", ())) for tool in specs()}
    for _, call in example.expectation.located_calls():
        assert known[call.tool] <= call.arguments.keys()
    assert set(row["expectation"].get("near", ())) <= known.keys()


def test_the_tools_in_the_folder_are_those_that_the_server_lists():
    assert json.loads((FOLDER / "tools.json").read_text()) == {"tools": listed_tools()}, AGAIN


def test_the_matrix_in_the_docs_is_that_of_the_baseline_today():
    assert answers(specs()) == lines("answers.jsonl"), AGAIN
    assert table() == PAGE.read_text().split(BEGIN)[1].split(END)[0].strip(), AGAIN


def gate(folder: Path, tools: list[ToolSpec]) -> int:
    """Return how the command holds the baseline with these tools against its answers with those that are published."""
    for name, offered, said in (("now", tools, answers(tools)), ("before", specs(), lines("answers.jsonl"))):
        (folder / f"{name}.jsonl").write_text(graded_rows(offered, said))
    config = ["--config", str(FOLDER / "gate.yaml"), "--baseline", str(folder / "before.jsonl")]
    return main(["gate", str(folder / "now.jsonl"), *config])


def test_the_descriptions_pass_their_gate(tmp_path, capsys):
    assert gate(tmp_path, specs()) == Exit.OK
    assert "passed" in capsys.readouterr().out


# Their names alone hold the words of the requests: the baseline finds them without a description.
KNOWN_BY_NAME = {"show_case", "check_gate", "suggest_labels"}


@pytest.mark.parametrize("worse", [tool.name for tool in specs()])
def test_a_description_that_no_longer_says_when_fails_the_gate(tmp_path, worse, capsys):
    vague = "Use when information is needed."
    tools = [replace(tool, description=vague) if tool.name == worse else tool for tool in specs()]
    status = gate(tmp_path, tools)
    said = " ".join(capsys.readouterr().out.split())
    assert (status == Exit.FAILED) is (worse not in KNOWN_BY_NAME), said
    assert ("passed before and fail now" in said) is (worse not in KNOWN_BY_NAME)
