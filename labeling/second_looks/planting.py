"""Plant proposals that are wrong on purpose: drawn with a seed, and made to look like an agent's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from labeling.second_looks.proposed import NO_CALL, calls_of, proposal_document
from toolevals.grading.values import ToolCall, ToolSpec

# Of a tool and an argument: the values that the agent gave it anywhere.
Values = Mapping[tuple[str, str], Sequence[Any]]


def is_drawn(seed: int, external_id: str, share: float) -> bool:
    """Tell whether an example's proposal is replaced by a wrong one: the same seed draws the same examples."""
    return _random(seed, external_id).random() < share


def planted(
    proposal: Mapping[str, Any], tools: Sequence[ToolSpec], values: Values, *, seed: int, external_id: str
) -> dict[str, Any] | None:
    """Return another proposal in the place of an agent's; None where nothing else can be made of it.

    Another offered tool that takes the same arguments, else the same tool with the value of another example, else no
    call. Whether it is wrong in fact is asked again once the example has gold.
    """
    calls = calls_of(proposal)
    if not calls:
        return None
    draw, first = _random(seed, f"{external_id} planted"), calls[0]
    others = [call for tool in tools if tool.name != first.name and (call := _same_arguments(first, tool))]
    if others:
        return proposal_document([draw.choice(others), *calls[1:]])
    changed = [
        ToolCall(first.name, {**first.arguments, name: value})
        for name, own in sorted(first.arguments.items())
        for value in values.get((first.name, name), ())
        if value != own
    ]
    return proposal_document([draw.choice(changed), *calls[1:]]) if changed else dict(NO_CALL)


def values_given(proposals: Sequence[Mapping[str, Any]]) -> Values:
    """Return the values that were given to each argument of each tool, each once, in the order of the proposals."""
    values: dict[tuple[str, str], list[Any]] = {}
    for proposal in proposals:
        for call in calls_of(proposal):
            for name, value in call.arguments.items():
                known = values.setdefault((call.name, name), [])
                if value not in known:
                    known.append(value)
    return values


def _same_arguments(call: ToolCall, tool: ToolSpec) -> ToolCall | None:
    """Return a call of another tool with what it takes of a call's arguments; None where it requires others."""
    schema = tool.input_schema
    properties, required = schema.get("properties") or {}, schema.get("required") or []
    taken = {name: value for name, value in call.arguments.items() if name in properties}
    return ToolCall(tool.name, taken) if taken and set(required) <= taken.keys() else None


def _random(seed: int, words: str) -> Random:
    return Random(f"{seed} {words}")  # noqa: S311 (a draw that anybody may repeat)
