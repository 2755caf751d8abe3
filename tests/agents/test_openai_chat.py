"""The chat-completions connector against a server that speaks the protocol."""

import json
from typing import Any

import pytest

from tests.agents.chat_server import ChatServer, Trouble, calls, chat_server, cut_off, says
from toolevals.agents.chats import UnreachableError
from toolevals.agents.network import AddressPolicy
from toolevals.agents.openai_chat import OpenAIChat
from toolevals.agents.options import ChatOptions
from toolevals.grading.values import MalformedCall, Message, ToolCall, ToolSpec
from toolevals.grading.values.problems import InvalidDocument

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])
STATUS = ToolSpec("status", "Tell an order's state.", {"type": "object", "properties": {"id": {"type": "string"}}})
ASKED = [Message("user", "Where is A-1?")]
KEY = "key-0815"


def ask(server: ChatServer, messages=ASKED, tools=(STATUS,), **options: Any):
    said = ChatOptions(server.url, "small", **options)
    with OpenAIChat(said, key=KEY, policy=LOOPBACK) as chat:
        return chat.reply(messages, tools)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_calls_made_at_once_are_read_with_ids_usage_and_snapshot(stream):
    both = calls(("status", '{"id": "A-1"}'), ("status", '{"id": "Ä-2"}'))
    with chat_server(lambda _: both) as server:
        reply = ask(server, stream=stream)
    assert reply.message.calls == (ToolCall("status", {"id": "A-1"}, "id-0"), ToolCall("status", {"id": "Ä-2"}, "id-1"))
    assert reply.usage == {"input_tokens": 40, "output_tokens": 7, "cached_tokens": 16}
    assert reply.model == "small-2026-01-01"
    assert reply.latency_ms > 0


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_words_and_calls_that_nobody_can_read(stream):
    with chat_server(lambda _: says("It was sent.")) as server:
        assert str(ask(server, stream=stream).message.content).strip() == "It was sent."
    with chat_server(lambda _: calls(("status", '{"id": "A-'))) as server:
        (call,) = ask(server, stream=stream).message.calls
    assert isinstance(call, MalformedCall)
    assert (call.name, call.id) == ("status", "id-0")


def test_calls_of_no_shape_of_the_protocol_are_the_endpoints_error_and_not_the_agents():
    with (
        chat_server(lambda _: Trouble(200, '{"choices": [{"message": {"tool_calls": [1]}}]}')) as server,
        pytest.raises(UnreachableError, match="tool_calls: is not a list of objects"),
    ):
        ask(server)


def test_the_request_says_what_was_asked_for():
    with chat_server(lambda _: says("Yes.")) as server:
        ask(server, temperature=0, seed=7, max_tokens=50, system="Be brief.", extra={"reasoning_effort": "low"})
        ask(server, tools=())
    first, second = server.requests
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["tools"][0]["function"] == {
        "name": "status",
        "description": "Tell an order's state.",
        "parameters": STATUS.input_schema,
    }
    assert {key: first[key] for key in ("temperature", "seed", "max_tokens", "reasoning_effort")} == {
        "temperature": 0,
        "seed": 7,
        "max_tokens": 50,
        "reasoning_effort": "low",
    }
    assert {"tools", "temperature", "seed", "max_tokens"} & set(second) == set()
    assert server.keys == [f"Bearer {KEY}"] * 2


CLOSED = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_tools_whose_schemas_fit_are_sent_in_strict_mode_where_it_is_asked_for(stream):
    tools = (STATUS, ToolSpec("shop.cancel", "Cancel.", CLOSED))
    with chat_server(lambda _: says("Yes.")) as server:
        ask(server, tools=tools, stream=stream)
        ask(server, tools=tools, stream=stream, strict_tools=True)
    sent = [[each["function"].get("strict") for each in request["tools"]] for request in server.requests]
    assert sent == [[None, None], [None, True]]
    assert server.requests[1]["tools"][1]["function"]["parameters"] == CLOSED


def test_strict_tools_are_an_option_that_is_kept_only_where_it_is_said():
    said = {"base_url": "https://models.example.org/v1", "model": "small"}
    assert "strict_tools" not in ChatOptions.from_document(said).to_document()
    assert ChatOptions.from_document({**said, "strict_tools": True}).to_document()["strict_tools"] is True
    with pytest.raises(InvalidDocument, match="/strict_tools: needs tools that are offered natively"):
        ChatOptions.from_document({**said, "strict_tools": True, "tools": "text"})


def test_a_conversation_goes_back_as_it_came():
    made = Message(
        "assistant",
        None,
        (ToolCall("status", {"id": "A-1"}, "id-0"), MalformedCall("x", text="{", name="f", id="id-1")),
    )
    told = [
        *ASKED,
        made,
        Message("tool", "sent", call_id="id-0"),
        Message("tool", "Error", call_id="id-1", is_error=True),
    ]
    with chat_server(lambda _: says("Sent.")) as server:
        ask(server, told)
    sent = server.requests[0]["messages"]
    assert [call["function"] for call in sent[1]["tool_calls"]] == [
        {"name": "status", "arguments": '{"id": "A-1"}'},
        {"name": "f", "arguments": "{"},
    ]
    assert [message.get("tool_call_id") for message in sent] == [None, None, "id-0", "id-1"]


