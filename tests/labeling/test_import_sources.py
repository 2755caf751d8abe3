"""Formats of one JSON document a line: what becomes of an entry, and how a bad one is named."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.imports.formats import SOURCES
from labeling.imports.parts import Settings
from tests.labeling.importing import load, problems
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import Expectation
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import JobState

__all__ = ["load"]

USER = {"role": "user", "content": "Where is A-1?"}
GET = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "A-1"}'}}
CANCEL = {"id": "c2", "type": "function", "function": {"name": "cancel_order", "arguments": '{"order_id": "A-1"}'}}
GET_ONE = Expectation.single("get_order", {"order_id": "A-1"})


def read(source: str, entry: Any) -> ExampleRow:
    (row,) = SOURCES[source].rows(entry, Settings())
    return row


def pointer_of(source: str, entry: Any) -> str:
    with pytest.raises(InvalidDocument) as error:
        read(source, entry)
    return error.value.problems[0].pointer


def test_chat_the_last_words_of_the_assistant_are_expected():
    row = read("openai_chat", {"messages": [USER, {"role": "assistant", "tool_calls": [GET]}]})
    assert row.input == {"messages": [USER]}
    assert row.expectation == GET_ONE
    talk = [USER, {"role": "assistant", "tool_calls": [GET]}, {"role": "tool", "tool_call_id": "c1", "content": "{}"}]
    assert read("openai_chat", {"messages": talk}).input == {"messages": [USER]}
    answered = read("openai_chat", {"messages": [*talk, {"role": "assistant", "content": "It is on its way."}]})
    assert (answered.input, answered.expectation) == ({"messages": talk}, Expectation("no_call"))


def test_chat_several_calls_come_in_any_order():
    row = read("openai_chat", {"messages": [USER, {"role": "assistant", "tool_calls": [GET, CANCEL]}]})
    assert row.expectation is not None
    assert [each.to_document()["tool"] for each in row.expectation.alternatives[0].unordered] == [
        "get_order",
        "cancel_order",
    ]


def test_chat_that_ends_with_the_user_is_still_to_be_labelled():
    talk = [USER, {"role": "assistant", "content": "Which?"}, USER]
    row = read("openai_chat", {"messages": talk})
    assert (row.input["messages"], row.expectation) == (talk, None)


def test_a_name_made_of_the_content_stays_when_only_the_answer_changes():
    first = read("openai_chat", {"messages": [USER, {"role": "assistant", "tool_calls": [GET]}]})
    other = read("openai_chat", {"messages": [USER, {"role": "assistant", "content": "No."}]})
    assert first.external_id == other.external_id
    assert read("openai_chat", {"id": 7, "messages": [USER]}).external_id == "7"


@pytest.mark.parametrize(
    ("entry", "pointer"),
    [
        ([], ""),
        ({}, "/messages"),
        ({"messages": [{"content": "x"}]}, "/messages/0"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "/messages"),
        ({"messages": [USER], "tools": [{"function": {"name": ""}}]}, "/tools/0/function/name"),
        ({"id": "x" * 201, "messages": [USER]}, "/id"),
        (
            {"messages": [USER, {"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "{"}}]}]},
            "/messages/1/tool_calls/0",
        ),
    ],
)
def test_chat_says_where_an_entry_is_wrong(entry, pointer):
    assert pointer_of("openai_chat", entry) == pointer


@pytest.mark.parametrize(
    "ideal",
    [
        'get_order(order_id="A-1")',
        '{"name": "get_order", "arguments": {"order_id": "A-1"}}',
        {"name": "get_order", "arguments": {"order_id": "A-1"}},
        {"tool_calls": [GET]},
    ],
)
def test_evals_an_ideal_that_is_a_call_is_the_expected_call(ideal):
    row = read("openai_evals", {"input": [USER], "ideal": ideal})
    assert row.expectation == GET_ONE
    assert row.losses == ()


def test_evals_any_of_several_ideals_will_do():
    row = read("openai_evals", {"input": "Where?", "ideal": ["get_order(order_id='A')", "get_order(order_id='B')"]})
    assert row.expectation is not None
    assert len(row.expectation.alternatives) == 2
    assert row.input == {"messages": [{"role": "user", "content": "Where?"}]}


def test_evals_words_are_expected_in_the_answer_and_that_is_said():
    row = read("openai_evals", {"input": "2+2?", "ideal": "4"})
    assert row.expectation == Expectation("no_call", answer={"contains": ["4"]})
    assert [loss.pointer for loss in row.losses] == ["/ideal"]
    several = read("openai_evals", {"input": "2+2?", "ideal": ["4.", "four"]}).expectation
    assert several == Expectation("no_call", answer={"pattern": r"(?:4\.|four)"})


@pytest.mark.parametrize(
    ("entry", "pointer"),
    [
        ({"ideal": "x"}, "/input"),
        ({"input": [{}]}, "/input/0"),
        ({"input": "x", "ideal": ["words", "get_order(order_id='A')"]}, "/ideal"),
        ({"input": "x", "ideal": [3]}, "/ideal/0"),
    ],
)
def test_evals_says_where_an_entry_is_wrong(entry, pointer):
    assert pointer_of("openai_evals", entry) == pointer


def test_langsmith_messages_calls_and_metadata():
    row = read(
        "langsmith",
        {
            "id": "0f1c",
            "inputs": {"messages": [{"type": "human", "content": "Where is A-1?"}], "user_id": "u-1"},
            "outputs": {
                "messages": [{"type": "ai", "tool_calls": [{"name": "get_order", "args": {"order_id": "A-1"}}]}]
            },
            "metadata": {"difficulty": "easy", "rationale": "asks", "source": "trace"},
        },
    )
    assert row.external_id == "0f1c"
    assert row.input == {"messages": [USER], "context": {"user_id": "u-1"}}
    assert row.expectation == GET_ONE
    assert (row.strata, row.rationale) == ({"difficulty": "easy"}, "asks")


@pytest.mark.parametrize(
    ("outputs", "expectation"),
    [
        ({"tool_calls": [{"name": "get_order", "args": {"order_id": "A-1"}}]}, GET_ONE),
        ({"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}, GET_ONE),
        ({"expectation": GET_ONE.to_document()}, GET_ONE),
        ({"tool_calls": []}, Expectation("no_call")),
        ({"answer": "Hello"}, Expectation("no_call", answer={"contains": ["Hello"]})),
        ({}, None),
        (None, None),
    ],
)
def test_langsmith_outputs(outputs, expectation):
    entry = {"inputs": {"question": "Where is A-1?"}, "outputs": outputs}
    row = read("langsmith", entry)
    assert (row.input, row.expectation) == ({"messages": [USER]}, expectation)


@pytest.mark.parametrize(
    ("entry", "pointer"),
    [
        ({}, "/inputs"),
        ({"inputs": {"a": 1}}, "/inputs"),
        ({"inputs": {"messages": []}}, "/inputs/messages"),
        ({"inputs": {"input": "x"}, "outputs": []}, "/outputs"),
        ({"inputs": {"input": "x"}, "outputs": {"expectation": {"kind": "?"}}}, "/outputs/expectation/kind"),
        ({"inputs": {"input": "x", "tools": [{"name": 1}]}}, "/inputs/tools/0"),
    ],
)
def test_langsmith_says_where_an_entry_is_wrong(entry, pointer):
    assert pointer_of("langsmith", entry) == pointer


@pytest.mark.parametrize("source", ["openai_chat", "openai_evals", "langsmith"])
@pytest.mark.django_db
def test_a_bad_line_refuses_the_file_and_is_named(load, source):
    good = {
        "openai_chat": {"messages": [USER]},
        "openai_evals": {"input": "x"},
        "langsmith": {"inputs": {"input": "x"}},
    }[source]
    job = load([good, {}, good, {"id": 1}], source)
    assert job.state == JobState.FAILED
    assert [line for line, _ in problems(job)] == [2, 3, 4]
    assert "already used in line 1" in job.report["errors"][1]["message"]
