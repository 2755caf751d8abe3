"""Work out what changed in what conversations take, on the examples that both runs hold: money, tokens and time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from reports.compare.layers import ALPHA
from reports.compare.metrics import Values, has_moved
from reports.compare.queries import TwoRuns
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.comparison import Comparison, compare_alike, holm
from toolevals.grading.metrics.rates import Interval
from toolevals.runs.aggregates.spending import Spending
from toolevals.runs.models import CaseGrade

# What a conversation takes, and its unit.
UNITS: Final[Mapping[str, str]] = {"cost": "money", "tokens": "tokens", "latency": "ms"}


@dataclass(frozen=True, slots=True)
class SpendingDelta:
    """The mean of what a conversation takes in both runs, over the examples of which both say it, compared in pairs.

    `p_holm` is adjusted over all that is compared.
    """

    name: str
    compared: Comparison
    p_holm: float | None = None

    @property
    def unit(self) -> str:
        return UNITS[self.name]

    @property
    def stands(self) -> bool:
        """Return whether the change stands after the correction, in examples enough to tell."""
        return self.p_holm is not None and self.p_holm < ALPHA and self.compared.examples >= FEWEST_EXAMPLES


def spending_deltas(values: Mapping[str, Mapping[tuple[Values, Values], int]]) -> tuple[SpendingDelta, ...]:
    """Return a row for each of UNITS that both runs say of an example.

    `values` are, by what is taken, (amounts before, amounts after) -> how many examples have these.
    """
    rows = [SpendingDelta(name, compare_amounts(values[name])) for name in UNITS if name in values]
    known = [row for row in rows if row.compared.examples]
    adjusted = holm([row.compared.p_value for row in known])
    return tuple(replace(row, p_holm=p_value) for row, p_value in zip(known, adjusted, strict=True))


def compare_amounts(alike: Mapping[tuple[Values, Values], int]) -> Comparison:
    """Return the comparison of amounts, which have no upper end.

    They are compared as parts of the largest difference of an example, so that differences are in -1..1, and where no
    example differs as parts of the largest amount.
    """
    means = [(fmean(known[0]), fmean(known[1])) for pair in alike if all(known := [_known(side) for side in pair])]
    unit = max((abs(after - before) for before, after in means), default=0.0)
    unit = unit or max((before for before, _ in means), default=0.0) or 1.0
    scaled: Counter[tuple[Values, Values]] = Counter()
    for (before, after), count in alike.items():
        scaled[_parts(before, unit), _parts(after, unit)] += count
    found = compare_alike(scaled)
    if found.before is None or found.after is None or found.difference is None:
        return found
    interval = found.interval
    return replace(
        found,
        before=found.before * unit,
        after=found.after * unit,
        difference=found.difference * unit,
        interval=None if interval is None else Interval(interval.low * unit, interval.high * unit),
        spread=None if found.spread is None else found.spread * unit,
    )


def _known(amounts: Values) -> list[float]:
    return [amount for amount in amounts if amount is not None]


def _parts(amounts: Values, unit: float) -> Values:
    return tuple(None if amount is None else amount / unit for amount in amounts)


_COLUMNS: Final = ("cost", "tokens_in", "tokens_out", "latency_ms")
# Of each trial of an example its money, tokens and time, as UNITS.
_Taken = tuple[tuple[float | None, float | None, float | None], ...]


def compared_spending(runs: TwoRuns) -> tuple[SpendingDelta, ...]:
    """Return the change in what conversations take. Every transcript's columns are read for it, and it is kept."""
    if not both_say(runs):
        return ()
    return runs.kept("spending", lambda: _deltas(runs))


def both_say(runs: TwoRuns) -> bool:
    """Return whether both runs say anything of what their conversations took."""
    said = [grading.spending for grading in runs.gradings]
    return all(each is not None and Spending.from_document(each).says_of_conversations for each in said)


def spending_places(runs: TwoRuns, name: str, how: str) -> tuple[int, Iterator[tuple[int, int]]]:
    """Return the places of examples whose conversations took more (`rose`), less (`fell`), or either.

    `left_out` are those of which one of the runs does not say it.
    """
    at = tuple(UNITS).index(name)
    before, after = _sides(runs)
    places = []
    for place, pair in enumerate(runs.pairs):
        first, second = (tuple(taken[at] for taken in side.get(place, ())) for side in (before, after))
        if has_moved(how, first, second):
            places.append(pair)
    return len(places), iter(places)


def _deltas(runs: TwoRuns) -> tuple[SpendingDelta, ...]:
    before, after = _sides(runs)
    values: dict[str, Counter[tuple[Values, Values]]] = {name: Counter() for name in UNITS}
    for place in range(len(runs.pairs)):
        for at, counted in enumerate(values.values()):
            first, second = (tuple(taken[at] for taken in side.get(place, ())) for side in (before, after))
            counted[first, second] += 1
    return spending_deltas(values)


def _sides(runs: TwoRuns) -> list[Mapping[int, _Taken]]:
    """Return what the trials of each example took in either run, by its place among those compared."""
    sides: list[Mapping[int, _Taken]] = []
    for side, grading in enumerate(runs.gradings):
        places = runs.places(side)
        found: defaultdict[int, _Taken] = defaultdict(tuple)
        rows = CaseGrade.objects.filter(grading=grading).order_by("transcript__trial")
        columns = (f"transcript__{name}" for name in _COLUMNS)
        for position, cost, into, out, latency in rows.values_list("transcript__entry__position", *columns).iterator():
            if (place := places.get(position)) is not None:
                tokens = None if into is None or out is None else into + out
                found[place] += ((cost, tokens, latency),)
        sides.append(found)
    return sides
