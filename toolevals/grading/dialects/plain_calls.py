"""Tell what the dialects read: calls as plain values, and the exceptions that their originals raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from toolevals.json_types import JsonMapping, JsonObject

PlainCall: TypeAlias = JsonMapping
"""`{"name": "track", "arguments": {"order": "A-1"}}`"""

Value = TypeVar("Value")

# What Python raises on values that a checker did not foresee, deep nesting and overlong integers among them.
RAISED = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


class ValidationError(ValueError):
    """The original's type check (pydantic) refuses the value."""


def attempt(work: Callable[[], Value]) -> Value | Exception:
    """Return the work's value, or the exception that the original raises there."""
    try:
        return work()
    except RAISED as error:
        return error


def named_calls(calls: Iterable[Any]) -> list[tuple[str, JsonObject]]:
    """Return calls as names with arguments, as the originals' models read them. Raises ValidationError."""
    return [(_name(call), _arguments(call)) for call in calls]


def _name(call: object) -> str:
    if isinstance(call, Mapping) and isinstance(name := call.get("name"), str):
        return name
    raise ValidationError("a call has no name")


def _arguments(call: PlainCall) -> JsonObject:
    if isinstance(arguments := call.get("arguments"), dict):
        return arguments
    raise ValidationError("a call's arguments are not an object")


def hashable(value: object) -> Any:
    """Return what equals another's form just where the two JSON values are equal by Python's `==`."""
    if isinstance(value, dict):
        return frozenset((key, hashable(item)) for key, item in value.items())
    return tuple(hashable(item) for item in value) if isinstance(value, list | tuple) else value
