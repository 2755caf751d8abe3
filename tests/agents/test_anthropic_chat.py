"""The Anthropic Messages connector against a server that speaks the protocol."""

from typing import Any

import pytest

from tests.agents.loopback import Trouble
from tests.agents.messages_server import MessagesServer, cut_off, error, messages_server, text, use
from toolevals.agents.anthropic_chat import AnthropicChat, joined, message_in
from toolevals.agents.chats import UnreachableError
from toolevals.agents.network import AddressPolicy
from toolevals.agents.options import AnthropicOptions
from toolevals.grading.values import MalformedCall, Message, ToolCall, ToolSpec
from toolevals.grading.values.problems import InvalidDocument

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])
STATUS = ToolSpec("status", "Tell an order's state.", {"type": "object", "properties": {"id": {"type": "string"}}})
ASKED = [Message("user", "Where is A-1?")]
KEY = "key-0815"
WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def ask(server: MessagesServer, messages=ASKED, tools=(STATUS,), **options: Any):
    said = AnthropicOptions("small", server.url, **options)
    with AnthropicChat(said, key=KEY, policy=LOOPBACK) as chat:
        return chat.reply(messages, tools)


@WAYS
def test_words_and_calls_made_at_once_are_read_with_usage_and_snapshot(stream):
    blocks = [text("I look them up."), use("status", {"id": "A-1"}), use("status", {"id": "Ä-2"}, "toolu_2")]
    with messages_server(lambda _: blocks) as server:
        reply = ask(server, stream=stream)
    assert reply.message.content == "I look them up."
    assert reply.message.calls == (
        ToolCall("status", {"id": "A-1"}, "toolu_1"),
        ToolCall("status", {"id": "Ä-2"}, "toolu_2"),
    )
    # What was read from a cache, or put there, is counted beside `input_tokens` by the protocol.
    assert reply.usage == {"input_tokens": 40, "output_tokens": 7, "cached_tokens": 16}
    assert reply.model == "small-20260101"
    assert reply.latency_ms > 0


@WAYS
def test_a_call_without_arguments_and_an_answer_in_words(stream):
    with messages_server(lambda _: [use("status", {})]) as server:
        assert ask(server, stream=stream).message.calls == (ToolCall("status", {}, "toolu_1"),)
    with messages_server(lambda _: [text("It was sent.")]) as server:
        reply = ask(server, stream=stream)
    assert (reply.message.content, reply.message.calls) == ("It was sent.", ())


def test_arguments_that_nobody_can_read_are_malformed():
    with messages_server(lambda _: [{**use("status", {"id": "A"}), "written": '{"id": "A-'}]) as server:
        (call,) = ask(server, stream=True).message.calls
    assert isinstance(call, MalformedCall)
    assert (call.name, call.id) == ("status", "toolu_1")


@WAYS
@pytest.mark.parametrize(("reason", "whole"), [("max_tokens", False), ("tool_use", True)])
def test_a_call_that_the_longest_answer_cuts_off_is_malformed(reason, whole, stream):
    blocks = [use("status", {"id": "A-1"}), use("status", {"id": "A"}, "toolu_2")]
    with messages_server(lambda _: blocks, stop_reason=reason) as server:
        first, second = ask(server, stream=stream).message.calls
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall) is whole
    assert (second.name, second.id) == ("status", "toolu_2")


def test_a_refusal_without_words_is_an_empty_answer_and_no_error():
    with messages_server(lambda _: [], stop_reason="refusal") as server:
        reply = ask(server)
    assert (reply.message.content, reply.message.calls) == (None, ())


