"""Turn labels into units, and compare them over time and with the adjudicators' decisions. Plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from statistics import median
from typing import NamedTuple
from uuid import UUID

from labeling.agreement.filters import Filters
from toolevals.grading.metrics.rates import Estimate, wilson

# Up to so many days from the first to the last they are told day by day, else week by week.
MOST_DAYS = 28
WEEK = 7
MOST_PERIODS = 52


class RatedLabel(NamedTuple):
    """A label that can be compared. `differs`: whether an adjudicator decided otherwise; None where none decided."""

    pk: UUID
    revision: UUID
    round: int
    reviewer: UUID | None
    tool: str
    meaning: str
    arguments: Mapping[str, Mapping[str, str]]
    at: datetime
    seconds: float
    differs: bool | None


@dataclass(frozen=True, slots=True)
class Unit:
    """The labels of one revision in one round, the oldest first."""

    labels: tuple[RatedLabel, ...]

    @property
    def revision(self) -> UUID:
        return self.labels[0].revision

    @property
    def round(self) -> int:
        return self.labels[0].round

    @property
    def at(self) -> datetime:
        """Return when the last of its labels came in."""
        return max(label.at for label in self.labels)

    @property
    def is_compared(self) -> bool:
        return len(self.labels) > 1

    @property
    def tools(self) -> tuple[str, ...]:
        """The tool choices, in the order of their names: who said what is not told by it."""
        return tuple(sorted(label.tool for label in self.labels))

    @property
    def meanings(self) -> tuple[str, ...]:
        return tuple(sorted(label.meaning for label in self.labels))

    @property
    def has_same_tool(self) -> bool:
        return len(set(self.tools)) == 1

    @property
    def has_same_label(self) -> bool:
        return len(set(self.meanings)) == 1

    def of(self, reviewer: UUID | None) -> RatedLabel | None:
        """Return a person's label."""
        return next((label for label in self.labels if label.reviewer == reviewer), None)

    def arguments(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Yield each argument of what at least two labels call: tool choice's tool, argument, what each label says.

        A label that does not name the argument says "".
        """
        for calls in self.same_tool():
            names = {(tool, name) for label in calls for tool, named in label.arguments.items() for name in named}
            for tool, name in sorted(names):
                yield tool, name, tuple(sorted(label.arguments.get(tool, {}).get(name, "") for label in calls))

    def same_tool(self) -> Iterator[list[RatedLabel]]:
        """Yield the labels that agree on the tool, where there are two or more and they call one."""
        groups: dict[str, list[RatedLabel]] = {}
        for label in self.labels:
            groups.setdefault(label.tool, []).append(label)
        yield from (found for found in groups.values() if len(found) > 1 and any(each.arguments for each in found))


def units_in(labels: Iterable[RatedLabel], filters: Filters) -> list[Unit]:
    """Return the units of labels, as far as the filters of time and of people let them, the oldest first.

    Those with a single label among them: there is nothing to compare with, but it can be compared with gold.
    """
    pair = {filters.reviewer, filters.other} if filters.is_pair else None
    grouped: dict[tuple[UUID, int], list[RatedLabel]] = {}
    for label in labels:
        if pair is None or label.reviewer in pair:
            grouped.setdefault((label.revision, label.round), []).append(label)
    units = [Unit(tuple(sorted(found))) for found in grouped.values()]
    return sorted((unit for unit in units if _admits(filters, unit)), key=lambda unit: (unit.at, unit.labels[0].pk))


def _admits(filters: Filters, unit: Unit) -> bool:
    if filters.reviewer is not None and unit.of(filters.reviewer) is None:
        return False
    if filters.other is not None and unit.of(filters.other) is None:
        return False
    day = unit.at.date()
    return (filters.since is None or filters.since <= day) and (filters.until is None or day <= filters.until)


@dataclass(frozen=True, slots=True)
class Period:
    """The units whose last label came in between two days, both included, and how far they agree on the tool."""

    since: date
    until: date
    same_tool: Estimate
    same_label: Estimate


def periods_of(units: Iterable[Unit]) -> list[Period]:
    """Return the newest days, or weeks from Monday to Sunday, in which units were labelled; the oldest first."""
    compared = sorted(((unit.at.date(), unit) for unit in units if unit.is_compared), key=lambda one: one[0])
    if not compared:
        return []
    is_short = (compared[-1][0] - compared[0][0]).days < MOST_DAYS
    length = 1 if is_short else WEEK
    periods = []
    for start, dated in groupby(compared, key=lambda one: one[0] if is_short else _monday(one[0])):
        periods.append(_period([unit for _, unit in dated], start, start + timedelta(days=length - 1)))
    return periods[-MOST_PERIODS:]


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _period(units: Sequence[Unit], since: date, until: date) -> Period:
    same_tool = sum(unit.has_same_tool for unit in units)
    same_label = sum(unit.has_same_label for unit in units)
    return Period(since, until, share(same_tool, len(units)), share(same_label, len(units)))


def share(part: int, whole: int) -> Estimate:
    """Return a proportion with Wilson's interval."""
    if not whole:
        return Estimate.undefined("nothing was counted")
    return Estimate(part / whole, wilson(part, whole), whole)


@dataclass(frozen=True, slots=True)
class ReviewerFigures:
    """One person: how many labels, in seconds (median), and of those that someone decided about how many are right."""

    reviewer: UUID
    labels: int
    seconds: float
    right_tool: Estimate
    right_label: Estimate


def reviewer_figures(units: Iterable[Unit], decided: Mapping[UUID, str]) -> list[ReviewerFigures]:
    """Return the figures of everyone who labelled; `decided` are the tools that adjudicators chose, by revision.

    What no one decided became gold because all agreed: it would count as right for everyone, and is left out.
    """
    by_person: dict[UUID, list[RatedLabel]] = {}
    for unit in units:
        for label in unit.labels:
            if label.reviewer is not None:
                by_person.setdefault(label.reviewer, []).append(label)
    return [_figures(person, labels, decided) for person, labels in sorted(by_person.items())]


def is_judged(label: RatedLabel, decided: Mapping[UUID, str]) -> bool:
    """Tell whether a label can be compared with a decision."""
    return label.differs is not None and label.revision in decided


def _figures(person: UUID, labels: list[RatedLabel], decided: Mapping[UUID, str]) -> ReviewerFigures:
    judged = [label for label in labels if is_judged(label, decided)]
    return ReviewerFigures(
        person,
        len(labels),
        median(label.seconds for label in labels),
        share(sum(label.tool == decided[label.revision] for label in judged), len(judged)),
        share(sum(not label.differs for label in judged), len(judged)),
    )
