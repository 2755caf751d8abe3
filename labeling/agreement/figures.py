"""Work out the agreement of every pair of first labels, in figures that reveal no single pair.

Examples on which people agree are resolved at once, and those on which they differ wait for an adjudicator. So the
share of resolved examples alone is too high. Here every pair counts as soon as neither label can be changed. Pairs join
the figures twenty at a time, so that no one reads from a change of a figure whether one pair agreed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from uuid import UUID

from labeling.agreement.units import RatedLabel, Unit
from toolevals.grading.metrics.agreement import gwet_ac1, krippendorff_alpha, mean_cohen_kappa, percent_agreement
from toolevals.grading.metrics.rates import Estimate

Ratings = Mapping[tuple[str, ...], int]


BLOCK = 20
# Of a person's label in a round: when its newest version was submitted.
Submitted = Mapping[tuple[UUID, int, UUID | None], datetime]


@dataclass(frozen=True, slots=True)
class Measures:
    """One thing compared. `kappa` is None where labels have no classes that recur, as arguments have not."""

    percent: Estimate
    kappa: Estimate | None
    alpha: Estimate
    ac1: Estimate


@dataclass(frozen=True, slots=True)
class ArgumentMeasures:
    """One argument of one tool, where two labels or more choose the tool; `differ`: units in which not all agree."""

    tool: str
    argument: str
    differ: int
    measures: Measures


def measures(units: Iterable[Unit], answer_of: Callable[[RatedLabel], str]) -> Measures:
    """Return the agreement of units in what `answer_of` gives for a label."""
    compared = [unit for unit in units if unit.is_compared]
    ratings = _ordered(Counter(tuple(sorted(map(answer_of, unit.labels))) for unit in compared))
    return Measures(
        percent_agreement(ratings),
        mean_cohen_kappa(_by_pair(compared, answer_of).values()),
        krippendorff_alpha(ratings, resamples=0),
        gwet_ac1(ratings),
    )


def argument_measures(units: Iterable[Unit]) -> list[ArgumentMeasures]:
    """Return the agreement in each argument, what differs most often first; classes are what the argument must be."""
    answers: dict[tuple[str, str], Counter[tuple[str, ...]]] = {}
    for unit in units:
        for tool, name, said in unit.arguments():
            answers.setdefault((tool, name), Counter())[said] += 1
    rows = [
        ArgumentMeasures(tool, name, _differing(ratings), _free(ratings)) for (tool, name), ratings in answers.items()
    ]
    return sorted(rows, key=lambda row: (-row.differ, row.tool, row.argument))


def all_arguments(units: Iterable[Unit]) -> Measures:
    """Return the agreement in all arguments together, of labels that agree on the tool."""
    ratings: Counter[tuple[str, ...]] = Counter(
        tuple(sorted(_whole(label) for label in same)) for unit in units for same in unit.same_tool()
    )
    return _free(ratings)


def cells(units: Iterable[Unit]) -> Counter[tuple[str, str]]:
    """Return the number of units in which one label chose one tool and another the other; names are in order."""
    counts: Counter[tuple[str, str]] = Counter()
    for unit in units:
        counts.update(set(combinations(unit.tools, 2)))
    return counts


def pair_cells(units: Iterable[Unit], reviewer: UUID, other: UUID) -> Counter[tuple[str, str]]:
    """Return how often the one person chose a tool where the other chose another: (the one's, the other's)."""
    counts: Counter[tuple[str, str]] = Counter()
    for unit in units:
        one, two = unit.of(reviewer), unit.of(other)
        if one is not None and two is not None:
            counts[one.tool, two.tool] += 1
    return counts


def _by_pair(
    units: Sequence[Unit], answer_of: Callable[[RatedLabel], str]
) -> dict[tuple[UUID, UUID], Counter[tuple[str, str]]]:
    """Return what every two people said of the same, by the two."""
    counts: dict[tuple[UUID, UUID], Counter[tuple[str, str]]] = {}
    for unit in units:
        known = sorted((label.reviewer, answer_of(label)) for label in unit.labels if label.reviewer is not None)
        for (one, first), (two, second) in combinations(known, 2):
            counts.setdefault((one, two), Counter())[first, second] += 1
    return counts


def _free(ratings: Ratings) -> Measures:
    """Return the agreement in values that hardly recur: two people's marginals say nothing, so there is no kappa."""
    ratings = _ordered(ratings)
    alpha = krippendorff_alpha(ratings, resamples=0)
    return Measures(percent_agreement(ratings), None, alpha, gwet_ac1(ratings))


def _ordered(ratings: Ratings) -> Ratings:
    """Return ratings in an order of their own, so that sums of floats come out the same on every database."""
    return dict(sorted(ratings.items()))


def _differing(ratings: Ratings) -> int:
    return sum(count for said, count in ratings.items() if len(set(said)) > 1)


def _whole(label: RatedLabel) -> str:
    return repr([(tool, sorted(named.items())) for tool, named in sorted(label.arguments.items())])


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
