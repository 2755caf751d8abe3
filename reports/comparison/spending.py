"""Compare what conversations take in two runs: read of the transcripts' columns, paired by example."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from django.core.cache import cache

from reports.analyses.compared.metrics import Values
from reports.analyses.compared.spending import UNITS, SpendingDelta, spending_deltas
from reports.comparison.metrics import has_moved
from reports.comparison.part import every_pair
from toolevals.runs.aggregates.spending import Spending
from toolevals.runs.models import CaseGrade

if TYPE_CHECKING:
    from reports.comparison.runs import TwoRuns

_KEPT: Final = 24 * 3600
_COLUMNS: Final = ("cost", "tokens_in", "tokens_out", "latency_ms")
# Of each trial of an example its money, tokens and time, as UNITS.
_Taken = tuple[tuple[float | None, float | None, float | None], ...]


def compared_spending(runs: TwoRuns) -> tuple[SpendingDelta, ...]:
    """Return the change in what conversations take. Every transcript's columns are read for it, and it is kept."""
    if not both_say(runs):
        return ()
    if runs.part.conditions:
        return _deltas(runs)
    key = f"reports:compared-spending:{runs.gradings[0].pk}:{runs.gradings[1].pk}"
    deltas: tuple[SpendingDelta, ...] | None = cache.get(key)
    if deltas is None:
        deltas = _deltas(runs)
        cache.set(key, deltas, timeout=_KEPT)
    return deltas


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
    for place, pair in enumerate(every_pair(runs, runs.paired.pairs)):
        first, second = (tuple(taken[at] for taken in side.get(place, ())) for side in (before, after))
        if has_moved(how, first, second):
            places.append(pair)
    return len(places), iter(places)


def _deltas(runs: TwoRuns) -> tuple[SpendingDelta, ...]:
    before, after = _sides(runs)
    values: dict[str, Counter[tuple[Values, Values]]] = {name: Counter() for name in UNITS}
    for place in range(runs.paired.examples):
        for at, counted in enumerate(values.values()):
            first, second = (tuple(taken[at] for taken in side.get(place, ())) for side in (before, after))
            counted[first, second] += 1
    return spending_deltas(values)


def _sides(runs: TwoRuns) -> list[Mapping[int, _Taken]]:
    """Return what the trials of each example took in either run, by its place among those compared."""
    pairs = every_pair(runs, runs.paired.pairs)
    sides: list[Mapping[int, _Taken]] = []
    for side, (grading, run) in enumerate(zip(runs.gradings, (runs.before, runs.after), strict=True)):
        places = {run.positions[pair[side]]: place for place, pair in enumerate(pairs)}
        found: defaultdict[int, _Taken] = defaultdict(tuple)
        rows = CaseGrade.objects.filter(grading=grading).order_by("transcript__trial")
        columns = (f"transcript__{name}" for name in _COLUMNS)
        for position, cost, into, out, latency in rows.values_list("transcript__entry__position", *columns).iterator():
            if (place := places.get(position)) is not None:
                tokens = None if into is None or out is None else into + out
                found[place] += ((cost, tokens, latency),)
        sides.append(found)
    return sides
