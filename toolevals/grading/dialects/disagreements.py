"""Tell why a dialect and our own grading differ on one row, as a named reason from one table.

Where we pass a row and the dialect does not give it the full score, the reason is found by trying: the prediction is
changed in one respect at a time to what was expected, and the first change that earns the full score is the reason.
Where we fail a row that the dialect gives the full score, our own mode says what it does not look at; of a wrong value
it is tried whether any other would do as well.

Tells how two values that are compared differ: by type, how a number is written, white space, case, marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from toolevals.grading.dialects.catalog import Score
from toolevals.grading.dialects.plain_calls import attempt
from toolevals.grading.dialects.rows import Comparison
from toolevals.grading.matching.equality import PROFILES, Profile, bfcl_text
from toolevals.grading.values import Call, ProfileName, ToolCall
from toolevals.grading.values.verdicts import CaseGrade, Status
from toolevals.json_types import JsonValue

Kind = Literal["types", "numbers", "white_space", "case", "punctuation"]
KINDS: tuple[Kind, ...] = ("numbers", "types", "white_space", "case", "punctuation")


def kind_of(one: object, other: object) -> Kind:
    """Return the way in which two scalars differ.

    `numbers`: both are numbers (1 and 1.0); `types`: they are of different types (5 and "5"); texts differ by white
    space at their ends, then by case, else by other characters.
    """
    if _is_number(one) and _is_number(other):
        return "numbers"
    if not isinstance(one, str) or not isinstance(other, str):
        return "types"
    if one.strip() == other.strip():
        return "white_space"
    return "case" if one.strip().casefold() == other.strip().casefold() else "punctuation"


def rewritten(made: object, expected: object, kind: Kind | None) -> Any:
    """Return a value with its parts as they are expected, where they differ in one way only; None takes every way."""
    if isinstance(made, dict) and isinstance(expected, dict):
        return {key: rewritten(item, expected[key], kind) if key in expected else item for key, item in made.items()}
    if isinstance(made, list) and isinstance(expected, list) and len(made) == len(expected):
        return [rewritten(one, other, kind) for one, other in zip(made, expected, strict=True)]
    if isinstance(made, dict | list) or isinstance(expected, dict | list):
        return expected if kind is None else made
    return expected if kind is None or kind_of(made, expected) == kind else made


def alike_in(made: object, expected: object) -> Iterator[Kind | None]:
    """Yield what a lenient reader overlooks in each differing part of two values; None where nothing is alike.

    `types` is a value next to the text of it or its equal of another type (5 and "5", 1 and true), `numbers` one number
    written in two ways, and texts are alike but for white space, case, or spaces and marks.
    """
    if isinstance(made, Mapping) and isinstance(expected, Mapping) and made.keys() == expected.keys():
        for key, item in made.items():
            yield from alike_in(item, expected[key])
    elif isinstance(made, list) and isinstance(expected, list) and len(made) == len(expected):
        for one, other in zip(made, expected, strict=True):
            yield from alike_in(one, other)
    elif isinstance(made, dict | list) or isinstance(expected, dict | list):
        yield None
    elif type(made) is not type(expected) or made != expected:
        yield _alike(made, expected)


def _alike(one: Any, other: JsonValue) -> Kind | None:
    kind = kind_of(one, other)
    if kind in ("numbers", "types"):
        return kind if one == other or str(one).strip() == str(other).strip() else None
    return kind if kind != "punctuation" or bfcl_text(one) == bfcl_text(other) else None


def another(value: JsonValue) -> Any:
    """Return a value of the same type that no one has expected; what is neither text nor number stays."""
    if isinstance(value, str):
        return f"{value} (another value)"
    return value * 7 + 12345 if _is_number(value) else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# We pass, and there it has less than the full score.
STRICTER: Mapping[str, str] = {
    "reading": "The other tool reads the text in another way than we do.",
    "messages": "The other evaluator requires the calls in the same messages; toolevals looks at their order only.",
    "names": "The other tool tells tools' names apart that differ in dots and underscores alone.",
    "numbers": "The other tool tells a whole number from the same number written with a point.",
    "types": "The other tool tells a number from the text that is that number.",
    "white_space": "The other tool counts white space at the ends of a text.",
    "case": "The other tool tells capital from small letters, and the expectation's profile does not.",
    "punctuation": "The other tool counts spaces and marks within a text, and the expectation's profile does not.",
    "values": "The other tool takes values for different that are equal under the expectation's profile.",
    "extra_arguments": "The other tool counts arguments beyond the expected ones, and the expectation allows them.",
    "extra_calls": "The other tool counts calls beyond the expected ones, and the expectation allows them.",
    "order": "The other tool compares or pairs the calls in order, and the expectation leaves it free.",
    "left_out": "The other tool misses an argument that the expectation lets one leave out.",
    "pairing": "The other tool pairs the calls first come, first served, and finds none for one of the expected ones.",
    "several": "The other tool is stricter in several respects at once.",
    "never_full": "The other tool gives no full score here, even to a prediction that is just what was expected.",
}
# We fail, and there it has the full score; by our mode.
LAXER: Mapping[str, str] = {
    "schema_error": "The other tool has no schema gate: it does not see that the arguments break the tool's schema.",
    "extra_call": "Calls beyond the expected ones cost nothing there.",
    "wrong_order": "The order of the calls does not count there.",
    "extra_argument": "Arguments beyond the expected ones cost nothing there.",
    "missing_argument": "Missing arguments cost nothing there.",
    "wrong_shape": "The other tool does not compare this argument, or takes the two values for equal across types.",
    "wrong_value": "The other tool does not compare this argument, or takes the two values for equal.",
    "needless_call": "Where no call is expected, the other evaluator passes any call.",
    "missed_call": "The other evaluator does not see that an expected call is missing.",
    "refused": "The other evaluator does not see that an expected call is missing.",
    "wrong_tool": "The other tool takes the two tools' names for one.",
    "hallucinated_tool": "The other tool does not know which tools were offered, or takes the two names for one.",
    "malformed_output": "The other tool takes arguments that cannot be read for none.",
}
# The same, where a value is wrong and it was tried what the other tool makes of it.
LENIENT: Mapping[str, str] = {
    "ignores_values": "The other tool does not compare this argument: any other value would pass as well.",
    "lenient_numbers": "The other tool takes two numbers for equal that are not.",
    "lenient_types": "The other tool takes values of two types for equal, such as a number and its text.",
    "lenient_text": "The other tool takes two texts for equal that are not, for their case, spaces or marks.",
}
REASONS: Mapping[str, str] = {**STRICTER, **LAXER, **LENIENT}
_LENIENT: Mapping[Kind, str] = {
    "numbers": "lenient_numbers",
    "types": "lenient_types",
    "white_space": "lenient_text",
    "case": "lenient_text",
    "punctuation": "lenient_text",
}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A reason's name and its sentence."""

    name: str
    sentence: str


