"""Tell whether two expectations expect the same, and where they differ.

Two expectations are equivalent when they have one normal form, so the relation is reflexive, symmetric and
transitive:

- Alternatives, groups, unordered and disallowed calls, the values of `one_of`, reactions and the facts of the answer
  are sets; groups and unordered calls count how often, the others do not. The order of arguments is free.
- An ordered list of one position is unordered. A choice of calls is as many alternatives, up to 64 of them.
- Of two disallowed calls, one of which bans the tool altogether, the other says nothing.
- Values are equal under the profile. A matcher that admits one value is that value: `exact`, `one_of` of one, closed
  `fields` and `items` of such, and, except under `strict`, a range or tolerance of no width. A tolerance is the range
  that it spans; dates are equal where they admit the same. A matcher that admits everything is as none.
- Why there should be no call (`why`) is a remark. The profile counts where calls are expected.

Writes the normal form of an expectation: two expectations expect the same when theirs are equal.

A form is a JSON value; the order of sets in it is that of their canonical texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from toolevals.grading.matching.equality import PROFILES, Profile
from toolevals.grading.values import (
    AnyOrder,
    CallExpectation,
    Expectation,
    Expected,
    OneOfCalls,
    Step,
    Trajectory,
    options_of,
)
from toolevals.grading.values.call_results import with_changed
from toolevals.grading.values.canonical import canonical, digest
from toolevals.grading.values.matchers import (
    Absent,
    Approximately,
    Contains,
    DateEqual,
    Exact,
    Fields,
    HasPrefix,
    HasSuffix,
    Items,
    KeyOnly,
    Matcher,
    OneOf,
    Range,
    ResultOf,
    decimal_value,
    is_finite,
    references_in,
)
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import DifferenceKind
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

# Choices of calls are read as alternatives, unless there would be more of them than this.
MOST_ALTERNATIVES = 64


def expectation_form(expectation: Expectation) -> JsonObject:
    """Return what is expected, without remarks."""
    form: JsonObject = {
        "kind": expectation.kind,
        "reactions": sorted(set(expectation.reactions)),
        "answer": answer_form(expectation.answer),
        "state": expectation.state,
    }
    if expectation.kind == "calls":
        profile = PROFILES[expectation.profile]
        form["profile"] = expectation.profile
        alternatives = without_choices(expectation.alternatives)
        form["alternatives"] = _set_of(_trajectory_form(each, profile) for each in alternatives)
    return form


def answer_form(answer: JsonMapping | None) -> JsonObject:
    """Return what is expected of the answer; the facts in it are a set, and no facts are no expectation."""
    form = dict(answer or {})
    if facts := sorted(set(form.pop("contains", ()))):
        form["contains"] = facts
    return form


def matcher_form(matcher: Matcher, profile: Profile) -> JsonObject:
    """Return what a matcher admits under a profile."""
    if isinstance(matcher, Absent):
        return {"absent": True}
    return {**_admitted(matcher, profile), "optional": matcher.optional}


def without_choices(alternatives: Sequence[Trajectory]) -> Sequence[Trajectory]:
    """Return the alternatives without choices of calls, each choice as alternatives; unless they would be too many."""
    options = [[options_of(each) for each in trajectory.expected] for trajectory in alternatives]
    if not len(alternatives) < sum(prod(map(len, each)) for each in options) <= MOST_ALTERNATIVES:
        return alternatives
    return [
        _with_calls(trajectory, chosen)
        for trajectory, choices in zip(alternatives, options, strict=True)
        for chosen in product(*choices)
    ]


def _with_calls(trajectory: Trajectory, calls: Iterable[CallExpectation]) -> Trajectory:
    waiting = iter(calls)
    ordered = tuple(
        AnyOrder(tuple(next(waiting) for _ in step.calls)) if isinstance(step, AnyOrder) else next(waiting)
        for step in trajectory.ordered
    )
    return replace(trajectory, ordered=ordered, unordered=tuple(waiting))


@value_class
class _Named(ResultOf):
    """A reference that names the call by what it is, so that the order of calls without an order does not matter."""

    name: str = ""

    def content(self) -> Any:
        return {"call": self.name, "pointer": self.pointer}


def _with_names(trajectory: Trajectory, profile: Profile) -> Trajectory:
    """Return the trajectory with references that name calls by their forms, and alike calls by their order."""
    names: list[str] = []
    alike: Counter[str] = Counter()

    def named(reference: ResultOf) -> ResultOf:
        return _Named(reference.call, reference.pointer, optional=reference.optional, name=names[reference.call - 1])

    def change(expected: Expected) -> Expected:
        if isinstance(expected, OneOfCalls):
            found: Expected = OneOfCalls(tuple(with_changed(call, named) for call in expected.options))
        else:
            found = with_changed(expected, named)
        form = digest(_expected_form(found, profile))
        alike[form] += 1
        names.append(f"{form} {alike[form]}")
        return found

    ordered: list[Step] = [
        AnyOrder(tuple(map(change, step.calls))) if isinstance(step, AnyOrder) else change(step)
        for step in trajectory.ordered
    ]
    return replace(trajectory, ordered=tuple(ordered), unordered=tuple(map(change, trajectory.unordered)))


def _refers(trajectory: Trajectory) -> bool:
    return any(True for call in trajectory.calls for each in call.arguments.values() for _ in references_in(each))


def _trajectory_form(trajectory: Trajectory, profile: Profile) -> JsonObject:
    if _refers(trajectory):
        trajectory = _with_names(trajectory, profile)
    groups = [
        _bag_of(_expected_form(each, profile) for each in (step.calls if isinstance(step, AnyOrder) else (step,)))
        for step in trajectory.ordered
    ]
    groups = [group for group in groups if group]
    unordered = [_expected_form(each, profile) for each in trajectory.unordered]
    if len(groups) == 1:
        # Nothing to come before or after.
        unordered += groups.pop()
    return {
        "ordered": groups,
        "unordered": _bag_of(unordered),
        "disallowed": _disallowed_form(trajectory.disallowed, profile),
        "additional_calls": trajectory.additional_calls,
    }


def _expected_form(expected: Expected, profile: Profile) -> Any:
    options = _set_of(_call_form(call, profile) for call in options_of(expected))
    return options[0] if len(options) == 1 else {"one_of_calls": options}


def _disallowed_form(calls: Iterable[CallExpectation], profile: Profile) -> list[Any]:
    forms = [_call_form(call, profile) for call in calls]
    banned = {form["tool"] for form in forms if not form["arguments"] and form["additional_arguments"]}
    # Where a tool is banned altogether, nothing is said by banning some of its calls.
    return _set_of(form for form in forms if form["tool"] not in banned or not form["arguments"])


def _call_form(call: CallExpectation, profile: Profile) -> JsonObject:
    return {
        "tool": profile.tool_name(call.tool),
        "arguments": arguments_form(call.arguments, call.additional_arguments, profile),
        "additional_arguments": call.additional_arguments,
    }


def arguments_form(arguments: Mapping[str, Matcher], additional: bool, profile: Profile) -> JsonObject:
    """Return what each argument must be, by name, without those of which nothing is said.

    `additional`: whether arguments that are not named may be given.
    """
    return {
        name: matcher_form(matcher, profile)
        for name, matcher in arguments.items()
        if not _says_nothing(matcher, additional)
    }


def _says_nothing(matcher: Matcher, additional: bool) -> bool:
    if additional:
        return isinstance(matcher, KeyOnly) and matcher.optional
    return isinstance(matcher, Absent)


def _admitted(matcher: Matcher, profile: Profile) -> JsonObject:
    if (value := _only_value(matcher, profile)) is not None:
        return {"one_of": [value[0]]}
    match matcher:
        case OneOf():
            return {"one_of": _set_of(profile.form(value) for value in matcher.values)}
        case Fields():
            fields = arguments_form(matcher.fields, matcher.additional_fields, profile)
            return {"fields": fields, "additional_fields": matcher.additional_fields}
        case Items():
            # An item cannot be left out: lists have just the length that is asked for.
            return {"items": [matcher_form(replace(item, optional=False), profile) for item in matcher.items]}
        case Range() | Approximately():
            return {"between": [_written(end) for end in _ends(matcher)]}
        case DateEqual() if (moment := matcher.moment()) is not None:
            time = [moment.wall, None] if moment.offset is None else [None, moment.instant]
            return {"date_equal": time, "formats": sorted(matcher.formats)}
        case Contains() | HasPrefix() | HasSuffix() if not matcher.text:
            return {"contains": ""}
        case _:
            return {matcher.kind: matcher.content()}


def _written(end: Fraction | float | None) -> Any:
    # In hexadecimal, which Python writes at any length.
    return [f"{end.numerator:x}", f"{end.denominator:x}"] if isinstance(end, Fraction) else end and str(end)


def _ends(matcher: Range | Approximately) -> tuple[Any, Any]:
    """Return the least and the greatest number that is admitted, exactly; None where there is no end."""
    if isinstance(matcher, Approximately):
        return matcher.bounds()
    low, high = (
        end if end is None or not is_finite(end) else decimal_value(end) for end in (matcher.low, matcher.high)
    )
    return low, high


def _only_value(matcher: Matcher, profile: Profile) -> tuple[Any] | None:
    """Return the form of the one value that a matcher admits, in a tuple; None where more are, or it cannot be told."""
    match matcher:
        case Exact():
            return (profile.form(matcher.value),)
        case OneOf():
            values = _set_of(profile.form(value) for value in matcher.values)
            return (values[0],) if len(values) == 1 else None
        case Range() | Approximately():
            return _only_number(matcher, profile)
        case Fields() if not matcher.additional_fields:
            wanted = {name: item for name, item in matcher.fields.items() if not isinstance(item, Absent)}
            fields = {name: _only_value(item, profile) for name, item in wanted.items() if not item.optional}
            if len(fields) < len(wanted) or None in fields.values():
                return None
            return ({name: value[0] for name, value in fields.items() if value is not None},)
        case Items():
            items = [_only_value(item, profile) for item in matcher.items]
            return None if None in items else ([value[0] for value in items if value is not None],)
        case _:
            return None


def _only_number(matcher: Range | Approximately, profile: Profile) -> tuple[Any] | None:
    low, high = _ends(matcher)
    if profile.typed_numbers or low is None or low != high:
        # Under a profile that parts integers from floats, 5 to 5 admits 5 and 5.0.
        return None
    return (profile.form(matcher.low if isinstance(matcher, Range) else matcher.value),)


def _bag_of(forms: Iterable[object]) -> list[Any]:
    return sorted(forms, key=canonical)


def _set_of(forms: Iterable[object]) -> list[Any]:
    return [form for _, form in sorted({canonical(form): form for form in forms}.items())]


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of two expectations.

    `path` is a JSON pointer into their documents. `left` and `right` are documents of that part, None where a side
    has none: kind "missing" where the right has none, "extra" where the left has none.
    """

    path: str
    left: JsonValue
    right: JsonValue
    kind: DifferenceKind