def test_a_model_without_tools_reads_them_in_its_prompt_and_its_calls_are_read_from_its_words():
    written = 'I look it up: [{"name": "status", "arguments": {"id": "A-1"}}]'
    told = [
        Message("system", "Be kind."),
        *ASKED,
        Message("assistant", None, (ToolCall("status", {}, "c"),)),
        Message("tool", "late", call_id="c"),
    ]
    with (
        chat_server(lambda _: says(written)) as server,
        OpenAIChat(ChatOptions(server.url, "small", tools="text"), policy=LOOPBACK) as chat,
    ):
        reply = chat.reply(told, (STATUS,))
    assert reply.message.calls == (ToolCall("status", {"id": "A-1"}, "call_4_0"),)
    request = server.requests[-1]
    assert "tools" not in request
    assert [message["role"] for message in request["messages"]] == ["system", "user", "assistant", "user"]
    assert request["messages"][0]["content"].startswith("Be kind.\n\n")
    assert '"name": "status"' in request["messages"][0]["content"]
    assert "late" in request["messages"][3]["content"]


def test_names_that_the_protocol_refuses_are_shown_otherwise_and_called_by_their_own():
    tools = [ToolSpec("shop.status"), ToolSpec("shop_status")]
    with chat_server(lambda body: calls(*((tool["function"]["name"], "{}") for tool in body["tools"]))) as server:
        reply = ask(server, tools=tools)
        ask(server, [*ASKED, reply.message], tools)
    shown = ["shop_status_2", "shop_status"]
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == shown
    assert [call.name for call in reply.message.calls] == ["shop.status", "shop_status"]
    assert [call["function"]["name"] for call in server.requests[1]["messages"][1]["tool_calls"]] == shown


def test_calls_without_ids_get_some_that_differ():
    with chat_server(lambda _: calls(("status", "{}"), ("status", "{}"), ids=False)) as server:
        assert [call.id for call in ask(server).message.calls] == ["call_1_0", "call_1_1"]


@pytest.mark.parametrize(
    ("trouble", "again", "after", "words"),
    [
        (Trouble(429, '{"error": {"message": "slow down"}}', Retry_After="7"), True, 7.0, "429"),
        (Trouble(503, "busy", Retry_After="Thu, 01 Jan 1970 00:00:00 GMT"), True, 0.0, "503"),
        (Trouble(500, "<html>"), True, None, "500"),
        (Trouble(429, '{"error": {"message": "x", "code": "insufficient_quota"}}'), False, None, "429"),
        (Trouble(400, '{"error": {"message": "no such field"}}'), False, None, "no such field"),
        (Trouble(302, "", Location="http://127.0.0.1:1/"), False, None, "302"),
        (Trouble(200, "not json"), True, None, "could not be read|without a message"),
        (Trouble(200, "[]"), True, None, "without a message"),
        (Trouble(200, '{"choices": []}'), True, None, "without a message"),
        (Trouble(200, '{"choices": null}'), True, None, "without a message"),
        (Trouble(200, '{"choices": ["a"]}'), True, None, "without a message"),
    ],
    ids=lambda value: value.status if isinstance(value, Trouble) else None,
)
def test_what_goes_wrong_is_named_and_whether_to_ask_again(trouble, again, after, words):
    with chat_server(lambda _: trouble) as server, pytest.raises(UnreachableError, match=words) as caught:
        ask(server)
    assert (caught.value.again, caught.value.retry_after) == (again, after)
    assert len(server.requests) == 1


def test_a_refused_key_is_not_repeated():
    echo = Trouble(401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}))
    with chat_server(lambda _: echo) as server, pytest.raises(UnreachableError) as caught:
        ask(server)
    assert "401" in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.again is False


def test_nobody_listens():
    with chat_server(lambda _: says("")) as server:
        pass
    with pytest.raises(UnreachableError) as caught:
        ask(server)
    assert caught.value.again


def test_a_private_address_is_not_called_unless_it_is_allowed():
    with chat_server(lambda _: says("Hi")) as server:
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            with OpenAIChat(ChatOptions(url, "small"), key=KEY) as chat, pytest.raises(UnreachableError) as caught:
                chat.reply(ASKED, ())
            assert "private address" in str(caught.value)
            assert not caught.value.again
    assert server.requests == []


@pytest.mark.parametrize("closed", [False, True], ids=["ended", "connection broken"])
@pytest.mark.parametrize("kept", [1, 3, -3])
@pytest.mark.parametrize(
    "said", [says("It was sent today."), calls(("status", '{"id": "A-1"}'))], ids=["words", "call"]
)
def test_a_stream_without_its_end_is_no_answer(said, kept, closed):
    """Neither words nor whole calls that came before the break are taken for what the model said."""
    cut = cut_off(said, kept, closed=closed)
    with chat_server(lambda _: cut) as server, pytest.raises(UnreachableError) as caught:
        ask(server, stream=True)
    assert caught.value.again


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_is_left_out_of_an_answer_is_named_and_counted(stream):
    hidden = [{"type": "reasoning.encrypted", "data": "x"}]
    said = says("Done.") | {"reasoning_content": "The order is late.", "reasoning_details": hidden}
    said |= {"mood": {"of": "model"}, "empty": []}
    with chat_server(lambda _: said) as server:
        reply = ask(server, stream=stream)
    assert (str(reply.message.content).strip(), reply.message.thought) == ("Done.", "The order is late.")
    assert [(loss.what, loss.where, loss.count, loss.first, loss.known) for loss in reply.losses] == [
        ("unknown key mood", "/choices/*/message/mood", 1, "/choices/0/message/mood", False),
        ("reasoning", "/choices/*/message/reasoning_details", 1, "/choices/0/message/reasoning_details", True),
    ]


def test_further_choices_are_left_out_by_name():
    both = [{"message": says(words), "finish_reason": "stop"} for words in ("One.", "Two.", "Three.")]
    with chat_server(lambda _: Trouble(200, json.dumps({"choices": both}))) as server:
        reply = ask(server)
    assert [str(loss) for loss in reply.losses] == ["2 × further choice at /choices/*"]
