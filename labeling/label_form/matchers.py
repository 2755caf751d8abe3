"""Tell how an argument is compared, and turn what is entered for it into its matcher, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from labeling.label_form.fields import IN_LINE, ArgumentField, Choice, Kind
from labeling.label_form.plan import Position, read_plan
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

# Not a matcher but its lack: the argument is no part of the label. Where no other arguments may be given, that means
# that it is left out; where they may, that it is not checked.
UNNAMED = "unnamed"
# Given or not, whatever the value.
FREE = "free"
IS_NULL = "null"
IS_EMPTY = "empty"
# The value at a place of the result of a call that comes before.
RESULT_OF = "result_of"
# The matcher's own document, for what no other way of entering it can say.
RAW = "raw"

WORDS = {
    "exact": "equals",
    "fields": "by field",
    "items": "item by item",
    "one_of": "any of",
    "range": "range",
    "key_only": "anything",
    "contains": "contains",
    "has_prefix": "starts with",
    "has_suffix": "ends with",
    "pattern": "pattern",
    "natural_language": "means",
    "approximately": "about",
    "date_equal": "same date",
    RESULT_OF: "result of call",
    IS_EMPTY: "is empty",
    IS_NULL: "is null",
    "absent": "absent",
    FREE: "not checked",
    RAW: "as JSON",
}

TEXTS = ("contains", "has_prefix", "has_suffix", "pattern", "natural_language")
USUAL = {
    Kind.TEXT: ("exact", "one_of", "key_only", *TEXTS, "date_equal", IS_EMPTY),
    Kind.INTEGER: ("exact", "one_of", "range", "approximately", "key_only"),
    Kind.NUMBER: ("exact", "one_of", "range", "approximately", "key_only"),
    Kind.BOOLEAN: ("exact", "key_only"),
    Kind.CHOICE: ("exact", "one_of", "key_only"),
    Kind.LIST: ("exact", "items", "key_only", IS_EMPTY),
    Kind.OBJECT: ("fields", "exact", "key_only"),
    Kind.VARIANT: ("exact", "key_only"),
    Kind.JSON: ("exact", "one_of", "key_only", "natural_language"),
}
# What any argument can be compared by.
ALL = (
    "exact",
    "one_of",
    "range",
    "key_only",
    *TEXTS,
    "fields",
    "items",
    "approximately",
    "date_equal",
    RESULT_OF,
    RAW,
)
# What needs no value; shown in the value's place.
VALUELESS = {
    "key_only": "given, with any value",
    "absent": "must not be given",
    IS_NULL: "the value is null",
    IS_EMPTY: "given, and empty",
    FREE: "given or not, ignored in grading",
}
# Numeric dates that can be read in two ways, and how; "" for as it stands.
DATE_FORMATS = ("", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY", "MM.DD.YYYY", "DD-MM-YYYY", "MM-DD-YYYY")
MANY_CHOICES = 4


def matcher_keys(field: ArgumentField) -> set[str]:
    """Return every key that means something for a field."""
    beside = set() if field.is_item else {UNNAMED}
    return {*USUAL[field.kind], *ALL, IS_NULL, FREE, "absent", *beside}


def usual_matchers(field: ArgumentField, *, others: bool) -> list[tuple[str, str]]:
    """Return what a field is compared by as a rule, as (key, words), the first one first.

    `others`: whether arguments that the label does not name may be given.
    """
    keys = [*USUAL[field.kind], *([IS_NULL] if field.nullable else [])]
    first = first_matcher(field)
    if first in keys:
        keys.sort(key=lambda key: key != first)
    choices = [(key, WORDS[key]) for key in keys]
    if field.is_item:
        return choices
    if field.required:
        return [*choices, (UNNAMED, "not checked")] if others else choices
    if others:
        return [*choices, ("absent", WORDS["absent"]), (UNNAMED, "not checked")]
    return [*choices, (FREE, WORDS[FREE]), (UNNAMED, "left out")]


def other_matchers(field: ArgumentField, *, is_first: bool) -> list[tuple[str, str]]:
    """Return what else a field can be compared by; in the first call of a trajectory by no other call's result."""
    left_out = (*USUAL[field.kind], *([RESULT_OF] if is_first else []))
    return [(key, WORDS[key]) for key in ALL if key not in left_out]


