"""Tell which cases of a run changed their verdict from one grading to another, and what of their gold had changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from django.core.cache import cache

from labeling.models import VersionEntry
from reports.comparison.runs import entries_taken, other_gold
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.packed_cases import LETTERS, Packed, packed_cases
from toolevals.runs.models import Grading

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
