"""Turn what is entered for one call, argument by argument, into its expected call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labeling.label_form.fields import (
    IN_LINE,
    ArgumentField,
    Choice,
    Kind,
    Root,
    argument_fields,
    children_of,
    extra_field,
    item_of,
    variant_of,
)
from labeling.label_form.matchers import (
    FREE,
    IS_EMPTY,
    IS_NULL,
    RAW,
    RESULT_OF,
    TEXTS,
    UNNAMED,
    CallEntries,
    matcher_keys,
    matcher_of,
)
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

MAX_EXTRAS = 100
MAX_ITEMS = 200
_KEY = re.compile(r"[0-9]{1,5}")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
MAX_JSON_BYTES = 200_000
MAX_JSON_DEPTH = 40
NEEDS_VALUE = "Enter a value, or compare by “anything” to accept any value."


class EntryError(ValueError):
    """An entry without a meaning; the message is for the person who entered it."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A problem, and the field next to which it is shown.

    The field is an argument's ("c1/order_id"), a call's as a whole ("c1"), another of the form's names ("tool", "why",
    "json"), or "" for the label as a whole.
    """

    field: str
    message: str


@dataclass(slots=True)
class ReadProblems:
    """The problems that reading found, and the field that each pointer into the document came from."""

    problems: list[FieldProblem] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)

    def field_at(self, pointer: str) -> str:
        """Return the field that a pointer into the document lies in; "" for none."""
        while pointer and pointer not in self.origins:
            pointer = pointer.rpartition("/")[0]
        return self.origins.get(pointer, "")


def chosen_field(entries: CallEntries, one: ArgumentField) -> ArgumentField:
    """Return a field as the chosen one of its variants says it; the first one unless another was chosen."""
    if one.kind is not Kind.VARIANT:
        return one
    chosen = entries.one("x", one.path)
    return variant_of(one, int(chosen) if _KEY.fullmatch(chosen) else 0)


def extra_names(entries: CallEntries, path: str, known: Iterable[ArgumentField]) -> list[str]:
    """Return the names of the properties that were added to those of the schema."""
    names = {one.name for one in known}
    return [name for name in dict.fromkeys(entries.every("e", path)) if name not in names][:MAX_EXTRAS]


def item_keys(entries: CallEntries, path: str) -> list[str]:
    """Return the keys of a list's items, in order."""
    return [key for key in dict.fromkeys(entries.every("k", path)) if _KEY.fullmatch(key)][:MAX_ITEMS]


def shown_item_keys(entries: CallEntries, one: ArgumentField) -> list[str]:
    """Return the keys of the items that a list shows: one is open where its schema does not admit an empty list."""
    return item_keys(entries, one.path) or (["0"] if one.fewest_items > 0 else [])


def fields_of_call(entries: CallEntries, schema: JsonMapping) -> list[ArgumentField]:
    """Return the fields of a call: those of the tool's schema, then those that were added."""
    known = argument_fields(schema)
    root = Root(schema)
    return [*known, *(extra_field(schema, root, "", name) for name in extra_names(entries, "", known))]


def fields_of_object(entries: CallEntries, one: ArgumentField) -> list[ArgumentField]:
    """Return the fields of an object argument: those of its schema, then those that were added."""
    known = children_of(one)
    names = extra_names(entries, one.path, known)
    return [*known, *(extra_field(one.schema, one.root, one.path, name) for name in names)]


def read_entry(entries: CallEntries, field: ArgumentField, matcher: str) -> JsonObject:
    """Return the matcher's document; of an object by field and a list item by item, see `calls`.

    Raises:
        EntryError: nothing, or nothing readable, was entered.

    """
    if matcher == RAW:
        return _raw(entries.one("v", field.path))
    if matcher == FREE:
        return {"key_only": True, "optional": True}
    document = _document(entries, field, matcher)
    if entries.one("o", field.path) and matcher != "absent":
        document["optional"] = True
    return document


def _document(entries: CallEntries, field: ArgumentField, matcher: str) -> JsonObject:
    values = entries.every("v", field.path)
    if matcher in ("key_only", "absent"):
        return {matcher: True}
    if matcher == IS_NULL:
        return {"exact": None}
    if matcher == IS_EMPTY:
        return {"exact": [] if field.kind is Kind.LIST else ""}
    if matcher in TEXTS:
        return {matcher: _needed(values)}
    readers: Mapping[str, Callable[[], Any]] = {
        "range": lambda: _range(entries, field),
        "approximately": lambda: _about(entries, field),
        "date_equal": lambda: _date(entries, field),
        RESULT_OF: lambda: _result_of(entries, field),
        "one_of": lambda: _one_of(values, field),
    }
    if matcher in readers:
        return {matcher: readers[matcher]()}
    return {"exact": _exact(values, field)}


def _needed(values: list[str]) -> str:
    text = values[0].replace("\r\n", "\n") if values else ""
    if not text.strip():
        raise EntryError(NEEDS_VALUE)
    return text


def _raw(text: str) -> JsonObject:
    document = _json(_needed([text]))
    if not isinstance(document, dict):
        raise EntryError('Needs a matcher as a JSON object, such as {"exact": 1}.')
    return document


def _exact(values: list[str], field: ArgumentField) -> Any:
    if field.kind is Kind.LIST and field.entries in IN_LINE:
        entries = [value for value in values if value.strip()]
        if not entries:
            raise EntryError(NEEDS_VALUE)
        return [_scalar(value, field.entries, field.choices) for value in entries]
    return _scalar(_needed(values), field.kind, field.choices)