def disagreement(
    grade: CaseGrade, row: Comparison, metric: Callable[[Comparison], Score], profile: ProfileName = "standard"
) -> Disagreement | None:
    """Return why we and one metric of a dialect differ on a row.

    None where they agree, where either has no verdict, and where no reason of the table holds.
    """
    found = attempt(lambda: metric(row))
    status = grade.statuses["outcome"]
    if isinstance(found, Exception) or status not in ("passed", "failed") or (found >= 1) is (status == "passed"):
        return None
    name = reason_between(status, grade.mode, row, metric, profile)
    return Disagreement(name, REASONS[name]) if name else None


def reason_between(
    status: Status, mode: str, row: Comparison, metric: Callable[[Comparison], Score], profile: ProfileName
) -> str:
    """Return the name of REASONS for a row on which our verdict, passed or failed with a mode, is not the metric's.

    Empty where none of them holds.
    """
    if status == "passed":
        return _stricter(row, metric, PROFILES[profile])
    if mode in ("wrong_value", "wrong_shape"):
        return _lenient(row, metric, PROFILES[profile]) or mode
    return mode if mode in LAXER else ""


def _stricter(row: Comparison, metric: Callable[[Comparison], Score], profile: Profile) -> str:
    def full(changed: Comparison) -> bool:
        return _is_full(changed, metric)

    changes: Mapping[str, Callable[[Comparison], Comparison]] = {
        "reading": lambda each: replace(each, text=None),
        "messages": lambda each: replace(each, whole_talk=False),
        "names": lambda each: _with_names(each, profile),
        **{kind: partial(_with_values, profile=profile, kind=kind) for kind in KINDS},
        "values": lambda each: _with_values(each, profile),
        "extra_arguments": lambda each: _without_arguments(each, profile),
        "extra_calls": lambda each: _without_calls(each, profile),
        "order": lambda each: _in_order(each, profile),
    }
    for name, change in changes.items():
        if full(change(row)):
            return name
    expected = tuple(ToolCall(call["name"], call["arguments"]) for call in row.expected)
    return "several" if full(replace(row, text=None, whole_talk=False, made=(expected,))) else "never_full"


