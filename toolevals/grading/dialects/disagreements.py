"""Why a dialect and our own grading differ on one row, as a named reason from one table.

Where we pass a row and the dialect does not give it the full score, the reason is found by trying: the prediction is
changed in one respect at a time to what was expected, and the first change that earns the full score is the reason.
Where we fail a row that the dialect gives the full score, our own mode says what it does not look at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from toolevals.grading.dialects.dialect import Score
from toolevals.grading.dialects.plain_calls import attempt
from toolevals.grading.dialects.rows import Comparison
from toolevals.grading.equality import PROFILES, Profile
from toolevals.grading.values import Call, ProfileName, ToolCall
from toolevals.grading.verdicts import CaseGrade

# We pass, and there it has less than the full score.
STRICTER: Mapping[str, str] = {
    "reading": "The other tool reads the text in another way than we do.",
    "messages": "The other tool wants the calls in the same messages, and we look at their order alone.",
    "values": "The other tool takes values for different that are equal under the expectation's profile.",
    "extra_arguments": "The other tool counts arguments beyond the expected ones, and the expectation allows them.",
    "extra_calls": "The other tool counts calls beyond the expected ones, and the expectation allows them.",
    "order": "The other tool compares or pairs the calls in order, and the expectation leaves it free.",
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
    "needless_call": "Where no call is expected, the other tool passes whatever was called.",
    "missed_call": "The other tool does not see that a call was due and not made.",
    "wrong_tool": "The other tool takes the two tools' names for one.",
    "hallucinated_tool": "The other tool does not know which tools were offered, or takes the two names for one.",
    "malformed_output": "The other tool takes arguments that cannot be read for none.",
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
    if status == "failed":
        return Disagreement(grade.mode, LAXER[grade.mode]) if grade.mode in LAXER else None
    name = _stricter(row, metric, PROFILES[profile])
    return Disagreement(name, STRICTER[name])


def _stricter(row: Comparison, metric: Callable[[Comparison], Score], profile: Profile) -> str:
    def full(changed: Comparison) -> bool:
        found = attempt(lambda: metric(changed))
        return not isinstance(found, Exception) and found >= 1

    changes: Mapping[str, Callable[[Comparison], Comparison]] = {
        "reading": lambda each: replace(each, text=None),
        "messages": lambda each: replace(each, whole_talk=False),
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


def _with_values(row: Comparison, profile: Profile) -> Comparison:
    """Write every value that equals the expected one, and the tool's name, as it is expected."""
    wanted = _partners(row, profile)

    def written(place: int, call: Call) -> Call:
        if not isinstance(call, ToolCall) or place not in wanted:
            return call
        expected = row.expected[wanted[place]]
        return ToolCall(expected["name"], {**call.arguments, **expected["arguments"]}, call.id)

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
