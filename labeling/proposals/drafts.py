"""Draft edge cases: changed words of the user, and their consequences. Without any there is no draft.

Deterministic: the same example gives the same drafts. `docs/datasets.md` states each rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from labeling.coverage.expected import calls_of
from labeling.proposals import rules
from labeling.proposals.rules import Change, Origin, Place
from toolevals.grading.edge_cases import EdgeCase, applicable_kinds
from toolevals.grading.edge_cases.parameters import parameters_of
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, pointer_to


@dataclass(frozen=True, slots=True)
class Draft:
    """One edge case of one parameter: the changed input, and the expectation that follows."""

    kind: EdgeCase
    tool: str
    # A JSON pointer into the arguments.
    parameter: str
    input: dict[str, Any]
    expectation: dict[str, Any]


# One rule a kind: it returns the change, or None where it cannot be made honestly.
RULES: Mapping[EdgeCase, Callable[[Origin, Place], Change | None]] = {
    EdgeCase.NULL_OPTIONAL: rules.null_optional,
    EdgeCase.EMPTY_ARRAY: rules.empty_array,
    EdgeCase.UNICODE_IDENTIFIER: rules.unicode_identifier,
    EdgeCase.TIME_ZONE: rules.time_zone,
    EdgeCase.CURRENCY: rules.currency,
    EdgeCase.TYPE_COERCION: rules.type_coercion,
}


def drafts_of(
    shown: Any,
    expectation: Mapping[str, Any],
    tools: Mapping[str, ToolSpec],
    wanted: Callable[[str, str, EdgeCase], bool] = lambda *_: True,
) -> Iterator[Draft]:
    """Yield the drafts that an example with gold gives, if its gold is a single alternative.

    `wanted` says of tool, parameter and kind whether one is asked for.
    """
    origin = Origin.of(shown)
    if origin is None or len(expectation.get("alternatives") or ()) != 1:
        return
    for number, call in enumerate(calls_of(expectation)):
        spec = tools.get(call["tool"])
        if spec is None:
            continue
        admitted = applicable_kinds(spec)
        for parameter in parameters_of(spec):
            pointer = pointer_to(parameter.path)
            place = Place(spec, parameter, call.get("arguments") or {})
            for kind in sorted(admitted.get(pointer, ())):
                change = RULES[kind](origin, place) if wanted(spec.name, pointer, kind) else None
                if change is None:
                    continue
                expected = _changed(expectation, number, parameter.path[0], change)
                if _is_sound(expected, tools):
                    yield Draft(kind, spec.name, pointer, origin.with_words(change.words), expected)


def _changed(expectation: Mapping[str, Any], number: int, name: str, change: Change) -> dict[str, Any]:
    expected: dict[str, Any] = deepcopy(dict(expectation))
    if change.matcher is not None:
        call = next(call for place, call in enumerate(calls_of(expected)) if place == number)
        assert isinstance(call, dict)
        call["arguments"] = {**(call.get("arguments") or {}), name: change.matcher}
    return expected


def _is_sound(expectation: dict[str, Any], tools: Mapping[str, ToolSpec]) -> bool:
    try:
        return not expectation_problems(Expectation.from_document(expectation), list(tools.values()))
    except InvalidDocument:
        return False
