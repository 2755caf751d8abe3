"""Chat logs, as rows and as text: one conversation, whichever way it is written; what cannot be read names its line."""

from __future__ import annotations

import gzip
import json
import re
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.imports.formats import source_of
from labeling.imports.reading import file_looked_at
from toolevals.grading.files.evaluation_files.chat_text import is_chat
from toolevals.grading.files.evaluation_files.decoding import decoded
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.files.file_kinds import what_is
from toolevals.grading.values import ToolCall
from toolevals.grading.values.problems import InvalidDocument

TEXT = """\
# Conversation: order 17
[2026-01-05 12:00:01] System: Answer briefly.
[2026-01-05 12:00:02] User (Ann): Where is A-1,
  and how many of sku 7 are there?

  Please be quick.
12:01 Assistant: I will look.
Tool get_order(id="A-1", fields=["state", "a) -> b"]) -> {"state": "sent"}
Tool call: get_stock({"sku": 7})
Tool result: Error: no such sku
**Bot:** A-1 was sent. Nobody knows sku 7.
---
Human: Good morning
AI: Good morning!
---
Customer: Is anybody there?
"""
ROWS: list[dict[str, Any]] = [
    {"conversation_id": "order 17", "role": "system", "content": "Answer briefly."},
    {"conversation_id": "b", "sender": "Human", "text": "Good morning"},
    {
        "conversation_id": "order 17",
        "role": "user",
        "content": "Where is A-1,\nand how many of sku 7 are there?\n\nPlease be quick.",
        "timestamp": "2026-01-05",
    },
    {
        "conversation_id": "order 17",
        "role": "assistant",
        "content": "I will look.",
        "tool_calls": [
            {
                "id": "call-1",
                "type": "function",
                "function": {"name": "get_order", "arguments": '{"id": "A-1", "fields": ["state", "a) -> b"]}'},
            }
        ],
    },
    {"conversation_id": "order 17", "role": "tool", "tool_call_id": "call-1", "content": '{"state": "sent"}'},
    {
        "conversation_id": "order 17",
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call-2", "type": "function", "function": {"name": "get_stock", "arguments": '{"sku": 7}'}}
        ],
    },
    {
        "conversation_id": "order 17",
        "role": "tool",
        "tool_call_id": "call-2",
        "content": "no such sku",
        "is_error": True,
    },
    {"conversation_id": "b", "sender": "ai", "text": "Good morning!"},
    {"conversation_id": "order 17", "role": "assistant", "content": "A-1 was sent. Nobody knows sku 7."},
    {"conversation_id": "c", "role": "customer", "content": "Is anybody there?"},
]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def entries(content: bytes) -> list[Entry]:
    found = [each for _, each in evaluation_file(content).entries()]
    assert all(isinstance(each, Entry) for each in found), found
    return [each for each in found if isinstance(each, Entry)]


def refused(content: bytes) -> list[str]:
    try:
        found = list(evaluation_file(content).entries())
    except InvalidDocument as error:
        return [str(problem) for problem in error.problems]
    return [
        f"{place}: {problem}" for place, each in found if isinstance(each, InvalidDocument) for problem in each.problems
    ]


@pytest.mark.parametrize(
    "content", [TEXT.encode(), lines(ROWS), gzip.compress(TEXT.encode()), b"\xef\xbb\xbf" + TEXT.encode()]
)
def test_a_log_is_its_conversations(content):
    order, morning, alone = entries(content)
    assert order.example is not None
    assert order.trial is not None
    assert order.example.external_id == "order 17"
    question = "Where is A-1,\nand how many of sku 7 are there?\n\nPlease be quick."
    assert order.example.input["messages"] == [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": question},
    ]
    assert [(each.role, each.content, each.call_id, each.is_error) for each in order.trial.transcript.messages] == [
        ("assistant", "I will look.", None, False),
        ("tool", '{"state": "sent"}', "call-1", False),
        ("assistant", None, None, False),
        ("tool", "no such sku", "call-2", True),
        ("assistant", "A-1 was sent. Nobody knows sku 7.", None, False),
    ]
    calls = [call for call in order.trial.transcript.calls if isinstance(call, ToolCall)]
    assert [(call.name, call.arguments) for call in calls] == [
        ("get_order", {"id": "A-1", "fields": ["state", "a) -> b"]}),
        ("get_stock", {"sku": 7}),
    ]
    assert morning.trial is not None
    assert morning.trial.transcript.answer == "Good morning!"
    # Nobody answered: an example to label, and no trial.
    assert (alone.trial, alone.example and alone.example.input["messages"][0]["content"]) == (None, "Is anybody there?")
    assert order.losses == morning.losses == alone.losses == ()


