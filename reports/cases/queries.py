"""Read rows of a grading: its counts of verdicts, lists of its cases, one case, people's tags and notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404

from labeling.models import Gold, VersionEntry
from reports.dialects.queries import cases_said
from reports.filters.case_filters import ANY_INJECTION, CaseFilter
from reports.filters.matrix_cells import cell_cases
from reports.run.analysis import Layers, VerdictSums, layers_of
from reports.run.findings import ANY_WRONG, WRONG
from reports.run.metrics import cases_of_status
from reports.run.recorded import rewarded_cases
from toolevals.runs.aggregates.sums import verdict_sums
from toolevals.runs.grading.models import IS_LATENT, warned
from toolevals.runs.models import (
    ArgumentFault,
    CaseFinding,
    CaseGrade,
    CaseNote,
    CaseTag,
    Grading,
    JudgedCase,
    VerdictCount,
)
from toolevals.runs.queries import TOO_LARGE
from toolevals.workspace.expressions import ids_as_text
from toolevals.workspace.mentions.names import text_named
from toolevals.workspace.models import Project, within
from toolevals.workspace.requests import read_id

KEYSET_PAGE = 2000


def verdict_counts(grading: Grading) -> dict[str, dict[str, int]]:
    """Return how many cases have each value of each column: column -> value -> count."""
    return verdict_counts_of([grading.pk]).get(grading.pk, {})


def verdict_counts_of(gradings: list[UUID]) -> dict[UUID, dict[str, dict[str, int]]]:
    """Return the same for several gradings at once, by their ids."""
    counts: dict[UUID, dict[str, dict[str, int]]] = {}
    rows = VerdictCount.objects.filter(grading__in=gradings).values_list("grading_id", "column", "value", "count")
    for grading, column, value, count in rows:
        counts.setdefault(grading, {}).setdefault(column, {})[value] = count
    return counts


def grading_layers(grading: Grading) -> Layers:
    """Return the layers and depths of a grading, with their rates."""
    return layers_of(verdict_counts(grading), grading_sums(grading))


def grading_sums(grading: Grading) -> VerdictSums:
    """Return the sums over the examples of each verdict of a grading; nothing with one trial an example."""
    return verdict_sums([grading.pk]).get(grading.pk, {}) if grading.run.trials > 1 else {}


def listed_cases(grading: Grading, case_filter: CaseFilter) -> QuerySet[CaseGrade]:
    """Return the cases of a list, in no order yet."""
    cases = cell_cases(grading, case_filter.filters, case_filter.expected, case_filter.actual)
    also = {case_filter.and_column: case_filter.and_status} if case_filter.and_column else {}
    cases = cases.filter(_given(mode=case_filter.mode, transcript__ended=case_filter.ended, **also))
    if case_filter.latent:
        cases = cases.filter(**IS_LATENT)
    if case_filter.injection:
        cases = _flagged(cases, case_filter.injection)
    if case_filter.recorded:
        cases = rewarded_cases(cases, case_filter.recorded)
    if case_filter.fault:
        kinds = WRONG if case_filter.fault == ANY_WRONG else [case_filter.fault]
        faults = ArgumentFault.objects.filter(
            grading=grading, tool=case_filter.tool, argument=case_filter.parameter, kind__in=kinds
        )
        cases = cases.filter(pk__in=faults.values("case"))
    if case_filter.found:
        cases = cases.filter(pk__in=cases_found(grading, case_filter))
    if case_filter.warned:
        cases = cases.filter(**warned(case_filter.warned))
    if case_filter.by:
        cases = cases.filter(
            pk__in=cases_said(grading, case_filter.by, case_filter.beside, case_filter.said, case_filter.rule)
        )
    if case_filter.rubric:
        judged = JudgedCase.objects.filter(
            grading=grading, rubric=case_filter.rubric, status=case_filter.status
        ).shown()
        return cases.filter(pk__in=judged.values("case"))
    if case_filter.metric:
        return cases_of_status(cases, grading, case_filter.metric, case_filter.status)
    return cases.filter(**{case_filter.column: case_filter.status}) if case_filter.column else cases


def _flagged(cases: QuerySet[CaseGrade], injection: str) -> QuerySet[CaseGrade]:
    """Return the cases that speak to their judge in a way; ANY_INJECTION is any way."""
    return cases.exclude(injection="") if injection == ANY_INJECTION else cases.filter(injection=injection)


def cases_found(grading: Grading, case_filter: CaseFilter) -> QuerySet[CaseFinding, Any]:
    """Return the ids of the cases in which something was found."""
    family, kind = case_filter.found_kind
    asked = {"kind": kind, "tool": case_filter.tool}
    given = {name: value for name, value in asked.items() if value}
    return CaseFinding.objects.filter(grading=grading, family=family, **given).values("case")


def hidden_verdicts(grading: Grading, case_filter: CaseFilter) -> int:
    """Return the number of cases whose verdict by the chosen judge is shown to no one, while people rate them."""
    if not case_filter.rubric:
        return 0
    judged = JudgedCase.objects.filter(grading=grading, rubric=case_filter.rubric)
    return judged.count() - judged.shown().count()


def page_of(cases: QuerySet[CaseGrade], after: str, size: int) -> list[CaseGrade]:
    """Return the next `size` + 1 cases after the one with that id: one more than shown tells whether there are more."""
    if (last := read_id(after)) is not None:
        cases = cases.filter(pk__gt=last)
    rows = cases.order_by("pk").select_related(
        "transcript__entry__revision__example", "transcript__entry__revision__tools"
    )
    return list(rows.defer("detail", "transcript__document")[: size + 1])


def case_of(project: Project, number: int, case_id: UUID) -> CaseGrade | None:
    """Return a case of the project's run of that number, with everything that its page shows."""
    if number >= TOO_LARGE:
        return None
    cases = CaseGrade.objects.filter(within(project, "grading__run"), pk=case_id, grading__run__number=number)
    row = cases.select_related(
        "grading__run__project",
        "grading__run__agent__tools",
        "grading__dataset_version__dataset",
        "grading__simulator",
        "transcript__entry__revision__example",
        "transcript__entry__revision__tools",
        "transcript__entry__gold",
    )
    return row.defer("grading__simulator__content").first()


