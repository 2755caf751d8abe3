"""Tells over-tooling and its like apart: how the called tool differs from the right one, as their two specs say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolevals.grading.values import ToolSpec


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of confusion, and the words of the specs that make it one; `why` is empty where the class itself says."""

    name: str
    why: str = ""


def pair_kind(expected: ToolSpec, actual: ToolSpec) -> Kind:
    """Return over-tooling where the called tool costs more or reaches further than the right one, else its opposite.

    The first of these that differs decides: the cost; writing against reading; how many fields of personal data the
    output has; required arguments, of which a broader tool wants only some of the other's, for tools that have any
    argument in common. Where none differs the two are mixed up.
    """
    for reach in (_by_cost, _by_effect, _by_personal_data, _by_arguments):
        if found := reach(actual, expected):
            return Kind("over-tooling", found)
        if found := reach(expected, actual):
            return Kind("under-tooling", found)
    return Kind("mixed up")


def _by_cost(more: ToolSpec, less: ToolSpec) -> str:
    if more.cost is None or less.cost is None or more.cost <= less.cost:
        return ""
    return f"a call of {more.name} costs {more.cost:g}, one of {less.name} {less.cost:g}"


def _by_effect(more: ToolSpec, less: ToolSpec) -> str:
    if more.annotations.read_only is False and less.annotations.read_only is True:
        return f"{more.name} writes, {less.name} only reads"
    return ""


def _by_personal_data(more: ToolSpec, less: ToolSpec) -> str:
    mine, other = set(more.sensitive_output), set(less.sensitive_output)
    if len(mine) <= len(other):
        return ""
    fields = ", ".join(sorted(mine - other)[:3])
    return f"{more.name} gives out personal data ({fields}) that {less.name} does not"


def _by_arguments(more: ToolSpec, less: ToolSpec) -> str:
    mine, other = required_of(more), required_of(less)
    if not mine < other or not properties_of(more) & properties_of(less):
        return ""
    *rest, last = (f"“{name}”" for name in sorted(other - mine)[:3])
    spared = f"{', '.join(rest)} and {last}" if rest else last
    return f"{more.name} does not require {spared} as {less.name} does"


def required_of(spec: ToolSpec) -> set[str]:
    """Return the names of the arguments that a tool requires."""
    return {name for name in _listed(spec.input_schema.get("required")) if isinstance(name, str)}


def properties_of(spec: ToolSpec) -> set[str]:
    """Return the names of the arguments that a tool's schema names."""
    properties = spec.input_schema.get("properties")
    return set(properties) if isinstance(properties, dict) else set()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
