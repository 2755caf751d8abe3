"""Turn labels into units: the answers of several people to one revision in one round. Plain values in and out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from labeling.agreement.filters import Filters


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
