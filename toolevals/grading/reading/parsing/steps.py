"""Defines agent runs as lists of steps: thought, action, tool, arguments, result, error; goal, tools, final result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any

from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.reading.parsing.losses import Loss
from toolevals.grading.values import Call, Message, ToolResult, Transcript
from toolevals.grading.values.value_classes import value_class


@value_class
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


@value_class
class AgentRun:
    """The data of trajectory metrics: the same run as a transcript and as steps.

    `available_tools` are names, None where no one said which there were. `final_result` is any JSON value, None where
    there is none. `losses` are the parts of what it was read from that the transcript does not hold.
    """

    goal: str | None
    available_tools: tuple[str, ...] | None
    transcript: Transcript
    final_result: Any
    steps: tuple[Step, ...]
    losses: tuple[Loss, ...] = field(default=(), compare=False)


def run_of_steps(
    steps: tuple[Step, ...],
    *,
    goal: str | None = None,
    available_tools: tuple[str, ...] | None = None,
    final_result: Any = None,
) -> AgentRun:
    """Return the run that these steps are, with its transcript: the goal as the user's words, then calls and results.

    Thoughts are no words to the user: the transcript leaves them out. The final result is the answer.
    """
    messages = [] if goal is None else [Message("user", goal)]
    for step in steps:
        if step.calls or (step.action is not None and not step.is_final):
            messages.append(Message("assistant", step.action, step.calls))
        messages.extend(
            Message("tool", result.content, call_id=result.call.id if result.call else None, is_error=result.is_error)
            for result in step.results
        )
    answer = None if final_result is None else result_text(final_result)
    if answer is not None:
        messages.append(Message("assistant", answer))
    return AgentRun(goal, available_tools, Transcript(tuple(messages), answer), final_result, steps)


def run_of(
    transcript: Transcript,
    *,
    goal: str | None = None,
    available_tools: tuple[str, ...] | None = None,
    final_result: Any = None,
) -> AgentRun:
    """Return a transcript as a run: every message of the assistant is a step, with the results that follow it.

    Without a goal it is the user's first message; without a final result it is the answer. What the assistant says
    next to a call is the step's thought.
    """
    results: Iterator[ToolResult] | None = None
    steps: list[Step] = []
    for message in transcript.messages:
        if message.role == "assistant":
            steps.append(_step_of(message))
        elif message.role == "tool":
            results = iter(transcript.results) if results is None else results
            result = next(results)
            if steps:
                steps[-1] = _with_result(steps[-1], result)
    if steps and not steps[-1].calls:
        steps[-1] = replace(steps[-1], is_final=True)
    first = next((message.content for message in transcript.messages if message.role == "user"), None)
    return AgentRun(
        first if goal is None else goal,
        available_tools,
        transcript,
        transcript.answer if final_result is None else final_result,
        tuple(steps),
    )


def _step_of(message: Message) -> Step:
    if message.calls:
        return Step(thought=message.content, calls=message.calls)
    return Step(action=message.content)


def _with_result(step: Step, result: ToolResult) -> Step:
    seen = result.content if step.observation is None else f"{step.observation}\n{result.content}"
    error = step.error if step.error is not None or not result.is_error else result.content or "failed"
    return replace(step, results=(*step.results, result), observation=seen, error=error)
