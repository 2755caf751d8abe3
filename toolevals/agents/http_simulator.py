"""Reaches simulators behind HTTP: a service that keeps worlds, such as a container with a fake database.

It has three addresses below its own, each taking and returning JSON by POST. `world` names one conversation's world:

    /reset  {"world": "...", "state": null or an object}       any object
    /call   {"world": "...", "tool": "...", "arguments": {}}   {"result": ...}, {"error": "..."} or {"missing": true}
    /state  {"world": "..."}                                   {"state": null or an object} or {"changes": {...}}
    /end    {"world": "..."}                                   anything: no one asks of this world again

Once it has told a whole state that worlds begin with, `changes` may hold only the records that became others since the
world's beginning, by table: `{"orders": {"W1": {...}, "W2": null}}`; null is a record, or a table, that is gone. A
service that is away is waited for. It answers with an error status where it no longer knows a world.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import ClassVar, Self
from uuid import uuid4

import httpx2

from toolevals.agents.chats import RetryPolicy, UnreachableError, ask_patiently, retry_after
from toolevals.agents.network import (
    ANSWER_BYTES,
    AddressPolicy,
    AnswerRefusedError,
    ForbiddenAddressError,
    guarded_client,
)
from toolevals.agents.options import TEXT, Check, Options, address, number
from toolevals.agents.scripted import Simulation, text_of
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer, World, WorldDiedError
from toolevals.grading.reading.parsing import printable
from toolevals.grading.values import ToolCall
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

MAX_DEPTH = 200
# A minute at the least, however chance falls: what is started again is back by then.
RETRY = RetryPolicy(tries=11, first_wait=1.0, longest_wait=20.0)
ONCE = RetryPolicy(tries=1)
# Statuses of what has not been done, and may be asked again: too many requests, no service behind the proxy, busy.
BUSY = frozenset({429, 502, 503})
# A request that failed so has not arrived.
NOT_ARRIVED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
NEITHER, NO_OBJECT = "neither a result nor an error", "a state that is not an object"
HIDDEN = "[key]"


def _are_names(value: object) -> bool:
    return isinstance(value, list) and len(value) <= 1000 and all(isinstance(name, str) for name in value)


@dataclass(frozen=True, slots=True)
class HttpOptions(Options):
    """The address of a simulator and how to ask it.

    `secret` names the project's secret that is sent as a bearer token. `timeout` is in seconds of silence. `tools` are
    those that it answers; empty where it says so at each call.
    """

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "base_url": address(),
        "secret": TEXT,
        "timeout": number(1, 600, "of seconds"),
        "tools": Check(_are_names, "must be names of tools"),
    }

    base_url: str
    secret: str = ""
    timeout: float = 30.0
    tools: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Return where the secret is sent."""
        return self.base_url


