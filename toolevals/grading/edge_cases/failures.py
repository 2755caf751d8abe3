"""Tell which sort of failure an argument's difference is.

Texts spell one identifier when they differ by composition, width, accents or look-alike letters alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any, Final

from toolevals.grading.edge_cases.coercion import differ_in_zone, equal_after_coercion, read_amount
from toolevals.grading.edge_cases.parameters import EdgeCase, FailureBucket, is_money
from toolevals.grading.values.verdicts import ArgumentDifference

MAX_LENGTH = 2_000
# Letters of other scripts, and marks, that look like ASCII ones (after Unicode Technical Standard 39).
_LOOK_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧοıłŁøØđĐ‘’‚′“”„″‐‑‒–—―−⁄·",
    "ABESIJKMHOPCTYXaesijopcyxABEZHIKMNOPTYXoilLoOdD''''\"\"\"\"-------/.",
)
_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"})


def is_other_spelling(one: str, other: str) -> bool:
    """Tell whether two texts, at least one of them beyond ASCII, differ in spelling only; case counts."""
    if one == other or (one.isascii() and other.isascii()) or max(len(one), len(other)) > MAX_LENGTH:
        return False
    return _skeleton(one) == _skeleton(other)


def _skeleton(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.translate(_LIGATURES))
    kept = (letter for letter in plain if unicodedata.category(letter) not in ("Mn", "Cf"))
    return " ".join("".join(kept).translate(_LOOK_ALIKE).split())


class _Missing:
    """The one value of an argument that is not there."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
_SCALE = 100


def argument_failure_bucket(difference: ArgumentDifference, *, breaks_schema: bool) -> FailureBucket:
    """Return the bucket of one argument's failure.

    `breaks_schema` says that the call's schema gate found a problem at this argument. An edge case is a difference
    whose expected and actual value are one but for that edge; all others are semantic.
    """
    if breaks_schema:
        return FailureBucket.SCHEMA
    return FailureBucket.SEMANTIC if edge_of_difference(difference) is None else FailureBucket.EDGE_CASE


def call_failure_bucket(differences: Iterable[ArgumentDifference], *, breaks_schema: bool) -> FailureBucket | None:
    """Return the bucket of a call's failure, None where nothing differs.

    A broken schema comes first; an edge case is what is left to mend only where every difference is one.
    """
    if breaks_schema:
        return FailureBucket.SCHEMA
    wrong = [difference for difference in differences if difference.kind != "same"]
    buckets = {argument_failure_bucket(difference, breaks_schema=False) for difference in wrong}
    if not buckets:
        return None
    return FailureBucket.SEMANTIC if FailureBucket.SEMANTIC in buckets else FailureBucket.EDGE_CASE


def edge_of_difference(difference: ArgumentDifference) -> EdgeCase | None:
    """Return the edge case that a difference comes down to; None where it is more than that.

    Of a matcher, the values that it names are compared: `exact`, `one_of` and `date_equal`.
    """
    name = difference.path.rpartition("/")[2]
    actual = MISSING if difference.kind == "missing" else difference.actual
    if difference.kind == "extra":
        return edge_of_values(MISSING, actual, name)
    for expected in _named_values(difference.expected):
        if (edge := edge_of_values(expected, actual, name)) is not None:
            return edge
    return None


def edge_of_values(expected: object, actual: object, name: str = "") -> EdgeCase | None:
    """Return the edge case that is all the difference between two values; None where there is more, or nothing.

    Either may be MISSING. `name` is the argument's: it says whether bare numbers are amounts of money.
    """
    if isinstance(expected, _Missing) or isinstance(actual, _Missing):
        return _edge_of_missing(actual if isinstance(expected, _Missing) else expected)
    values = (expected, actual)
    if any(value is None for value in values) and any(value == "" for value in values):
        return EdgeCase.NULL_OPTIONAL
    if any(value is None for value in values) and any(value == [] for value in values):
        return EdgeCase.EMPTY_ARRAY
    if isinstance(expected, str) and isinstance(actual, str):
        if differ_in_zone(expected, actual):
            return EdgeCase.TIME_ZONE
        if is_other_spelling(expected, actual):
            return EdgeCase.UNICODE_IDENTIFIER
    if _differ_in_unit(expected, actual, name):
        return EdgeCase.CURRENCY
    return EdgeCase.TYPE_COERCION if equal_after_coercion(expected, actual) else None


def _edge_of_missing(value: object) -> EdgeCase | None:
    if value is None:
        return EdgeCase.NULL_OPTIONAL
    return EdgeCase.EMPTY_ARRAY if value == [] and isinstance(value, list) else None


def _differ_in_unit(expected: object, actual: object, name: str) -> bool:
    if not (isinstance(expected, str) or isinstance(actual, str) or is_money(name, {})):
        # Bare numbers of something else.
        return False
    if type(expected) is int and type(actual) is int:
        return expected != actual and (expected * _SCALE == actual or actual * _SCALE == expected)
    one = read_amount(expected)
    other = None if one is None else read_amount(actual)
    if one is None or other is None:
        return False
    if not (one.is_marked or other.is_marked or is_money(name, {})):
        return False
    same_unit = (one.currency, one.minor) == (other.currency, other.minor)
    if one.number == other.number:
        return not same_unit
    return one.number * _SCALE == other.number or other.number * _SCALE == one.number


def _named_values(document: object) -> list[Any]:
    if not isinstance(document, dict):
        return []
    if "exact" in document:
        return [document["exact"]]
    if isinstance(document.get("one_of"), list):
        return list(document["one_of"])
    moment = document.get("date_equal")
    return [moment["date"] if isinstance(moment, dict) and "date" in moment else moment] if moment else []