def test_the_request_says_what_was_asked_for():
    with messages_server(lambda _: [text("Yes.")]) as server:
        told = [Message("system", "Be kind."), *ASKED]
        ask(server, told, temperature=0, max_tokens=50, system="Be brief.", extra={"service_tier": "auto"})
        ask(server, tools=())
    first, second = server.requests
    assert first["system"] == "Be brief.\n\nBe kind."
    assert first["messages"] == [{"role": "user", "content": [text("Where is A-1?")]}]
    assert first["tools"] == [
        {"name": "status", "description": "Tell an order's state.", "input_schema": STATUS.input_schema}
    ]
    assert (first["temperature"], first["max_tokens"], first["service_tier"]) == (0, 50, "auto")
    assert {"tools", "temperature", "system"} & set(second) == set()
    assert all(KEY in headers["authorization"] for headers in server.headers)


def test_a_conversation_goes_back_with_all_results_in_one_turn():
    made = Message(
        "assistant",
        "I look: ",
        (ToolCall("status", {"id": "A-1"}, "id.0"), MalformedCall("x", text="{", name="f", id="id-1")),
    )
    told = [
        *ASKED,
        made,
        Message("tool", "sent", call_id="id.0"),
        Message("tool", "Error", call_id="id-1", is_error=True),
        Message("user", "And now?"),
        Message("system", "The shop has closed."),
    ]
    with messages_server(lambda _: [text("Sent.")]) as server:
        ask(server, told)
    _, spoken, results = (turn["content"] for turn in server.requests[0]["messages"])
    assert spoken == [text("I look:"), use("status", {"id": "A-1"}, "id_0"), use("f", {"unreadable": "{"}, "id-1")]
    assert results == [
        {"type": "tool_result", "tool_use_id": "id_0", "content": "sent"},
        {"type": "tool_result", "tool_use_id": "id-1", "content": "Error", "is_error": True},
        text("And now?"),
        text("The shop has closed."),
    ]


def test_names_that_the_protocol_refuses_are_shown_otherwise_and_called_by_their_own():
    tools = [ToolSpec("shop.status"), ToolSpec("shop_status"), ToolSpec("shop status")]
    with messages_server(lambda body: [use(tool["name"], {}) for tool in body["tools"]]) as server:
        reply = ask(server, [*ASKED], tools)
    assert [tool["name"] for tool in server.requests[0]["tools"]] == ["shop_status_2", "shop_status", "shop_status_3"]
    assert [call.name for call in reply.message.calls] == ["shop.status", "shop_status", "shop status"]


@pytest.mark.parametrize(
    ("trouble", "again", "after", "words"),
    [
        (Trouble(429, error("rate_limit_error", "slow down"), Retry_After="7"), True, 7.0, "429: slow down"),
        (Trouble(529, error("overloaded_error", "Overloaded")), True, None, "529: Overloaded"),
        (Trouble(500, "<html>"), True, None, "500"),
        (Trouble(400, error("invalid_request_error", "Your credit balance is too low")), False, None, "credit"),
        (Trouble(302, "", Location="http://127.0.0.1:1/"), False, None, "302"),
        (Trouble(200, "not json"), True, None, "could not be read|without a message"),
        (Trouble(200, "[]"), True, None, "without a message"),
        (Trouble(200, '{"content": "words"}'), True, None, "without a message"),
        (Trouble(200, "", Content_Length="0"), True, None, "could not be read|without a message"),
    ],
    ids=lambda value: f"{value.status}{value.body[:10]}" if isinstance(value, Trouble) else None,
)
def test_what_goes_wrong_is_named_and_whether_to_ask_again(trouble, again, after, words):
    with messages_server(lambda _: trouble) as server, pytest.raises(UnreachableError, match=words) as caught:
        ask(server)
    assert (caught.value.again, caught.value.retry_after) == (again, after)
    assert len(server.requests) == 1


def test_an_error_within_a_stream_is_one():
    events = f"event: error\ndata: {error('overloaded_error', 'Overloaded')}\n\n"
    with (
        messages_server(lambda _: Trouble(200, events, Content_Type="text/event-stream")) as server,
        pytest.raises(UnreachableError, match="Overloaded") as caught,
    ):
        ask(server, stream=True)
    assert caught.value.again


