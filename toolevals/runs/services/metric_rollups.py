"""Count the values of each metric, so that a page costs metrics and not cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.db.models import Count

from toolevals.grading.gates.case_table import Scores, chained
from toolevals.grading.metrics.means import counted_mean
from toolevals.runs.counts.case_values import measured_case, metric_names
from toolevals.runs.models import CaseGrade, Grading

METRIC_COLUMNS: Final = (
    "grading_id",
    "metric",
    "passed",
    "failed",
    "unscored",
    "errored",
    "mean",
    "low",
    "high",
    "examples",
)
_CHUNK = 2000
# The texts of an example's trials -> how many examples have these.
_Texts = Mapping[tuple[str, ...], int]


def metric_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each metric of a grading, in the order of METRIC_COLUMNS; none in one from before."""
    names = metric_names(grading.graders)
    texts = _texts(grading) if names else {}
    for name in names:
        statuses: Counter[str] = Counter()
        outcomes: Counter[Scores] = Counter()
        for trials, count in texts.items():
            values = [measured_case(text, names).metrics[name] for text in trials if text]
            for status, _ in values:
                statuses[status] += count
            outcomes[tuple(value for _, value in values)] += count
        mean = counted_mean(outcomes)
        low, high = (mean.interval.low, mean.interval.high) if mean.interval else (None, None)
        counts = (statuses[each] for each in METRIC_COLUMNS[2:6])
        yield grading.pk, name, *counts, mean.value, low, high, mean.count


def _texts(grading: Grading) -> _Texts:
    cases = CaseGrade.objects.filter(grading=grading).order_by()
    if grading.run.trials < 2:
        counted = cases.values_list("measured").annotate(count=Count("pk"))
        return {(text,): count for text, count in counted.iterator(chunk_size=_CHUNK)}
    starts = {position: place for place, position in enumerate(grading.run.positions)}
    known: dict[str, int] = {}
    rows = cases.values_list("transcript__entry__position", "measured").iterator(chunk_size=_CHUNK)
    by_place, patterns = chained(
        len(starts),
        ((starts[position], known.setdefault(text, len(known))) for position, text in rows if position in starts),
    )
    texts = list(known)
    counts = Counter(by_place)
    return {tuple(texts[number] for number in patterns[each]): count for each, count in counts.items()}
