"""Defines one turn of an agent, as every chat connector takes it, what goes wrong in one, and how it is asked again."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from toolevals.grading.reading.parsing import Loss, printable
from toolevals.grading.values import Message, ToolSpec
from toolevals.grading.values.canonical import shown
from toolevals.json_types import JsonMapping


@dataclass(frozen=True, slots=True)
class Reply:
    """Holds what an agent said in one turn.

    `usage` counts tokens as transcripts do (`input_tokens`, `output_tokens`, `cached_tokens`). `latency_ms` is the
    turn's, in milliseconds, None where no one measured it. `model` is the snapshot that the endpoint says has answered.
    `before` holds what an agent did by itself, its calls and their results, and `state` the whole state of its own
    world where it tells it. `losses` are the parts of the answer that a transcript has no place for.
    """

    message: Message
    usage: Mapping[str, float] = field(default_factory=dict)
    latency_ms: float | None = None
    model: str = ""
    before: tuple[Message, ...] = ()
    state: JsonMapping | None = None
    losses: tuple[Loss, ...] = ()


class UnreachableError(Exception):
    """The agent could not be asked: the network, its limits, its own failure.

    `again` says whether another try may succeed; `retry_after` is how many seconds it asked to be left alone. `status`
    is the one that HTTP gave, None where none came. The text never holds a secret.
    """

    def __init__(
        self, reason: str, *, again: bool, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.again = again
        self.retry_after = retry_after
        self.status = status


class Chat(Protocol):
    """An agent that is given a conversation and says what comes next. Used by one thread at a time."""

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Return the next assistant turn. Raises UnreachableError."""


# Statuses after which another try may succeed; all from 500 on as well.
TRANSIENT = frozenset({408, 409, 425, 429})
ERROR_LENGTH = 300


def is_transient(status: int) -> bool:
    """Tell whether another try may succeed after a status."""
    return status in TRANSIENT or status >= 500


def unreachable(
    reason: str, *, key: str, again: bool, retry_after: float | None = None, status: int | None = None
) -> UnreachableError:
    """Return the error for a reason, cut short, and without the key: some servers repeat what they refuse."""
    return UnreachableError(safe(reason, key), again=again, retry_after=retry_after, status=status)


def safe(words: str, key: str = "") -> str:
    """Return what another side said, cut short, without the key, and so that it can be kept."""
    return printable(words.replace(key, "•••") if key else words)[:ERROR_LENGTH]


def words_in(answer: object) -> str:
    """Return what an answer says went wrong: the message of its error where it has one, else all of it as text."""
    error = answer.get("error") or answer if isinstance(answer, dict) else answer
    for key in ("message", "detail", "error"):
        if isinstance(error, dict) and isinstance(said := error.get(key), str) and said:
            return said
    return error if isinstance(error, str) else shown(error, ERROR_LENGTH)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the server asks to wait (RFC 9110, 10.2.3): a number or a date."""
    said = headers.get("retry-after")
    if not said:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of attempts, and the waits between them in seconds.

    The wait doubles from `first_wait` up to `longest_wait`, each time by chance between half of it and all of it, so
    that many who failed at once do not come back at once. What the other side asks for (Retry-After) is kept to, but
    a request to wait longer than `longest_wait` counts as a refusal.
    """

    tries: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0

    def wait(self, failures: int, error: UnreachableError, chance: float) -> float | None:
        """Return how long to wait after so many failures, None where asking again is useless. `chance`: 0 to 1."""
        if not error.again or failures >= self.tries:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_wait else None
        return min(self.first_wait * 2.0 ** (failures - 1), self.longest_wait) * (0.5 + chance / 2)


class Pace(Protocol):
    """Holds requests back, so that all who share it stay below a rate."""

    def wait(self) -> None:
        """Return when the next request may be made."""


class NoRateLimit:
    """The pace of a caller that has no rate to keep."""

    def wait(self) -> None:
        pass


def ask_patiently(
    ask: Callable[[], T],
    retry: RetryPolicy,
    pace: Pace | None = None,
    sleep: Callable[[float], None] = time.sleep,
    waiting: Callable[[UnreachableError | None, float], None] = lambda _error, _seconds: None,
) -> T:
    """Return what `ask` returns, asking again as `retry` allows. Raises the last UnreachableError.

    `waiting` is told of each pause before it begins, why and how long, and with None when waiting has come to an end.
    """
    pace = pace or NoRateLimit()
    failures = 0
    try:
        while True:
            pace.wait()
            try:
                return ask()
            except UnreachableError as error:
                failures += 1
                wait = retry.wait(failures, error, random.random())  # noqa: S311 (spreads load, guards nothing)
                if wait is None:
                    raise
                waiting(error, wait)
            sleep(wait)
    finally:
        if failures and retry.tries > 1:
            waiting(None, 0.0)


class PatientChat:
    """A chat that is asked again where it cannot be reached."""

    def __init__(
        self,
        chat: Chat,
        retry: RetryPolicy | None = None,
        pace: Pace | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._chat = chat
        self._retry = retry or RetryPolicy()
        self._pace = pace or NoRateLimit()
        self._sleep = sleep

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        return ask_patiently(lambda: self._chat.reply(messages, tools), self._retry, self._pace, self._sleep)
