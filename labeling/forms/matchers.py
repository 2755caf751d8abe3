"""How an argument is compared: what a field offers for it, and with which control its value is entered."""

from __future__ import annotations

from labeling.forms.fields import ArgumentField, Kind

# Not a matcher but its lack: the argument is no part of the label. Where no other arguments may be given, that means
# that it is left out; where they may, that it is not checked.
UNNAMED = "unnamed"
# Given or not, whatever the value.
FREE = "free"
IS_NULL = "null"
IS_EMPTY = "empty"

WORDS = {
    "exact": "equals",
    "fields": "by field",
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
    IS_EMPTY: "is empty",
    IS_NULL: "is null",
    "absent": "absent",
    FREE: "not checked",
}

TEXTS = ("contains", "has_prefix", "has_suffix", "pattern", "natural_language")
BY_KIND = {
    Kind.TEXT: ("exact", "one_of", "key_only", *TEXTS, IS_EMPTY),
    Kind.INTEGER: ("exact", "one_of", "range", "key_only"),
    Kind.NUMBER: ("exact", "one_of", "range", "key_only"),
    Kind.BOOLEAN: ("exact", "key_only"),
    Kind.CHOICE: ("exact", "one_of", "key_only"),
    Kind.LIST: ("exact", "key_only", IS_EMPTY),
    Kind.OBJECT: ("fields", "exact", "key_only"),
    Kind.JSON: ("exact", "one_of", "key_only", "natural_language"),
}
# What needs no value; shown in the value's place.
VALUELESS = {
    "key_only": "given, whatever the value",
    "absent": "must not be given",
    IS_NULL: "the value is null",
    IS_EMPTY: "given, and empty",
    FREE: "given or not, ignored in grading",
}
MANY_CHOICES = 4


def matcher_keys(field: ArgumentField) -> set[str]:
    """Return every key that makes sense for a field."""
    optional = set() if field.required else {UNNAMED, FREE, "absent"}
    return {*BY_KIND[field.kind], *([IS_NULL] if field.nullable else []), *optional}


def matcher_choices(field: ArgumentField, *, others: bool) -> list[tuple[str, str]]:
    """Return what a field can be compared by, as (key, words), the usual one first.

    `others`: whether arguments that the label does not name may be given.
    """
    keys = [*BY_KIND[field.kind], *([IS_NULL] if field.nullable else [])]
    choices = [(key, WORDS[key]) for key in keys]
    if field.required:
        return choices
    if others:
        return [*choices, ("absent", WORDS["absent"]), (UNNAMED, "not checked")]
    return [*choices, (FREE, WORDS[FREE]), (UNNAMED, "left out")]


def first_matcher(field: ArgumentField) -> str:
    """Return what an untouched field is compared by: an optional one is no part of the label."""
    if field.kind is Kind.OBJECT:
        return "fields"
    return "exact" if field.required else UNNAMED


def control(field: ArgumentField, matcher: str) -> str:
    """Return the name of the control that takes the value: its template is `labeling/controls/<name>.html`."""
    if matcher in VALUELESS:
        return "none"
    if matcher in TEXTS:
        return "text"
    if matcher == "range":
        return "range"
    if matcher == "one_of":
        return {Kind.CHOICE: "checks", Kind.JSON: "json"}.get(field.kind, "chips")
    return _value_control(field, matcher)


def _value_control(field: ArgumentField, matcher: str) -> str:
    if field.kind is Kind.OBJECT:
        return "json" if matcher == "exact" else "group"
    if field.kind is Kind.BOOLEAN:
        return "seg"
    if field.kind is Kind.CHOICE:
        short = len(field.choices) <= MANY_CHOICES and sum(len(choice.shown) for choice in field.choices) <= 40
        return "seg" if short else "select"
    others = {Kind.LIST: "chips", Kind.JSON: "json", Kind.INTEGER: "number", Kind.NUMBER: "number"}
    return others.get(field.kind, "text")