class HttpSimulator:
    """Asks a service; a context manager that closes its connections. Safe in several threads.

    A service that is away is asked again with growing pauses. Once it was waited for in vain, it is asked only once
    each time, until it answers: a thousand worlds do not each wait for what is gone.
    """

    def __init__(
        self,
        options: HttpOptions,
        *,
        key: str = "",
        policy: AddressPolicy | None = None,
        retry: RetryPolicy = RETRY,
        waiting: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take who is told, in a sentence, of each pause before it begins, and by an empty one when it is over."""
        self._options = options
        self._key = key
        self._client = guarded_client(policy or AddressPolicy(), seconds=options.timeout)
        self._retry = retry
        self._waiting = waiting
        self._sleep = sleep
        self._in_vain = False
        # How often it was found away.
        self.absences = 0
        # The whole state that worlds begin with where an example gives none.
        self.initial: JsonMapping | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client.close()

    @contextmanager
    def world(self, example: JsonMapping) -> Iterator[World]:
        """Yield a world in the example's state, or in the service's own. Raises WorldDiedError."""
        given = Simulation.of_example(example).state
        world = _HttpWorld(self, str(uuid4()), given)
        self.ask("reset", world=world.id, state=given)
        died = False
        try:
            yield world
        except WorldDiedError:
            died = True
            raise
        finally:
            if not died:
                # Services need not know of it.
                with suppress(UnreachableError):
                    self._asked("end", {"world": world.id})

    def url(self, what: str) -> str:
        """Return the address of a question."""
        return f"{self._options.base_url.rstrip('/')}/{what}"

    def ask(self, what: str, **body: object) -> JsonObject:
        """Return the object that the service answers. Raises WorldDiedError."""
        retry = ONCE if self._in_vain else self._retry
        try:
            answer = ask_patiently(lambda: self._asked(what, body), retry, sleep=self._sleep, waiting=self._told)
        except UnreachableError as error:
            self._in_vain = error.again
            raise WorldDiedError(f"The simulator failed: {error}", again=error.again) from None
        self._in_vain = False
        return answer

    def _told(self, error: UnreachableError | None, seconds: float) -> None:
        self._waiting(f"Waiting for the simulator: {error} It is asked again in {seconds:.0f} s." if error else "")

    def _asked(self, what: str, body: JsonObject) -> JsonObject:
        """Ask once. Raises UnreachableError."""
        url = self.url(what)
        headers = {"accept": "application/json"} | ({"authorization": f"Bearer {self._key}"} if self._key else {})
        try:
            with self._client.stream("POST", url, json=body, headers=headers) as response:
                text = response.read()
        except (ForbiddenAddressError, AnswerRefusedError, httpx2.InvalidURL) as error:
            raise self._unreachable(f"{url} cannot be asked: {error}") from None
        except httpx2.HTTPError as error:
            # What may have been done already is not asked for twice.
            again = what != "call" or isinstance(error, NOT_ARRIVED)
            raise self._unreachable(
                f"{url} cannot be reached: {type(error).__name__}: {error}.", again=again, away=True
            ) from None
        if not response.is_success:
            said = f"{url} answered {response.status_code}: {text[:200].decode(errors='replace')}"
            after = retry_after(response.headers)
            raise self._unreachable(said, again=response.status_code in BUSY, retry_after=after)
        try:
            answer = load_json(text, max_bytes=ANSWER_BYTES, max_depth=MAX_DEPTH)
        except InvalidDocument as error:
            raise self._unreachable(f"{url} answered what is not JSON: {error}") from None
        if not isinstance(answer, dict):
            raise self._unreachable(f"{url} answered no object")
        return answer

    def _unreachable(
        self, said: str, *, again: bool = False, away: bool = False, retry_after: float | None = None
    ) -> UnreachableError:
        self.absences += away
        # A service may repeat what it was sent.
        hidden = said.replace(self._key, HIDDEN) if self._key else said
        return UnreachableError(printable(hidden), again=again, retry_after=retry_after)


class _HttpWorld:
    def __init__(self, simulator: HttpSimulator, identifier: str, given: JsonMapping | None) -> None:
        self._simulator = simulator
        self._absences = simulator.absences
        self._given = given
        self._called = False
        self.id = identifier

    def call(self, call: ToolCall) -> ToolAnswer:
        self._called = True
        start = time.perf_counter()
        answer = self._ask("call", tool=call.name, arguments=call.arguments)
        latency = (time.perf_counter() - start) * 1000
        if answer.get("missing") is True:
            raise NotSimulatedError(call.name)
        if "error" in answer:
            return ToolAnswer(text_of(answer["error"]), is_error=True, latency_ms=latency)
        if "result" not in answer:
            raise WorldDiedError(f"The simulator failed: {self._simulator.url('call')} answered {NEITHER}")
        return ToolAnswer(text_of(answer["result"]), latency_ms=latency)

    def state(self) -> JsonMapping | None:
        answer = self._ask("state")
        if "changes" in answer:
            return self._changed(answer["changes"])
        state = answer.get("state")
        if state is not None and not isinstance(state, dict):
            raise self._wrong(NO_OBJECT)
        if self._given is None and not self._called:
            self._simulator.initial = state
        return state

    def _changed(self, changes: object) -> JsonMapping:
        """Return the state that the world began with, with what became of its records."""
        initial = self._simulator.initial if self._given is None else self._given
        if initial is None:
            raise self._wrong("changes, and has not sent the first state of worlds")
        if not isinstance(changes, dict):
            raise self._wrong("changes that are not an object")
        return _with_changes(initial, changes, tables=True)

    def _wrong(self, said: str) -> WorldDiedError:
        return WorldDiedError(f"The simulator failed: {self._simulator.url('state')} answered {said}")

    def _ask(self, what: str, **body: object) -> JsonObject:
        try:
            return self._simulator.ask(what, world=self.id, **body)
        except WorldDiedError as error:
            # What was away since this world began may have lost it, or have done what it did not answer.
            error.again = error.again or self._simulator.absences != self._absences
            raise


def _with_changes(before: JsonMapping, changes: JsonMapping, *, tables: bool) -> JsonObject:
    """Return the members with the changed ones; of tables, each with its changed records. Null is gone."""
    after = dict(before)
    for name, value in changes.items():
        if value is None:
            after.pop(name, None)
        elif tables and isinstance(value, dict) and isinstance(table := before.get(name), dict):
            after[name] = _with_changes(table, value, tables=False)
        else:
            after[name] = value
    return after
