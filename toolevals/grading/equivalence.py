"""Whether two expectations expect the same, and where they differ.

Two expectations are equivalent when they have one normal form: alternatives, groups and unordered calls are sets, one
of one value is that value, an ordered list of one call is that call, and a matcher that admits everything is as none.
Values are normal under the profile. So the relation is reflexive, symmetric and transitive. Why there should be no
call (`why`) is a remark and not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.canonical import canonical
from toolevals.grading.equality import PROFILES, Profile
from toolevals.grading.matchers import Absent, Exact, Fields, Items, KeyOnly, Matcher, OneOf
from toolevals.grading.problems import pointer_to
from toolevals.grading.values import AnyOrder, CallExpectation, Expectation, Trajectory
from toolevals.grading.verdicts import DifferenceKind


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of two expectations.

    `path` is a JSON pointer into their documents. `left` and `right` are documents of that part, None where a side
    has none: kind "missing" where the right has none, "extra" where the left has none.
    """

    path: str
    left: Any
    right: Any
    kind: DifferenceKind


def equivalent(left: Expectation, right: Expectation) -> bool:
    """Tell whether two expectations expect the same."""
    return _expectation_form(left) == _expectation_form(right)


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


def _expectation_form(expectation: Expectation) -> str:
    profile = PROFILES[expectation.profile]
    form: dict[str, Any] = {
        "kind": expectation.kind,
        "reactions": sorted(set(expectation.reactions)),
        "answer": expectation.answer,
        "state": expectation.state,
    }
    if expectation.kind == "calls":
        form["profile"] = expectation.profile
        form["alternatives"] = _set_of(_trajectory_form(item, profile) for item in expectation.alternatives)
    return canonical(form)


def _trajectory_form(trajectory: Trajectory, profile: Profile) -> Any:
    groups = [
        _bag_of(_call_form(call, profile) for call in (step.calls if isinstance(step, AnyOrder) else (step,)))
        for step in trajectory.ordered
    ]
    unordered = [_call_form(call, profile) for call in trajectory.unordered]
    if len(groups) == 1:
        # Nothing to come before or after.
        unordered += groups.pop()
    return {
        "ordered": groups,
        "unordered": _bag_of(unordered),
        "disallowed": _set_of(_call_form(call, profile) for call in trajectory.disallowed),
        "additional_calls": trajectory.additional_calls,
    }


def _call_form(call: CallExpectation, profile: Profile) -> Any:
    return {
        "tool": profile.tool_name(call.tool),
        "arguments": _arguments_form(call.arguments, call.additional_arguments, profile),
        "additional_arguments": call.additional_arguments,
    }


def _arguments_form(arguments: Mapping[str, Matcher], additional: bool, profile: Profile) -> Any:
    return {
        name: _matcher_form(matcher, profile)
        for name, matcher in arguments.items()
        if not _says_nothing(matcher, additional)
    }


def _says_nothing(matcher: Matcher, additional: bool) -> bool:
    if additional:
        return isinstance(matcher, KeyOnly) and matcher.optional
    return isinstance(matcher, Absent)


def _matcher_form(matcher: Matcher, profile: Profile) -> Any:
    if isinstance(matcher, Absent):
        return {"absent": True}
    if (value := _only_value(matcher)) is not None:
        form: dict[str, Any] = {"one_of": [profile.form(value[0])]}
    elif isinstance(matcher, OneOf):
        form = {"one_of": _set_of(profile.form(value) for value in matcher.values)}
    elif isinstance(matcher, Fields):
        form = {
            "fields": _arguments_form(matcher.fields, matcher.additional_fields, profile),
            "additional_fields": matcher.additional_fields,
        }
    elif isinstance(matcher, Items):
        form = {"items": [_matcher_form(item, profile) for item in matcher.items]}
    else:
        form = {matcher.kind: matcher.content()}
    return {**form, "optional": matcher.optional}


def _only_value(matcher: Matcher) -> tuple[Any] | None:
    """Return the one value that a matcher admits, in a tuple; None where it admits more, or cannot be told."""
    match matcher:
        case Exact():
            return (matcher.value,)
        case OneOf() if len(matcher.values) == 1:
            return (matcher.values[0],)
        case Fields() if not matcher.additional_fields:
            wanted = {name: item for name, item in matcher.fields.items() if not isinstance(item, Absent)}
            fields = {name: _only_value(item) for name, item in wanted.items() if not item.optional}
            if len(fields) < len(wanted) or None in fields.values():
                return None
            return ({name: value[0] for name, value in fields.items() if value is not None},)
        case Items():
            items = [_only_value(item) for item in matcher.items]
            return None if None in items else ([value[0] for value in items if value is not None],)
        case _:
            return None


def _bag_of(forms: Iterable[Any]) -> list[Any]:
    return sorted(forms, key=canonical)


def _set_of(forms: Iterable[Any]) -> list[Any]:
    return [form for _, form in sorted({canonical(form): form for form in forms}.items())]


def _parts(expectation: Expectation) -> dict[str, tuple[Any, Any]]:
    """Return document and normal form of every part, by JSON pointer, in reading order."""
    profile = PROFILES[expectation.profile]
    parts: dict[str, tuple[Any, Any]] = {"/kind": (expectation.kind, expectation.kind)}
    if expectation.kind == "calls":
        parts["/profile"] = (expectation.profile, expectation.profile)
    for place, trajectory in enumerate(expectation.alternatives):
        root = f"/alternatives/{place}"
        for pointer, call in _calls(trajectory):
            parts.update(_call_parts(root + pointer, call, profile))
        parts[f"{root}/additional_calls"] = (trajectory.additional_calls, trajectory.additional_calls)
    beside = {"reactions": sorted(set(expectation.reactions)), "answer": expectation.answer, "state": expectation.state}
    return parts | {f"/{name}": (value, value) for name, value in beside.items() if value}


def _calls(trajectory: Trajectory) -> Iterator[tuple[str, CallExpectation]]:
    for place, step in enumerate(trajectory.ordered):
        if isinstance(step, AnyOrder):
            yield from ((f"/ordered/{place}/any_order/{member}", call) for member, call in enumerate(step.calls))
        else:
            yield f"/ordered/{place}", step
    yield from ((f"/unordered/{place}", call) for place, call in enumerate(trajectory.unordered))
    yield from ((f"/disallowed/{place}", call) for place, call in enumerate(trajectory.disallowed))


def _call_parts(root: str, call: CallExpectation, profile: Profile) -> Iterator[tuple[str, tuple[Any, Any]]]:
    yield f"{root}/tool", (call.tool, profile.tool_name(call.tool))
    for name, matcher in call.arguments.items():
        yield f"{root}/arguments{pointer_to([name])}", (matcher.to_document(), _matcher_form(matcher, profile))
    yield f"{root}/additional_arguments", (call.additional_arguments, call.additional_arguments)


def _kind(left: tuple[Any, Any] | None, right: tuple[Any, Any] | None) -> DifferenceKind:
    if left is None or right is None:
        return "extra" if left is None else "missing"
    return "same" if canonical(left[1]) == canonical(right[1]) else "changed"
