"""Tell what judges are given of a case: every input that a rubric can ask for, as JSON values.

Shows a graded case as judging looks at it: what rules decided, and how its calls stand to the expected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.counted_calls import CountedCalls, calls_that_count
from toolevals.grading.values import Call, Message, ToolCall, ToolResult, Transcript
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.matchers import Fields, Items, Matcher, NaturalLanguage
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.grading.values.verdicts import CaseGrade, Status
from toolevals.json_types import JsonMapping, JsonObject


@dataclass(frozen=True)
class GradedCaseView:
    """One case. `plain` is its grade without any judgement; `compiled` holds the answers to criteria in words so far.

    `conversation` and `context` are the example's: what the agent was given.
    """

    compiled: CompiledCase
    transcript: Transcript
    plain: CaseGrade
    conversation: Sequence[Message] = ()
    context: JsonMapping = field(default_factory=dict)

    @property
    def statuses(self) -> Mapping[str, Status]:
        """Return what rules decided."""
        return self.plain.statuses

    @cached_property
    def counted(self) -> CountedCalls:
        """The calls that count, with their places."""
        return calls_that_count(self.compiled, self.transcript)

    @property
    def calls(self) -> Sequence[Call]:
        """The calls that count."""
        return self.counted.calls

    @cached_property
    def alignment(self) -> Alignment:
        """The expected calls next to the actual ones."""
        return self.counted.aligned(self.compiled, self.transcript)

    def faulty_pairs(self) -> Iterator[tuple[JsonObject, JsonObject]]:
        """Yield the expected and the actual call of every pair whose arguments are not as expected."""
        alignment = self.alignment
        for (expected, actual), check in zip(alignment.pairs, alignment.checks, strict=True):
            if check.faults:
                call = self.calls[actual]
                yield alignment.compiled.calls[expected].expectation.to_document(), call.to_document()

    def worded(self) -> Iterator[tuple[str, Any]]:
        """Yield criteria in words next to the value that they are about, for every aligned call."""
        for expected, actual in self.alignment.pairs:
            call = self.calls[actual]
            wanted = self.alignment.compiled.calls[expected].arguments
            given = call.arguments if isinstance(call, ToolCall) else {}
            for name, argument in wanted.items():
                if name in given:
                    yield from _worded(argument.matcher, given[name])


def _worded(matcher: Matcher, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(matcher, NaturalLanguage):
        yield matcher.criteria, value
    elif isinstance(matcher, Fields) and isinstance(value, dict):
        for name, inner in matcher.fields.items():
            if name in value:
                yield from _worded(inner, value[name])
    elif isinstance(matcher, Items) and isinstance(value, list | tuple):
        for inner, item in zip(matcher.items, value, strict=False):
            yield from _worded(inner, item)


# Fields of all results of a transcript that a judge is shown.
MOST_FIELDS = 1_000


def _conversation(scene: GradedCaseView) -> Any:
    given: JsonObject = {"messages": [message.to_document() for message in scene.conversation]}
    if scene.transcript.goal:
        given["goal"] = scene.transcript.goal
    return given | ({"context": dict(scene.context)} if scene.context else {})


def _tools(scene: GradedCaseView) -> Any:
    kept = ("name", "description", "input_schema")
    return [
        {name: value for name, value in tool.to_document().items() if name in kept}
        for tool in scene.compiled.offer.tools.values()
    ]


def _done(scene: GradedCaseView) -> Any:
    """Return what the agent did: messages, calls, results, and its final answer where that is no message."""
    messages = [message.thought_document() for message in scene.transcript.messages]
    answer = scene.transcript.answer
    if answer is not None and not any(message.get("content") == answer for message in messages):
        messages.append({"role": "assistant", "content": answer})
    return messages


def _results(scene: GradedCaseView) -> Any:
    return [
        {
            "result": place,
            "tool": result.call.name if result.call else None,
            "arguments": result.call.arguments if result.call else None,
            "content": result.content,
            "is_error": result.is_error,
        }
        for place, result in enumerate(scene.transcript.results)
    ]


def _fields(scene: GradedCaseView) -> Any:
    return fields_of(scene.transcript.results)


def _replies(scene: GradedCaseView) -> Any:
    """Return the assistant's texts from the first result on, and the final answer where it is not among them."""
    seen, said = False, []
    for message in scene.transcript.messages:
        seen = seen or message.role == "tool"
        if seen and message.role == "assistant" and message.content:
            said.append(message.content)
    answer = scene.transcript.answer
    return said if answer is None or answer in said else [*said, answer]


# What a rubric may be given of any case -> how it is had.
OF_CASE: Mapping[str, Callable[[GradedCaseView], Any]] = {
    "conversation": _conversation,
    "tools": _tools,
    "done": _done,
    "results": _results,
    "fields": _fields,
    "replies": _replies,
    "expectation": lambda scene: scene.compiled.expectation.to_document(),
}


def fields_of(results: Sequence[ToolResult]) -> list[JsonObject]:
    """Return the fields of results with their values, each under a name that no other has: `0/order/total`.

    The first part of the name is the result's place, the rest a JSON pointer into it. A result that is no JSON is one
    field for each of its lines. At most MOST_FIELDS, the first ones.
    """
    found: list[JsonObject] = []
    for place, result in enumerate(results):
        for pointer, value in _leaves(_payload(result.content)):
            if len(found) == MOST_FIELDS:
                return found
            found.append({"field": f"{place}{pointer}", "value": value})
    return found


def _payload(content: str) -> Any:
    try:
        return load_json(content)
    except InvalidDocument:
        return [line for line in content.splitlines() if line.strip()]


def _leaves(payload: object) -> Iterator[tuple[str, Any]]:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), payload)]
    while waiting:
        path, item = waiting.pop()
        children = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        below = [((*path, key), child) for key, child in children]
        if below:
            waiting.extend(reversed(below))
        elif not isinstance(item, dict | list):
            yield pointer_to(path), item
