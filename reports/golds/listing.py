"""List the gradings of a run by gold, and the cases that changed between two, for pages, files and REST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from labeling.conversation.turns import snippet
from labeling.expectations.wording import summary
from labeling.models import VersionEntry
from reports.comparison.moved import SideCase, cases_of
from reports.filters.case_filters import address_query, text
from reports.golds.changes import CAUSES, HOWS, ChangedCase, GoldChanges, changed_cases, gold_changes
from reports.queries.grading import verdict_counts_of
from toolevals.grading.metrics.clustered import Rate
from toolevals.grading.values.verdicts import decided_words
from toolevals.presentation.csv import Cell
from toolevals.runs.counts.example_sums import verdict_rates
from toolevals.runs.counts.run_rows import Deciding, deciding_of
from toolevals.runs.models import Grading, Run

GRADINGS_A_PAGE: Final = 20
CASES_A_PAGE: Final = 50
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class GoldRow:
    """One finished grading, and what changed since the one on the gold before; `before` is None for the first."""

    grading: Grading
    rate: Rate | None
    decided: Deciding
    before: Grading | None
    changes: GoldChanges | None

    @property
    def decided_by(self) -> str | None:
        """The words for what decides its cases, with spaces between; None where nothing is counted."""
        return " ".join(self.decided.names) if self.rate else None

    @property
    def changed(self) -> Mapping[str, int] | None:
        """The number of cases that changed, by how and by what had changed of their gold."""
        if self.changes is None:
            return None
        by_cause = {f"by_{cause}": self.changes.of(cause=cause) for cause in CAUSES}
        return {how: self.changes.of(how=how) for how in HOWS} | by_cause

    @property
    def regolded(self) -> int | None:
        """Of how many examples the gold means something else since then."""
        return self.changes.examples.get("gold", 0) if self.changes else None


@dataclass(frozen=True, slots=True)
class GoldCase:
    """A case whose outcome changed, with its gold in both versions; a side that has none is None."""

    change: ChangedCase
    entry: VersionEntry
    before: SideCase | None
    after: SideCase | None
    held: tuple[VersionEntry | None, VersionEntry | None]

    @property
    def external_id(self) -> str:
        return self.entry.revision.example.external_id

    @property
    def snippet(self) -> str:
        return snippet(self.entry.revision.input)

    @property
    def sides(self) -> tuple[SideCase | None, SideCase | None]:
        return self.before, self.after

    @property
    def words(self) -> str:
        """Return what had changed of its gold."""
        return CAUSES[self.change.cause]

    @property
    def expected(self) -> tuple[str, str]:
        """Return what was expected in each version, in a line."""
        before, after = (summary(held.gold.expectation) if held else "" for held in self.held)
        return before, after

    @property
    def decided_by(self) -> tuple[str, str]:
        """Return what decided in each version."""
        before, after = (held.decided_by if held else "" for held in self.held)
        return before, after

    @property
    def decided_words(self) -> tuple[str, str]:
        """The same in words."""
        before, after = (decided_words(name) if name else "" for name in self.decided_by)
        return before, after


@dataclass(frozen=True, slots=True)
class GoldFilter:
    """The changed cases to list; an empty field is any."""

    how: str = ""
    cause: str = ""

    @classmethod
    def of_address(cls, parameters: Mapping[str, str]) -> GoldFilter:
        """Return what an address asks for; what cannot be counts as not asked."""
        how, cause = text(parameters, "how"), text(parameters, "cause")
        return cls(how if how in HOWS else "", cause if cause in CAUSES else "")

    @property
    def query(self) -> str:
        return address_query({"how": self.how, "cause": self.cause})


def gold_rows(run: Run, start: int = 0, limit: int = GRADINGS_A_PAGE) -> tuple[list[GoldRow], int | None]:
    """Return some of a run's finished gradings, on the newest version first, and where the next page begins."""
    # One more than shown, so that the last one has what it is compared with.
    rows = list(_finished(run)[start : start + limit + 1])
    return _rows(rows[:limit], rows[1:]), start + limit if len(rows) > limit else None