def case_or_404(project: Project, number: int, case_id: UUID) -> CaseGrade:
    """Return the project's case, or raise Http404."""
    case = case_of(project, number, case_id)
    if case is None:
        raise Http404
    return case


def gold_of(case: CaseGrade) -> Gold:
    """Return the gold that a case was graded by: that of the grading's own dataset version."""
    entry = case.transcript.entry
    if case.grading.dataset_version_id == entry.version_id:
        return entry.gold
    entries = VersionEntry.objects.filter(version=case.grading.dataset_version_id, revision=entry.revision_id)
    found = entries.select_related("gold").first()
    return found.gold if found else entry.gold


def with_gold(cases: QuerySet[CaseGrade], grading: Grading) -> QuerySet[CaseGrade]:
    """Return a grading's cases with the document of the gold that each was graded by, as `gold_expectation`."""
    of_run = F("transcript__entry__gold__expectation")
    if grading.dataset_version_id == grading.run.dataset_version_id:
        return cases.annotate(gold_expectation=of_run)
    revision = OuterRef("transcript__entry__revision")
    entries = VersionEntry.objects.filter(version=grading.dataset_version_id, revision=revision).order_by("pk")
    return cases.annotate(gold_expectation=Coalesce(Subquery(entries.values("gold__expectation")[:1]), of_run))


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
            transcript__run__baseline_agent="",
        )
        .order_by("-transcript__run__number", "-transcript__trial")
        .values_list("transcript__run__number", "pk", "outcome")
    )
    return list(rows[:most])[::-1]


