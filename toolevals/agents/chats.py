"""Defines one turn of an agent that answers messages, as every chat connector takes it, and what goes wrong in one."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolevals.grading.reading.parsing import Loss, printable
from toolevals.grading.values import Message, ToolSpec
from toolevals.grading.values.canonical import shown


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
    state: Mapping[str, Any] | None = None
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


def words_in(answer: Any) -> str:
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
