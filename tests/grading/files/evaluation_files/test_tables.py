"""Tables (CSV) as Langfuse and Phoenix let one download them: found by their columns, read, their losses counted."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.files.evaluation_files.decoding import decoded
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import EvaluationFile, evaluation_file
from toolevals.grading.files.evaluation_files.tables import cell_value
from toolevals.grading.values.problems import InvalidDocument

ASKED = [{"role": "user", "content": "Where is ORD-9182?"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"order_id": "ORD-9182"}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "shipped"}
# The columns of Langfuse's table of observations, as far as they tell something here.
OBSERVATION: dict[str, Any] = {
    "id": "",
    "traceId": "t1",
    "type": "GENERATION",
    "startTime": "",
    "parentObservationId": "",
    "name": "m",
}


def table(rows: Sequence[Mapping[str, Any]], *, python: bool = False) -> bytes:
    """Return rows as CSV; lists and objects as JSON, or as Python writes them."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    for row in rows:
        shown = repr if python else json.dumps
        writer.writerow({key: shown(each) if isinstance(each, list | dict) else each for key, each in row.items()})
    return stream.getvalue().encode()


def entries(file: EvaluationFile) -> list[Entry]:
    found = [entry for _, entry in file.entries()]
    assert all(isinstance(entry, Entry) for entry in found), found
    return [entry for entry in found if isinstance(entry, Entry)]


def made(file: EvaluationFile) -> list[tuple[str, list[str], str | None]]:
    """Return of each trial its example, its calls and its answer."""
    trials = [entry.trial for entry in entries(file) if entry.trial is not None]
    return [(t.external_id, [c.name or "" for c in t.transcript.calls], t.transcript.answer) for t in trials]


def losses(file: EvaluationFile) -> list[str]:
    return [str(loss) for entry in entries(file) for loss in entry.losses]


def test_langfuse_observations() -> None:
    rows: list[dict[str, Any]] = [
        {**OBSERVATION, "id": "o1", "startTime": "1", "input": ASKED, "output": CALLED, "usageDetails": {"input": 9}},
        {**OBSERVATION, "id": "o2", "startTime": "2", "input": [*ASKED, CALLED, RESULT], "output": "It has shipped.",
         "usageDetails": {"input": 12, "output": 4}},
    ]  # fmt: skip
    extra: dict[str, Any] = {"scores": "", "latency": "1.2", "correctness": ""}
    rows = [{**row, **extra} for row in rows]
    rows[1] |= {"scores": {"good": 1}, "correctness": "0.9"}
    file = evaluation_file(table(rows))
    assert file.detected.format.name == "langfuse_traces"
    assert made(file) == [("t1", ["get"], "It has shipped.")]
    trial = entries(file)[0].trial
    assert trial is not None
    assert trial.transcript.usage == {"input_tokens": 21, "output_tokens": 4}
    assert losses(file) == [
        "/scores: is not a part of what was said and done: left out",
        "/correctness: is not known in this format: left out",
    ]


def test_langfuse_generations_of_older_tables() -> None:
    columns: dict[str, Any] = {
        "id": "g1",
        "name": "m",
        "traceId": "t1",
        "traceName": "",
        "startTime": "1",
        "model": "gpt",
    }
    row = {**columns, "promptTokens": "9", "completionTokens": "3", "input": ASKED, "output": CALLED}
    file = evaluation_file(table([row]))
    assert (file.detected.format.name, made(file)) == ("langfuse_traces", [("t1", ["get"], None)])
    trial = entries(file)[0].trial
    assert trial is not None
    assert trial.transcript.usage == {"input_tokens": 9, "output_tokens": 3}


def test_langfuse_traces_alone() -> None:
    row = {
        "id": "t9",
        "timestamp": "2026-01-02",
        "name": "agent",
        "userId": "u",
        "tags": [],
        "input": {"question": "Hi?"},
    }
    file = evaluation_file(table([{**row, "output": "Hello."}]))
    assert (file.detected.format.name, made(file)) == ("langfuse_traces", [("t9", [], "Hello.")])


