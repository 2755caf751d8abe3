"""Tallies of a grading's trials, kept once, so that reliability costs groups and not examples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from toolevals.runs.models import Grading, TrialCount, TrialTallies
from toolevals.runs.services.trial_rollups import TRIAL_COLUMNS

# What examples are grouped by.
GROUPS: Final = ("tool", "bucket", "difficulty")
_COLUMNS: Final = (*GROUPS, "passed", "failed")
# (scored, passed) -> examples
Tallies = Counter[tuple[int, int]]


def tallies_store(grading: Grading, rows: Sequence[Sequence[Any]]) -> None:
    """Keep the tallies of a grading's rows of TRIAL_COLUMNS; without rows none. A second time changes nothing."""
    if rows:
        _store(grading, Counter(map(itemgetter(*map(TRIAL_COLUMNS.index, _COLUMNS)), rows)))


def trial_tallies(grading: Grading) -> dict[str, dict[str, Tallies]]:
    """Return the tallies of a finished grading by kind of group and name; of all examples under "" and "".

    A grading from before they were kept is tallied now.
    """
    kept = TrialTallies.objects.filter(grading=grading).first()
    document = kept.document if kept else _store(grading, TrialCount.objects.filter(grading=grading).counted(*_COLUMNS))
    found: defaultdict[str, defaultdict[str, Tallies]] = defaultdict(lambda: defaultdict(Counter))
    for kind, name, scored, passed, examples in document:
        found[kind][name][scored, passed] = examples
    return {kind: dict(named) for kind, named in found.items()}


def _store(grading: Grading, counts: Mapping[tuple[Any, ...], int]) -> list[list[Any]]:
    document = _document(counts.items())
    TrialTallies.objects.bulk_create([TrialTallies(grading=grading, document=document)], ignore_conflicts=True)
    return document


def _document(counts: Iterable[tuple[tuple[Any, ...], int]]) -> list[list[Any]]:
    tallies: Counter[tuple[str, str, int, int]] = Counter()
    for (*names, passed, failed), examples in counts:
        for kind, name in (("", ""), *zip(GROUPS, names, strict=True)):
            tallies[kind, name, passed + failed, passed] += examples
    return [[*key, examples] for key, examples in sorted(tallies.items())]
