"""Streamed calls as real servers send them, which differ from the published protocol, and anything at all."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.chat_server import Trouble, chat_server
from toolevals.agents import anthropic_chat
from toolevals.agents.chats import Reply, UnreachableError, retry_after, words_in
from toolevals.agents.network import AddressPolicy
from toolevals.agents.openai_chat import OpenAIChat, joined
from toolevals.agents.openai_messages import message_in
from toolevals.agents.options import ChatOptions
from toolevals.grading.values import Message, ToolCall
from toolevals.grading.values.problems import InvalidDocument

A, B = ("seek", {"city": "Oslo"}), ("seek", {"city": "Rome"})
OSLO, ROME = '{"city": "Oslo"}', '{"city": "Rome"}'


def piece(name: str | None = None, arguments: Any = None, **beside: Any) -> dict[str, Any]:
    given = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {"function": given, **beside}


# By the server that sends them so: the pieces, each list one chunk, and the calls.
STREAMS = {
    "the protocol": (
        [[piece("seek", "", index=0, id="a")], [piece(None, OSLO[:5], index=0)], [piece(None, OSLO[5:], index=0)]],
        [A],
    ),
    "one index for all, ids differ (Ollama)": (
        [[piece("seek", OSLO, index=0, id="a")], [piece("seek", ROME, index=0, id="b")]],
        [A, B],
    ),
    "no index, ids differ (Gemini)": ([[piece("seek", OSLO, id="a"), piece("seek", ROME, id="b")]], [A, B]),
    "null index, later pieces bare": (
        [
            [piece("seek", "", index=None, id="a")],
            [piece(None, OSLO, index=None)],
            [piece("seek", ROME, index=None, id="b")],
        ],
        [A, B],
    ),
    "no index, no ids": ([[piece("seek", OSLO)], [piece("seek", ROME)]], [A, B]),
    "one index, no ids, one chunk": (
        [[piece("ping", "", index=0), piece("ping", "", index=0)]],
        [("ping", {}), ("ping", {})],
    ),
    "the name in each piece": (
        [[piece("seek", OSLO[:5], index=0, id="a")], [piece("seek", OSLO[5:], index=0, id="a")]],
        [A],
    ),
    "an id of its own for each piece (vLLM)": (
        [
            [piece("seek", OSLO[:5], index=0, id="a")],
            [piece("seek", OSLO[5:9], index=0, id="b")],
            [piece(None, OSLO[9:], index=0, id="c")],
        ],
        [A],
    ),
    "a name in pieces": (
        [[piece("se", "", index=0, id="a")], [piece("ek", "", index=0)], [piece(None, OSLO, index=0)]],
        [A],
    ),
    "interleaved": (
        [
            [piece("seek", OSLO[:5], index=0, id="a")],
            [piece("seek", ROME[:7], index=1, id="b")],
            [piece(None, OSLO[5:], index=0)],
            [piece(None, ROME[7:], index=1)],
        ],
        [A, B],
    ),
    "an object": ([[piece("seek", A[1], index=0, id="a")], [piece(None, "", index=0)]], [A]),
    "the same id for all": ([[piece("seek", OSLO, index=0, id="x")], [piece("seek", ROME, index=1, id="x")]], [A, B]),
    "the last first": ([[piece("seek", ROME, index=1, id="b")], [piece("seek", OSLO, index=0, id="a")]], [A, B]),
}


def chunk(delta: Any = None, finish: str | None = None, index: int = 0) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta or {}, "finish_reason": finish}]}


def ask(*chunks: Any, end: str = "data: [DONE]\n\n", **headers: str) -> Reply:
    text = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + end
    trouble = Trouble(200, text, Content_Type="text/event-stream", **headers)
    with chat_server(lambda _: trouble) as server:
        options = ChatOptions(server.url, "small", stream=True)
        with OpenAIChat(options, policy=AddressPolicy.of(["127.0.0.0/8"])) as chat:
            return chat.reply([Message("user", "Go.")], ())


def made(reply: Reply) -> list[Any]:
    return [(call.name, call.arguments) for call in reply.message.calls if isinstance(call, ToolCall)]


@pytest.mark.parametrize("name", STREAMS)
def test_each_server_is_understood(name):
    lists, calls = STREAMS[name]
    azure: dict[str, Any] = {"choices": [], "prompt_filter_results": []}
    reply = ask(azure, *(chunk({"tool_calls": pieces}) for pieces in lists), chunk(finish="tool_calls"))
    assert made(reply) == calls
    assert len({call.id for call in reply.message.calls}) == len(calls) or name == "the same id for all"


def test_pieces_of_another_choice_are_not_mixed_in():
    said = [
        chunk({"content": "no"}, index=1),
        chunk({"tool_calls": [piece("seek", OSLO, index=0, id="a")]}),
        chunk({"tool_calls": [piece("seek", ROME, index=0, id="b")]}, index=1),
        chunk(finish="stop", index=1),
        chunk(finish="tool_calls"),
    ]
    reply = ask(*said)
    assert (made(reply), reply.message.content) == ([A], None)
    assert [loss.what for loss in reply.losses] == ["further choice"]


def test_an_answer_that_has_ended_stays_when_its_connection_breaks():
    broken = {"end": "", "Content_Length": "9999", "Connection": "close"}
    assert ask(chunk({"content": "Hello"}), chunk(finish="stop"), **broken).message.content == "Hello"
    with pytest.raises(UnreachableError):
        ask(chunk({"content": "Hel"}), **broken)


@pytest.mark.parametrize(
    "given",
    [
        [[piece("seek", {"city": "Oslo"}, index=0)], [piece(None, {"city": "Rome"}, index=0)]],
        [[piece("seek", {"city": "Oslo"}, index=0)], [piece(None, OSLO, index=0)]],
    ],
    ids=["two objects", "object and text"],
)
def test_arguments_told_in_two_ways_are_the_endpoints_error(given):
    with pytest.raises(UnreachableError, match="the arguments of one call come as"):
        ask(*(chunk({"tool_calls": pieces}) for pieces in given), chunk(finish="stop"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def shaped(*keys: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw objects with these keys, each left out, anything, or an object of such again."""
    flat = st.fixed_dictionaries({}, optional=dict.fromkeys(keys, JSON))
    inner = JSON | flat | st.lists(flat, max_size=3)
    middle = st.fixed_dictionaries({}, optional=dict.fromkeys(keys, inner))
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys, inner | middle | st.lists(middle, max_size=3)))


