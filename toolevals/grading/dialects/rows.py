"""Puts our examples and transcripts in the terms of other tools: plain expected calls next to plain calls made.

Other tools expect values, not matchers, and one list of calls, not alternatives. What they have no form for is
refused by name, and such a row is unscored there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.dialects.ai_evaluation import FunctionDefinition, Parameter
from toolevals.grading.values import (
    AnyOrder,
    Call,
    CallExpectation,
    Expectation,
    MalformedCall,
    OneOfCalls,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.values.matchers import Exact
from toolevals.json_types import JsonObject


class NoFormError(ValueError):
    """The dialect has no form for this; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row: expected calls, `{"name", "arguments"}` each, next to what was done.

    `cuts` says how many expected calls come in one message. `made` has an item for each message with calls;
    `whole_talk` says that the messages are the agent's own, where calls in one list leave open how they came. `text`
    is what was said where there were no structured calls. `tools` is None where the row does not list them.
    """

    expected: tuple[JsonObject, ...]
    cuts: tuple[int, ...]
    made: tuple[tuple[Call, ...], ...]
    whole_talk: bool = False
    text: str | None = None
    tools: Sequence[ToolSpec] | None = None

    @property
    def plain_made(self) -> list[JsonObject]:
        """The calls made, in order. Raises NoFormError where one of them cannot be read."""
        return [_plain(call) for call in self._made]

    @property
    def expected_messages(self) -> list[JsonObject]:
        """The expected calls as chat messages: what may come in any order is one message."""
        return [_message(calls) for calls in _cut([_written(**call) for call in self.expected], self.cuts)]

    @property
    def made_messages(self) -> list[JsonObject]:
        """The messages with calls; calls in one list are cut as the expected ones are. Raises NoFormError."""
        if self.whole_talk:
            return [_message([_sent(call) for call in calls]) for calls in self.made if calls]
        return [_message(calls) for calls in _cut([_sent(call) for call in self._made], self.cuts)]

    @property
    def response(self) -> Any:
        """Return what was done as one value: the text as it came, a call, a list of calls. Raises NoFormError."""
        if self.text is not None:
            return self.text
        calls = [_loose(call) for call in self._made]
        return (calls[0] if len(calls) == 1 else calls) if calls else ""

    @property
    def expected_response(self) -> Any:
        """Return what is expected as one value: a call, a list of calls, None."""
        return (self.expected[0] if len(self.expected) == 1 else list(self.expected)) if self.expected else None

    def definitions(self) -> list[FunctionDefinition]:
        """Return the tools as function definitions. Raises NoFormError where they are not known or not so simple."""
        if self.tools is None:
            raise NoFormError("The row lists no tools, and this metric validates against them.")
        return [FunctionDefinition(tool.name, tuple(_parameters(tool))) for tool in self.tools]

    @property
    def _made(self) -> list[Call]:
        return [call for calls in self.made for call in calls]


def comparison(
    expectation: Expectation,
    transcript: Transcript | None,
    *,
    whole_talk: bool = False,
    text: str | None = None,
    tools: Sequence[ToolSpec] | None = None,
) -> Comparison:
    """Return the row. Raises NoFormError with what other tools cannot express."""
    expected, cuts = _expected(expectation)
    if transcript is None:
        raise NoFormError("No prediction came.")
    if transcript.error is not None:
        raise NoFormError(f"The agent could not be reached: {transcript.error}")
    made = tuple(() if message.from_text else message.calls for message in transcript.messages)
    return Comparison(expected, cuts, made, whole_talk, text, tools)


def _expected(expectation: Expectation) -> tuple[tuple[JsonObject, ...], tuple[int, ...]]:
    if expectation.kind == "no_call":
        return (), ()
    if expectation.kind == "some_call":
        raise NoFormError("The expectation is some_call: there is no expected call to compare with.")
    if len(expectation.alternatives) > 1:
        raise NoFormError(
            f"The expectation has {len(expectation.alternatives)} alternatives: only one can be compared."
        )
    (trajectory,) = expectation.alternatives
    if trajectory.disallowed:
        raise NoFormError("The expectation has disallowed calls, and only expected ones can be compared.")
    if trajectory.ordered and trajectory.unordered:
        raise NoFormError("The expectation mixes ordered and unordered calls, and only one list can be compared.")
    if any(isinstance(each, OneOfCalls) for each in trajectory.expected):
        raise NoFormError("The expectation leaves a choice between calls, and only one of them can be compared.")
    return tuple(_expected_call(call) for call in trajectory.calls), _cuts(trajectory)


def _cuts(trajectory: Trajectory) -> tuple[int, ...]:
    if trajectory.unordered:
        return (len(trajectory.unordered),)
    return tuple(len(step.calls) if isinstance(step, AnyOrder) else 1 for step in trajectory.ordered)


def _expected_call(call: CallExpectation) -> JsonObject:
    arguments = {}
    for name, matcher in call.arguments.items():
        if not isinstance(matcher, Exact):
            raise NoFormError(
                f"The argument {name} of {call.tool} is a {matcher.kind} matcher, and only values compare."
            )
        if matcher.optional:
            raise NoFormError(f"The argument {name} of {call.tool} may be left out, and only fixed arguments compare.")
        arguments[name] = matcher.value
    return {"name": call.tool, "arguments": arguments}


def _plain(call: Call) -> JsonObject:
    if isinstance(call, MalformedCall):
        raise NoFormError(f"A call cannot be read: {call.reason}")
    return {"name": call.name, "arguments": call.arguments}


def _loose(call: Call) -> JsonObject:
    """Return a call for a tool that reads arguments itself: those that no one can read stay as they were written."""
    if isinstance(call, ToolCall):
        return _plain(call)
    if call.name is None:
        raise NoFormError(f"A call cannot be read: {call.reason}")
    return {"name": call.name, "arguments": call.text}


def _sent(call: Call) -> JsonObject:
    return _written(**_loose(call))


def _written(name: str, arguments: object) -> JsonObject:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": "", "type": "function", "function": {"name": name, "arguments": text}}


def _message(calls: Sequence[JsonObject]) -> JsonObject:
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def _cut(calls: Sequence[JsonObject], cuts: Sequence[int]) -> Iterator[Sequence[JsonObject]]:
    """Yield the calls in groups of these sizes; those beyond them stand alone."""
    start = 0
    for size in (*cuts, *(1 for _ in calls)):
        if start >= len(calls):
            return
        yield calls[start : start + size]
        start += size


def _parameters(tool: ToolSpec) -> Iterator[Parameter]:
    schema = tool.input_schema
    required = schema.get("required") or ()
    for name, described in (schema.get("properties") or {}).items():
        kind = described.get("type") if isinstance(described, dict) else None
        if not isinstance(kind, str):
            raise NoFormError(f"The parameter {name} of {tool.name} has no single type, which this metric requires.")
        yield Parameter(name, kind, name in required, described.get("enum"))
