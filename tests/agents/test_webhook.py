"""Agents behind a webhook: what they are sent, what they may answer, and what is none."""

from __future__ import annotations

import base64
import hashlib
import hmac
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.loopback import Trouble
from tests.agents.players import Shop
from tests.agents.webhook_server import WebhookServer, webhook_server
from toolevals.agents.chats import UnreachableError
from toolevals.agents.loop import Conversation, End, ScriptedUser, Task, converse
from toolevals.agents.network import AddressPolicy, guarded_client
from toolevals.agents.options import WebhookOptions
from toolevals.agents.webhook import Webhook, WebhookChat, transcript_of
from toolevals.agents.worlds import ToolAnswer
from toolevals.grading.values import MalformedCall, ToolCall, ToolSpec
from toolevals.grading.values.problems import InvalidDocument

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])
ASKED = {"role": "user", "content": "Where is A-1?"}
TASK = Task(
    {"messages": [ASKED], "context": {"customer": 7}, "simulation": {"user": {"instruction": "hidden"}}},
    (ToolSpec("status", "Tell an order's state."),),
    2,
    "example-1",
)
CALL = {"name": "status", "arguments": {"id": "A-1"}}
SENT = [
    {"role": "assistant", "calls": [{**CALL, "id": "c1"}]},
    {"role": "tool", "call_id": "c1", "content": "sent"},
    {"role": "assistant", "content": "It was sent."},
]


def talk(server: WebhookServer, key: str = "", task: Task = TASK, **options: Any) -> Conversation:
    with guarded_client(LOOPBACK, seconds=30) as client:
        webhook = Webhook(client, server.url, key, "run-1", lambda: 1_700_000_000.5)
        return converse(WebhookChat(webhook, task), task, **options)


def test_the_task_is_posted_without_what_the_agent_must_not_see():
    with webhook_server(lambda _: {"answer": "Sent."}) as server:
        done = talk(server)
    assert server.tasks == [
        {
            "run": "run-1",
            "example": "example-1",
            "trial": 2,
            "input": {"messages": [ASKED], "context": {"customer": 7}},
            "tools": [TASK.tools[0].to_document()],
        }
    ]
    assert server.headers[0]["content-type"] == "application/json"
    assert "webhook-signature" not in server.headers[0]
    assert (done.end, done.transcript.answer) == (End.ANSWER, "Sent.")


ANSWERS = {
    "messages": {"messages": SENT, "usage": {"input_tokens": 9, "output_tokens": 3}, "latency_ms": 12},
    "list": SENT,
    "with the conversation before": {"messages": [ASKED, *SENT]},
    "chat completions": [
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "status", "arguments": '{"id": "A-1"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sent"},
        {"role": "assistant", "content": "It was sent."},
    ],
    "anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "status", "input": {"id": "A-1"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sent"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It was sent."}]},
    ],
}


@pytest.mark.parametrize("form", ANSWERS)
def test_an_agent_that_calls_its_own_tools_answers_with_all_that_it_did(form):
    with webhook_server(lambda _: ANSWERS[form]) as server:
        done = talk(server, world=Shop(lambda _: ToolAnswer("never asked")))
    assert done.end is End.ANSWER
    assert [message.role for message in done.transcript.messages] == ["assistant", "tool", "assistant"]
    assert done.transcript.calls == (ToolCall("status", {"id": "A-1"}, "c1"),)
    assert done.transcript.results[0].content == "sent"
    assert done.transcript.answer == "It was sent."
    # It did not act in the simulated world, so that nothing is said of what became of that.
    assert done.transcript.state_changes is None
    if form == "messages":
        assert done.transcript.usage == {"input_tokens": 9, "output_tokens": 3}
        assert done.transcript.latency_ms == 12


@pytest.mark.parametrize(
    "answer",
    [
        {"tool_calls": [CALL]},
        {"text": '[{"name": "status", "arguments": {"id": "A-1"}}]'},
        {"choices": [{"message": {"role": "assistant", "tool_calls": [{"function": CALL}]}}], "usage": {}},
        {"role": "assistant", "tool_calls": [{"function": CALL}]},
    ],
)
def test_calls_that_an_agent_leaves_open_end_the_conversation_or_are_answered(answer):
    with webhook_server(lambda _: answer) as server:
        assert talk(server).end is End.CALLS
    turns = iter([answer, {"answer": "It was sent."}])
    with webhook_server(lambda _: next(turns)) as server:
        done = talk(server, world=Shop(lambda _: ToolAnswer("sent")))
    assert done.end is End.ANSWER
    assert [message["role"] for message in server.tasks[1]["input"]["messages"]] == ["user", "assistant", "tool"]
    assert done.transcript.calls == (ToolCall("status", {"id": "A-1"}, "call_1_0"),)
    assert done.transcript.state_changes is not None