def first_matcher(field: ArgumentField) -> str:
    """Return what an untouched field is compared by: an optional one is no part of the label."""
    if not field.required:
        return UNNAMED
    if field.opens and (field.is_item or field.root.opens):
        return "fields"
    return "items" if field.kind is Kind.LIST and field.entries not in IN_LINE else "exact"


def named_matcher(field: ArgumentField) -> str:
    """Return what a field is compared by once it is made a part of the label."""
    if field.kind is Kind.OBJECT:
        return "fields"
    return "items" if field.kind is Kind.LIST and field.entries not in IN_LINE else "exact"


def control(field: ArgumentField, matcher: str) -> str:
    """Return the name of the control that takes the value: its template is `labeling/controls/<name>.html`."""
    if matcher in VALUELESS:
        return "none"
    if matcher == UNNAMED and named_matcher(field) in ("fields", "items"):
        return "unnamed"
    named = {
        "fields": "group",
        "items": "items",
        "range": "range",
        "approximately": "about",
        "date_equal": "date",
        RESULT_OF: "result",
        RAW: "json",
        **dict.fromkeys(TEXTS, "text"),
    }
    if matcher in named:
        return named[matcher]
    if matcher == "one_of":
        several = {Kind.CHOICE: "checks", Kind.BOOLEAN: "checks"}
        return several.get(field.kind, "chips" if field.kind in IN_LINE else "json")
    return _value_control(field)


def _value_control(field: ArgumentField) -> str:
    if field.kind is Kind.BOOLEAN:
        return "seg"
    if field.kind is Kind.CHOICE:
        short = len(field.choices) <= MANY_CHOICES and sum(len(choice.shown) for choice in field.choices) <= 40
        return "seg" if short else "select"
    if field.kind is Kind.LIST:
        return "chips" if field.entries in IN_LINE else "json"
    return {Kind.TEXT: "text", Kind.INTEGER: "number", Kind.NUMBER: "number"}.get(field.kind, "json")


MAX_JSON_BYTES = 200_000
MAX_JSON_DEPTH = 40
NEEDS_VALUE = "Needs a value. If any will do, compare by “anything”."
# What a text field of a browser would change.
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_CHANGED_BY_BROWSERS = re.compile(r"[\x00-\x09\x0b-\x1f]")


class EntryError(ValueError):
    """An entry without a meaning; the message is for the person who entered it."""


@dataclass(frozen=True, slots=True)
class CallEntries:
    """The fields of one call among those of the page.

    A field is called `c<number>.<part><path>`: the call's number, what is entered, and the argument's path. The parts:
    `m` matcher, `v` value(s), `lo` and `hi` bounds, `abs` and `rel` tolerances, `fmt` a date's format, `of` the number
    of the call whose result it is (`v` is then the pointer), `o` may be left out, `x` variant, `k` an item's key (one
    for each, in order), `e` the name of an argument beyond the schema, `more` whether an object may have others.
    """

    data: QueryDict
    number: int

    def name(self, part: str, path: str = "") -> str:
        """Return a form field's name."""
        return f"c{self.number}.{part}{path}"

    def one(self, part: str, path: str = "") -> str:
        """Return a field's value; "" where there is none."""
        return self.data.get(self.name(part, path)) or ""

    def every(self, part: str, path: str = "") -> list[str]:
        """Return all values of a field."""
        return self.data.getlist(self.name(part, path))

    def address(self, path: str) -> str:
        """Return how problems name an argument."""
        return f"c{self.number}{path}"

    def before(self) -> list[Position]:
        """Return the expected calls before this one in its alternative."""
        plan = read_plan(self.data.get("plan") or "")
        return plan.route_of(self.number).before(self.number)


