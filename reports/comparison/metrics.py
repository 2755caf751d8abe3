"""Compare metrics of whole cases in two runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Final

from django.core.cache import cache

from reports.analyses.compared.metrics import MetricDelta, Values, metric_deltas
from reports.comparison.part import every_pair
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.runs.aggregates.packed_cases import measured_case, metric_names
from toolevals.runs.models import CaseGrade, Grading, Run

if TYPE_CHECKING:
    from reports.comparison.runs import TwoRuns

_KEPT: Final = 24 * 3600
_SCORED: Final = ("passed", "failed")
_UP, _DOWN = ("fixed", "rose"), ("broken", "fell")
# Of each trial of an example the text of its values.
_Texts = tuple[str, ...]


def compared_metrics(runs: TwoRuns) -> tuple[MetricDelta, ...]:
    """Return the change of each metric that both gradings measured. Every case is read for it, and it is kept."""
    if runs.part.conditions:
        return _deltas(runs)
    key = f"reports:compared-metrics:{runs.gradings[0].pk}:{runs.gradings[1].pk}"
    deltas: tuple[MetricDelta, ...] | None = cache.get(key)
    if deltas is None:
        deltas = _deltas(runs)
        cache.set(key, deltas, timeout=_KEPT)
    return deltas


def metric_places(runs: TwoRuns, metric: str, how: str) -> tuple[int, Iterator[tuple[int, int]]]:
    """Return the places of examples in which a metric's mean rose (`fixed`), fell (`broken`), or either.

    `left_out` are those that it did not score in one of the runs.
    """
    pairs = every_pair(runs, runs.paired.pairs)
    if metric not in shared_metrics(runs):
        return 0, iter(())
    sides = _sides(runs)
    places = []
    for place, pair in enumerate(pairs):
        before, after = (_values(grading, metric, side.get(place, ())) for grading, side in sides)
        if has_moved(how, before, after):
            places.append(pair)
    return len(places), iter(places)


def has_moved(how: str, before: Values, after: Values) -> bool:
    """Return whether an example's mean rose (`fixed` or `rose`), fell (`broken` or `fell`), either, or is not known."""
    means = [_mean(values) for values in (before, after)]
    if means[0] is None or means[1] is None:
        return how == "left_out"
    change = means[1] - means[0]
    return change > 0 if how in _UP else change < 0 if how in _DOWN else bool(change) and not how


def _mean(values: Values) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _deltas(runs: TwoRuns) -> tuple[MetricDelta, ...]:
    versions = shared_metrics(runs)
    (first, before), (second, after) = _sides(runs)
    alike: Counter[tuple[_Texts, _Texts]] = Counter(
        (before.get(place, ()), after.get(place, ())) for place in range(runs.paired.examples)
    )
    values: dict[str, Counter[tuple[Values, Values]]] = {name: Counter() for name in versions}
    for (one, other), count in alike.items():
        for name, counted in values.items():
            counted[_values(first, name, one), _values(second, name, other)] += count
    return metric_deltas(versions, values)


def shared_metrics(runs: TwoRuns) -> Mapping[str, tuple[str, str]]:
    """Return the version in either grading of each metric that both measured, in the order of METRICS."""
    sides = [{each["name"]: str(each["version"]) for each in grading.graders} for grading in runs.gradings]
    return {name: (sides[0][name], sides[1][name]) for name in METRICS if name in sides[0] and name in sides[1]}


def _sides(runs: TwoRuns) -> list[tuple[tuple[str, ...], Mapping[int, _Texts]]]:
    """Return the names of either run's metrics and, by an example's place among those compared, its texts."""
    pairs = every_pair(runs, runs.paired.pairs)
    places = [{pair[side]: place for place, pair in enumerate(pairs)} for side in range(2)]
    return [
        (metric_names(grading.graders), _texts(grading, run, known))
        for grading, run, known in zip(runs.gradings, (runs.before, runs.after), places, strict=True)
    ]


def _texts(grading: Grading, run: Run, places: Mapping[int, int]) -> dict[int, _Texts]:
    positions = {position: place for place, position in enumerate(run.positions)}
    by_example: defaultdict[int, list[str]] = defaultdict(list)
    rows = CaseGrade.objects.filter(grading=grading).order_by()
    for position, text in rows.values_list("transcript__entry__position", "measured").iterator():
        if (place := places.get(positions.get(position, -1))) is not None:
            by_example[place].append(text)
    # In any order, so that examples that are alike are counted together.
    return {place: tuple(sorted(texts)) for place, texts in by_example.items()}


def _values(names: tuple[str, ...], metric: str, texts: _Texts) -> Values:
    values = (measured_case(text, names).metrics.get(metric) for text in texts)
    return tuple(value[1] if value is not None and value[0] in _SCORED else None for value in values)