def test_a_user_goes_on_and_the_agent_is_shown_all_of_it():
    turns = iter([SENT, {"messages": []}])
    with webhook_server(lambda _: next(turns)) as server:
        done = talk(server, user=ScriptedUser(["Thanks"]))
    assert [message["role"] for message in server.tasks[1]["input"]["messages"]] == [
        *("user", "assistant", "tool", "assistant", "user")
    ]
    assert (done.end, done.transcript.answer) == (End.ANSWER, None)
    assert len({headers["webhook-id"] for headers in server.headers}) == 2


def test_the_state_of_its_own_world_is_kept():
    with webhook_server(lambda _: {"messages": SENT, "state": {"orders": 1}}) as server:
        assert talk(server).transcript.state == {"orders": 1}


def test_a_call_that_nobody_can_read_is_malformed_and_no_error_of_the_agent():
    with webhook_server(lambda _: {"tool_calls": [{"name": "status", "arguments": "{"}]}) as server:
        (call,) = talk(server).transcript.calls
    assert isinstance(call, MalformedCall)


@pytest.mark.parametrize("key", ["plain words", "whsec_" + base64.b64encode(b"bytes").decode(), "whsec_no base64"])
def test_a_request_is_signed_as_the_standard_says(key):
    with webhook_server(lambda _: {"answer": "x"}) as server:
        talk(server, key)
    (headers,), (body,) = server.headers, server.bodies
    raw = b"bytes" if key.startswith("whsec_Y") else key.encode()
    signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    expected = base64.b64encode(hmac.new(raw, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-timestamp"] == "1700000000"
    assert headers["webhook-signature"] == f"v1,{expected}"


@pytest.mark.parametrize(
    ("said", "again", "words"),
    [
        (Trouble(503, "busy", Retry_After="3"), True, "503: busy"),
        (Trouble(500, "key-0815 is wrong"), True, "500: ••• is wrong"),
        (Trouble(404, "no such agent"), False, "404: no such agent"),
        (Trouble(302, "", Location="http://127.0.0.1:1/"), False, "302"),
        (Trouble(200, "<html>"), False, "answer is not JSON"),
        (Trouble(200, ""), False, "answer is not JSON"),
        (Trouble(200, '{"a": NaN}'), False, "answer is not JSON"),
        ({}, False, "answer is not a transcript: .*has none of messages"),
        ({"done": True}, False, "answer is not a transcript"),
        (["a"], False, "answer is not a transcript"),
        (7, False, "answer is not a transcript"),
        ({"messages": SENT, "tool_calls": [CALL]}, False, "answer is not a transcript"),
        ({"messages": [], "error": "my model is away"}, False, "my model is away"),
    ],
)
def test_what_is_no_answer_is_named_and_whether_to_ask_again(said, again, words):
    with webhook_server(lambda _: said) as server, guarded_client(LOOPBACK, seconds=30) as client:
        chat = WebhookChat(Webhook(client, server.url, "key-0815"), TASK)
        with pytest.raises(UnreachableError, match=words) as caught:
            chat.reply((), ())
    assert caught.value.again is again
    assert caught.value.retry_after == (3 if "busy" in words else None)


def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr("toolevals.agents.network.ANSWER_BYTES", 1000)
    with webhook_server(lambda _: {"answer": "x" * 2000}) as server:
        assert "longer than 1,000 bytes" in str(talk(server).transcript.error)


def test_nobody_listens_and_private_addresses_are_not_called():
    with webhook_server(lambda _: {}) as server:
        with guarded_client(AddressPolicy(), seconds=30) as client, pytest.raises(UnreachableError) as caught:
            WebhookChat(Webhook(client, server.url), TASK).reply((), ())
        assert "private address" in str(caught.value)
    assert server.tasks == []
    assert talk(server).end is End.UNREACHABLE


def test_options_are_checked_each():
    with pytest.raises(InvalidDocument) as caught:
        WebhookOptions.from_document({"url": "ftp://x", "timeout": 0, "model": "large"})
    assert [problem.pointer for problem in caught.value.problems] == ["/model", "/url", "/timeout"]
    options = WebhookOptions.from_document({"url": "https://agent.example/"})
    assert WebhookOptions.from_document(options.to_document()) == options


def like_answers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = (
        "messages", "role", "content", "tool_calls", "choices", "message", "output", "type", "parts", "candidates",
        "steps", "text", "function", "name", "arguments", "jsonrpc", "usage", "index", "tool_call_chunks",
    )  # fmt: skip
    kinds = st.sampled_from(["assistant", "tool", "ai", "AIMessageChunk", "function_call", "tool_use", "text"])
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner | kinds, max_size=4)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), like_answers, max_leaves=12))
def test_no_answer_raises_another_error(answer):
    with suppress(InvalidDocument):
        transcript_of(answer)
