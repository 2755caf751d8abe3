"""Simulators behind HTTP: a service that keeps worlds, such as a container with a fake database.

It has three addresses below its own, each taking and returning JSON by POST. `world` names one conversation's world:

    /reset  {"world": "...", "state": null or an object}       any object
    /call   {"world": "...", "tool": "...", "arguments": {}}   {"result": ...}, {"error": "..."} or {"missing": true}
    /state  {"world": "..."}                                   {"state": null or an object}
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx2

from toolevals.agents.network import AddressPolicy, ForbiddenAddressError, guarded_client
from toolevals.agents.option_checks import TEXT, Check, address, number, options_read
from toolevals.agents.scripted import text_of
from toolevals.agents.simulations import Simulation
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer, World, WorldDiedError
from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import ToolCall

MAX_ANSWER = 64 * 1024 * 1024
MAX_DEPTH = 200
HIDDEN = "[key]"


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where a simulator is asked.

    `secret` names the project's secret that is sent as a bearer token. `timeout` is in seconds of silence. `tools` are
    those that it answers; empty where it says so at each call.
    """

    base_url: str
    secret: str = ""
    timeout: float = 30.0
    tools: list[str] = field(default_factory=list)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read options; what is not said is at its default. Raises InvalidDocument with every problem."""
        return cls(**options_read(document, _CHECKS, required=("base_url",)))

    def to_document(self) -> dict[str, Any]:
        """Return every option."""
        return asdict(self)


_CHECKS: Mapping[str, Check] = {
    "base_url": address(),
    "secret": TEXT,
    "timeout": number(1, 600, "of seconds"),
    "tools": Check(
        lambda value: isinstance(value, list) and len(value) <= 1000 and all(isinstance(name, str) for name in value),
        "must be names of tools",
    ),
}


class HttpSimulator:
    """Asks a service; a context manager that closes its connections. Safe in several threads."""

    def __init__(self, options: HttpOptions, *, key: str = "", policy: AddressPolicy | None = None) -> None:
        self._options = options
        self._key = key
        self._client = guarded_client(policy or AddressPolicy(), seconds=options.timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client.close()

    @contextmanager
    def world(self, example: Mapping[str, Any]) -> Iterator[World]:
        """Yield a world in the example's state, or in the service's own. Raises WorldDiedError."""
        world = _HttpWorld(self, str(uuid4()))
        self.ask("reset", world=world.id, state=Simulation.of_example(example).state)
        yield world

    def ask(self, what: str, **body: Any) -> dict[str, Any]:
        """Return the object that the service answers. Raises WorldDiedError."""
        url = f"{self._options.base_url.rstrip('/')}/{what}"
        headers = {"accept": "application/json"} | ({"authorization": f"Bearer {self._key}"} if self._key else {})
        try:
            with self._client.stream("POST", url, json=body, headers=headers) as response:
                text = self._text(response)
        except (ForbiddenAddressError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._died(f"/{what} cannot be asked: {type(error).__name__}: {error}") from None
        if not response.is_success:
            raise self._died(f"/{what} answered {response.status_code}: {text[:500].decode(errors='replace')}")
        try:
            answer = load_json(text, max_bytes=MAX_ANSWER, max_depth=MAX_DEPTH)
        except InvalidDocument as error:
            raise self._died(f"/{what} answered what is not JSON: {error}") from None
        if not isinstance(answer, dict):
            raise self._died(f"/{what} answered no object")
        return answer

    def _text(self, response: httpx2.Response) -> bytes:
        text = bytearray()
        for part in response.iter_bytes():
            text += part
            if len(text) > MAX_ANSWER:
                raise self._died(f"its answer is longer than {MAX_ANSWER:,} bytes")
        return bytes(text)

    def _died(self, said: str) -> WorldDiedError:
        # A service may repeat what it was sent.
        hidden = said.replace(self._key, HIDDEN) if self._key else said
        return WorldDiedError(f"The simulator failed: {hidden}")


class _HttpWorld:
    def __init__(self, simulator: HttpSimulator, identifier: str) -> None:
        self._simulator = simulator
        self.id = identifier

    def call(self, call: ToolCall) -> ToolAnswer:
        start = time.perf_counter()
        answer = self._simulator.ask("call", world=self.id, tool=call.name, arguments=call.arguments)
        latency = (time.perf_counter() - start) * 1000
        if answer.get("missing") is True:
            raise NotSimulatedError(call.name)
        if "error" in answer:
            return ToolAnswer(text_of(answer["error"]), is_error=True, latency_ms=latency)
        if "result" not in answer:
            raise WorldDiedError("The simulator failed: /call answered neither a result nor an error")
        return ToolAnswer(text_of(answer["result"]), latency_ms=latency)

    def state(self) -> Mapping[str, Any] | None:
        state = self._simulator.ask("state", world=self.id).get("state")
        if state is not None and not isinstance(state, dict):
            raise WorldDiedError("The simulator failed: /state answered a state that is no object")
        return state
