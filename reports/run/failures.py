"""Read how the cases of a grading failed: each case once, by its failure mode, with an example to open."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, F, Min, QuerySet

from labeling.conversation.turns import snippet
from reports.filters.case_filters import address_query
from reports.rates import ExampleSums, Rate, rate
from reports.run.analysis import FailureMode
from toolevals.runs.models import CaseGrade, Grading
from toolevals.workspace.expressions import TextOfId

# So many pairs of a mode stand in its row; all of them are in the matrix.
MOST_PAIRS: Final = 3
SCORED: Final = ("passed", "failed")
ENTRY: Final = "transcript__entry_id"


@dataclass(frozen=True, slots=True)
class FailedPair:
    """The number of cases of a mode that expected one tool and called the other, which may be the same one."""

    mode: str
    expected: str
    actual: str
    count: int

    @property
    def query(self) -> str:
        """Return what the address of a list of its cases asks."""
        return address_query({"mode": self.mode, "expected": self.expected, "actual": self.actual})


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A failure mode with its share of the scored cases, its most frequent pairs of tools, and its first case."""

    mode: FailureMode
    rate: Rate
    pairs: tuple[FailedPair, ...]
    more: int
    case: UUID
    external_id: str
    snippet: str


@dataclass(frozen=True, slots=True)
class _Found:
    pairs: Mapping[str, Sequence[FailedPair]]
    # Mode -> the id of its first case.
    first: Mapping[str, str]
    # Mode -> the sums over the examples in which it occurs; empty with one trial an example.
    parts: Mapping[str, ExampleSums]


def failure_rows(
    grading: Grading, modes: Sequence[FailureMode], scored: int, whole: ExampleSums | None
) -> tuple[FailureRow, ...]:
    """Return a row for each mode, in their order, of so many scored cases; `whole` are their sums over the examples."""
    if not modes:
        return ()
    found = _found(grading, [each.mode for each in modes])
    cases = CaseGrade.objects.filter(pk__in=found.first.values())
    rows = cases.values_list(
        "mode", "pk", "transcript__entry__revision__example__external_id", "transcript__entry__revision__input"
    )
    examples = {mode: (pk, external_id, snippet(said)) for mode, pk, external_id, said in rows}
    return tuple(
        FailureRow(
            each,
            rate(each.count, scored, whole.of_part(found.parts[each.mode]) if whole else None),
            tuple(found.pairs[each.mode][:MOST_PAIRS]),
            max(0, len(found.pairs[each.mode]) - MOST_PAIRS),
            *examples[each.mode],
        )
        for each in modes
        if each.mode in examples
    )


def _found(grading: Grading, modes: Sequence[str]) -> _Found:
    """Return what the database has to look for in the cases, which is kept: a finished grading stays as it is."""
    key = f"reports:failures:{grading.pk}"
    found: _Found | None = cache.get(key)
    if found is None:
        found = _looked_for(grading, modes)
        cache.set(key, found, timeout=24 * 3600)
    return found


def _looked_for(grading: Grading, modes: Sequence[str]) -> _Found:
    pairs: defaultdict[str, list[FailedPair]] = defaultdict(list)
    first: dict[str, str] = {}
    failed = CaseGrade.objects.filter(grading=grading, mode__in=modes).order_by()
    counted = failed.values_list("mode", "expected", "actual").annotate(n=Count("pk"), least=Min(TextOfId(F("pk"))))
    for mode, expected, actual, count, least in counted:
        first[mode] = min(first.get(mode, least), least)
        # A case outside the matrix has no pair.
        pairs[mode] += [FailedPair(mode, expected, actual, count)] if expected and actual else []
    for each in pairs.values():
        each.sort(key=lambda pair: (-pair.count, pair.expected, pair.actual))
    return _Found(dict(pairs), first, _parts(grading, failed) if grading.run.trials > 1 else {})


def _parts(grading: Grading, failed: QuerySet[CaseGrade]) -> dict[str, ExampleSums]:
    """Return the sums over the examples in which each mode occurs, each with all of its scored trials."""
    scored = CaseGrade.objects.filter(grading=grading, outcome__in=SCORED).order_by()
    trials = dict(scored.values_list(ENTRY).annotate(n=Count("pk")))
    tallies: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
    for entry, mode, times in failed.values_list(ENTRY, "mode").annotate(n=Count("pk")):
        tallies[mode][trials.get(entry, 0), times] += 1
    return {mode: ExampleSums.of(each) for mode, each in tallies.items()}
