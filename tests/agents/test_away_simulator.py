"""A simulator behind HTTP that is away for a while: it is waited for, and nothing is done twice in one world."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from tests.agents.players import call
from tests.agents.world_server import INITIAL, WorldServer, world_server
from toolevals.agents.chats import UnreachableError
from toolevals.agents.http_simulator import RETRY, HttpOptions, HttpSimulator
from toolevals.agents.network import AddressPolicy
from toolevals.agents.replay import replay
from toolevals.agents.worlds import WorldDiedError

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])
CANCEL = call("cancel", order_id="A-1")
DONE = {"orders": {"A-1": "cancelled"}}


class Service:
    """A service at one port, which is there or away as a test says; `pauses` are those that were made meanwhile."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.options = HttpOptions(f"http://127.0.0.1:{self.port}/sim")
        self.pauses: list[float] = []
        self.said: list[str] = []
        self.comes_after = 1_000
        self.server: WorldServer | None = None
        self.interrupt: Callable[[str, dict[str, Any]], tuple[int, bytes] | None] = lambda _path, _body: None
        self._stack = ExitStack()

    def come(self) -> None:
        self.server = self._stack.enter_context(world_server(self._answer, self.port))

    def _answer(self, path: str, body: dict[str, Any]) -> tuple[int, bytes] | None:
        return self.interrupt(path, body)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) == self.comes_after:
            self.come()

    @contextmanager
    def simulator(self) -> Iterator[HttpSimulator]:
        with (
            self._stack,
            HttpSimulator(self.options, policy=LOOPBACK, sleep=self.sleep, waiting=self.said.append) as simulator,
        ):
            yield simulator


def test_it_is_waited_for_with_growing_pauses_and_said():
    service = Service()
    service.comes_after = 3
    with service.simulator() as simulator:
        assert replay(simulator, {}, [CANCEL]).final == DONE
    assert len(service.pauses) == 3
    assert service.pauses[0] <= 1.0 < service.pauses[2]
    assert len(service.said) == 4
    assert service.said[0].startswith(f"Waiting for the simulator: {service.options.base_url}/reset cannot be reached")
    assert service.said[-1] == ""


def test_retries_last_a_minute_at_least():
    error = UnreachableError("away", again=True)
    waits = [RETRY.wait(failures, error, 0.0) for failures in range(1, RETRY.tries + 1)]
    assert waits[-1] is None
    assert 60 <= sum(wait or 0.0 for wait in waits) <= 120


def test_what_is_gone_for_good_is_waited_for_once_and_named():
    service = Service()
    with service.simulator() as simulator:
        first = replay(simulator, {}, [CANCEL])
        waited = len(service.pauses)
        assert waited == RETRY.tries - 1
        assert f"{service.options.base_url}/reset cannot be reached: ConnectError" in str(first.died)
        assert replay(simulator, {}, [CANCEL]).died == first.died
        assert len(service.pauses) == waited
        # It comes back, and is waited for again from then on.
        service.come()
        assert replay(simulator, {}, [CANCEL]).final == DONE
        busy = [(503, b"busy")] * 3
        service.interrupt = lambda _path, _body: busy.pop() if busy else None
        assert replay(simulator, {}, [CANCEL]).final == DONE
    assert len(service.pauses) == waited + 3


def test_a_world_that_is_lost_meanwhile_is_begun_anew_in_a_replay():
    service = Service()
    resets: list[str] = []

    def restarts_at_the_first_call(path: str, body: dict[str, Any]) -> tuple[int, bytes] | None:
        resets.extend([body["world"]] if path == "/sim/reset" else [])
        if path == "/sim/call" and len(resets) == 1:
            raise ConnectionResetError("the service ends here")
        return None

    service.interrupt = restarts_at_the_first_call
    with service.simulator() as simulator:
        service.come()
        assert replay(simulator, {}, [CANCEL, call("cancel", order_id="A-1")]).final == DONE
    assert len(resets) == 2


def test_a_call_that_may_have_been_made_is_not_made_twice_in_one_world():
    service = Service()
    made: list[str] = []

    def answers_no_call(path: str, body: dict[str, Any]) -> tuple[int, bytes] | None:
        if path == "/sim/call":
            made.append(body["world"])
            raise ConnectionResetError("done, and not answered")
        return None

    service.interrupt = answers_no_call
    with service.simulator() as simulator:
        service.come()
        with simulator.world({}) as world, pytest.raises(WorldDiedError) as caught:
            world.call(CANCEL)
        assert caught.value.again
        assert len(made) == 1
        assert replay(simulator, {}, [CANCEL]).died is not None
    assert len(made) == len(set(made))


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_service_that_is_busy_is_asked_again_in_the_same_world(status):
    service = Service()
    refused: list[str] = []

    def busy_once(path: str, body: dict[str, Any]) -> tuple[int, bytes] | None:
        if path == "/sim/call" and not refused:
            refused.append(body["world"])
            return status, b"busy"
        return None

    service.interrupt = busy_once
    with service.simulator() as simulator:
        service.come()
        with simulator.world({}) as world:
            assert world.state() == INITIAL
            world.call(CANCEL)
            assert world.state() == DONE
    assert len(service.pauses) == 1
