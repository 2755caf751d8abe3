"""Whatever a foreign program answers, the error is the named one, with what it said; any other would end a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.loopback import Handler, serving
from tests.agents.players import Player, call, saying
from tests.agents.world_server import WorldServer, world_server
from toolevals.agents.clients import events_in
from toolevals.agents.http_simulator import ONCE, HttpOptions, HttpSimulator
from toolevals.agents.judge import Judge
from toolevals.agents.loop import SimulatedUser
from toolevals.agents.mcp_client import McpSimulator, McpUnreachableError
from toolevals.agents.network import AddressPolicy
from toolevals.agents.options import McpOptions
from toolevals.agents.worlds import NotSimulatedError, WorldDiedError
from toolevals.grading.judging import SHIPPED, JudgementRequest

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)


def like(*names: str) -> st.SearchStrategy[Any]:
    """Return values of JSON whose objects have these names, and others."""
    keys = st.sampled_from(names) | st.text(max_size=3)
    return st.recursive(
        SCALARS, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(keys, inside, max_size=5), max_leaves=12
    )


def bodies(values: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    """Return values as JSON (NaN and lone surrogates among it), some of it cut, and any bytes."""
    text = values.map(lambda value: json.dumps(value).encode())
    cut = st.tuples(text, st.integers(0, 30)).map(lambda pair: pair[0][: pair[1]])
    return text | cut | st.binary(max_size=40) | st.just(b"[" * 5_000) | st.just(b'{"result": "\\ud800"}')


FINE = {"/sim/reset": b"{}", "/sim/call": b'{"result": 1}', "/sim/state": b'{"state": {}}', "/sim/end": b"{}"}
STATUSES = st.sampled_from([200, 200, 200, 201, 301, 400, 404, 429, 500, 503])


@pytest.fixture(scope="module")
def worlds() -> Iterator[WorldServer]:
    with world_server() as server:
        yield server


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["reset", "call", "state", "end"]),
    STATUSES,
    bodies(like("result", "error", "missing", "state", "changes", "orders", "A-1")),
)
def test_a_simulator_behind_http_may_answer_anything(worlds, asked, status, body):
    worlds.interrupt = lambda path, _: (status, body) if path == f"/sim/{asked}" else (200, FINE[path])
    died = ""
    options = HttpOptions(worlds.url, timeout=20)
    with HttpSimulator(options, policy=LOOPBACK, retry=ONCE) as simulator:
        try:
            with simulator.world({"messages": []}) as world:
                world.call(call("cancel", order_id="A-1"))
                world.state()
        except NotSimulatedError:
            died = "/sim/call"
        except WorldDiedError as error:
            died = str(error)
    assert not died or f"/sim/{asked}" in died
    assert status in (200, 201) or asked == "end" or f" {status}: " in died


PROTOCOL = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "fuzzed", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "cancel", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
}


class _McpServer(Handler):
    """Answers by the protocol, but for one method."""

    fuzzed = ""
    status = 200
    answered: Any = None
    is_whole = False

    def answer(self) -> None:
        asked = json.loads(self.body())
        method, identifier = asked.get("method"), asked.get("id")
        server = type(self)
        if method == server.fuzzed and server.is_whole:
            self._send(server.status, server.answered, "application/json", {})
        elif identifier is None:
            self._send(202, b"", "application/json", {})
        else:
            result = server.answered if method == server.fuzzed else PROTOCOL.get(method)
            answer = {"jsonrpc": "2.0", "id": identifier, "result": result}
            if method not in PROTOCOL:
                answer = {"jsonrpc": "2.0", "id": identifier, "error": {"code": -32601, "message": "no such method"}}
            self._send(200, json.dumps(answer).encode(), "application/json", {})

    def do_GET(self) -> None:  # noqa: N802 (as the library calls it)
        self._send(405, b"", "text/plain", {})


@pytest.fixture(scope="module")
def mcp_address() -> Iterator[str]:
    with serving(_McpServer) as address:
        yield f"{address}/mcp"


def used(address: str) -> None:
    """Open a session with a server and call a tool."""
    with McpSimulator(McpOptions(url=address, timeout=5), policy=LOOPBACK).world({}) as world:
        world.call(call("cancel", order_id="A-1"))


METHODS = st.sampled_from(["initialize", "tools/list", "tools/call"])
NAMES = (
    "content", "type", "text", "isError", "structuredContent", "tools", "name", "inputSchema", "nextCursor", "resource",
    "protocolVersion", "capabilities", "serverInfo", "jsonrpc", "id", "result", "error", "code", "message",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(METHODS, like(*NAMES))
def test_an_mcp_server_may_give_any_result(mcp_address, method, result):
    _McpServer.fuzzed, _McpServer.answered, _McpServer.is_whole = method, result, False
    with suppress(WorldDiedError, NotSimulatedError):
        used(mcp_address)


@settings(max_examples=60, deadline=None)
@given(METHODS, STATUSES, bodies(like(*NAMES)))
def test_an_mcp_server_may_answer_anything(mcp_address, method, status, body):
    _McpServer.fuzzed, _McpServer.status, _McpServer.answered, _McpServer.is_whole = method, status, body, True
    with suppress(WorldDiedError, NotSimulatedError):
        used(mcp_address)


def test_the_error_of_an_mcp_server_says_what_it_answered(mcp_address):
    _McpServer.fuzzed, _McpServer.status, _McpServer.is_whole = "tools/list", 500, True
    _McpServer.answered = b"out of order"
    with pytest.raises(WorldDiedError, match="cannot be used") as raised:
        used(mcp_address)
    assert not isinstance(raised.value, McpUnreachableError)


ANSWERS = like("score", "reason", "claims", "supported", "field", "fields", "used", "relevant")


@given(
    st.sampled_from(sorted(SHIPPED)),
    st.lists(ANSWERS.map(json.dumps) | st.text(max_size=40) | st.just("{" * 2_000), min_size=1, max_size=2),
    st.text(max_size=10),
)
def test_a_judge_may_answer_anything(rubric, answers, around):
    player = Player(*(saying(f"{around}{answer}") for answer in answers))
    request = JudgementRequest(SHIPPED[rubric], {"conversation": {"messages": []}, "fields": [{"field": "a"}]})
    judgement = Judge("judge-1", structured=player, plain=player).hear(request).judgement
    assert bool(judgement.error) != bool(judgement.answer)


@given(st.none() | st.text(max_size=40) | st.sampled_from(["###DONE###", "Bye. ###DONE###", " "]))
def test_a_simulated_user_may_say_anything(said):
    words = SimulatedUser(Player(saying(said)), "Cancel it.").answer([saying("How can I help?")])
    assert words is None or (words.strip() and "###DONE###" not in words)


@given(
    st.lists(st.sampled_from(["data: a", "data:b\u2028c", "event: error", ": told", "id: 7", "", "retry: 1", "data"])),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(1, 7), max_size=20),
)
def test_events_are_the_same_however_they_come_in_pieces(lines, end, sizes):
    text = "\ufeff" + "".join(line + end for line in lines)
    whole = text.encode()
    pieces, rest = list[bytes](), whole
    for size in sizes:
        pieces, rest = [*pieces, rest[:size]], rest[size:]
    assert list(events_in([*pieces, rest])) == list(events_in([whole])) == expected(lines)


def expected(lines: list[str]) -> list[tuple[str, str]]:
    found, name, data = [], "", list[str]()
    for line in lines:
        if line.startswith("data"):
            data.append(line.removeprefix("data").removeprefix(":").removeprefix(" "))
        elif line == "event: error":
            name = "error"
        elif not line:
            if any(data):
                found.append((name, "\n".join(data)))
            name, data = "", []
    return found
