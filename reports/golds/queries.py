"""Read the gradings of a run by gold, and the cases that changed their verdict between two, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.core.cache import cache
from django.db.models import QuerySet
from django.http import Http404

from labeling.conversation.turns import snippet
from labeling.expectations.wording import summary
from labeling.models import VersionEntry
from reports.cases.queries import verdict_counts_of
from reports.compare.moved import SideCase, cases_of
from reports.compare.queries import entries_taken, other_gold
from reports.filters.case_filters import address_query, text
from toolevals.grading.metrics.clustered import Rate
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import decided_words
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import Column, Table
from toolevals.runs.aggregates.packed_cases import LETTERS, Packed, packed_cases
from toolevals.runs.aggregates.run_rows import Deciding, deciding_of
from toolevals.runs.aggregates.sums import verdict_rates
from toolevals.runs.models import Grading, Run

KEPT: Final = 24 * 3600
# How a verdict changed -> in words.
HOWS: Final[Mapping[str, str]] = {"fixed": "passes now", "broken": "fails now", "other": "changed otherwise"}
# What had changed of the case's gold -> in words.
CAUSES: Final[Mapping[str, str]] = {
    "gold": "other gold",
    "decided_by": "decided by something else",
    "held": "not in both versions",
    "same": "the same gold: other graders or judges, or another trial",
}
_OUTCOME: Final = VERDICT_NAMES.index("outcome")
_PASSED, _FAILED = LETTERS["passed"], LETTERS["failed"]
_WAYS: Final = {(_FAILED, _PASSED): "fixed", (_PASSED, _FAILED): "broken"}


class ChangedCase(NamedTuple):
    """One trial of an example whose outcome changed: its place in the run, from 0."""

    place: int
    trial: int
    how: str
    cause: str


@dataclass(frozen=True, slots=True)
class GoldChanges:
    """The changes between two gradings of a run.

    `cases`: (how, cause) -> how many cases changed their outcome so. `examples`: cause -> of how many examples of the
    run the gold changed so, whether or not a verdict did.
    """

    cases: Mapping[tuple[str, str], int]
    examples: Mapping[str, int]

    @property
    def total(self) -> int:
        """Return how many cases changed their outcome."""
        return sum(self.cases.values())

    @property
    def hows(self) -> list[tuple[str, str, int]]:
        """Return how cases changed: name, words, how many."""
        return [(name, words, count) for name, words in HOWS.items() if (count := self.of(how=name))]

    @property
    def causes(self) -> list[tuple[str, str, int]]:
        """By what they changed: name, words, how many."""
        return [(name, words, count) for name, words in CAUSES.items() if (count := self.of(cause=name))]

    def of(self, *, how: str = "", cause: str = "") -> int:
        """Return how many cases changed in a way, by a cause; an empty one is any."""
        return sum(n for (one, other), n in self.cases.items() if how in ("", one) and cause in ("", other))


def gold_changes(before: Grading, after: Grading) -> GoldChanges:
    """Return what changed between two finished gradings of a run, counted. They do not change, so that it is kept."""
    key = f"reports:gold-changes:{before.pk}:{after.pk}"
    changes: GoldChanges | None = cache.get(key)
    if changes is None:
        causes = causes_between(before, after)
        cases = Counter((case.how, case.cause) for case in _changed(before, after, causes))
        changes = GoldChanges(dict(cases), dict(Counter(causes.values())))
        cache.set(key, changes, timeout=KEPT)
    return changes


def changed_cases(before: Grading, after: Grading, *, how: str = "", cause: str = "") -> Iterator[ChangedCase]:
    """Yield the cases that changed, in the order of the run; of one way and one cause where they are given."""
    for case in _changed(before, after, causes_between(before, after)):
        if how in ("", case.how) and cause in ("", case.cause):
            yield case


def causes_between(before: Grading, after: Grading) -> dict[int, str]:
    """Return the changes of gold by the example's place in the run; examples without any are left out. Kept, too."""
    if before.dataset_version_id == after.dataset_version_id:
        return {}
    key = f"reports:gold-causes:{before.pk}:{after.pk}"
    found: dict[int, str] | None = cache.get(key)
    if found is None:
        found = _causes(before, after)
        cache.set(key, found, timeout=KEPT)
    return found


def _causes(before: Grading, after: Grading) -> dict[int, str]:
    deciders = [_deciders(grading) for grading in (before, after)]
    moved = other_gold(before, after)
    found = {}
    for revision, (place, _) in entries_taken(before).items():
        one, two = (held.get(revision) for held in deciders)
        if one is None or two is None:
            if one != two:
                found[place] = "held"
        elif revision in moved:
            found[place] = "gold"
        elif one != two:
            found[place] = "decided_by"
    return found


def _deciders(grading: Grading) -> dict[UUID, str]:
    rows = VersionEntry.objects.filter(version=grading.dataset_version_id)
    return dict(rows.order_by().values_list("revision", "decided_by"))


def _changed(before: Grading, after: Grading, causes: Mapping[int, str]) -> Iterator[ChangedCase]:
    trials = before.run.trials
    first, second = (_letters(packed_cases(grading)) for grading in (before, after))
    for at, both in enumerate(zip(first, second, strict=True)):
        if both[0] != both[1]:
            place, trial = divmod(at, trials)
            yield ChangedCase(place, trial, _WAYS.get(both, "other"), causes.get(place, "same"))


def _letters(packed: Packed) -> str:
    """Return the outcome of each case as its letter; 0 is no case, which is unscored."""
    # Each grading numbers its verdicts for itself.
    letters = [packed.letters_of(number)[_OUTCOME] for number in range(len(packed.verdicts) + 1)]
    return "".join(map(letters.__getitem__, packed.outcomes))


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


_CHANGED: Final = (*HOWS, *(f"by_{cause}" for cause in CAUSES))
GOLDS: Final = Table(
    "GoldRow",
    "One finished grading, as a row of `golds.csv`: how many cases changed since `before`, and by what.",
    (
        Column("grading", int, "grading.number"),
        Column("grading_id", UUID, "grading.pk"),
        Column("version", int, "grading.dataset_version.number"),
        Column("graded_at", datetime, "grading.finished_at"),
        Column("decided_by", optional=True),
        Column("passed", int, "rate.passed", optional=True),
        Column("scored", int, "rate.total", optional=True),
        Column("rate", float, "rate.value", optional=True),
        Column("rate_low", float, "rate.low", optional=True),
        Column("rate_high", float, "rate.high", optional=True),
        Column("before", int, "before.number", optional=True),
        *(Column(name, int, f"changed.{name}", optional=True) for name in _CHANGED),
        Column("regolded", int, words="Of how many examples the gold means another thing.", optional=True),
    ),
)
CASES: Final = Table(
    "GoldCase",
    "One case whose outcome changed, as a row of the file.",
    (
        Column("revision_id", UUID),
        Column("external_id"),
        Column("trial", int),
        Column("how", tuple(HOWS)),
        Column("cause", tuple(CAUSES)),
        Column("case_id_before", UUID, optional=True),
        Column("outcome_before", optional=True),
        Column("case_id_after", UUID, optional=True),
        Column("outcome_after", optional=True),
        Column("gold_id_before", UUID, optional=True),
        Column("gold_before"),
        Column("decided_by_before"),
        Column("gold_id_after", UUID, optional=True),
        Column("gold_after"),
        Column("decided_by_after"),
        Column("source_after", optional=True),
        Column("rationale_after", optional=True),
    ),
)
