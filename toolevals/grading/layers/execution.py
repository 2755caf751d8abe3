"""Tell what calls did to the world: the whole final state next to the expected one, and the verdict on it.

A state is a JSON value, usually tables of records. Two states are equal when they are equal as JSON: the order of an
object's keys is free, lists are ordered, numbers compare by value, a boolean only with a boolean, text to the letter.
Source: the third depth of the three-layer rubric ("the row ends in the right state and no other rows changed").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolevals.grading.matching.value_differences import ABSENT, Difference, differing, same
from toolevals.grading.values.canonical import shown
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.verdicts import Verdict
from toolevals.json_types import JsonObject, JsonValue

StateDifferenceKind = Literal["wrong", "missing", "polluted"]

STATE_DIFFERENCE_KINDS: Mapping[StateDifferenceKind, str] = {
    "wrong": "It should have become one value, and became another.",
    "missing": "It should have been changed, added or removed, and was not; or it is gone and should be there.",
    "polluted": "It should have stayed as it was, and was changed, added or removed.",
}
# Paths named in a reason, and the length of a value there.
_NAMED = 3
_LONGEST_VALUE = 60
_LONGEST_PATH = 120
# What a document holds of each kind of differences, and of a value's JSON text.
MOST_KEPT = 100
LONGEST_KEPT = 2_000


@dataclass(frozen=True, slots=True)
class StateDifference:
    """One difference between the expected and the final state; ABSENT where a side has nothing.

    `path` is a JSON pointer into the final state; where that has nothing, its last step is the expected one's.
    `record` is the pointer of the record that it belongs to: the first two steps of the path (`/orders/W1`).
    """

    kind: StateDifferenceKind
    path: str
    record: str
    expected: JsonValue
    actual: JsonValue

    def to_document(self) -> JsonObject:
        """Return the normal form; a side that has nothing is left out.

        Of a value whose JSON text is longer than LONGEST_KEPT, the beginning of the text is given, as `expected_cut`
        and `actual_cut`: a grade does not keep a table that was lost.
        """
        document: JsonObject = {"kind": self.kind, "path": self.path, "record": self.record}
        for side, value in (("expected", self.expected), ("actual", self.actual)):
            if value is not ABSENT:
                cut = isinstance(value, str | dict | list | tuple) and _longer_than_kept(value)
                document |= {f"{side}_cut": shown(value, LONGEST_KEPT)} if cut else {side: value}
        return document


@dataclass(frozen=True, slots=True)
class StateDiff:
    """The differences of a final state from the expected one, by kind, each in the order of the expected state."""

    wrong: tuple[StateDifference, ...] = ()
    missing: tuple[StateDifference, ...] = ()
    polluted: tuple[StateDifference, ...] = ()

    def __len__(self) -> int:
        return len(self.wrong) + len(self.missing) + len(self.polluted)

    @property
    def all(self) -> tuple[StateDifference, ...]:
        """Every difference: what is wrong, what is missing, what should have stayed."""
        return (*self.wrong, *self.missing, *self.polluted)

    def to_document(self) -> JsonObject:
        """Return the normal form: the first MOST_KEPT differences of each kind, and how many `more` by kind."""
        kept: JsonObject = {}
        more: dict[str, int] = {}
        for kind in STATE_DIFFERENCE_KINDS:
            differences = getattr(self, kind)
            kept[kind] = [difference.to_document() for difference in differences[:MOST_KEPT]]
            if len(differences) > MOST_KEPT:
                more[kind] = len(differences) - MOST_KEPT
        return kept | {"more": more} if more else kept


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a candidate's calls on their world: found out where they were made, and handed in.

    `expected` are the final states of which any will do, none where nothing is expected; the others are as in
    `grade_execution`. `silent` is a sentence that says why nothing can be said: unscored.
    """

    initial: Any = None
    expected: tuple[Any, ...] = ()
    final: Any = None
    raised: str | None = None
    crashed: str | None = None
    silent: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """The verdict on a final state, and the differences behind it where two states were compared."""

    verdict: Verdict
    diff: StateDiff | None = None


# What says why a simulator failed may begin so by itself.
FAILED = "The simulator failed: "
NO_EXPECTED_STATE = Verdict("unscored", None, "No final state is expected, so there is nothing to compare.")
NO_FINAL_STATE = Verdict("unscored", None, "No simulator ran the calls, so their effect is not known.")