def test_langfuse_dataset_items() -> None:
    row = {
        "id": "order",
        "datasetName": "d",
        "status": "ACTIVE",
        "input": {"messages": ASKED},
        "expectedOutput": CALLED,
    }
    empty = {**row, "id": "other", "expectedOutput": "", "input": "Hello."}
    file = evaluation_file(table([{**row, "mood": "x"}, {**empty, "mood": ""}]))
    assert file.detected.format.name == "langfuse_items"
    first, second = (entry.example for entry in entries(file))
    assert first is not None
    assert first.expectation is not None
    assert first.expectation.alternatives[0].calls[0].tool == "get"
    assert second is not None
    assert second.expectation is None
    assert losses(file) == ["/mood: is not known in this format: left out"]


@pytest.mark.parametrize("python", [False, True])
def test_phoenix_dataset(python: bool) -> None:
    row: dict[str, Any] = {
        "example_id": "RGF0:1",
        "input_messages": ASKED,
        "output_tool_calls": [CALL],
        "metadata_difficulty": "hard",
    }
    plain: dict[str, Any] = {
        "example_id": "RGF0:2",
        "input_messages": "",
        "output_tool_calls": "",
        "metadata_difficulty": "",
    }
    rows: list[dict[str, Any]] = [
        {**row, "input_question": "", "rank": ""},
        {**plain, "input_question": "[urgent] where?", "rank": "2"},
    ]
    file = evaluation_file(table(rows, python=python))
    assert file.detected.format.name == "phoenix_examples"
    first, second = (entry.example for entry in entries(file))
    assert first is not None
    assert (first.external_id, first.input["messages"], first.strata) == ("RGF0:1", ASKED, {"difficulty": "hard"})
    assert first.expectation is not None
    assert first.expectation.alternatives[0].calls[0].tool == "get"
    assert second is not None
    assert second.input["messages"] == [{"role": "user", "content": "[urgent] where?"}]
    assert losses(file) == ["/rank: is not known in this format: left out"]


@pytest.mark.parametrize("python", [False, True])
def test_phoenix_spans_of_a_data_frame(python: bool) -> None:
    call = {"tool_call.id": "c1", "tool_call.function.name": "get", "tool_call.function.arguments": '{"id": "A"}'}
    row: dict[str, Any] = {
        "context.span_id": "s1", "name": "llm", "span_kind": "LLM", "parent_id": "", "start_time": "1",
        "status_code": "OK", "context.trace_id": "t1",
        "attributes.llm.input_messages": [{"message.role": "user", "message.content": "Where is ORD-9182?"}],
        "attributes.llm.output_messages": [{"message.role": "assistant", "message.tool_calls": [call]}],
        "attributes.llm.token_count.prompt": "9.0", "attributes.llm.token_count.completion": "3",
    }  # fmt: skip
    file = evaluation_file(table([row], python=python))
    assert (file.detected.format.name, made(file)) == ("phoenix_spans", [("t1", ["get"], None)])
    trial = entries(file)[0].trial
    assert trial is not None
    assert trial.transcript.usage == {"input_tokens": 9, "output_tokens": 3}


def test_places_are_lines_also_behind_cells_of_several_lines() -> None:
    row = {"example_id": "1", "input_question": "two\nlines", "output_answer": "x"}
    bad = {"example_id": "2", "input_question": "", "output_answer": "y"}
    (_, (place, error)) = evaluation_file(table([row, bad])).entries()
    assert (place.line, isinstance(error, InvalidDocument)) == (4, True)


def test_other_tables_are_no_evaluation_files() -> None:
    # What other tools name so may be anybody's columns.
    for columns in ({"input": "x", "expected_output": "y", "z": ""}, {"user_input": "x", "response": "y", "z": ""}):
        with pytest.raises(InvalidDocument, match="has an unknown format"):
            evaluation_file(table([columns]))
    with pytest.raises(InvalidDocument, match="line 2: has 4 cells; the head names 3 columns"):
        evaluation_file(b"id,input,output\n1,2,3,4\n")
    with pytest.raises(InvalidDocument, match="line 2: is not CSV"):
        evaluation_file(b'id,input,output\n1,"a"b,c\n')
    assert decoded(b"name: a, b, c\ncases: []\n").value == {"name": "a, b, c", "cases": []}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
)


@given(st.lists(json_values, max_size=3) | st.dictionaries(st.text("ab", max_size=2), json_values, max_size=3))
def test_a_cell_holds_what_was_written_in_either_way(value: Any) -> None:
    assert cell_value(json.dumps(value)) == cell_value(repr(value)) == value


@given(st.text(max_size=30))
def test_any_text_is_a_cell(text: str) -> None:
    found = cell_value(text)
    assert found == text or not isinstance(found, str)