def _is_full(row: Comparison, metric: Callable[[Comparison], Score]) -> bool:
    found = attempt(lambda: metric(row))
    return not isinstance(found, Exception) and found >= 1


def _lenient(row: Comparison, metric: Callable[[Comparison], Score], profile: Profile) -> str:
    """Return why a wrong value passes there; empty where that is for several reasons, or none is found."""
    kinds: set[Kind | None] = set()
    free = list(row.expected)

    def written(place: int, call: Call) -> Call:
        if not isinstance(call, ToolCall):
            return call
        wanted = next((each for each in free if profile.tool_name(each["name"]) == profile.tool_name(call.name)), None)
        if wanted is None:
            return call
        free.remove(wanted)
        arguments = dict(call.arguments)
        for name, value in wanted["arguments"].items():
            if name in arguments and not profile.equal(arguments[name], value):
                kinds.update(alike_in(arguments[name], value))
                arguments[name] = another(arguments[name])
        return ToolCall(call.name, arguments, call.id)

    changed = _mapped(row, written)
    if _is_full(changed, metric):
        return "ignores_values"
    names = {_LENIENT[kind] if kind else "" for kind in kinds}
    return names.pop() if len(names) == 1 else ""


def _with_names(row: Comparison, profile: Profile) -> Comparison:
    """Write every expected tool's name as it is expected."""
    wanted = _partners(row, profile)

    def written(place: int, call: Call) -> Call:
        if not isinstance(call, ToolCall) or place not in wanted:
            return call
        return ToolCall(row.expected[wanted[place]]["name"], call.arguments, call.id)

    return _mapped(row, written)


def _with_values(row: Comparison, profile: Profile, kind: Kind | None = None) -> Comparison:
    """Write every value that equals the expected one as it is expected, of one kind of difference or of all.

    With all of them goes the tool's name.
    """
    wanted = _partners(row, profile)

    def written(place: int, call: Call) -> Call:
        if not isinstance(call, ToolCall) or place not in wanted:
            return call
        expected = row.expected[wanted[place]]
        name = call.name if kind else expected["name"]
        return ToolCall(name, rewritten(call.arguments, expected["arguments"], kind), call.id)

    return _mapped(row, written)


def _without_arguments(row: Comparison, profile: Profile) -> Comparison:
    wanted = _partners(row, profile)

    def written(place: int, call: Call) -> Call:
        if not isinstance(call, ToolCall) or place not in wanted:
            return call
        known = row.expected[wanted[place]]["arguments"]
        return ToolCall(call.name, {key: value for key, value in call.arguments.items() if key in known}, call.id)

    return _mapped(row, written)


def _without_calls(row: Comparison, profile: Profile) -> Comparison:
    wanted = _partners(row, profile)
    return _mapped(row, lambda place, call: call if place in wanted else None)


def _in_order(row: Comparison, profile: Profile) -> Comparison:
    """Put the calls that were expected in the expected order, in the places that they have together."""
    wanted = _partners(row, profile)
    calls = _calls(row)
    left = iter(sorted(wanted, key=lambda place: wanted[place]))
    return _mapped(row, lambda place, call: calls[next(left)] if place in wanted else call)


def _mapped(row: Comparison, change: Callable[[int, Call], Call | None]) -> Comparison:
    places = iter(range(len(_calls(row))))
    made = tuple(
        tuple(kept for call in calls if (kept := change(next(places), call)) is not None) for calls in row.made
    )
    return replace(row, made=made)


def _calls(row: Comparison) -> list[Call]:
    return [call for calls in row.made for call in calls]


def _partners(row: Comparison, profile: Profile) -> dict[int, int]:
    """Return by the place of a call made the place of the expected call that it equals, first come, first served."""
    free = dict(enumerate(row.expected))
    partners: dict[int, int] = {}
    for place, call in enumerate(_calls(row)):
        if not isinstance(call, ToolCall):
            continue
        fits = (at for at, expected in free.items() if _meets(call, expected["name"], expected["arguments"], profile))
        if (found := next(fits, None)) is not None:
            partners[place] = found
            del free[found]
    return partners


def _meets(call: ToolCall, name: str, arguments: Mapping[str, object], profile: Profile) -> bool:
    return profile.tool_name(call.name) == profile.tool_name(name) and all(
        key in call.arguments and profile.equal(call.arguments[key], value) for key, value in arguments.items()
    )
