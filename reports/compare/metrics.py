"""Work out what changed in the metrics of whole cases, on the examples that both runs hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from reports.compare.layers import ALPHA
from reports.compare.queries import TwoRuns
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.comparison import Comparison, compare_alike, holm
from toolevals.runs.aggregates.packed_cases import measured_case, metric_names
from toolevals.runs.models import CaseGrade, Grading

# A metric's value in each trial of an example; None where it is not scored.
Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class MetricDelta:
    """The mean of a metric in both runs, over the examples that both scored, compared in pairs.

    `versions` are those of the metric in the two gradings. `p_holm` is adjusted over all metrics.
    """

    name: str
    versions: tuple[str, str]
    compared: Comparison
    p_holm: float | None = None

    @property
    def version_before(self) -> str:
        return self.versions[0]

    @property
    def version_after(self) -> str:
        return self.versions[1]

    @property
    def stands(self) -> bool:
        """Return whether the change stands after the correction, in examples enough to tell."""
        return self.p_holm is not None and self.p_holm < ALPHA and self.compared.examples >= FEWEST_EXAMPLES

    @property
    def caution(self) -> str:
        """Return why a change may be the metric's own; empty where the same version measured both."""
        before, after = self.versions
        return (
            "" if before == after else (f"version {before}, now {after}: the metric changed, not necessarily the agent")
        )

    @property
    def sentence(self) -> str:
        """Return what it measures."""
        metric = METRICS.get(self.name)
        return metric.sentence if metric else ""


def metric_deltas(
    versions: Mapping[str, tuple[str, str]], values: Mapping[str, Mapping[tuple[Values, Values], int]]
) -> tuple[MetricDelta, ...]:
    """Return a row for each metric that both runs scored in an example, in the order of `versions`.

    `values` are, by metric, (values before, values after) -> how many examples have these.
    """
    rows = [MetricDelta(name, versions[name], compare_alike(values[name])) for name in versions]
    scored = [row for row in rows if row.compared.examples]
    adjusted = holm([row.compared.p_value for row in scored])
    return tuple(replace(row, p_holm=p_value) for row, p_value in zip(scored, adjusted, strict=True))


_SCORED: Final = ("passed", "failed")
_UP, _DOWN = ("fixed", "rose"), ("broken", "fell")
# Of each trial of an example the text of its values.
_Texts = tuple[str, ...]


def compared_metrics(runs: TwoRuns) -> tuple[MetricDelta, ...]:
    """Return the change of each metric that both gradings measured. Every case is read for it, and it is kept."""
    return runs.kept("metrics", lambda: _deltas(runs))


def metric_places(runs: TwoRuns, metric: str, how: str) -> tuple[int, Iterator[tuple[int, int]]]:
    """Return the places of examples in which a metric's mean rose (`fixed`), fell (`broken`), or either.

    `left_out` are those that it did not score in one of the runs.
    """
    if metric not in shared_metrics(runs):
        return 0, iter(())
    sides = _sides(runs)
    places = []
    for place, pair in enumerate(runs.pairs):
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
        (before.get(place, ()), after.get(place, ())) for place in range(len(runs.pairs))
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
    return [
        (metric_names(grading.graders), _texts(grading, runs.places(side)))
        for side, grading in enumerate(runs.gradings)
    ]


def _texts(grading: Grading, places: Mapping[int, int]) -> dict[int, _Texts]:
    by_example: defaultdict[int, list[str]] = defaultdict(list)
    rows = CaseGrade.objects.filter(grading=grading).order_by()
    for position, text in rows.values_list("transcript__entry__position", "measured").iterator():
        if (place := places.get(position)) is not None:
            by_example[place].append(text)
    # In any order, so that examples that are alike are counted together.
    return {place: tuple(sorted(texts)) for place, texts in by_example.items()}


def _values(names: tuple[str, ...], metric: str, texts: _Texts) -> Values:
    values = (measured_case(text, names).metrics.get(metric) for text in texts)
    return tuple(value[1] if value is not None and value[0] in _SCORED else None for value in values)
