"""Define the classes that strata are counted in, and the other spellings of each that files use."""

from __future__ import annotations

from collections.abc import Mapping

from toolevals.grading.edge_cases import EdgeCase

BUCKETS = ("selection", "no_call", "arguments", "result_use", "error_recovery")
DIFFICULTIES = ("easy", "medium", "hard")
ERRORS = ("400", "401", "403", "404", "408", "429", "5xx", "empty", "partial")
EDGE_CASES = tuple(kind.value for kind in EdgeCase)
# The strata that are counted, each with its classes.
CLASSES: Mapping[str, tuple[str, ...]] = {
    "bucket": BUCKETS,
    "difficulty": DIFFICULTIES,
    "edge_case": EDGE_CASES,
    "error_class": ERRORS,
}

_SPELLINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "bucket": {
        "selection": ("selection_correct", "tool_selection"),
        "no_call": ("selection_irrelevant", "irrelevance", "irrelevant", "none"),
        "arguments": ("argument", "argument_edge", "edge_case", "argument_extraction"),
        "result_use": ("result_utilization", "result_utilisation", "results"),
        "error_recovery": ("recovery", "error"),
    },
    "difficulty": {"easy": ("simple",), "medium": ("moderate",), "hard": ("difficult",)},
    "edge_case": {
        "null_optional": ("null", "null_on_optional"),
        "empty_array": ("empty_list",),
        "unicode_identifier": ("unicode", "special_characters"),
        "time_zone": ("timezone",),
        "currency": ("money",),
        "type_coercion": ("coercion",),
    },
    "error_class": {
        "408": ("timeout", "timed_out"),
        "429": ("rate_limit", "rate_limited", "too_many_requests"),
        "400": ("bad_request",),
        "401": ("unauthorized",),
        "403": ("forbidden",),
        "404": ("not_found",),
        "5xx": ("500", "501", "502", "503", "504", "server_error"),
        "empty": ("empty_result",),
        "partial": ("partial_result",),
    },
}
_CLASS_OF: Mapping[str, Mapping[str, str]] = {
    stratum: {
        spelling: name for name, others in spellings.items() for spelling in (name, *others)
    }
    for stratum, spellings in _SPELLINGS.items()
}  # fmt: skip


def class_of(stratum: str, value: str) -> str:
    """Return the class that a stratum's value is counted in, "time_zone" for "time zone"; else the value itself."""
    spelled = value.strip().lower().replace(" ", "_").replace("-", "_")
    return _CLASS_OF.get(stratum, {}).get(spelled, value)


def spellings_of(stratum: str, name: str) -> tuple[str, ...]:
    """Return how a class may be written in a stratum, in lower case: what a filter by that class looks for."""
    known = (name, *_SPELLINGS.get(stratum, {}).get(name, ()))
    return tuple(
        dict.fromkeys(form for each in known for form in (each, each.replace("_", " "), each.replace("_", "-")))
    )