def state_diff(initial: object, expected: object, final: object) -> StateDiff:
    """Compare whole states. `initial` tells what should have stayed from what should have changed; None if unknown.

    Without it, what both states have is wrong where it differs, what only the expected one has is missing, and what
    only the final one has is polluted. Linear in the states; parts that are one object in memory are passed over.
    """
    kinds: dict[StateDifferenceKind, list[StateDifference]] = {"wrong": [], "missing": [], "polluted": []}
    for each in differing(ABSENT if initial is None else initial, expected, final):
        kind = _kind(each)
        record = pointer_to(each.path[:2])
        kinds[kind].append(StateDifference(kind, pointer_to(each.path), record, each.expected, each.actual))
    return StateDiff(tuple(kinds["wrong"]), tuple(kinds["missing"]), tuple(kinds["polluted"]))


def grade_execution(
    initial: object, expected: object, final: object, *, raised: str | None = None, crashed: str | None = None
) -> Execution:
    """Grade the effect of calls by the state that they left.

    `expected` and `final` are None where nothing is expected and where nothing ran: the case is unscored. `crashed`
    says why the simulator itself failed: errored. Else the case passes where the states are equal. `raised` is what a
    simulated tool that may change something raised on the candidate's call: failed, unless the state that was to be
    reached by changes was reached all the same.
    """
    if crashed is not None:
        return Execution(Verdict("errored", None, f"The simulator failed: {_cut(crashed.removeprefix(FAILED))}."))
    if expected is None:
        return Execution(NO_EXPECTED_STATE)
    refused = "" if raised is None else f"The tool refused the call when it was run: {_cut(raised)}."
    if final is None:
        return Execution(Verdict("failed", 0.0, refused)) if refused else Execution(NO_FINAL_STATE)
    diff = state_diff(initial, expected, final)
    if diff:
        return Execution(Verdict("failed", 0.0, " ".join(filter(None, (refused, _reason(diff))))), diff)
    if refused and (initial is None or same(initial, expected)):
        # Nothing was to change, and the candidate tried to change something.
        return Execution(Verdict("failed", 0.0, refused), diff)
    return Execution(Verdict("passed", 1.0, "The final state is the expected one."), diff)


def grade_effect(effect: Effect) -> Execution:
    """Grade what calls did to their world, by `grade_execution`.

    Of several expected states the one that differs least from the final one counts.
    """
    if effect.silent and effect.crashed is None:
        return Execution(Verdict("unscored", None, effect.silent))
    executions = (
        grade_execution(effect.initial, expected, effect.final, raised=effect.raised, crashed=effect.crashed)
        for expected in effect.expected or (None,)
    )
    return min(executions, key=lambda execution: len(execution.diff or ()))


def _longer_than_kept(value: object) -> bool:
    return len(shown(value, LONGEST_KEPT + 1)) > LONGEST_KEPT


def _kind(difference: Difference) -> StateDifferenceKind:
    if same(difference.initial, difference.expected):
        return "polluted"
    if difference.actual is ABSENT or same(difference.initial, difference.actual):
        return "missing"
    return "wrong" if difference.expected is not ABSENT else "polluted"


def _reason(diff: StateDiff) -> str:
    every = diff.all
    said = "; ".join(_said(difference) for difference in every[:_NAMED])
    rest = len(every) - _NAMED
    return f"The final state is not the expected one: {said}{f'; and {rest:,} more' if rest > 0 else ''}."


def _said(difference: StateDifference) -> str:
    where = difference.path if len(difference.path) <= _LONGEST_PATH else f"{difference.path[:_LONGEST_PATH]}…"
    where = where or "the state"
    if difference.actual is ABSENT:
        return f"{where} is missing"
    if difference.expected is ABSENT:
        return f"{where} should not be there"
    should = "should have stayed" if difference.kind == "polluted" else "should be"
    return f"{where} {should} {_value(difference.expected)} and is {_value(difference.actual)}"


def _value(value: object) -> str:
    return shown(value, _LONGEST_VALUE)


def _cut(text: str) -> str:
    line = " ".join(text[:400].split())
    return (line if len(line) <= 200 else f"{line[:200]}…").rstrip(".")
