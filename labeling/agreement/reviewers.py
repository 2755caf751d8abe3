"""Compare each reviewer with the adjudicators' decisions. Plain values in and out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from uuid import UUID

from labeling.agreement.periods import share
from labeling.agreement.units import RatedLabel, Unit
from toolevals.grading.metrics.rates import Estimate


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
