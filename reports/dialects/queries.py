"""Read other evaluators' verdicts: of a whole grading, of the cases of a list, of one case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from django.db.models import QuerySet

from labeling.models import Gold
from reports.dialects.analysis import Dialects, Pattern, dialects_of, patterns_like
from reports.dialects.grade_with_dialects import CaseReader, sums_document
from reports.models import DialectCase, DialectReading
from reports.rates import ExampleSums
from toolevals.grading.dialects.other_verdicts import OURS, OtherVerdict, columns_document, sentence_of
from toolevals.presentation.csv import Cell
from toolevals.runs.models import CaseGrade, Grading

CASES_AT_ONCE: Final = 1000
# Columns of the file of cases, but for the verdict's.
IDS: Final = {
    "case_id": "case_id",
    "transcript_id": "case__transcript_id",
    "revision_id": "case__transcript__entry__revision_id",
    "external_id": "case__transcript__entry__revision__example__external_id",
    "trial": "case__transcript__trial",
}


@dataclass(frozen=True, slots=True)
class SaidVerdict:
    """One tool's verdict on one case, and why it is another than ours; `column` is None of ours."""

    key: str
    column: Any
    verdict: OtherVerdict

    @property
    def sentence(self) -> str:
        """Return why it differs from ours; empty where it does not."""
        return sentence_of(self.verdict.reason)


@dataclass(frozen=True, slots=True)
class CaseSaid:
    """The verdicts of every tool on one case: ours, those that differ from it for a reason, the others by status."""

    ours: SaidVerdict
    differing: tuple[SaidVerdict, ...]
    alike: tuple[tuple[str, tuple[SaidVerdict, ...]], ...]

    @classmethod
    def of(cls, said: Sequence[SaidVerdict]) -> CaseSaid:
        """Return the verdicts of a case, ours first, those with one status together."""
        ours, *others = said
        alike: dict[str, list[SaidVerdict]] = {}
        for each in others:
            if not each.verdict.reason:
                alike.setdefault(each.verdict.status, []).append(each)
        differing = tuple(each for each in others if each.verdict.reason)
        return cls(ours, differing, tuple((status, tuple(found)) for status, found in alike.items()))

    @property
    def others(self) -> tuple[SaidVerdict, ...]:
        """Return what every other tool says."""
        return (*self.differing, *(each for _, found in self.alike for each in found))

    @property
    def apart(self) -> tuple[SaidVerdict, ...]:
        """Return what stands in rows of their own: ours, then those that differ."""
        return self.ours, *self.differing


def dialects_shown(reading: DialectReading) -> Dialects:
    """Return what a finished reading counted."""
    if reading.sums is None:
        # One from before they were kept.
        reading.sums = sums_document(reading)
        reading.save(update_fields=["sums"])
    sums = {(one, other): ExampleSums(*row) for one, other, row in reading.sums}
    return dialects_of(reading.columns, reading.counts or (), reading.means, sums)


def cases_said(grading: Grading, one: str, other: str, how: str, reason: str) -> QuerySet[DialectCase, Any]:
    """Return the ids of the cases of a list (see `patterns_like`); none where the grading is not read yet."""
    reading = DialectReading.objects.filter(grading=grading, finished_at__isnull=False).first()
    patterns = patterns_like(dialects_shown(reading), one, other, how, reason) if reading else []
    return DialectCase.objects.filter(reading=grading.pk, pattern__in=patterns).values_list("case_id")


def case_said(case: CaseGrade, gold: Gold) -> tuple[SaidVerdict, ...]:
    """Return every tool's verdict on a case, ours first: as it is kept, else made now and not kept."""
    kept = DialectCase.objects.select_related("reading").filter(case=case).first()
    if kept is not None and kept.reading.finished_at is not None:
        return tuple(_kept(kept.reading.columns, kept.pattern, kept.detail))
    facts = SimpleNamespace(
        selection=case.selection, arguments=case.arguments, mode=case.mode, document=case.transcript.document
    )
    own, others = CaseReader(case.grading).verdicts(facts, case.transcript.entry.revision, gold)
    ours = SaidVerdict(OURS, None, OtherVerdict(own.status))
    columns = columns_document()
    return ours, *(SaidVerdict(column["key"], column, others[column["key"]]) for column in columns)


def _kept(columns: list[Any], text: str, detail: Any) -> Iterator[SaidVerdict]:
    pattern = Pattern.from_text(text)
    yield SaidVerdict(OURS, None, OtherVerdict(pattern.statuses[0]))
    for place, column in enumerate(columns):
        status, reason = pattern.statuses[place + 1], pattern.reasons[place + 1]
        said = detail["said"].get(str(place), "")
        yield SaidVerdict(column["key"], column, OtherVerdict(status, detail["scores"][place], reason, said))


def said_rows(reading: DialectReading, cases: QuerySet[CaseGrade] | None) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each of the cases (None: all) and each tool, ours first, in the order of the cases' ids."""
    rows = DialectCase.objects.filter(reading=reading).order_by("case_id")
    if cases is not None:
        rows = rows.filter(case__in=cases.values("pk"))
    found = rows.values_list(*IDS.values(), "pattern", "detail")
    page = list(found[:CASES_AT_ONCE])
    while page:
        for *ids, pattern, detail in page:
            for each in _kept(reading.columns, pattern, detail):
                verdict = each.verdict
                yield (*ids, each.key, verdict.status, verdict.score, verdict.reason, verdict.said)
        page = list(found.filter(case_id__gt=page[-1][0])[:CASES_AT_ONCE])


def said_of(kept: DialectCase) -> tuple[SaidVerdict, ...]:
    """Return what is kept of a case."""
    return tuple(_kept(kept.reading.columns, kept.pattern, kept.detail))
