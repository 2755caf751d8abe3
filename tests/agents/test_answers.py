"""No answer fills the memory, however it is sent: each way of asking gives it up, and says at what length."""

from __future__ import annotations

import itertools
import json
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx2
import pytest

from tests.agents.flood import MEGABYTE, answer, flooding, packed
from tests.agents.loopback import Handler, serving
from tests.agents.players import call
from toolevals.agents import network
from toolevals.agents.anthropic_chat import AnthropicChat
from toolevals.agents.chats import UnreachableError
from toolevals.agents.http_simulator import HttpOptions, HttpSimulator
from toolevals.agents.loop import Task
from toolevals.agents.mcp_client import Lines, McpSession, McpUnreachableError
from toolevals.agents.network import ANSWER_BYTES, AddressPolicy, AnswerRefusedError, Measure, guarded_client
from toolevals.agents.options import AnthropicOptions, ChatOptions, McpOptions
from toolevals.agents.webhook import Webhook, WebhookChat
from toolevals.agents.worlds import WorldDiedError
from toolevals.grading.values import Message

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])
ASKED = [Message("user", "Where is it?")]
REFUSALS = (UnreachableError, WorldDiedError, McpUnreachableError)
LIMIT = f"longer than {ANSWER_BYTES:,} bytes"


def ask_model(url: str, *, stream: bool = False) -> None:
    with OpenAI(ChatOptions(model="m-2026-01-01", base_url=url, stream=stream)) as chat:
        chat.reply(ASKED, ())


def OpenAI(options: ChatOptions) -> Any:  # noqa: N802 - loaded late, as everywhere
    from toolevals.agents.openai_chat import OpenAIChat

    return OpenAIChat(options, policy=LOOPBACK)


def ask_anthropic(url: str, *, stream: bool = False) -> None:
    with AnthropicChat(AnthropicOptions(model="m-2026-01-01", base_url=url, stream=stream), policy=LOOPBACK) as chat:
        chat.reply(ASKED, ())


def ask_webhook(url: str) -> None:
    with guarded_client(LOOPBACK, seconds=60) as client:
        WebhookChat(Webhook(client, url), Task({"messages": []})).reply(ASKED, ())


def ask_simulator(url: str) -> None:
    with HttpSimulator(HttpOptions(url), policy=LOOPBACK) as simulator, simulator.world({}) as world:
        world.call(call("cancel"))


def ask_mcp(url: str) -> None:
    McpSession(McpOptions(url=url), policy=LOOPBACK).tools_at_once(60)


ASKING: Mapping[str, Callable[[str], None]] = {
    "chat completions": ask_model,
    "chat completions, streamed": lambda url: ask_model(url, stream=True),
    "Messages": ask_anthropic,
    "Messages, streamed": lambda url: ask_anthropic(url, stream=True),
    "webhook": ask_webhook,
    "simulator": ask_simulator,
    "MCP": ask_mcp,
}
EVERYBODY = pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING)


def refused(ask: Callable[[str], None], parts: Any) -> tuple[str, int]:
    """Return what the refusal says, and the most memory, in megabytes, that it took."""
    with flooding(parts) as url:
        tracemalloc.start()
        try:
            with pytest.raises(REFUSALS) as caught:
                ask(url)
            return str(caught.value), tracemalloc.get_traced_memory()[1] // MEGABYTE
        finally:
            tracemalloc.stop()


@EVERYBODY
def test_what_is_packed_small_is_unpacked_no_further_than_the_limit(ask):
    bomb = list(answer("application/json", packed(zlib.MAX_WBITS | 16, 300), "gzip"))
    assert sum(map(len, bomb)) < MEGABYTE
    said, megabytes = refused(ask, bomb)
    assert LIMIT in said
    assert megabytes < 100


@pytest.mark.parametrize("bits", [zlib.MAX_WBITS, -zlib.MAX_WBITS], ids=["deflate", "bare deflate"])
def test_however_it_is_packed(bits):
    bomb = list(answer("application/json", packed(bits, 300), "deflate"))
    said, megabytes = refused(ask_webhook, bomb)
    assert LIMIT in said
    assert megabytes < 100


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "x" * 500])
@pytest.mark.parametrize("name", ["simulator", "MCP"])
def test_what_we_did_not_say_that_we_unpack_is_not_read(name, encoding):
    said, _ = refused(ASKING[name], list(answer("application/json", [b"{}"], encoding)))
    assert "; gzip, deflate are read" in said


@EVERYBODY
def test_an_answer_without_end_is_given_up(ask):
    said, megabytes = refused(ask, list(answer("text/event-stream", [b"data: {", *[b"x" * MEGABYTE] * 40])))
    assert LIMIT in said
    assert megabytes < 130


def events_of_chat() -> Iterator[bytes]:
    delta = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "x" * 50_000}}]}
    yield f"data: {json.dumps(delta)}\n\n".encode()


