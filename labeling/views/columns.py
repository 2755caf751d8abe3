"""What was said about an example that waits for a decision: one column for each meaning, two of them shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.blindness import TO_DECIDE, Side, sides_of, skip_reasons_of
from labeling.comparison import answer_words
from labeling.meaning import groups
from labeling.models import Adjudication, Dispute, LabelAnswer, Revision
from toolevals.grading.canonical import canonical
from toolevals.workspace.models import Role, User

LETTERS = "ABCDE"


@dataclass(frozen=True, slots=True)
class Column:
    """Labels of one meaning, unnamed; or the gold in force, or what a dispute would have instead."""

    letter: str
    answer: str
    expectation: dict[str, Any] | None
    rationales: tuple[str, ...]
    # How many people said so.
    count: int = 1
    flagged: bool = False
    # How long each of them took, where that is known.
    times: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return answer_words(self)


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


def sides_for(revision: Revision, user: User, role: Role, *, asked: Mapping[str, str]) -> Sides | None:
    """Return what is to be decided; None where this person may not decide.

    `asked`: which columns to compare, as `left` and `right`; the first two unless told.
    """
    dispute = Dispute.objects.filter(revision=revision).open().order_by("id").first()
    if dispute is not None and revision.resolution not in TO_DECIDE:
        return Sides(tuple(_disputed(revision, dispute)), dispute=dispute)
    columns = tuple(_columns(sides_of(revision, user, role)))
    skips = skip_reasons_of(revision, user, role)
    if not columns and not skips:
        return None
    left, right = _asked(asked.get("left", ""), columns), _asked(asked.get("right", ""), columns)
    if left is None or right is None or left == right:
        left, right = 0, 1
    return Sides(columns, left, right, skips=skips)


def _columns(sides: Sequence[Side]) -> list[Column]:
    found = sorted(groups(sides), key=len, reverse=True)
    return [
        Column(
            LETTERS[place],
            group[0].answer,
            group[0].expectation,
            tuple(side.rationale for side in group if side.rationale),
            len(group),
            any(side.flagged for side in group),
            tuple(time_words(side.seconds) for side in group if side.seconds),
        )
        for place, group in enumerate(found)
    ]


def time_words(seconds: float) -> str:
    """Return how long something took, to the second: "38 s", "1 min 52 s"."""
    minutes, rest = divmod(max(round(seconds), 1), 60)
    return " ".join(f"{number:,} {unit}" for number, unit in ((minutes, "min"), (rest, "s")) if number)


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
    return int(text) if text.isascii() and text.isdigit() and int(text[:3]) < len(columns) else None
