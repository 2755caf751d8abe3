"""Sum over the examples of a grading, by verdict and by class of the matrix: what intervals of its rates need.

With one trial an example and one call a case every count is an example of its own, and nothing is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache

from toolevals.grading.metrics.clustered import ExampleSums, Rate, rate
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.counted_cases import Cell, ClassSums
from toolevals.runs.counts.packed_cases import LETTERS, Packed, Patterns, packed_cases
from toolevals.runs.models import Grading, VerdictCount

VerdictSums = dict[str, ExampleSums]
_A_DAY: Final = 24 * 3600
_PASSED, _FAILED = LETTERS["passed"], LETTERS["failed"]


def verdict_sums(gradings: Collection[UUID]) -> dict[UUID, VerdictSums]:
    """Return the sums of each verdict of the gradings with several trials an example, by their ids.

    A grading from before they were kept is summed up now.
    """
    if not gradings:
        return {}
    sums = {}
    rows = Grading.objects.filter(pk__in=gradings, run__trials__gt=1, finished_at__isnull=False)
    for pk, kept in rows.values_list("pk", "verdict_sums"):
        document = kept
        if document is None:
            grading = Grading.objects.select_related("run").get(pk=pk)
            document = verdict_sums_document(packed_cases(grading))
            Grading.objects.filter(pk=pk).update(verdict_sums=document)
        sums[pk] = {name: ExampleSums(*row) for name, row in document.items()}
    return sums


def verdict_rates(
    gradings: Collection[UUID], *columns: str, several: Collection[UUID] | None = None
) -> dict[UUID, dict[str, Rate]]:
    """Return the rates of the verdicts (all, unless some are named) that scored any case, by grading.

    `several` are those with several trials an example, where that is known.
    """
    names = columns or VERDICT_NAMES
    rows = VerdictCount.objects.filter(grading__in=gradings, column__in=names, value__in=("passed", "failed"))
    counts: defaultdict[tuple[UUID, str], Counter[str]] = defaultdict(Counter)
    for grading, column, value, count in rows.values_list("grading_id", "column", "value", "count"):
        counts[grading, column][value] = count
    sums = verdict_sums(gradings if several is None else several)
    rates: defaultdict[UUID, dict[str, Rate]] = defaultdict(dict)
    for name in names:
        for grading in gradings:
            if each := counts.get((grading, name)):
                whole = sums.get(grading, {}).get(name)
                rates[grading][name] = rate(each["passed"], each.total(), whole)
    return dict(rates)


def verdict_sums_document(packed: Packed) -> dict[str, list[int]]:
    """Return the sums of each verdict over the examples, as they are kept."""
    letters = [packed.letters_of(number) for number in range(len(packed.verdicts) + 1)]
    tallies: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in VERDICT_NAMES}
    for numbers, count in _counted(packed.outcome_patterns):
        for name, said in zip(VERDICT_NAMES, zip(*map(letters.__getitem__, numbers), strict=True), strict=False):
            passed = said.count(_PASSED)
            tallies[name][passed + said.count(_FAILED), passed] += count
    return {name: list(ExampleSums.of(each).to_row()) for name, each in tallies.items()}


def first_call_sums(grading: Grading) -> ClassSums:
    """Return the sums of each class of the matrix of first calls; nothing with one trial an example."""
    if grading.run.trials < 2:
        return {}
    key = f"runs:first-call-sums:{grading.pk}"
    sums: ClassSums | None = cache.get(key)
    if sums is None:
        packed = packed_cases(grading)
        cells: list[tuple[Cell, ...]] = [(), *((cell,) for cell in packed.cells)]
        patterns = (
            (sum(map(cells.__getitem__, numbers), ()), count) for numbers, count in _counted(packed.place_patterns)
        )
        sums = class_sums(patterns)
        cache.set(key, sums, timeout=_A_DAY)
    return sums


def class_sums(patterns: Iterable[tuple[Collection[Cell], int]]) -> ClassSums:
    """Return the sums of recall, precision and F1 of each class, of each cell, and of all under "accuracy" and "".

    `patterns` are the cells of an example's trials and calls, and how many examples have these.
    """
    tallies: defaultdict[tuple[str, ...], Counter[tuple[int, int]]] = defaultdict(Counter)
    for cells, count in patterns:
        said: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
        for expected, actual in cells:
            right = expected == actual
            keys = ("recall", expected), ("precision", actual), ("f1", expected), ("f1", actual), ("accuracy", "")
            for one in keys:
                each = said[one]
                each[0] += 1
                each[1] += right
        for key, (trials, passed) in said.items():
            tallies[key][trials, passed] += count
        for (expected, actual), times in Counter(cells).items():
            if expected != actual:
                tallies["cell", expected, actual][said["recall", expected][0], times] += count
    return {key: ExampleSums.of(each) for key, each in tallies.items()}


def class_sums_document(found: ClassSums) -> list[list[Any]]:
    """Return sums of classes as they are kept."""
    return [[*key, *sums.to_row()] for key, sums in sorted(found.items())]


def class_sums_of(document: Iterable[Iterable[Any]]) -> ClassSums:
    """Return what `class_sums_document` gave."""
    sums = {}
    for row in document:
        *key, examples, trials, passed, passed_squared, crossed, trials_squared = row
        sums[tuple(key)] = ExampleSums(examples, trials, passed, passed_squared, crossed, trials_squared)
    return sums


def _counted(patterns: Patterns) -> Iterable[tuple[tuple[int, ...], int]]:
    for number, count in Counter(patterns.numbers).items():
        yield patterns.distinct[number], count
