"""Runs written as short lists of steps."""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.parsing.steps import AgentRun, Step, run_of_steps
from toolevals.grading.values import Call, ToolCall, ToolResult


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


def step(*calls: Call, results: tuple[str, ...] = (), thought: str | None = None, **more: Any) -> Step:
    answered = tuple(
        ToolResult(made if isinstance(made, ToolCall) else None, content, is_error=False)
        for made, content in zip(calls, results, strict=False)
    )
    seen = "\n".join(results) if results else None
    return Step(thought=thought, calls=calls, results=answered, observation=seen, **more)


def final(text: str) -> Step:
    return Step(action=text, is_final=True)


def run(*steps: Step, goal: str | None = None, result: Any = None, tools: tuple[str, ...] | None = None) -> AgentRun:
    return run_of_steps(steps, goal=goal, available_tools=tools, final_result=result)