def all_gold_rows(run: Run) -> Iterator[GoldRow]:
    """Yield every row, a page at a time."""
    start: int | None = 0
    while start is not None:
        rows, start = gold_rows(run, start)
        yield from rows


def two_gradings(run: Run, before: int, after: int) -> tuple[Grading, Grading]:
    """Return two finished gradings of a run by their numbers, or raise Http404."""
    by_number = {grading.number: grading for grading in _finished(run).filter(number__in=(before, after))}
    if before not in by_number or after not in by_number:
        raise Http404
    return by_number[before], by_number[after]


def gold_cases(
    gradings: tuple[Grading, Grading], gold_filter: GoldFilter, start: int = 0, limit: int | None = CASES_A_PAGE
) -> Iterator[GoldCase]:
    """Yield the cases that changed between two gradings from a place on, at most so many, read some at a time."""
    end = None if limit is None else start + limit
    cases = islice(changed_cases(*gradings, how=gold_filter.how, cause=gold_filter.cause), start, end)
    while chunk := list(islice(cases, _CHUNK)):
        yield from _cases(gradings, chunk)


def gold_case_lines(
    gradings: tuple[Grading, Grading], gold_filter: GoldFilter, start: int = 0, limit: int | None = None
) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of `tables.golds.CASES`, all of them, or some from a place on."""
    for row in gold_cases(gradings, gold_filter, start, limit):
        (expected, expects), (before, after) = row.expected, row.held
        yield (
            row.entry.revision_id,
            row.external_id,
            row.change.trial,
            row.change.how,
            row.change.cause,
            row.before.id if row.before else None,
            row.before.outcome if row.before else None,
            row.after.id if row.after else None,
            row.after.outcome if row.after else None,
            before.gold_id if before else None,
            expected,
            row.decided_by[0],
            after.gold_id if after else None,
            expects,
            row.decided_by[1],
            after.gold.source if after else None,
            after.gold.rationale if after else None,
        )


def _finished(run: Run) -> QuerySet[Grading]:
    rows = Grading.objects.filter(run=run, finished_at__isnull=False)
    gradings = rows.select_related("dataset_version__dataset", "run__dataset_version", "run__experiment", "actor")
    return gradings.order_by("-dataset_version__number", "-number")


def _rows(gradings: Sequence[Grading], others: Sequence[Grading]) -> list[GoldRow]:
    ids = [grading.pk for grading in gradings]
    rates, counts = verdict_rates(ids, "outcome"), verdict_counts_of(ids)
    before: dict[int, Grading] = dict(enumerate(others))
    return [
        GoldRow(
            grading,
            rates.get(grading.pk, {}).get("outcome"),
            deciding_of(counts.get(grading.pk, {})),
            older := before.get(place),
            gold_changes(older, grading) if older else None,
        )
        for place, grading in enumerate(gradings)
    ]


def _cases(gradings: tuple[Grading, Grading], changes: Sequence[ChangedCase]) -> Iterator[GoldCase]:
    run = gradings[0].run
    positions = {run.positions[change.place]: change.place for change in changes}
    rows = VersionEntry.objects.filter(version=run.dataset_version_id, position__in=list(positions))
    entries = {positions[entry.position]: entry for entry in rows.select_related("revision__example")}
    sides: list[Mapping[tuple[UUID, int], SideCase]] = [
        {(entry, case.trial): case for entry, cases in _side(grading, entries).items() for case in cases}
        for grading in gradings
    ]
    held = [_held(grading, [entry.revision_id for entry in entries.values()]) for grading in gradings]
    for change in changes:
        entry = entries[change.place]
        before, after = (side.get((entry.pk, change.trial)) for side in sides)
        golds = held[0].get(entry.revision_id), held[1].get(entry.revision_id)
        yield GoldCase(change, entry, before, after, golds)


def _side(grading: Grading, entries: Mapping[int, VersionEntry]) -> Mapping[UUID, Sequence[SideCase]]:
    return cases_of(grading, [entry.pk for entry in entries.values()])


def _held(grading: Grading, revisions: Sequence[Any]) -> dict[Any, VersionEntry]:
    rows = VersionEntry.objects.filter(version=grading.dataset_version_id, revision__in=revisions)
    return {entry.revision_id: entry for entry in rows.select_related("gold")}
