"""Defines agent runs as lists of steps: thought, action, tool, arguments, result, error; goal, tools, final result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any

from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.reading.parsing.losses import Loss
from toolevals.grading.reading.parsing.text import before_calls, calls_in_text
from toolevals.grading.values import Call, Message, ToolResult, Transcript
from toolevals.grading.values.thoughts import thoughts_in, without_thoughts
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
    request: str | None = None,
    goal: str | None = None,
    available_tools: tuple[str, ...] | None = None,
    final_result: Any = None,
) -> AgentRun:
    """Return the run that these steps are, with its transcript: what the user asked for, then calls and results.

    Thoughts are no words to the user: messages hold them next to what was said. The final result is the answer.
    """
    messages = [] if request is None else [Message("user", request)]
    thought: str | None = None
    for step in steps:
        # What a step calls its action is said to no one where a call says what it is.
        own = step.thought or (step.action if step.calls else None)
        thought = "\n".join(filter(None, (thought, own))) or None
        if step.calls or (step.action is not None and not step.is_final):
            said = None if step.calls else step.action
            messages.append(Message("assistant", said, step.calls, thought=thought))
            thought = None
        messages.extend(
            Message("tool", result.content, call_id=result.call.id if result.call else None, is_error=result.is_error)
            for result in step.results
        )
    answer = None if final_result is None else result_text(final_result)
    if answer is not None or thought is not None:
        messages.append(Message("assistant", answer, thought=None if thought == answer else thought))
    return AgentRun(
        request if goal is None else goal,
        available_tools,
        Transcript(tuple(messages), answer, goal=goal),
        final_result,
        steps,
    )


def run_of(
    transcript: Transcript,
    *,
    goal: str | None = None,
    available_tools: tuple[str, ...] | None = None,
    final_result: Any = None,
) -> AgentRun:
    """Return a transcript as a run: every message of the assistant is a step, with the results that follow it.

    A goal that the transcript states goes before the given one; without either it is the user's first message. Without
    a final result it is the answer. A step's thought is what `thought_of` finds in its message.
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
        transcript.goal or (first if goal is None else goal),
        available_tools,
        transcript,
        transcript.answer if final_result is None else final_result,
        tuple(steps),
    )


def thought_of(message: Message) -> str | None:
    """Return what the agent thought with a message: what it wrote for itself; else what it said next to its calls.

    Text that is the calls themselves is no thought.
    """
    text = message.content
    own = [each for each in (message.thought, thoughts_in(text) if text else None) if each]
    if own:
        return "\n".join(own)
    if not (text and message.calls):
        return None
    begins = text.lstrip().startswith(("{", "[", "<", "`"))
    if message.from_text or (begins and calls_in_text(text)):
        text = before_calls(text, message.calls)
    return text.strip() or None


def _step_of(message: Message) -> Step:
    if message.calls:
        return Step(thought=thought_of(message), calls=message.calls)
    return Step(thought=thought_of(message), action=without_thoughts(message.content) if message.content else None)


def _with_result(step: Step, result: ToolResult) -> Step:
    seen = result.content if step.observation is None else f"{step.observation}\n{result.content}"
    error = step.error if step.error is not None or not result.is_error else result.content or "failed"
    return replace(step, results=(*step.results, result), observation=seen, error=error)
