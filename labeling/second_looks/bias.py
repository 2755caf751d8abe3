"""Tell how often each person goes over to a proposal: to right ones, to wrong ones, and to those wrong on purpose.

Only of examples that have gold: whether a proposal is right is what the gold says of it. What reviewers said after
seeing one is told to the people who decide: unnamed, in an order that says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.models import Dataset, LookAnswer, Revision, SecondLook
from labeling.second_looks.pending_second_looks import accepts
from toolevals.grading.metrics.rates import wilson
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonObject
from toolevals.presentation.csv import Cell
from toolevals.presentation.numbers import percent, span
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import Role, User

KINDS: Final = {"right": "right", "wrong": "wrong", "planted": "wrong on purpose"}
BIAS_CSV: Final = ("reviewer_id", "reviewer", "proposals", "shown", "went_over", "rate", "low", "high")


@dataclass(frozen=True, slots=True)
class GoingOver:
    """The number of times that a person went over to proposals of one kind, and of those shown and answered."""

    kind: str
    shown: int
    went_over: int

    @property
    def rate(self) -> float | None:
        return self.went_over / self.shown if self.shown else None

    @property
    def words(self) -> str:
        return percent(self.rate)

    @property
    def span(self) -> str:
        if not self.shown:
            return ""
        interval = wilson(self.went_over, self.shown)
        return span(interval.low, interval.high)


@dataclass(frozen=True, slots=True)
class ReviewerBias:
    """One person's figures, in the order of KINDS."""

    reviewer: UUID
    name: str
    kinds: tuple[GoingOver, ...]


def bias_of(dataset: Dataset) -> list[ReviewerBias]:
    """Return the figures of everyone who has answered second looks of a dataset, by name."""
    names: dict[UUID, str] = {}
    shown: Counter[tuple[UUID, str]] = Counter()
    over: Counter[tuple[UUID, str]] = Counter()
    looks = SecondLook.objects.measured_in(dataset)
    for look in looks.select_related("reviewer", "proposal", "revision__gold", "revision__tools").iterator():
        kind = _kind(look)
        if look.reviewer is None or kind is None:
            continue
        names[look.reviewer.pk] = look.reviewer.name
        shown[look.reviewer.pk, kind] += 1
        over[look.reviewer.pk, kind] += look.answer == LookAnswer.WENT_OVER
    return [
        ReviewerBias(pk, name, tuple(GoingOver(kind, shown[pk, kind], over[pk, kind]) for kind in KINDS))
        for pk, name in sorted(names.items(), key=lambda each: (each[1].casefold(), str(each[0])))
    ]


def bias_lines(rows: Sequence[ReviewerBias]) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of BIAS_CSV."""
    for row in rows:
        for each in row.kinds:
            ends = wilson(each.went_over, each.shown) if each.shown else None
            low, high = (ends.low, ends.high) if ends else (None, None)
            yield str(row.reviewer), row.name, each.kind, each.shown, each.went_over, each.rate, low, high


def _kind(look: SecondLook) -> str | None:
    """Return what a proposal was in the light of the gold; None for one planted that turned out right."""
    gold = look.revision.gold
    is_right = gold is not None and accepts(gold.expectation, look.proposal.expectation, tools_in(look.revision.tools))
    if look.proposal.is_planted:
        return None if is_right else "planted"
    return "right" if is_right else "wrong"


@dataclass(frozen=True, slots=True)
class LookRemark:
    """One reviewer went over to an expectation after seeing it proposed, and perhaps said why."""

    expectation: JsonObject
    remark: str

    @property
    def words(self) -> ExpectationWords:
        return expectation_words(self.expectation)


def second_look_remarks(revision: Revision, user: User, role: Role) -> list[LookRemark]:
    """Return the second looks that differ from their labels, for who may compare the labels of a revision."""
    looks = SecondLook.objects.remarks_on(revision, user, role)
    remarks = [LookRemark(look.proposal.expectation, look.remark) for look in looks]
    return sorted(remarks, key=lambda one: canonical([one.expectation, one.remark]))
