"""Tell what stands behind an agent's tools: a simulator makes a fresh world for each conversation."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from toolevals.grading.values import ToolCall
from toolevals.grading.values.tools import Reads, reads_by_name
from toolevals.json_types import JsonMapping


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The text that a tool returned, as the agent reads it.

    `latency_ms` is what the tool took, in milliseconds; None where nothing was executed or no one measured it.
    `is_fault` says that a fault was injected, and that the tool itself has not refused anything.
    """

    content: str
    is_error: bool = False
    latency_ms: float | None = None
    is_fault: bool = False


class Refusals:
    """The calls of one conversation that a tool raised on and that no later call of the tool made good.

    What a tool refuses that only reads decides nothing: it could not have changed the world. `reads` tells which do.
    """

    def __init__(self, reads: Reads = reads_by_name) -> None:
        self._open: dict[str, str] = {}
        self._reads = reads

    def note(self, call: ToolCall, answer: ToolAnswer) -> None:
        """Take in a call's answer. An injected fault is no refusal."""
        if not answer.is_error:
            self._open.pop(call.name, None)
        elif not (answer.is_fault or self._reads(call.name)):
            self._open[call.name] = answer.content

    @property
    def unmended(self) -> str | None:
        """The first of them, as the tool's name and what it said; None without any."""
        return next((f"{name}: {said}" for name, said in self._open.items()), None)


class NotSimulatedError(Exception):
    """Nothing stands behind this call: the conversation ends with it, and no result is invented."""


class WorldDiedError(Exception):
    """The simulator itself failed, whatever the call: the conversation is errored, not failed.

    `again` says that it was away meanwhile: in a fresh world the same calls may succeed.
    """

    again = False

    def __init__(self, reason: str = "", *, again: bool = False) -> None:
        super().__init__(reason)
        self.again = again


class World(Protocol):
    """One conversation's tools and their state."""

    def call(self, call: ToolCall) -> ToolAnswer:
        """Execute a call. A tool that refuses answers with `is_error`.

        Raises NotSimulatedError where nothing answers this call, WorldDiedError where the simulator failed.
        """

    def state(self) -> JsonMapping | None:
        """Return the whole state as JSON values; None where this world keeps none. Raises WorldDiedError."""


class Simulator(Protocol):
    """Makes worlds."""

    def world(self, example: JsonMapping) -> AbstractContextManager[World]:
        """Return a fresh world for an example's input, to be entered and left. Raises WorldDiedError."""


class Nothing:
    """The world of examples that have no simulator: it ends a conversation at its first call."""

    def call(self, call: ToolCall) -> ToolAnswer:
        raise NotSimulatedError(call.name)

    def state(self) -> JsonMapping | None:
        return None
