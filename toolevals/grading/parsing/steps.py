"""Agent runs as lists of steps: thought, action, tool, arguments, result, error; with goal, tools and final result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolevals.grading.values import Call, ToolResult, Transcript


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an agent's loop.

    `action` is what the step says that it does, where that is no call. `results` are in the calls' order, one for each
    call that has one. `observation` is what the agent saw, in its own words or joined from the results. `error` says
    why the step failed, None where nothing says that it did.
    """

    thought: str | None = None
    action: str | None = None
    calls: tuple[Call, ...] = ()
    results: tuple[ToolResult, ...] = ()
    observation: str | None = None
    error: str | None = None
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What trajectory metrics look at: the same run as a transcript and as steps.

    `available_tools` are names, None where nobody said which there were. `final_result` is any JSON value, None where
    there is none.
    """

    goal: str | None
    available_tools: tuple[str, ...] | None
    transcript: Transcript
    final_result: Any
    steps: tuple[Step, ...]
