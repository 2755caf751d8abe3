"""Tell whether two expectations expect the same, and where they differ.

Two expectations are equivalent when they have one normal form (see `normal_forms`), so the relation is reflexive,
symmetric and transitive:

- Alternatives, groups, unordered and disallowed calls, the values of `one_of`, reactions and the facts of the answer
  are sets; groups and unordered calls count how often, the others do not. The order of arguments is free.
- An ordered list of one position is unordered. A choice of calls is as many alternatives, up to 64 of them.
- Of two disallowed calls, one of which bans the tool altogether, the other says nothing.
- Values are equal under the profile. A matcher that admits one value is that value: `exact`, `one_of` of one, closed
  `fields` and `items` of such, and, except under `strict`, a range or tolerance of no width. A tolerance is the range
  that it spans; dates are equal where they admit the same. A matcher that admits everything is as none.
- Why there should be no call (`why`) is a remark. The profile counts where calls are expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolevals.grading.matching.equality import PROFILES, Profile
from toolevals.grading.matching.normal_forms import answer_form, expectation_form, matcher_form
from toolevals.grading.values import CallExpectation, Expectation
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.verdicts import DifferenceKind


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
