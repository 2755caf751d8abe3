"""Each format that we write is read back: the same examples, tools and predictions, but for losses that are named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.datasets.services import dataset_create
from labeling.exports import FORMATS as WRITERS
from labeling.exports import Outcome
from labeling.exports.table import EXAMPLE_COLUMNS
from labeling.imports.formats import SOURCES
from labeling.imports.parts import Settings
from labeling.imports.readers.columns import detected_targets
from labeling.imports.services import examples_import
from tests.grading import strategies
from tests.labeling.importing import load
from tests.labeling.rows import call, document
from tests.labeling.test_export_formats import fill, lines, write
from toolevals.grading.reading.examples import read_example
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import Expectation, Message, ToolSpec, Transcript

__all__ = ["load"]

FROM_RESULT = {
    "kind": "calls",
    "alternatives": [
        {
            "ordered": [
                {"tool": "get_order", "arguments": {"order_id": {"exact": "A-1"}}},
                {"tool": "cancel_order", "arguments": {"order_id": {"result_of": {"call": 1, "pointer": "/id"}}}},
            ]
        }
    ],
}
PLAIN = {"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}
# What each writer's reader gives back whole; for the others, what they keep of an example that they can say.
WHOLE = {"jsonl", "csv", "langsmith"}
IN_PART = {"openai_chat", "bfcl"}


def test_every_format_with_a_writer_and_a_reader_is_here():
    assert WRITERS.keys() & SOURCES.keys() == WHOLE | IN_PART


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["jsonl", "langsmith"])
def test_lines_give_the_same_examples(project, dataset, name):
    fill(
        dataset,
        document("a", **PLAIN, rationale="r", strata={"difficulty": "easy"}, decided_by="calls+answer"),
        document("b", expectation=FROM_RESULT),
        document("c", expectation=call()),
        document("d", expected_tool=None),
        document("e"),
    )
    reader = SOURCES[name].read
    assert reader is not None
    again = dataset_create(project=project, actor=None, slug="again", name="Again")
    rows = [reader(each, Settings()) for each in lines(write(dataset, name))]
    examples_import(dataset=again, actor=None, rows=rows)
    first, second = (lines(write(each, "jsonl")) for each in (dataset, again))
    assert first == second


@pytest.mark.django_db
def test_a_table_gives_the_same_examples(dataset, load):
    fill(dataset, document("a", **PLAIN, decided_by="answer"), document("b", expectation=FROM_RESULT))
    before = lines(write(dataset, "jsonl"))
    job = load(write(dataset, "csv"), "csv", {"columns": detected_targets(tuple(EXAMPLE_COLUMNS))})
    assert (job.report["unchanged"], job.report["added"]) == (2, 0)
    assert lines(write(dataset, "jsonl")) == before


@pytest.mark.django_db
def test_fine_tuning_files_keep_what_they_can_say_and_name_the_rest(dataset):
    fill(dataset, document("a", **PLAIN, rationale="r"), document("b", expectation=FROM_RESULT))
    outcome = Outcome()
    (line,) = lines(write(dataset, "openai_chat", outcome))
    (row,) = SOURCES["openai_chat"].rows(line, Settings())
    native = read_example(document("a", **PLAIN))
    assert (row.expectation, row.input["messages"]) == (native.expectation, native.input["messages"])
    assert isinstance(row.tools, list)
    assert [tool.name for tool in row.tools] == ["get_order", "cancel_order"]
    assert [(each["id"], bool(each["reason"])) for each in outcome.listed] == [("b", True)]


@pytest.mark.django_db
def test_the_leaderboards_files_name_what_they_cannot_say(dataset):
    fill(dataset, document("b", expectation=FROM_RESULT))
    outcome = Outcome()
    write(dataset, "bfcl", outcome)
    assert [each["id"] for each in outcome.listed] == ["b"]
    assert (outcome.written, outcome.skipped.total()) == (0, 1)


@given(strategies.expectations)
def test_an_expectation_is_what_its_document_says(drawn: Expectation) -> None:
    text = json.dumps(drawn.to_document())
    assert Expectation.from_document(json.loads(text)) == drawn


schemas = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={"properties": st.dictionaries(st.text("ab ", max_size=3), st.just({"type": "string"}), max_size=3)},
)
tools = st.builds(
    ToolSpec, st.text("abc_.", min_size=1, max_size=8), st.text(max_size=8).filter(str.isprintable), schemas
)


@given(st.lists(tools, max_size=4, min_size=1, unique_by=lambda tool: tool.name))
def test_native_tools_come_back(drawn: list[ToolSpec]) -> None:
    read = read_tools([tool.to_document() for tool in drawn], format="native")
    assert (read.tools, read.losses) == (drawn, [])


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
made = st.lists(st.builds(Message, st.just("assistant"), words, st.lists(strategies.tool_calls, max_size=2).map(tuple)))


@given(made.filter(bool))
def test_native_predictions_come_back(drawn: list[Message]) -> None:
    row: dict[str, Any] = {"id": "a", "format": "native", "messages": [each.to_document() for each in drawn]}
    read = read_prediction(row)
    assert (read.transcript.messages, read.losses) == (Transcript(tuple(drawn)).messages, ())
