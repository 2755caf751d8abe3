"""Defines one turn of an agent that answers messages: the interface of every chat connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolevals.grading.reading.parsing import Loss
from toolevals.grading.values import Message, ToolSpec


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