def test_keys_are_not_repeated_and_the_servers_own_is_never_sent(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-the-server")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "of-the-server")
    refused = Trouble(401, error("authentication_error", f"invalid x-api-key {KEY}"))
    with messages_server(lambda _: refused) as server:
        with pytest.raises(UnreachableError, match="401") as caught:
            ask(server)
        with (
            AnthropicChat(AnthropicOptions("small", server.url), policy=LOOPBACK) as chat,
            pytest.raises(UnreachableError),
        ):
            chat.reply(ASKED, ())
    assert KEY not in str(caught.value)
    assert caught.value.again is False
    assert "of-the-server" not in str(server.headers)


def test_nobody_listens_and_private_addresses_are_not_called():
    with messages_server(lambda _: [text("Hi")]) as server:
        with AnthropicChat(AnthropicOptions("small", server.url)) as chat, pytest.raises(UnreachableError) as caught:
            chat.reply(ASKED, ())
        assert "private address" in str(caught.value)
        assert not caught.value.again
    assert server.requests == []
    with pytest.raises(UnreachableError) as caught:
        ask(server)
    assert caught.value.again


def test_options_are_checked_each():
    wrong = {"base_url": "ftp://x", "temperature": 1.5, "max_tokens": 0, "extra": {"thinking": {}}, "seed": 3}
    with pytest.raises(InvalidDocument) as caught:
        AnthropicOptions.from_document(wrong)
    assert {problem.pointer for problem in caught.value.problems} == {f"/{name}" for name in (*wrong, "model")}
    options = AnthropicOptions.from_document({"model": "small", "temperature": 0})
    assert AnthropicOptions.from_document(options.to_document()) == options


@pytest.mark.parametrize("closed", [False, True], ids=["ended", "connection broken"])
@pytest.mark.parametrize("kept", [1, 4, -2, -1])
@pytest.mark.parametrize("said", [[text("It was sent today.")], [use("status", {"id": "A-1"})]], ids=["words", "call"])
def test_a_stream_without_its_end_is_no_answer(said, kept, closed):
    """Neither words nor whole calls that came before the break are taken for what the model said."""
    cut = cut_off(said, kept, closed=closed)
    with messages_server(lambda _: cut) as server, pytest.raises(UnreachableError) as caught:
        ask(server, stream=True)
    assert caught.value.again


@WAYS
def test_what_is_left_out_of_an_answer_is_named_and_counted(stream):
    hidden = {"type": "redacted_thinking", "data": "EmwK"}
    blocks = [hidden, {"type": "thinking", "thinking": "Late.", "signature": "s"}, text("Done.") | {"mood": "calm"}]
    with messages_server(lambda _: blocks) as server:
        reply = ask(server, stream=stream)
    assert (reply.message.content, reply.message.thought) == ("Done.", "Late.")
    assert [(loss.what, loss.where, loss.first) for loss in reply.losses] == [
        ("unknown key mood", "/content/*/mood", "/content/2/mood"),
        ("reasoning", "/content/*", "/content/0"),
    ]


def test_pieces_of_a_stream_that_belong_to_no_known_part_are_left_out_by_name():
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"url": "u"}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "mood_delta", "mood": "calm"}},
        {"type": "message_stop"},
    ]
    message, losses = message_in(joined(events)["content"], "end_turn", place=1)
    assert message.content == "Done."
    assert {loss.what for loss in losses} == {"citation", "unknown key mood_delta"}


@WAYS
def test_tools_whose_schemas_fit_are_sent_in_strict_mode_where_it_is_asked_for(stream):
    fits = {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": False}
    tools = (STATUS, ToolSpec("cancel", "Cancel.", fits))
    with messages_server(lambda _: [text("Yes.")]) as server:
        ask(server, tools=tools, stream=stream)
        ask(server, tools=tools, stream=stream, strict_tools=True)
    assert [[each.get("strict") for each in request["tools"]] for request in server.requests] == [
        [None, None],
        [None, True],
    ]