def test_what_a_log_is_and_why_is_said():
    for content, words in (
        (TEXT.encode(), "its lines begin with speakers"),
        (lines(ROWS), "conversation_id, role and content"),
    ):
        kind = what_is(content)
        assert (kind.kind, kind.format, words in kind.because) == ("evaluation", "chatlog", True)
        assert file_looked_at(content).counts == {"examples": 3, "predictions": 2}
        assert source_of(BytesIO(content)).source.name == "chatlog"
    assert source_of(BytesIO(gzip.compress(TEXT.encode()))).source.name == "chatlog"


def test_a_text_that_begins_with_a_time_in_brackets_is_no_json():
    assert entries(b"[12:00] User: hi\n[12:01] Bot: hello\n")[0].trial is not None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("And more.", "line 3: starts with no known speaker"),
        ("Manager: I agree.", "line 3: starts with no known speaker"),
        (
            "Tool get_order(id=A-1) -> sent",
            "line 3: its arguments are neither an object of JSON nor name=value: a value",
        ),
        ('Tool get_order("A-1") -> sent', "line 3: its arguments are neither"),
        ("Tool get_order(id=1", "line 3: its bracket is never closed"),
        ("Tool get_order(id=1) sent", "line 3: has 'sent' behind the call"),
        ("Tool result: sent", "line 3: is a result, and no call before it waits for one"),
        ('Tool get_order({"id": 1, "id": 2}) -> sent', "line 3: .*twice"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused_by_its_number(line, words):
    content = f"User: hi\nAssistant: hello\n{line}\n".encode()
    (problem,) = refused(content)
    assert re.match(words, problem), problem


def test_every_line_that_cannot_be_read_is_named():
    content = b"User: hi\nAssistant: hello\n" + b"nobody\n" * 60
    problems = refused(content)
    assert len(problems) == 51
    assert problems[-1] == "and 10 more lines cannot be read"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"role": "user", "content": "x"}, "line 3: has no id of its conversation"),
        ({"conversation_id": True, "role": "user", "content": "x"}, "line 3: /conversation_id: is not an id"),
        ({"conversation_id": "a", "role": "robot", "content": "x"}, "line 3: /role: is not a known speaker"),
        ({"conversation_id": "a", "role": "user"}, "line 3: has neither words"),
        ({"conversation_id": "a", "role": "user", "content": 7}, "line 3, /content: /content:"),
        (7, "line 3: has no id of its conversation"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_with_its_line(row, words):
    content = lines(
        [
            {"conversation_id": "a", "role": "user", "content": "hi"},
            {"conversation_id": "b", "role": "user", "content": "hi"},
            row,
        ]
    )
    (problem,) = refused(content)
    assert problem.partition(":")[0].startswith("line 3"), problem
    assert words.split(": ")[-1] in problem or words.startswith("line 3, "), problem


def test_a_conversation_with_a_broken_message_gives_no_example():
    rows = [*ROWS, {"conversation_id": "order 17", "role": "robot", "content": "x"}]
    found = [each for _, each in evaluation_file(lines(rows)).entries() if isinstance(each, Entry)]
    assert len(found) == 2


def test_a_conversation_without_a_user_is_refused():
    assert refused(b"---\nAssistant: hello\n---\nUser: hi\nAssistant: yes\n") == [
        "line 2: is a conversation in which no user speaks"
    ]


def test_unknown_keys_of_a_message_are_losses():
    rows = [
        {"chat_id": 1, "role": "user", "content": "hi", "mood": "good"},
        {"chat_id": 1, "role": "agent", "content": "yes"},
    ]
    (entry,) = entries(lines(rows))
    assert [loss.message for loss in entry.losses] == ["1 × unknown key mood: left out"]


def test_other_texts_are_no_logs():
    for content in (
        b"name: x\ncases: []\n",
        b"user,answer\na,b\n",
        b"User: only one speaks\n",
        b"Hello\nUser: a\nBot: b\n",
        b"",
    ):
        assert not is_chat(content)


@given(
    st.lists(
        st.sampled_from(
            ["User: hi", "Bot: yes", " more", "", "---", "Tool f(a=1) -> 2", "Tool g()", "Result: x", "x", "Chat: 1"]
        ),
        max_size=8,
    )
)
def test_any_text_is_read_or_refused(parts):
    content = "\n".join(["User: hi", "Bot: yes", *parts]).encode()
    try:
        read = decoded(content)
    except InvalidDocument:
        return
    assert len(read.lines) == len(read.value)