_CHUNK = ("choices", "index", "delta", "content", "tool_calls", "function", "name", "arguments", "id", "finish_reason")
_EVENT = ("type", "message", "content_block", "delta", "index", "text", "partial_json", "usage", "citation", "input")
_KINDS = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "text_delta"]
)


@given(st.lists(shaped(*_CHUNK) | st.builds(lambda d: chunk(d, "stop"), shaped(*_CHUNK[3:])), max_size=3))
def test_no_chunk_raises_another_error(chunks):
    with suppress(InvalidDocument, UnreachableError):
        answer = joined(chunks)
        for choice in answer.get("choices", ()):
            message_in(choice["message"], place=1)


@given(st.lists(st.builds(lambda event, kind: {**event, "type": kind}, shaped(*_EVENT), _KINDS), max_size=4))
def test_no_event_raises_another_error(events):
    with suppress(InvalidDocument, UnreachableError):
        content = anthropic_chat.joined(events).get("content")
        if isinstance(content, list):
            anthropic_chat.message_in(content, "end_turn", place=1)


@given(shaped("role", "content", "tool_calls", "function_call", "refusal", "function", "name", "arguments"))
def test_no_message_raises_another_error(message):
    with suppress(InvalidDocument):
        message_in(message, place=1)


@given(JSON | shaped("error", "message", "detail"), st.text(max_size=20))
def test_words_and_headers_are_always_read(answer, header):
    assert isinstance(words_in(answer), str)
    assert retry_after({"retry-after": header}) is None or header