def equivalent(left: Expectation, right: Expectation) -> bool:
    """Tell whether two expectations expect the same."""
    return canonical(expectation_form(left)) == canonical(expectation_form(right))


def differences(left: Expectation, right: Expectation) -> list[Difference]:
    """Return the parts of two expectations side by side, equal ones included (kind "same").

    A part is a tool, a matcher, or a setting; calls are put side by side by their places.
    """
    ours, theirs = _parts(left), _parts(right)
    return [
        Difference(
            path,
            ours[path][0] if path in ours else None,
            theirs[path][0] if path in theirs else None,
            _kind(ours.get(path), theirs.get(path)),
        )
        for path in [*ours, *(path for path in theirs if path not in ours)]
    ]


def _parts(expectation: Expectation) -> dict[str, tuple[Any, Any]]:
    """Return document and normal form of every part, by JSON pointer, in reading order."""
    profile = PROFILES[expectation.profile]
    parts: dict[str, tuple[Any, Any]] = {"/kind": (expectation.kind, expectation.kind)}
    if expectation.kind == "calls":
        parts["/profile"] = (expectation.profile, expectation.profile)
    for place, trajectory in enumerate(expectation.alternatives):
        root = f"/alternatives/{place}"
        for pointer, call in trajectory.located_calls():
            parts.update(_call_parts(root + pointer, call, profile))
        parts[f"{root}/additional_calls"] = (trajectory.additional_calls, trajectory.additional_calls)
    if expectation.reactions:
        reactions = sorted(set(expectation.reactions))
        parts["/reactions"] = (reactions, reactions)
    if answer := answer_form(expectation.answer):
        parts["/answer"] = (expectation.answer, answer)
    if expectation.state is not None:
        parts["/state"] = (expectation.state, expectation.state)
    return parts


def _call_parts(root: str, call: CallExpectation, profile: Profile) -> Iterator[tuple[str, tuple[Any, Any]]]:
    yield f"{root}/tool", (call.tool, profile.tool_name(call.tool))
    for name, matcher in call.arguments.items():
        yield f"{root}/arguments{pointer_to([name])}", (matcher.to_document(), matcher_form(matcher, profile))
    yield f"{root}/additional_arguments", (call.additional_arguments, call.additional_arguments)


def _kind(left: tuple[Any, Any] | None, right: tuple[Any, Any] | None) -> DifferenceKind:
    if left is None or right is None:
        return "extra" if left is None else "missing"
    return "same" if canonical(left[1]) == canonical(right[1]) else "changed"
