"""Asks again where an agent, a simulated user or a judge cannot be reached at once."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from toolevals.agents.chats import Chat, Reply, UnreachableError
from toolevals.grading.values import Message, ToolSpec

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
