"""Makes the tables that end a grading on the command line: rates, metrics, what went wrong, and each tool."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from toolevals.cli.grade_tables import RATES, STATUSES, counted, rates, stacked, table
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.engine.grader_catalog import GRADERS
from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.grading.metrics.confusion import ConfusionMatrix


class Brief(NamedTuple):
    """The counted part of a graded row: statuses in the order of GRADERS, and each metric's status and value."""

    id: str
    statuses: tuple[str, ...]
    mode: str
    cell: tuple[str, str]
    metrics: Mapping[str, tuple[str, float | None]]


def summary_of(briefs: Iterable[Brief]) -> str:
    """Return rates by grader, the metrics' means, what went wrong, and each tool's precision and recall."""
    statuses: dict[str, Counter[str]] = {name: Counter() for name in GRADERS}
    # What is distinct among cases, and by example which of it its trials are.
    distinct: dict[tuple[str, ...], int] = {}
    examples: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
    modes: Counter[str] = Counter()
    cells: Counter[tuple[str, str]] = Counter()
    metrics: dict[str, list[tuple[str, float | None]]] = {name: [] for name in METRICS}
    for case in briefs:
        for name, verdict in case.metrics.items():
            metrics[name].append(verdict)
        for name, status in zip(GRADERS, case.statuses, strict=True):
            statuses[name][status] += 1
        examples[case.id].append(distinct.setdefault(case.statuses, len(distinct)))
        modes[case.mode] += 1
        cells[case.cell] += 1
    del modes[""], cells["", ""]
    sums = _sums(list(distinct), Counter(tuple(sorted(trials)) for trials in examples.values()))
    return stacked(
        (
            table(RATES, (rates(name, counts, sums[name]) for name, counts in statuses.items())),
            table(("metric", *STATUSES, "mean"), (_metric(name, each) for name, each in metrics.items() if each)),
            counted(("what went wrong", "cases"), modes),
            table(("tool", "expected", "called", "precision", "recall", "F1"), _tools(cells)),
        )
    )


def _sums(distinct: Sequence[tuple[str, ...]], examples: Mapping[tuple[int, ...], int]) -> dict[str, ExampleSums]:
    """Return the sums over examples of each grader, from how many examples have which of the distinct trials."""
    tallies: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in GRADERS}
    for trials, count in examples.items():
        for name, said in zip(GRADERS, zip(*map(distinct.__getitem__, trials), strict=True), strict=True):
            passed = said.count("passed")
            tallies[name][passed + said.count("failed"), passed] += count
    return {name: ExampleSums.of(each) for name, each in tallies.items()}


def _metric(name: str, said: Sequence[tuple[str, float | None]]) -> tuple[str, ...]:
    values = [value for _, value in said if value is not None]
    counts = Counter[str](status for status, _ in said)
    mean = f"{sum(values) / len(values):.3f}" if values else ""
    return name, *(str(counts[status]) for status in STATUSES), mean


def _tools(cells: Counter[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    for each in ConfusionMatrix(cells).per_class:
        shares = ("" if share is None else f"{share:.3f}" for share in (each.precision, each.recall, each.f1))
        yield each.name, str(each.support), str(each.predicted), *shares