def matcher_of(entries: CallEntries, field: ArgumentField) -> str:
    """Return the key of the chosen matcher. A value in a field that the label does not name makes it "equals"."""
    chosen = entries.one("m", field.path) or first_matcher(field)
    if chosen == UNNAMED and any(entries.every("v", field.path)):
        return "exact"
    return chosen


def read_entry(entries: CallEntries, field: ArgumentField, matcher: str) -> dict[str, Any]:
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


def _document(entries: CallEntries, field: ArgumentField, matcher: str) -> dict[str, Any]:
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


def _raw(text: str) -> dict[str, Any]:
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
        raise EntryError("Needs at least one bound.")
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


def _result_of(entries: CallEntries, field: ArgumentField) -> dict[str, Any]:
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


def fill_entry(entries: CallEntries, field: ArgumentField, matcher: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what the form would send for a matcher, by part; as JSON where nothing else says just the same."""
    parts = _filled(entries, field, matcher)
    if parts is None or _read_back(entries, field, parts) != canonical(matcher):
        return {"m": [RAW], "v": [json.dumps(matcher, ensure_ascii=False)]}
    return parts


def _read_back(around: CallEntries, field: ArgumentField, parts: Mapping[str, list[str]]) -> str | None:
    data = QueryDict(mutable=True)
    data["plan"] = around.data.get("plan") or ""
    entries = CallEntries(data, around.number)
    for part, values in parts.items():
        if any(map(_CHANGED_BY_BROWSERS.search, values)):
            return None
        data.setlist(entries.name(part, field.path), values)
    try:
        return canonical(read_entry(entries, field, parts["m"][0]))
    except EntryError:
        return None


def _filled(entries: CallEntries, field: ArgumentField, matcher: Mapping[str, Any]) -> dict[str, list[str]] | None:
    if matcher.get("key_only") and matcher.get("optional"):
        return {"m": [FREE]}
    key = next((name for name in matcher if name != "optional"), "")
    value: Any = matcher.get(key)
    parts = {"m": [key], **({"o": ["1"]} if matcher.get("optional") else {})}
    if key == "exact":
        return parts | _fill_exact(field, value)
    if key == "one_of":
        listed = [_shown(one, field.kind) for one in value] if field.kind in IN_LINE else [_pretty(value)]
        return parts | {"v": listed}
    if key == "range":
        return parts | {part: [_bound(one)] for part, one in zip(("lo", "hi"), value, strict=True)}
    if key == "approximately":
        bounds = {part: [_bound(value.get(name))] for part, name in (("abs", "absolute"), ("rel", "relative"))}
        return parts | {"v": [_bound(value["value"])]} | bounds
    if key == RESULT_OF:
        before = entries.before()[value["call"] - 1 : value["call"]]
        return parts | {"of": [str(before[0].options[0])], "v": [value["pointer"]]} if before else None
    if key == "date_equal" and isinstance(value, Mapping):
        return parts | {"v": [value["date"]], "fmt": value["formats"][:1]}
    return parts | ({} if value is True else {"v": [str(value)]})


def _fill_exact(field: ArgumentField, value: Any) -> dict[str, list[str]]:
    if value is None and field.kind is not Kind.CHOICE:
        return {"m": [IS_NULL]}
    if (value == "" and field.kind is Kind.TEXT) or (value == [] and field.kind is Kind.LIST):
        return {"m": [IS_EMPTY]}
    if field.kind is Kind.LIST and isinstance(value, list) and field.entries in IN_LINE:
        return {"v": [_shown_in_list(entry, field) for entry in value]}
    return {"v": [_shown(value, field.kind) if field.kind in IN_LINE else _pretty(value)]}


def _bound(value: float | None) -> str:
    return "" if value is None else json.dumps(value)


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _shown(value: Any, kind: Kind) -> str:
    if kind is Kind.TEXT and isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _shown_in_list(value: Any, field: ArgumentField) -> str:
    literal = _shown(value, field.entries)
    return next((choice.shown for choice in field.choices if choice.literal == literal), literal)