def _one_of(values: list[str], field: ArgumentField) -> list[Any]:
    if field.kind not in IN_LINE:
        listed = _json(_needed(values))
        if not isinstance(listed, list) or not listed:
            raise EntryError("Enter a JSON list of accepted values.")
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
        return text.replace("\r\n", "\n")
    if kind in (Kind.INTEGER, Kind.NUMBER):
        return _number(text, kind)
    return _json(text)


def _number(text: str, kind: Kind = Kind.NUMBER) -> int | float:
    try:
        value = load_json(text.strip(), max_bytes=400, max_depth=1)
    except InvalidDocument:
        value = None
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not isinstance(value, int | float) or (kind is Kind.INTEGER and not whole):
        raise EntryError("Not a whole number." if kind is Kind.INTEGER else "Not a number.")
    return value


def _range(entries: CallEntries, field: ArgumentField) -> list[int | float | None]:
    kind = Kind.INTEGER if field.kind is Kind.INTEGER else Kind.NUMBER
    texts = [entries.one(part, field.path) for part in ("lo", "hi")]
    bounds = [_number(text, kind) if text.strip() else None for text in texts]
    if bounds == [None, None]:
        raise EntryError("Enter a lower or an upper bound.")
    if bounds[0] is not None and bounds[1] is not None and bounds[0] > bounds[1]:
        raise EntryError("The lower bound is above the upper one.")
    return bounds


def _about(entries: CallEntries, field: ArgumentField) -> dict[str, int | float]:
    document = {"value": _number(_needed(entries.every("v", field.path)))}
    for part, name in (("abs", "absolute"), ("rel", "relative")):
        text = entries.one(part, field.path)
        if text.strip():
            document[name] = _number(text)
            if document[name] < 0:
                raise EntryError("A tolerance is 0 or more.")
    if len(document) == 1:
        raise EntryError("Needs a tolerance: an amount, a share of the value, or both.")
    return document


def _date(entries: CallEntries, field: ArgumentField) -> Any:
    date, form = _needed(entries.every("v", field.path)), entries.one("fmt", field.path)
    return {"date": date, "formats": [form]} if form else date


def _result_of(entries: CallEntries, field: ArgumentField) -> JsonObject:
    """Return the reference; the form names the call by its number on the page, which stays as calls are moved."""
    chosen, pointer = entries.one("of", field.path), entries.one("v", field.path).strip()
    places = [place for place, each in enumerate(entries.before(), 1) if chosen in map(str, each.options)]
    if not places:
        raise EntryError("Choose a call that comes before this one.")
    if not _POINTER.fullmatch(pointer):
        raise EntryError("Not a place in a result: write /id or /items/0/id, or nothing for the whole result.")
    return {"call": places[0], "pointer": pointer}


def _json(text: str) -> Any:
    try:
        return load_json(text, max_bytes=MAX_JSON_BYTES, max_depth=MAX_JSON_DEPTH)
    except InvalidDocument as error:
        raise EntryError(f"Cannot be read: {error.problems[0].message}") from error


def read_call(entries: CallEntries, schema: JsonMapping, at: str, read_problems: ReadProblems) -> JsonObject:
    """Return the expected call without its tool; `at` is where it stands in the expectation."""
    read_problems.origins[at] = entries.address("")
    matchers = _read_fields(entries, fields_of_call(entries, schema), f"{at}/arguments", read_problems)
    return {"arguments": matchers, "additional_arguments": bool(entries.one("more"))}


def _read_fields(
    entries: CallEntries, fields: Iterable[ArgumentField], at: str, read_problems: ReadProblems
) -> JsonObject:
    matchers = {}
    for one in fields:
        document = _read_field(entries, one, at + pointer_to([one.name]), read_problems)
        if document is not None:
            matchers[one.name] = document
    return matchers


def _read_field(entries: CallEntries, one: ArgumentField, at: str, read_problems: ReadProblems) -> JsonObject | None:
    """Return one field's matcher; None where the label does not name it, or what was entered cannot be read."""
    one = chosen_field(entries, one)
    read_problems.origins[at] = entries.address(one.path)
    matcher = matcher_of(entries, one)
    if matcher == UNNAMED and not one.is_item:
        return None
    if matcher not in matcher_keys(one):
        read_problems.problems.append(FieldProblem(entries.address(one.path), "Cannot be compared in this way."))
        return None
    try:
        if matcher in ("fields", "items"):
            return _read_parts(entries, one, matcher, at, read_problems)
        return read_entry(entries, one, matcher)
    except EntryError as problem:
        read_problems.problems.append(FieldProblem(entries.address(one.path), str(problem)))
        return None


def _read_parts(
    entries: CallEntries, one: ArgumentField, matcher: str, at: str, read_problems: ReadProblems
) -> JsonObject:
    document: JsonObject
    if matcher == "fields":
        document = {"fields": _read_fields(entries, fields_of_object(entries, one), f"{at}/fields", read_problems)}
        if entries.one("more", one.path):
            document["additional_fields"] = True
    else:
        items: list[Any] = []
        for key in shown_item_keys(entries, one):
            item = _read_field(entries, item_of(one, key), f"{at}/items/{len(items)}", read_problems)
            if item is not None:
                items.append(item)
        document = {"items": items}
    if entries.one("o", one.path):
        document["optional"] = True
    return document
