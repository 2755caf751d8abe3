"""Work out the agreement of every pair of first labels, in figures that reveal no single pair.

Examples on which people agree are resolved at once, and those on which they differ wait for an adjudicator. So the
share of resolved examples alone is too high. Here every pair counts as soon as neither label can be changed. Pairs join
the figures twenty at a time, so that no one reads from a change of a figure whether one pair agreed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from labeling.agreement.figures import Measures, measures
from labeling.agreement.units import RatedLabel, Unit

BLOCK = 20
# Of a person's label in a round: when its newest version was submitted.
Submitted = Mapping[tuple[UUID, int, UUID | None], datetime]


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The figures of `counted` pairs, a multiple of BLOCK. `waiting` pairs wait until their block is full."""

    counted: int
    waiting: int
    tool: Measures
    whole: Measures


def pair_figures(labels: Iterable[RatedLabel], changed: Submitted, until: datetime) -> PairFigures:
    """Return the figures of the full blocks.

    `changed` holds the labels that were changed. `until`: what was submitted later can still be changed.
    """
    pairs = _pairs(labels, changed, until)
    counted = pairs[: len(pairs) - len(pairs) % BLOCK]
    return PairFigures(
        len(counted),
        len(pairs) - len(counted),
        measures(counted, lambda label: label.tool),
        measures(counted, lambda label: label.meaning),
    )


def _pairs(labels: Iterable[RatedLabel], changed: Submitted, until: datetime) -> list[Unit]:
    """Return the first two labels of each round, in the order in which the second was submitted."""
    rounds: dict[tuple[UUID, int], list[tuple[datetime, RatedLabel]]] = {}
    for label in labels:
        submitted = max(label.at, changed.get((label.revision, label.round, label.reviewer), label.at))
        if submitted <= until:
            rounds.setdefault((label.revision, label.round), []).append((submitted, label))
    pairs = []
    for submitted_labels in rounds.values():
        first_two = sorted(submitted_labels)[:2]
        if len(first_two) == 2:
            pairs.append((first_two[1][0], Unit(tuple(sorted(label for _, label in first_two)))))
    return [pair for _, pair in sorted(pairs, key=lambda one: (one[0], one[1].revision, one[1].round))]
