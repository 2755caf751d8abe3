"""Simulators behind HTTP, asked on loopback."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from tests.agents.players import call
from tests.agents.world_server import INITIAL, Interruption, world_server
from toolevals.agents.http_simulator import HttpOptions, HttpSimulator
from toolevals.agents.network import AddressPolicy
from toolevals.agents.worlds import NotSimulatedError, WorldDiedError
from toolevals.grading.values.problems import InvalidDocument

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])


def use(options: HttpOptions, policy: AddressPolicy = LOOPBACK) -> None:
    """Open a world, make a call, look at the state."""
    with (
        HttpSimulator(options, key="k-1", policy=policy, sleep=lambda _: None) as simulator,
        simulator.world(example()) as world,
    ):
        world.call(call("cancel", order_id="A-1"))
        world.state()


def example(**simulation: Any) -> dict[str, Any]:
    return {"messages": [], "simulation": simulation}


def test_each_conversation_has_a_world_of_its_own():
    with world_server() as server, HttpSimulator(HttpOptions(server.url), key="k-1", policy=LOOPBACK) as simulator:
        with simulator.world(example()) as first, simulator.world(example(state={"orders": {"B": "paid"}})) as second:
            assert first.call(call("cancel", order_id="A-1")).content == '{"cancelled": "A-1"}'
            refused = second.call(call("cancel", order_id="A-1"))
            assert (refused.content, refused.is_error) == ("no order A-1", True)
            assert first.state() == {"orders": {"A-1": "cancelled"}}
            assert second.state() == {"orders": {"B": "paid"}}
            with pytest.raises(NotSimulatedError):
                first.call(call("fly"))
        with simulator.world(example()) as third:
            assert third.state() == INITIAL
        assert set(server.keys) == {"Bearer k-1"}


@pytest.mark.parametrize(
    ("path", "status", "body", "said"),
    [
        ("/sim/reset", 500, b"out of order k-1", "/reset answered 500: out of order [key]"),
        ("/sim/call", 503, b"", "/call answered 503"),
        ("/sim/call", 200, b"{", "/call answered what is not JSON"),
        ("/sim/call", 200, b"[]", "/call answered no object"),
        ("/sim/call", 200, b"{}", "/call answered neither a result nor an error"),
        ("/sim/call", 302, b"", "/call answered 302"),
        ("/sim/state", 200, b'{"state": []}', "/state answered a state that is not an object"),
    ],
)
def test_a_service_that_fails_ends_the_conversation_and_says_how(path, status, body, said):
    interrupt: Interruption = lambda asked, _: (status, body) if asked == path else None  # noqa: E731
    with world_server(interrupt) as server, pytest.raises(WorldDiedError) as caught:
        use(HttpOptions(server.url))
    address = server.url.removesuffix("/sim")
    assert str(caught.value).startswith(f"The simulator failed: {address}/sim{said}")


def test_a_service_that_says_nothing_is_given_up():
    ended = threading.Event()

    def silent(path: str, _: dict[str, Any]) -> tuple[int, bytes] | None:
        ended.wait(60)
        return None

    with world_server(silent) as server:
        try:
            with pytest.raises(WorldDiedError, match="ReadTimeout"):
                use(HttpOptions(server.url, timeout=0.2))
        finally:
            ended.set()


def test_a_service_that_is_not_there_or_not_allowed_is_not_asked():
    with world_server() as server:
        with pytest.raises(WorldDiedError, match="AGENT_NETWORKS"):
            use(HttpOptions(server.url), AddressPolicy())
        assert server.keys == []
    with pytest.raises(WorldDiedError, match="ConnectError"):
        use(HttpOptions(server.url))


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({}, "/base_url"),
        ({"base_url": "ftp://x"}, "/base_url"),
        ({"base_url": "http://x", "timeout": 0}, "/timeout"),
        ({"base_url": "http://x", "tools": "all"}, "/tools"),
        ({"base_url": "http://x", "colour": 1}, "/colour"),
    ],
)
def test_what_is_wrong_with_options_is_named(document, pointer):
    with pytest.raises(InvalidDocument) as caught:
        HttpOptions.from_document(document)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_an_answer_may_hold_only_the_changed_records_and_worlds_get_an_end_message():
    whole = {"orders": {"A": {"n": 1}, "B": {"n": 2}}, "users": {"u": 1}, "day": 1}
    changes = {"orders": {"A": {"n": 5}, "B": None, "C": {"n": 3}}, "users": None, "day": 2}
    told = iter([{"state": whole}, {"changes": changes}, {"changes": {}}, {"changes": {"orders": {"D": 1}}}])
    ended: list[str] = []

    def answer(path: str, body: Any) -> tuple[int, bytes] | None:
        if path == "/sim/end":
            ended.append(path)
            return 404, b""
        return (200, json.dumps(next(told)).encode()) if path == "/sim/state" else None

    with (
        world_server(answer) as server,
        HttpSimulator(HttpOptions(server.url), key="k-1", policy=LOOPBACK) as simulator,
    ):
        with simulator.world(example()) as world:
            assert world.state() == whole
            assert world.state() == {"orders": {"A": {"n": 5}, "C": {"n": 3}}, "day": 2}
        with simulator.world(example()) as world:
            assert world.state() == whole
        with simulator.world(example(state={"orders": {}})) as world:
            assert world.state() == {"orders": {"D": 1}}
        assert len(ended) == 3
    told = iter([{"changes": {}}])
    with world_server(answer) as server, pytest.raises(WorldDiedError, match="has not sent the first state"):
        use(HttpOptions(server.url))
