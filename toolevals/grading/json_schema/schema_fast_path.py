"""Turns simple schemas into plain tests, which say what the validator would say, or that it has to be asked.

A tool's arguments are mostly texts, numbers, booleans, and lists of these, with a type and perhaps a list of admitted
texts. That much is decided here in a fraction of the time that the validator takes to read the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from operator import or_
from typing import Any

# What is said of a value. Joined by `|`, the answers of several properties are their object's: from ASK on, ask.
CONFORMS, BREAKS, ASK = 0, 1, 2
PropertyGate = Callable[[Any], int]

# With these alone, an object conforms where it has what is required and each property conforms by itself.
_PROPERTY_BY_PROPERTY = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$defs", "definitions"}
)
# Keywords that say nothing of what conforms; `format` is one where it is not asserted.
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "format", "deprecated", "$comment"})
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
_TYPES = _SCALARS | {"array", "object"}
_KINDS: Mapping[type, frozenset[str]] = {
    str: frozenset({"string"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    bool: frozenset({"boolean"}),
    type(None): frozenset({"null"}),
}
_LARGEST = 2**53
_LARGE = 1e300


def ask(_value: Any) -> int:
    """Leave any value to the validator."""
    return ASK


def conform(_value: Any) -> int:
    """Take any value: the gate where there is no schema."""
    return CONFORMS


def property_gates(schema: Mapping[str, Any], *, assert_formats: bool = False) -> dict[str, PropertyGate]:
    """Return the gates of a tool's properties by name; none where they do not conform each by itself.

    A property without a gate is to be asked about (`ask`).
    """
    properties = schema.get("properties")
    if not _PROPERTY_BY_PROPERTY.issuperset(schema) or schema.get("type", "object") != "object":
        return {}
    if not isinstance(properties, dict):
        return {}
    return {name: gate_of(each, assert_formats=assert_formats) for name, each in properties.items()}


def is_surely_valid(schema: Any) -> bool:
    """Tell whether a tool's schema is surely a schema, so that no validator has to be made to say so."""
    return type(schema) is dict and schema.get("type", "object") == "object" and _is_sure(schema)


def _is_sure(schema: Any) -> bool:
    if type(schema) is not dict:
        return False
    for keyword, value in schema.items():
        is_sure = _SURE.get(keyword)
        if is_sure is None or not is_sure(value):
            return False
    return True


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_type(value: Any) -> bool:
    if type(value) is str:
        return value in _TYPES
    return _is_set_of_texts(value) and bool(value) and _TYPES.issuperset(value)


def _is_set_of_texts(value: Any) -> bool:
    return type(value) is list and all(type(each) is str for each in value) and len(set(value)) == len(value)


def _are_sure(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_is_sure, value))


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST


def _is_bound(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _LARGEST


# With these keywords alone, and values of which this is true, a schema is surely one.
_SURE: Mapping[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "description": _is_text,
    "properties": lambda value: type(value) is dict and all(map(_is_sure, value.values())),
    "required": _is_set_of_texts,
    "enum": lambda value: type(value) is list,
    "items": _is_sure,
    "title": _is_text,
    "format": _is_text,
    "default": lambda _: True,
    "additionalProperties": lambda value: type(value) is bool or _is_sure(value),
    **dict.fromkeys(("minimum", "maximum"), _is_bound),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), _are_sure),
}


def gate_of(schema: Any, *, assert_formats: bool = False) -> PropertyGate:
    """Return the gate of one property's schema: `ask` where it says more than is decided here."""
    if not isinstance(schema, dict) or (assert_formats and "format" in schema):
        return ask
    said = schema.keys() - _ANNOTATIONS
    kind = schema.get("type")
    if kind == "array" and said <= {"type", "items"}:
        gate = gate_of(schema.get("items"), assert_formats=assert_formats)
        return ask if gate is ask else _each(gate)
    if kind == "string" and said == {"type", "enum"} and _are_plain_texts(schema["enum"]):
        return _of_texts(tuple(schema["enum"]))
    return _GATES.get(kind, ask) if isinstance(kind, str) and said == {"type"} else ask


@lru_cache(maxsize=4096)
def _of_texts(admitted: tuple[str, ...]) -> PropertyGate:
    texts = frozenset(admitted)
    return lambda value: ASK if type(value) is not str or not value.isascii() else int(value not in texts)


@lru_cache(maxsize=1024)
def _each(gate: PropertyGate) -> PropertyGate:
    def each(value: Any) -> int:
        return reduce(or_, map(gate, value), CONFORMS) if type(value) is list else ASK

    return each


def _are_plain_texts(values: Any) -> bool:
    return isinstance(values, list) and all(type(each) is str and each.isascii() for each in values)


def _of_kind(kind: str) -> PropertyGate:
    answers = {each: CONFORMS if kind in kinds else BREAKS for each, kinds in _KINDS.items()}
    if kind == "integer":
        # Whether 1.0 is an integer is another matter in each draft.
        answers[float] = ASK

    def gate(value: Any) -> int:
        found = type(value)
        if found is str:
            # What is not ASCII may hold lone surrogates, which the validator refuses to read.
            return answers[str] if value.isascii() else ASK
        if (found is int and not -_LARGEST < value < _LARGEST) or (found is float and not -_LARGE < value < _LARGE):
            return ASK
        return answers.get(found, ASK)

    return gate


# One for all properties of a kind, so that it stays in the processor's cache.
_GATES = {kind: _of_kind(kind) for kind in _SCALARS}
TEXT = _GATES["string"]
"""The gate of a property that may be any text. ASCII text always passes."""
