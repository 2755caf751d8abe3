"""Messages in shapes that clients leave behind: chunks, an old call beside the new one, choices out of order."""

import json
from typing import Any

import pytest

from toolevals.grading.reading.parsing import read_transcript

OSLO = json.dumps({"city": "Oslo"})
NEW = {"id": "c", "type": "function", "function": {"name": "seek", "arguments": OSLO}}


def chunk(name: str | None, args: str, identifier: str | None = None, index: int = 0, **beside: Any) -> dict[str, Any]:
    piece = {"name": name, "args": args, "id": identifier, "index": index}
    return {"type": "AIMessageChunk", "content": "", "tool_call_chunks": [piece], **beside}


SHAPES: dict[str, Any] = {
    "chunks of one call": [chunk("seek", OSLO[:6], "c1"), chunk(None, OSLO[6:])],
    "chunks with what each piece was read as": [
        chunk("seek", OSLO[:6], "c1", tool_calls=[{"name": "seek", "args": {}, "id": "c1"}]),
        chunk(None, OSLO[6:], invalid_tool_calls=[{"name": None, "args": OSLO[6:], "id": None, "error": None}]),
    ],
    "one chunk": [chunk("seek", OSLO, "c1")],
    "the older call repeats": [
        {"role": "assistant", "content": None, "function_call": NEW["function"], "tool_calls": [NEW]}
    ],
    "choices out of order": {
        "choices": [
            {"index": 1, "message": {"role": "assistant", "content": "no"}},
            {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [NEW]}},
        ]
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_is_one_call(shape):
    (message,) = read_transcript(SHAPES[shape]).transcript.messages
    assert [(call.name, call.to_document()["arguments"]) for call in message.calls] == [("seek", {"city": "Oslo"})]


def test_parallel_calls_in_chunks_are_two_and_another_message_begins_anew():
    first = [chunk("seek", OSLO[:6], "a", 0), chunk("ping", "{}", "b", 1), chunk(None, OSLO[6:], None, 0)]
    told = [{"type": "tool", "content": "9", "tool_call_id": "a"}, {"type": "AIMessageChunk", "content": "It is "}]
    last = {"type": "AIMessageChunk", "content": "9."}
    messages = read_transcript([*first, *told, last]).transcript.messages
    assert [call.name for call in messages[0].calls] == ["seek", "ping"]
    assert [message.role for message in messages] == ["assistant", "tool", "assistant"]
    assert messages[-1].content == "It is 9."


def test_an_older_call_that_is_another_is_kept():
    other = {"name": "ping", "arguments": "{}"}
    (message,) = read_transcript(
        [{"role": "assistant", "function_call": other, "tool_calls": [NEW]}]
    ).transcript.messages
    assert [call.name for call in message.calls] == ["seek", "ping"]
