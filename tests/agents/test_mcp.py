"""Servers of the Model Context Protocol, over pipes and over HTTP: their tools, and calls of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.agents.loopback import Handler, Trouble, serving
from tests.agents.mcp_shop import shop_over_http, shop_that_can_crash
from tests.agents.players import Player, call, calling, saying
from toolevals.agents.loop import Conversation, End, Task, converse
from toolevals.agents.mcp_client import McpSession, McpSimulator, McpUnreachableError, result_text
from toolevals.agents.network import AddressPolicy
from toolevals.agents.options import McpOptions
from toolevals.agents.worlds import NotSimulatedError, WorldDiedError
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values.problems import InvalidDocument

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])
PIPES = McpOptions(command=(sys.executable, "-m", "tests.agents.mcp_shop"), timeout=120)
WAYS = pytest.mark.parametrize("way", ["pipes", "http"])


@contextmanager
def shop(way: str) -> Iterator[McpOptions]:
    if way == "pipes":
        yield PIPES
        return
    with shop_over_http() as url:
        yield McpOptions(url=url, timeout=120)


@WAYS
def test_its_tools_are_read_with_schemas_and_hints(way):
    with shop(way) as options, McpSession(options, policy=LOOPBACK) as session:
        listed = session.tools()
    status, cancel, _ = read_tools(listed, format="mcp").tools
    assert (status.name, status.title, status.description) == ("status", "Order status", "Tell an order's state.")
    assert status.input_schema["required"] == ["order_id"]
    assert status.output_schema is not None
    assert (status.annotations.read_only, cancel.annotations.destructive) == (True, True)


@WAYS
def test_an_agents_calls_are_answered_and_what_a_tool_refuses_is_an_error_to_it(way):
    agent = Player(
        calling(call("cancel", "c1", order_id="A-1"), call("status", "c2", order_id="A-1")),
        calling(call("status", "c3", order_id="A-9"), call("status", "c4", order="A-1")),
        saying("Done."),
    )
    with shop(way) as options, McpSimulator(options, policy=LOOPBACK).world({}) as world:
        talk = converse(agent, Task({"messages": [{"role": "user", "content": "Cancel A-1"}]}), world=world)
        assert world.state() is None
        with pytest.raises(NotSimulatedError):
            world.call(call("refund"))
    results = talk.transcript.results
    assert (talk.end, [result.is_error for result in results]) == (End.ANSWER, [False, False, True, True])
    assert '"A-1": "cancelled"' in results[0].content
    assert results[1].content == "cancelled"
    assert "404: no order A-9" in results[2].content
    assert "Field required" in results[3].content


def test_a_server_of_a_command_begins_anew_with_each_conversation():
    simulator = McpSimulator(PIPES)
    with simulator.world({}) as world:
        world.call(call("cancel", order_id="A-1"))
    with simulator.world({}) as world:
        assert world.call(call("status", order_id="A-1")).content == "sent"


def crashed(simulator: McpSimulator) -> Conversation:
    """Let an agent look at an order, then call the tool that ends the server."""
    agent = Player(calling(call("status", order_id="A-1")), calling(call("crash")), saying("Done."))
    with simulator.world({}) as world:
        return converse(agent, Task({"messages": [{"role": "user", "content": "x"}]}), world=world)


def test_a_server_that_ends_is_no_fault_of_the_agent():
    talk = crashed(McpSimulator(PIPES))
    assert talk.end is End.UNREACHABLE
    assert "The MCP server cannot be used: Connection closed" in str(talk.transcript.error)


def test_a_server_behind_an_address_that_dies_in_a_session_is_no_fault_of_the_agent_either():
    with shop_that_can_crash() as url:
        simulator = McpSimulator(McpOptions(url=url, timeout=20), policy=LOOPBACK)
        talk = crashed(simulator)
        assert talk.end is End.UNREACHABLE
        assert [result.content for result in talk.transcript.results][:1] == ["sent"]
        assert "The MCP server cannot be used" in str(talk.transcript.error)
        # It is gone for the next conversation too, which says so at its first call.
        later = crashed(simulator)
        assert (later.end, later.transcript.results) == (End.UNREACHABLE, ())
        assert "The MCP server cannot be used" in str(later.transcript.error)
    # Another server is used as if nothing had been.
    with shop("http") as options, McpSimulator(options, policy=LOOPBACK).world({}) as world:
        assert world.call(call("status", order_id="A-1")).content == "sent"


class _Broken(Handler):
    def answer(self) -> None:
        self.trouble(Trouble(500, "broken"))


@pytest.mark.parametrize(
    "options",
    [
        McpOptions(command=("/nothing/there",)),
        McpOptions(command=(sys.executable, "-c", "")),
        McpOptions(command=(sys.executable, "-c", "print('not JSON')")),
        McpOptions(url="http://127.0.0.1:9/mcp"),
    ],
    ids=["no program", "ends at once", "speaks otherwise", "nobody listens"],
)
def test_what_is_no_server_is_said(options):
    with (
        pytest.raises(McpUnreachableError, match="The MCP server cannot be used"),
        McpSession(options, policy=LOOPBACK),
    ):
        pass
    with McpSimulator(options, policy=LOOPBACK).world({}) as world, pytest.raises(WorldDiedError):
        world.call(call("status"))


def test_a_server_that_is_broken_is_said_and_its_key_is_not():
    with (
        serving(_Broken) as address,
        pytest.raises(McpUnreachableError) as caught,
        McpSession(McpOptions(url=address), key="broken", policy=LOOPBACK),
    ):
        pass
    assert "broken" not in str(caught.value)


def test_a_private_address_is_not_called_unless_it_is_allowed():
    with (
        shop_over_http() as url,
        pytest.raises(McpUnreachableError, match="private address"),
        McpSession(McpOptions(url=url)),
    ):
        pass


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [], "structuredContent": {"a": 1}}, '{"a": 1}'),
        ({"content": [{"type": "image", "data": "…", "mimeType": "image/png"}]}, "[image image/png]"),
        ({"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "words"}}]}, "words"),
        ({"content": [{"type": "resource_link", "uri": "x:y", "name": "y"}]}, "[resource_link x:y]"),
        ({"content": []}, ""),
    ],
)
def test_a_result_is_read_as_text(result, text):
    assert result_text(result) == text


@pytest.mark.parametrize(
    "wrong", [{}, {"url": "http://x", "command": ["a"]}, {"command": "a b"}, {"command": []}, {"url": "x"}]
)
def test_options_name_an_address_or_a_command(wrong):
    with pytest.raises(InvalidDocument):
        McpOptions.from_document(wrong)


def test_options_go_round():
    for said in ({"url": "https://x.example/mcp", "secret": "key"}, {"command": ["a", "b c"], "timeout": 5}):
        options = McpOptions.from_document(said)
        assert McpOptions.from_document(options.to_document()) == options
    assert options.line == "a 'b c'"