def trials_of(case: CaseGrade) -> list[CaseGrade]:
    """Return every trial of the case's example in its grading, in order, with what each did."""
    trials = CaseGrade.objects.filter(grading=case.grading_id, transcript__entry=case.transcript.entry_id)
    return list(trials.select_related("transcript").order_by("transcript__trial"))


def cases_for_export(grading: Grading, case_filter: CaseFilter, columns: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of `columns`, ordered by the transcript's id, a page at a time; ids are text.

    Memory does not grow with the number of rows, and every page costs the same.
    """
    # The last id of a page is asked for without the gold: its joins make PostgreSQL read the transcripts of all
    # pages before. So would a page that is given its first id alone.
    ids = listed_cases(grading, case_filter).order_by("transcript_id")
    listed = with_gold(ids, grading)
    columns = ids_as_text(listed, columns)
    after: dict[str, UUID] = {}
    while ends := list(ids.filter(**after).values_list("transcript_id", flat=True)[KEYSET_PAGE - 1 : KEYSET_PAGE]):
        yield from listed.filter(**after, transcript_id__lte=ends[0]).values_list(*columns)
        after = {"transcript_id__gt": ends[0]}
    yield from listed.filter(**after).values_list(*columns)


def _given(**values: str) -> Q:
    return Q(**{name: value for name, value in values.items() if value})


PAGE = 500
# Tags stand before notes. Kind -> its model, and the column of its words.
KINDS: dict[str, tuple[type[CaseTag | CaseNote], str]] = {"tag": (CaseTag, "tag"), "note": (CaseNote, "text")}


@dataclass(frozen=True, slots=True)
class RemarkPage:
    """Rows in the order of `cases.REMARKS`; `after` is where the next page begins, "" at the end."""

    rows: tuple[tuple[Any, ...], ...]
    after: str


def remark_page(grading: Grading, after: str = "") -> RemarkPage:
    """Return a page of the tags and notes on a run's cases; `after` is that of the page before."""
    kind, _, last = after.partition(":")
    kinds = list(KINDS)
    first = kinds.index(kind) if kind in KINDS else 0
    remarks = _remarks(grading, kinds[first])
    if (known := read_id(last)) is not None:
        remarks = remarks.filter(pk__gt=known)
    page = list(remarks[: PAGE + 1])
    rows = tuple(_rows(grading, kinds[first], page[:PAGE]))
    if len(page) > PAGE:
        return RemarkPage(rows, f"{kinds[first]}:{page[PAGE - 1].pk}")
    return RemarkPage(rows, f"{kinds[first + 1]}:" if first + 1 < len(kinds) else "")


def remark_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield every row, a page at a time."""
    page = remark_page(grading)
    yield from page.rows
    while page.after:
        page = remark_page(grading, page.after)
        yield from page.rows


def _remarks(grading: Grading, kind: str) -> QuerySet[Any]:
    rows = KINDS[kind][0]._default_manager.filter(transcript__run=grading.run_id).order_by("pk")
    return rows.select_related("transcript__entry__revision__example", "actor").defer(
        "transcript__document", "transcript__entry__revision__input"
    )


def _rows(grading: Grading, kind: str, remarks: list[Any]) -> Iterator[tuple[Any, ...]]:
    cases = CaseGrade.objects.filter(grading=grading, transcript__in={each.transcript_id for each in remarks})
    ids = dict(cases.values_list("transcript", "pk"))
    for each in remarks:
        transcript = each.transcript
        revision = transcript.entry.revision
        whose = ids.get(transcript.pk), transcript.pk, revision.pk, revision.example.external_id, transcript.trial
        yield (
            *whose,
            each.pk,
            kind,
            text_named(getattr(each, KINDS[kind][1])),
            each.actor.name if each.actor else "",
            each.created_at,
        )