def events_of_messages() -> Iterator[bytes]:
    start = {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}
    yield f"event: message_start\ndata: {json.dumps(start)}\n\n".encode()
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * 50_000}}
    yield f"event: content_block_delta\ndata: {json.dumps(delta)}\n\n".encode()


@pytest.mark.parametrize(
    ("name", "events"),
    [("chat completions, streamed", events_of_chat), ("Messages, streamed", events_of_messages)],
)
def test_events_without_end_are_given_up(monkeypatch, name, events):
    monkeypatch.setattr(network, "ANSWER_BYTES", 500_000)
    *before, again = events()
    said, _ = refused(ASKING[name], list(answer("text/event-stream", [*before, *[again] * 40])))
    assert "longer than 500,000 bytes" in said


@pytest.mark.parametrize("ask", [ask_webhook, ask_mcp])
def test_a_head_without_end_is_given_up(ask):
    head = itertools.chain([b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"A: b\r\n" * 10_000, 200))
    _, megabytes = refused(ask, list(head))
    assert megabytes < 50


@pytest.mark.parametrize("ask", [ask_model, ask_mcp])
def test_an_answer_that_takes_too_long_is_given_up(monkeypatch, ask):
    monkeypatch.setattr(network, "ANSWER_SECONDS", -1.0)
    monkeypatch.setattr("toolevals.agents.network.ANSWER_SECONDS", -1.0)
    said, _ = refused(ask, list(answer("application/json", [b"{}"])))
    assert "did not end within" in said


def mcp_command(code: str, **options: Any) -> None:
    command = (sys.executable, "-c", f"import sys, json, itertools\nasked = sys.stdin.readline()\n{code}")
    McpSession(McpOptions(command=command, **options)).tools_at_once(60)


@pytest.mark.parametrize("end", ["", "print()"], ids=["without an end", "with one"])
def test_a_line_over_pipes_is_read_no_further_than_the_limit(end):
    tracemalloc.start()
    try:
        with pytest.raises(McpUnreachableError, match=LIMIT):
            mcp_command(f"for _ in range(40): sys.stdout.write('x' * {MEGABYTE})\n{end}\nsys.stdin.read()")
        assert tracemalloc.get_traced_memory()[1] < 100 * MEGABYTE
    finally:
        tracemalloc.stop()


def test_messages_without_end_over_pipes_do_not_keep_the_session(monkeypatch):
    # So long the library waits for a server to say what it speaks, whatever the timeout.
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 1)
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    with pytest.raises(McpUnreachableError):
        mcp_command(f"while True: print({note!r})", timeout=1)


def test_pages_of_tools_without_end_are_given_up(monkeypatch):
    monkeypatch.setattr("toolevals.agents.mcp_client.ANSWER_BYTES", 200_000)

    class Pages(Handler):
        def answer(self) -> None:
            asked = json.loads(self.body())
            tool = {"name": "t", "description": "x" * 50_000, "inputSchema": {"type": "object"}}
            result: dict[str, Any] = {"tools": [tool], "nextCursor": "more"}
            if asked["method"] == "initialize":
                server = {"name": "shop", "version": "1"}
                version = asked["params"]["protocolVersion"]
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
            if "id" not in asked:
                self.send(202, "", "application/json", {})
            elif asked["method"] not in ("initialize", "tools/list"):
                error = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}
                self.send(200, json.dumps(error), "application/json", {})
            else:
                said = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
                self.send(200, json.dumps(said), "application/json", {})

    with serving(Pages) as url, pytest.raises(McpUnreachableError, match="Its list of tools is longer than"):
        ask_mcp(f"{url}/mcp")


class TestMeasure:
    def test_several_packed_one_behind_the_other_are_one(self):
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        one = packer.compress(b"one") + packer.flush()
        measure = Measure("gzip")
        whole = one * 2
        assert b"".join(piece for byte in whole for piece in measure.taken(bytes([byte]))) == b"oneone"
        measure.end()
        assert b"".join(Measure("GZIP").taken(whole)) == b"oneone"

    def test_what_ends_too_soon_or_is_damaged_is_no_answer(self):
        measure = Measure("deflate")
        assert list(measure.taken(zlib.compress(b"x" * 1000)[:-5]))
        with pytest.raises(httpx2.DecodingError, match="ends before"):
            measure.end()
        with pytest.raises(httpx2.DecodingError, match="cannot be unpacked"):
            list(Measure("gzip").taken(b"\x1f\x8bnonsense that is none"))

    def test_an_answer_as_long_as_the_limit_is_taken(self, monkeypatch):
        monkeypatch.setattr(network, "ANSWER_BYTES", 10)
        assert b"".join(Measure("").taken(b"x" * 10)) == b"x" * 10
        assert b"".join(Measure("deflate").taken(zlib.compress(b"", 0) and b"")) == b""
        with pytest.raises(AnswerRefusedError):
            list(Measure("").taken(b"x" * 11))

    def test_lines_are_cut_wherever_they_are_split(self):
        lines = Lines()
        assert [each for part in (b"a", b"b\nc\n", b"", b"\nd") for each in lines.taken(part)] == [b"ab", b"c", b""]
