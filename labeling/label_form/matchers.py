"""Tell how an argument is compared, and turn what is entered for it into its matcher, and back."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import QueryDict

from labeling.label_form.fields import IN_LINE, ArgumentField, Kind
from labeling.label_form.plan import Plan, Position, single_plan

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
    plan: Plan = field(default_factory=single_plan)

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
        return self.plan.route_of(self.number).before(self.number)


def matcher_of(entries: CallEntries, field: ArgumentField) -> str:
    """Return the key of the chosen matcher. A value in a field that the label does not name makes it "equals"."""
    chosen = entries.one("m", field.path) or first_matcher(field)
    if chosen == UNNAMED and any(entries.every("v", field.path)):
        return "exact"
    return chosen
