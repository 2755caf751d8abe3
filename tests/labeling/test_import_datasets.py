"""Files as strangers have them: training conversations, public datasets, lists of examples, tables, Parquet."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
import json
from typing import Any

import pytest

from labeling.imports.formats import source_of
from labeling.models import Example
from tests.grading.files.evaluation_files.test_datasets import HERMES, XLAM, lines
from tests.labeling.importing import load, shown
from tests.labeling.rows import document
from toolevals.grading.values.problems import InvalidDocument
from toolevals.presentation.csv import csv_stream
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import JobState

__all__ = ["load"]

pytestmark = pytest.mark.django_db
COLUMNS = {"Case": "id", "Question": "user", "Tool": "tool"}
TUNED: dict[str, Any] = {
    "id": "t1",
    "messages": [
        {"role": "user", "content": "Where is A-1?"},
        {
            "role": "assistant",
            "content": '<tool_call>{"name": "get_order", "arguments": {"order_id": "A-1"}}</tool_call>',
        },
        {"role": "tool", "content": "sent"},
        {"role": "assistant", "content": "It was sent."},
    ],
}
OTHER_CALL = {"id": "c", "op_name": "chat", "inputs": {"messages": []}, "outputs": "x"}


def warnings(job: Any) -> list[tuple[int, str]]:
    return [(each["line"], each["message"]) for each in job.report.get("read", {}).get("warnings", ())]


def test_a_bad_row_is_named_and_the_others_are_imported(dataset, load):
    job = load(lines([*(XLAM | {"id": number} for number in range(60)), XLAM | {"id": 60, "answers": "x"}]), "auto")
    assert job.state == JobState.SUCCEEDED
    assert Example.objects.count() == 60
    assert warnings(job) == [(61, "is not a list of calls with name and arguments: the row is left out")]


def test_a_file_of_bad_rows_alone_is_refused(dataset, load):
    job = load(lines([XLAM | {"answers": "x"}]), "xlam")
    assert (job.state, Example.objects.count()) == (JobState.FAILED, 0)


@pytest.mark.parametrize(
    ("options", "names", "kinds"),
    [
        (None, ["t1"], ["no_call"]),
        ({"decision": "first"}, ["t1"], ["calls"]),
        ({"decision": "every"}, ["t1-1", "t1-2"], ["calls", "no_call"]),
    ],
)
def test_the_decision_of_a_fine_tuning_conversation_is_chosen(dataset, load, options, names, kinds):
    job = load([TUNED], "openai_chat", options)
    assert job.state == JobState.SUCCEEDED
    assert sorted(Example.objects.values_list("external_id", flat=True)) == names
    golds = [shown(name).gold for name in names]
    assert [gold.expectation["kind"] for gold in golds if gold] == kinds
    assert any("are part of the input" in message for _, message in warnings(job)) is (options is None)


def test_a_turn_that_cannot_be_read_is_wrong_only_where_it_is_the_example(dataset, load):
    turns = [TUNED["messages"][0], {"role": "assistant", "content": "<tool_call>{oops, no"}, *TUNED["messages"][2:]]
    assert load([{"id": "a", "messages": turns}], "openai_chat").state == JobState.SUCCEEDED
    job = load([{"id": "b", "messages": turns}], "openai_chat", {"decision": "first"})
    assert job.state == JobState.FAILED


def test_an_unknown_decision_is_refused(dataset, load):
    with pytest.raises(InvalidDocument, match="must be one of first, every, last"):
        load([HERMES], "sharegpt", {"decision": "second"})


def test_a_type_of_python_in_a_tool_is_read_and_named(dataset, load):
    tools = [{"name": "seek", "parameters": {"type": "object", "properties": {"size": {"type": "float"}}}}]
    job = load([TUNED | {"tools": json.dumps(tools)}], "openai_chat")
    assert job.state == JobState.SUCCEEDED
    assert tools_in(shown("t1").tools)[0].input_schema["properties"] == {"size": {"type": "number"}}
    assert any("read as far as it can be" in message for _, message in warnings(job))


def test_a_list_of_native_examples_is_read_like_its_lines(dataset, load):
    content = json.dumps([document(name, expected_tool=None) for name in "abc"]).encode()
    assert source_of(io.BytesIO(content)).source.name == "jsonl"
    job = load(content, "auto")
    assert (job.state, Example.objects.count()) == (JobState.SUCCEEDED, 3)


def test_items_of_langfuse_on_lines_are_no_examples_of_ours():
    item = {"id": "a", "input": {"messages": [{"role": "user", "content": "x"}]}, "expectedOutput": None}
    assert source_of(io.BytesIO(lines([item, item]))).source.name == "langfuse_items"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lines([OTHER_CALL] * 2), "it has id, op_name, inputs, outputs. The nearest format is LangSmith dataset"),
        (lines([{"question_row": {}}] * 2), "for which it lacks answer_row, category"),
        (
            lines([{"id": "a", "input": {"messages": []}, "colour": 1}]),
            "JSON Lines: it has its keys, but not its values",
        ),
        (lines([{"messages": "x", "tools": []}] * 2), '"expected_tool": "name", "expected_args"'),
    ],
)
def test_what_fits_no_format_is_refused_with_what_to_do(content, words):
    with pytest.raises(InvalidDocument) as error:
        source_of(io.BytesIO(content))
    assert words in str(error.value)
    assert "docs/formats.md" in str(error.value)


def test_one_task_of_tau2_is_a_task():
    task = {"id": "1", "user_scenario": {"instructions": "Cancel."}, "evaluation_criteria": {"actions": []}}
    assert source_of(io.BytesIO(json.dumps(task).encode())).source.name == "tau2"


def test_a_map_finds_the_delimiter_and_text_in_quotes_is_not_cut(dataset, load):
    job = load(b'Case;"Question, or ask";Tool\nc1;Weather, in Oslo?;get_order\n', "csv", {
        "columns": {"Case": "id", "Question, or ask": "user", "Tool": "tool"}})  # fmt: skip
    assert job.state == JobState.SUCCEEDED
    assert shown("c1").input["messages"][0]["content"] == "Weather, in Oslo?"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"Case,Question,Question,Tool\nc1,A?,B?,ping\n", "the head names Question twice"),
        ("Case,Question,Tool\nc1,A?,ping\n".encode("utf-16"), "is UTF-16"),
        ("Case,Question,Tool\nc1,A?,ping\n".encode("utf-16-be"), "is UTF-16"),
    ],
)
def test_a_head_given_twice_and_utf16_are_refused_as_what_they_are(dataset, load, content, words):
    job = load(content, "csv", {"columns": COLUMNS})
    assert job.state == JobState.FAILED
    assert words in json.dumps(job.report)
    with pytest.raises(InvalidDocument, match=r"twice|UTF-16"):
        source_of(io.BytesIO(content))


@pytest.mark.parametrize("words", ["'=1+1", "=1+1", "''=x", "'quoted'", "'", "@x", "'-", "plain"])
def test_a_rationale_survives_the_round_trip(dataset, load, words):
    table = b"".join(csv_stream(["Case", "Question", "Tool", "Why"], [["c1", "A?", "get_order", words]]))
    assert not any(cell[:1] in "=+-@" for cell in next(csv.reader([table.decode().splitlines()[1]])))
    job = load(table, "csv", {"columns": COLUMNS | {"Why": "rationale"}})
    assert job.state == JobState.SUCCEEDED
    gold = shown("c1").gold
    assert gold is not None
    assert gold.rationale == words


def test_parquet_without_its_package_says_what_to_do(monkeypatch):
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InvalidDocument, match="is Parquet, which is read where the package pyarrow is installed"):
        source_of(io.BytesIO(b"PAR1...PAR1"))


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="the package pyarrow is not installed")
@pytest.mark.parametrize(("rows", "source"), [([XLAM] * 2, "xlam"), ([document("a"), document("b")], "jsonl")])
def test_parquet_is_read_like_the_rows_in_it(dataset, load, rows, source):
    arrow, files = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    rows = [row | {"id": str(number)} for number, row in enumerate(rows)]
    out = io.BytesIO()
    files.write_table(arrow.Table.from_pylist(rows), out)
    assert source_of(out).source.name == source
    job = load(out.getvalue(), "auto")
    assert (job.state, Example.objects.count()) == (JobState.SUCCEEDED, 2)
