"""Show what was said about an example that waits for a decision: one column for each meaning, two of them shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labeling.blindness import TO_DECIDE, Side, sides_of, skip_reasons_of
from labeling.expectations.comparison import answer_words
from labeling.expectations.meaning import groups
from labeling.models import Adjudication, Dispute, LabelAnswer, Revision
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonObject
from toolevals.workspace.models import Role, User
from toolevals.workspace.requests import whole_number

# Of five labels each may have been another first.
LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class Column:
    """Labels of one meaning, unnamed; or the gold in force, or what a dispute would have instead."""

    letter: str
    answer: str
    expectation: JsonObject | None
    rationales: tuple[str, ...]
    # How many people say so.
    count: int = 1
    flagged: bool = False
    # How many of them had said something else first, and how many others had said this first.
    changed: int = 0
    first: int = 0

    @property
    def words(self) -> str:
        return answer_words(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say which of its labels were changed after they were first submitted."""
        notes = []
        if self.changed:
            some = f"{self.changed} of {self.count} " if self.count > 1 else ""
            notes.append(f"{some}changed after first submitting")
        if self.first:
            others = f" by {self.first} other{'s' if self.first > 1 else ''}" if self.count else ""
            notes.append(f"first submitted{others}, then changed")
        return tuple(notes)


class SideAnswer(NamedTuple):
    """A side of a comparison, or what its author said first."""

    side: Side
    is_first: bool

    @property
    def answer(self) -> str:
        return self.side.answer

    @property
    def expectation(self) -> JsonObject | None:
        return self.side.expectation


@dataclass(frozen=True, slots=True)
class Sides:
    """Everything that was said, and which two columns are compared; there may be one, or none."""

    columns: tuple[Column, ...]
    left_at: int = 0
    right_at: int = 1
    # Set where what is in force (left) is disputed.
    dispute: Dispute | None = None
    # Why people passed it on.
    skips: Sequence[str] = ()

    @property
    def left(self) -> Column | None:
        return self.columns[self.left_at] if self.columns else None

    @property
    def right(self) -> Column | None:
        return self.columns[self.right_at] if len(self.columns) > 1 else None

    @property
    def token(self) -> str:
        """Name what is compared: choices made of other labels, or of other columns, do not count."""
        said = [[one.answer, one.expectation] for one in (self.left, self.right) if one is not None]
        return hashlib.sha256(canonical(said).encode()).hexdigest()[:16]

    @property
    def left_query(self) -> str:
        """Return the query that shows the next column on the left."""
        return f"?left={self._after(self.left_at, self.right_at)}&right={self.right_at}"

    @property
    def right_query(self) -> str:
        """Return the query that shows the next column on the right."""
        return f"?left={self.left_at}&right={self._after(self.right_at, self.left_at)}"

    def _after(self, place: int, other: int) -> int:
        turn = [(place + step) % len(self.columns) for step in range(1, len(self.columns))]
        return next((one for one in turn if one != other), place)


def sides_for(revision: Revision, user: User, role: Role, *, parameters: Mapping[str, str]) -> Sides | None:
    """Return what is to be decided; None where this person may not decide.

    `parameters`: which columns to compare, as `left` and `right`; the first two unless told.
    """
    dispute = Dispute.objects.filter(revision=revision).open().order_by("id").first()
    if dispute is not None and revision.resolution not in TO_DECIDE:
        return Sides(tuple(_disputed(revision, dispute)), dispute=dispute)
    columns = tuple(_columns(sides_of(revision, user, role)))
    skips = skip_reasons_of(revision, user, role)
    if not columns and not skips:
        return None
    left, right = _asked(parameters.get("left", ""), columns), _asked(parameters.get("right", ""), columns)
    if left is None or right is None or left == right:
        left, right = 0, 1
    return Sides(columns, left, right, skips=skips)


def _columns(sides: Sequence[Side]) -> list[Column]:
    """Return a column for each meaning: those of labels in force, the most frequent first, then what was said first."""
    firsts = [SideAnswer(side.first, is_first=True) for side in sides if side.first is not None]
    columns = groups([*(SideAnswer(side, is_first=False) for side in sides), *firsts])
    return [_column(LETTERS[place], group) for place, group in enumerate(sorted(columns, key=_in_force, reverse=True))]


def _column(letter: str, group: Sequence[SideAnswer]) -> Column:
    in_force = [said.side for said in group if not said.is_first]
    shown = in_force or [said.side for said in group]
    return Column(
        letter,
        shown[0].answer,
        shown[0].expectation,
        tuple(side.rationale for side in shown if side.rationale),
        len(in_force),
        any(side.flagged for side in in_force),
        sum(side.first is not None for side in in_force),
        len(group) - len(in_force),
    )


def _in_force(group: Sequence[SideAnswer]) -> int:
    return sum(not said.is_first for said in group)


def _disputed(revision: Revision, dispute: Dispute) -> list[Column]:
    gold = revision.gold
    if gold is not None:
        columns = [Column("", LabelAnswer.EXPECTATION.value, gold.expectation, (gold.rationale,))]
    else:
        columns = [Column("", revision.set_aside_as, None, (_set_aside_why(revision),))]
    if dispute.expectation is not None:
        columns.append(Column("", LabelAnswer.EXPECTATION.value, dispute.expectation, (dispute.reason,)))
    return columns


def _set_aside_why(revision: Revision) -> str:
    made = Adjudication.objects.filter(revision=revision, withdrawn_at=None).order_by("-id").first()
    return made.rationale if made is not None and made.expectation is None else ""


def _asked(text: str, columns: Sequence[Column]) -> int | None:
    number = whole_number(text)
    return number if number is not None and number < len(columns) else None
