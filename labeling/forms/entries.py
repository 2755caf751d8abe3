"""One field's entries, as the form sends them, to and from the matcher that they mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from labeling.forms.fields import ArgumentField, Choice, Kind
from labeling.forms.matchers import FREE, IS_EMPTY, IS_NULL, TEXTS, UNNAMED, first_matcher
from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument

MAX_JSON_BYTES = 200_000
MAX_JSON_DEPTH = 40
NEEDS_VALUE = "Needs a value. If any will do, compare by “anything”."


class EntryError(ValueError):
    """What was entered means nothing; the message is for the person who entered it."""


def matcher_of(data: QueryDict, field: ArgumentField) -> str:
    """Return the key of the chosen matcher. A value in a field that the label does not name makes it "equals"."""
    chosen = data.get(f"m:{field.path}") or first_matcher(field)
    if chosen == UNNAMED and any(data.getlist(f"v:{field.path}")):
        return "exact"
    return chosen


def read_entry(data: QueryDict, field: ArgumentField, matcher: str) -> dict[str, Any]:
    """Return the matcher's document.

    Raises:
        EntryError: nothing, or nothing readable, was entered.

    """
    values = data.getlist(f"v:{field.path}")
    if matcher in ("key_only", "absent"):
        return {matcher: True}
    if matcher == FREE:
        return {"key_only": True, "optional": True}
    if matcher == IS_NULL:
        return {"exact": None}
    if matcher == IS_EMPTY:
        return {"exact": [] if field.kind is Kind.LIST else ""}
    if matcher in TEXTS:
        return {matcher: _needed(values)}
    if matcher == "range":
        return {"range": _range(data.get(f"lo:{field.path}", ""), data.get(f"hi:{field.path}", ""), field.kind)}
    if matcher == "one_of":
        return {"one_of": _one_of(values, field)}
    return {"exact": _exact(values, field)}


def _needed(values: list[str]) -> str:
    text = values[0] if values else ""
    if not text.strip():
        raise EntryError(NEEDS_VALUE)
    return text


def _exact(values: list[str], field: ArgumentField) -> Any:
    if field.kind is Kind.LIST:
        entries = [value for value in values if value.strip()]
        if not entries:
            raise EntryError(NEEDS_VALUE)
        return [_scalar(value, field.entries, field.choices) for value in entries]
    return _scalar(_needed(values), field.kind, field.choices)


def _one_of(values: list[str], field: ArgumentField) -> list[Any]:
    if field.kind is Kind.JSON:
        listed = _json(_needed(values))
        if not isinstance(listed, list) or not listed:
            raise EntryError("Needs a JSON list of the values that will do.")
        return listed
    entries = [value for value in values if value.strip()]
    if not entries:
        raise EntryError("Needs at least one value.")
    return [_scalar(value, field.kind, field.choices) for value in entries]


def _scalar(text: str, kind: Kind, choices: tuple[Choice, ...]) -> Any:
    if kind in (Kind.CHOICE, Kind.BOOLEAN):
        for choice in choices:
            if text in (choice.literal, choice.shown):
                return json.loads(choice.literal)
        raise EntryError("Not one of the allowed values.")
    if kind is Kind.TEXT:
        return text
    if kind in (Kind.INTEGER, Kind.NUMBER):
        return _number(text, kind)
    return _json(text)


def _number(text: str, kind: Kind) -> int | float:
    try:
        value = load_json(text.strip(), max_bytes=100, max_depth=1)
    except InvalidDocument:
        value = None
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not isinstance(value, int | float) or (kind is Kind.INTEGER and not whole):
        raise EntryError("Not a whole number." if kind is Kind.INTEGER else "Not a number.")
    return value


def _range(low: str, high: str, kind: Kind) -> list[int | float | None]:
    if not low.strip() and not high.strip():
        raise EntryError("Needs at least one bound.")
    bounds = [_number(text, kind) if text.strip() else None for text in (low, high)]
    if bounds[0] is not None and bounds[1] is not None and bounds[0] > bounds[1]:
        raise EntryError("The lower bound is above the upper one.")
    return bounds


def _json(text: str) -> Any:
    try:
        return load_json(text, max_bytes=MAX_JSON_BYTES, max_depth=MAX_JSON_DEPTH)
    except InvalidDocument as error:
        raise EntryError(f"Not JSON: {error.problems[0].message}") from error


def fill_entry(field: ArgumentField, matcher: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what the form would send for a matcher; a form that cannot say it says something near, never more."""
    if matcher.get("absent"):
        return {f"m:{field.path}": ["absent"]}
    if matcher.get("key_only") and matcher.get("optional"):
        return {f"m:{field.path}": [FREE]}
    key = next((name for name in matcher if name != "optional"), "key_only")
    value: Any = matcher.get(key)
    filled = {f"m:{field.path}": [key]}
    if matcher.get("optional"):
        filled[f"o:{field.path}"] = ["1"]
    if key == "exact":
        filled |= _fill_exact(field, value)
    elif key == "one_of" and field.kind is not Kind.JSON:
        filled[f"v:{field.path}"] = [_shown(entry, field.kind) for entry in value]
    elif key == "one_of":
        filled[f"v:{field.path}"] = [json.dumps(value, ensure_ascii=False, indent=1)]
    elif key == "range":
        low, high = value
        filled[f"lo:{field.path}"] = ["" if low is None else json.dumps(low)]
        filled[f"hi:{field.path}"] = ["" if high is None else json.dumps(high)]
    elif key in TEXTS:
        filled[f"v:{field.path}"] = [str(value)]
    return filled


def _fill_exact(field: ArgumentField, value: Any) -> dict[str, list[str]]:
    if value is None and field.nullable:
        return {f"m:{field.path}": [IS_NULL]}
    if (value == "" and field.kind is Kind.TEXT) or (value == [] and field.kind is Kind.LIST):
        return {f"m:{field.path}": [IS_EMPTY]}
    if field.kind is Kind.LIST and isinstance(value, list):
        return {f"v:{field.path}": [_shown_in_list(entry, field) for entry in value]}
    if field.kind in (Kind.JSON, Kind.OBJECT):
        return {f"v:{field.path}": [json.dumps(value, ensure_ascii=False, indent=1)]}
    return {f"v:{field.path}": [_shown(value, field.kind)]}


def _shown(value: Any, kind: Kind) -> str:
    if kind is Kind.TEXT and isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _shown_in_list(value: Any, field: ArgumentField) -> str:
    literal = _shown(value, field.entries)
    return next((choice.shown for choice in field.choices if choice.literal == literal), literal)
