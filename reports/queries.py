"""Rows of a grading. Unfiltered counts come from the rollups; filtered ones are one GROUP BY on an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, F, Q, QuerySet

from labeling.models import Gold, VersionEntry
from reports.filters import CaseFilter, Filters, View
from toolevals.runs.models import AlignedPair, CaseGrade, Grading, JudgedCase, MatrixCount, Run, VerdictCount
from toolevals.workspace.models import Project

# (expected, actual) -> count
MatrixCounts = dict[tuple[str, str], int]
KEYSET_PAGE = 2000


def shown_grading(run: Run, number: int | None) -> Grading | None:
    """Return the run's grading of that number, or the newest finished one; None where there is none."""
    gradings = run.gradings.filter(finished_at__isnull=False).select_related("dataset_version__dataset")
    return gradings.filter(number=number).first() if number else gradings.filter(pk=run.grading_id).first()


def matrix_counts(grading: Grading, filters: Filters) -> MatrixCounts:
    """Return how many cases (view "first") or pairs (view "aligned") stand in each cell."""
    if filters.unfiltered:
        held = MatrixCount.objects.filter(grading=grading, view=filters.view)
        return {
            (expected, actual): count for expected, actual, count in held.values_list("expected", "actual", "count")
        }
    if filters.view is View.ALIGNED:
        return _counted(AlignedPair.objects.filter(_strata(filters), grading=grading))
    return _counted(CaseGrade.objects.filter(_strata(filters), grading=grading).exclude(expected=""))


def verdict_counts(grading: Grading) -> dict[str, dict[str, int]]:
    """Return how many cases have each value of each column: column -> value -> count."""
    return verdict_counts_of([grading.pk]).get(grading.pk, {})


def verdict_counts_of(gradings: list[UUID]) -> dict[UUID, dict[str, dict[str, int]]]:
    """Return the same for several gradings at once, by their ids."""
    found: dict[UUID, dict[str, dict[str, int]]] = {}
    rows = VerdictCount.objects.filter(grading__in=gradings).values_list("grading_id", "column", "value", "count")
    for grading, column, value, count in rows:
        found.setdefault(grading, {}).setdefault(column, {})[value] = count
    return found


def strata_choices(grading: Grading) -> dict[str, list[str]]:
    """Return the values of each stratum that occur; kept, because a finished grading does not change."""
    key = f"reports:strata:{grading.pk}"
    found: dict[str, list[str]] | None = cache.get(key)
    if found is None:
        cases = CaseGrade.objects.filter(grading=grading).order_by()
        seen = list(cases.values_list("bucket", "difficulty").distinct())
        found = {
            "bucket": sorted({bucket for bucket, _ in seen if bucket}),
            "difficulty": sorted({difficulty for _, difficulty in seen if difficulty}),
        }
        cache.set(key, found, timeout=24 * 3600)
    return found


def listed_cases(grading: Grading, wanted: CaseFilter) -> QuerySet[CaseGrade]:
    """Return the cases of a list, in no order yet."""
    cases = CaseGrade.objects.filter(
        _strata(wanted.filters), _given(mode=wanted.mode, transcript__ended=wanted.ended), grading=grading
    )
    if wanted.is_cell and wanted.filters.view is View.ALIGNED:
        pairs = AlignedPair.objects.filter(grading=grading, expected=wanted.expected, actual=wanted.actual)
        cases = cases.filter(pk__in=pairs.values("case"))
    else:
        cases = cases.filter(_given(expected=wanted.expected, actual=wanted.actual))
    if wanted.rubric:
        judged = JudgedCase.objects.filter(grading=grading, rubric=wanted.rubric, status=wanted.status)
        return cases.filter(pk__in=judged.values("case"))
    return cases.filter(**{wanted.column: wanted.status}) if wanted.column else cases


def page_of(cases: QuerySet[CaseGrade], after: str, size: int) -> list[CaseGrade]:
    """Return the next `size` + 1 cases after the one with that id: one more than shown tells whether there are more."""
    if (last := read_id(after)) is not None:
        cases = cases.filter(pk__gt=last)
    found = cases.order_by("pk").select_related(
        "transcript__entry__revision__example", "transcript__entry__revision__tools"
    )
    return list(found.defer("detail", "transcript__document")[: size + 1])


def case_of(project: Project, number: int, case_id: UUID) -> CaseGrade | None:
    """Return a case of the project's run of that number, with everything that its page shows."""
    cases = CaseGrade.objects.filter(pk=case_id, grading__run__project=project, grading__run__number=number)
    found = cases.select_related(
        "grading__run__project",
        "grading__dataset_version__dataset",
        "grading__simulator",
        "transcript__entry__revision__example",
        "transcript__entry__revision__tools",
        "transcript__entry__gold",
    )
    return found.defer("grading__simulator__content").first()


def gold_of(case: CaseGrade) -> Gold:
    """Return the gold that a case was graded by: that of the grading's own dataset version."""
    entry = case.transcript.entry
    if case.grading.dataset_version_id == entry.version_id:
        return entry.gold
    entries = VersionEntry.objects.filter(version=case.grading.dataset_version_id, revision=entry.revision_id)
    found = entries.select_related("gold").first()
    return found.gold if found else entry.gold


def neighbours(cases: QuerySet[CaseGrade], case: CaseGrade) -> tuple[UUID | None, UUID | None, int]:
    """Return the ids of the previous and the next case of a list, and the place of this one, from 1."""
    ids = cases.order_by("pk").values_list("pk", flat=True)
    before = ids.filter(pk__lt=case.pk)
    return before.last(), ids.filter(pk__gt=case.pk).first(), before.count() + 1


def example_in_other_runs(case: CaseGrade, most: int) -> list[tuple[int, UUID, str]]:
    """Return (run, case, outcome) of the same example in the project's newest runs, oldest first, one row a trial."""
    # Two steps, so that no database begins with every transcript of the project.
    entries = VersionEntry.objects.filter(revision__example=case.transcript.entry.revision.example_id)
    rows = (
        CaseGrade.objects.filter(
            transcript__entry__in=list(entries.order_by().values_list("pk", flat=True)),
            grading=F("transcript__run__grading"),
            transcript__run__floor="",
        )
        .order_by("-transcript__run__number", "-transcript__trial")
        .values_list("transcript__run__number", "pk", "outcome")
    )
    return list(rows[:most])[::-1]


def cases_for_export(grading: Grading, wanted: CaseFilter, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of `columns`, "transcript_id" among them, ordered by it, a page at a time.

    Memory does not grow with the number of rows, and every page costs the same.
    """
    place = columns.index("transcript_id")
    cases = listed_cases(grading, wanted).order_by("transcript_id").values_list(*columns)
    rows = list(cases[:KEYSET_PAGE])
    while rows:
        yield from rows
        rows = list(cases.filter(transcript_id__gt=rows[-1][place])[:KEYSET_PAGE])


def read_id(text: str) -> UUID | None:
    """Return the id that a text holds, or None."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _counted(rows: QuerySet[Any]) -> MatrixCounts:
    """Group in the order of the index over strata and cells, so that it alone answers; strata are summed here."""
    cells: Counter[tuple[str, str]] = Counter()
    grouped = rows.order_by().values_list("bucket", "difficulty", "expected", "actual").annotate(count=Count("*"))
    for _, _, expected, actual, count in grouped:
        cells[expected, actual] += count
    return dict(cells)


def _strata(filters: Filters) -> Q:
    return _given(bucket=filters.bucket, difficulty=filters.difficulty)


def _given(**values: str) -> Q:
    return Q(**{name: value for name, value in values.items() if value})
