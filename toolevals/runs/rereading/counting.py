"""Tell how people judge the cases of a re-reading, counted by verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.runs.models import RereadCase, Rereading, Said

VERDICTS: Final = ("passed", "failed")
# What people say of a case: right or wrong as most of those who could say, and what is in no figure.
PEOPLE: Final[Mapping[str, str]] = {
    "right": "right",
    "wrong": "wrong",
    "cannot_say": "cannot say",
    "tied": "tied",
    "unread": "not read",
}
JUDGED: Final = ("right", "wrong")


def people_say(said: Iterable[str]) -> str:
    """Return what most of those who could say, of PEOPLE."""
    counts = Counter(said)
    right, wrong = counts[Said.RIGHT], counts[Said.WRONG]
    if right == wrong:
        return "tied" if right else "cannot_say" if counts else "unread"
    return "right" if right > wrong else "wrong"


@dataclass(frozen=True, slots=True)
class RereadCounts:
    """The number of cases by people's judgement and by verdict, and the number of scored trials for each."""

    cells: Mapping[tuple[str, str], Mapping[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, cases: Iterable[tuple[str, str, int]]) -> RereadCounts:
        """Return the counts of cases: (verdict, what people say, scored trials of the example)."""
        cells: dict[tuple[str, str], Counter[int]] = {}
        for verdict, said, trials in cases:
            cells.setdefault((verdict, said), Counter())[trials] += 1
        return cls(cells)

    @classmethod
    def from_document(cls, document: Any) -> RereadCounts:
        """Return what `to_document` gave."""
        return cls(
            {
                (verdict, said): {int(trials): count for trials, count in counts.items()}
                for verdict, cells in document.items()
                for said, counts in cells.items()
            }
        )

    def to_document(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return the counts as JSON."""
        document: dict[str, dict[str, dict[str, int]]] = {verdict: {} for verdict in VERDICTS}
        for (verdict, said), counts in sorted(self.cells.items()):
            document[verdict][said] = {str(trials): count for trials, count in sorted(counts.items())}
        return document

    def of_cell(self, verdict: str, said: str) -> int:
        """Return how many cases of a verdict people judged so."""
        return sum(self.cells.get((verdict, said), {}).values())

    def sums(self, verdict: str) -> ExampleSums:
        """Return the sums of the cases of a verdict that people judged: see `corrected_score`."""
        tallies: Counter[tuple[int, int]] = Counter()
        for said in JUDGED:
            for trials, count in self.cells.get((verdict, said), {}).items():
                tallies[trials, trials if said == "right" else 0] += count
        return ExampleSums.of(tallies)


def counted(rereading: Rereading) -> RereadCounts:
    """Return what people say of the cases of a re-reading, counted."""
    cases = rereading.cases.prefetch_related("readings")
    return RereadCounts.of((case.verdict, said_of(case), case.trials) for case in cases)


def said_of(case: RereadCase) -> str:
    """Return what people say of a case whose readings are loaded."""
    return people_say(reading.said for reading in case.readings.all())
