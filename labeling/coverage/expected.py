"""Tell which tools an expectation is about, and which edge cases its arguments exercise. Plain values in and out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from toolevals.grading.edge_cases import edge_case_kinds
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

# The classes beside the tools: no call is right, and any call will do.
NO_CALL: Final = "(none)"
ANY_CALL: Final = "(any)"


def expected_tools(expectation: JsonMapping, tools: Mapping[str, ToolSpec]) -> dict[str, frozenset[str]]:
    """Return the tools that an expectation's first alternative calls, each with the edge cases that it exercises.

    Of a choice of calls all count. Without calls: `(none)` where none is right, `(any)` where any will do. `tools` are
    the offered ones by name. Of an argument's accepted values the first counts.
    """
    if expectation.get("kind") == "no_call":
        return {NO_CALL: frozenset()}
    parts: dict[str, frozenset[str]] = {}
    for call in calls_of(expectation):
        kinds = edge_case_kinds(tools.get(call["tool"]), plain_arguments(call))
        parts[call["tool"]] = parts.get(call["tool"], frozenset()) | {kind.value for kind in kinds}
    return parts or {ANY_CALL: frozenset()}


def calls_of(expectation: JsonMapping) -> Iterator[JsonMapping]:
    """Yield the calls of an expectation's first alternative, in order; of a choice every call."""
    alternatives = expectation.get("alternatives")
    for trajectory in alternatives[:1] if isinstance(alternatives, list) else ():
        for step in (*trajectory.get("ordered", ()), *trajectory.get("unordered", ())):
            for expected in step.get("any_order", [step]):
                yield from expected.get("one_of_calls", [expected])


def plain_arguments(call: JsonMapping) -> JsonObject:
    """Return a call's arguments as values, where its matchers name one: of several accepted values the first."""
    arguments = call.get("arguments")
    values: JsonObject = {}
    for name, matcher in arguments.items() if isinstance(arguments, Mapping) else ():
        for value in _named(matcher):
            values[name] = value
    return values


def _named(matcher: JsonMapping) -> Sequence[Any]:
    """Return the one value that a matcher names, or none."""
    if "exact" in matcher:
        return [matcher["exact"]]
    if matcher.get("one_of"):
        return [matcher["one_of"][0]]
    if isinstance(moment := matcher.get("date_equal"), Mapping):
        return [moment.get("date")]
    if isinstance(fields := matcher.get("fields"), Mapping):
        return [{name: value for name, inside in fields.items() for value in _named(inside)}]
    if isinstance(items := matcher.get("items"), list):
        return [[value for inside in items for value in _named(inside)]]
    return []


def answering_tool(messages: Any) -> str | None:
    """Return the tool whose result the agent reacts to: that of the last result, None where there is none."""
    if not isinstance(messages, list) or len(messages) < 2:
        return None
    try:
        results = transcript_in(messages).results
    except InvalidDocument:
        return None
    called = results[-1].call if results else None
    return called.name if called is not None else None
