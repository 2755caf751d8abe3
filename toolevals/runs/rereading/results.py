"""Tell what came of a re-reading: what people say of each case, and the score that this speaks for, in words too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from toolevals.grading.metrics.clustered import ExampleSums, Rate
from toolevals.grading.metrics.rereading import CorrectedScore, corrected_score
from toolevals.presentation.numbers import count, percent, span
from toolevals.runs.aggregates.sums import verdict_rates
from toolevals.runs.models import Grading, Reading, RereadCase, Rereading, Run, Said

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
            for trials, cases in self.cells.get((verdict, said), {}).items():
                tallies[trials, trials if said == "right" else 0] += cases
        return ExampleSums.of(tallies)


def counted(rereading: Rereading) -> RereadCounts:
    """Return what people say of the cases of a re-reading, counted."""
    cases = rereading.cases.prefetch_related("readings")
    return RereadCounts.of((case.verdict, said_of(case), case.trials) for case in cases)


def said_of(case: RereadCase) -> str:
    """Return what people say of a case whose readings are loaded."""
    return people_say(reading.said for reading in case.readings.all())


def corrected_words(score: CorrectedScore, *, passed: int, failed: int, unscored: int) -> str:
    """Return what a re-reading says the score is, and how many passed and failed cases people judged for it."""
    if score.value is None or score.low is None or score.high is None:
        return f"Re-reading: the corrected score is unknown, {score.reason}."
    read = f"people judged {count(passed)} passed and {count(failed)} failed cases, drawn by chance"
    beside = f"; {count(unscored)} they could not judge" if unscored else ""
    return f"Re-reading: {read}{beside}. Corrected score: {percent(score.value)} % ({span(score.low, score.high)})."


@dataclass(frozen=True, slots=True)
class VerdictReread:
    """The cases of one verdict: how many people judged how, and the share that they judged right."""

    verdict: str
    drawn: int
    counts: Mapping[str, int]
    share: Rate

    @property
    def judged(self) -> int:
        """Return how many stand behind the share."""
        return sum(self.counts[said] for said in JUDGED)

    @property
    def overturned(self) -> tuple[str, int]:
        """Return what people say where they say otherwise than the verdict, and of how many cases."""
        said = "wrong" if self.verdict == "passed" else "right"
        return said, self.counts[said]

    @property
    def cells(self) -> list[tuple[str, int]]:
        """Return what people say, with how many cases."""
        return list(self.counts.items())


@dataclass(frozen=True, slots=True)
class RereadResults:
    """A closed re-reading: the corrected score and the cases of each verdict."""

    rereading: Rereading
    score: CorrectedScore
    verdicts: tuple[VerdictReread, ...]

    @property
    def words(self) -> str:
        """The corrected score in words."""
        passed, failed = (row.judged for row in self.verdicts)
        return corrected_words(self.score, passed=passed, failed=failed, unscored=self.unscored)

    @property
    def unscored(self) -> int:
        """Return how many cases that were read are in no figure: no one could say, or as many said right as wrong."""
        return sum(row.counts[said] for row in self.verdicts for said in ("cannot_say", "tied"))


def results_of(rereading: Rereading) -> RereadResults | None:
    """Return what came of a re-reading; None while it is open, and of a cancelled one."""
    if not rereading.has_results or rereading.counts is None:
        return None
    counts = RereadCounts.from_document(rereading.counts)
    score = corrected_score(_stated(rereading.grading), counts.sums("passed"), counts.sums("failed"))
    shares = {"passed": score.passed, "failed": score.failed}
    rows = []
    for verdict in VERDICTS:
        by_people = {said: counts.of_cell(verdict, said) for said in PEOPLE}
        rows.append(VerdictReread(verdict, sum(by_people.values()), by_people, shares[verdict]))
    return RereadResults(rereading, score, tuple(rows))


def grading_reread(grading: Grading) -> RereadResults | None:
    """Return what came of the grading's newest re-reading; None where none was closed."""
    newest = Rereading.objects.newest_of(grading)
    return results_of(newest) if newest else None


def run_rereadings(run: Run, most: int = 20) -> list[tuple[Any, RereadResults | None]]:
    """Return the newest re-readings of a run with their progress and what came of them."""
    rows = Rereading.objects.in_project(run.project).filter(grading__run=run).with_progress()
    return [(row, results_of(row)) for row in rows[:most]]


def case_rows(
    rereading: Rereading, *, verdict: str = "", said: str = "", start: int = 0, limit: int | None = None
) -> Sequence[RereadCase]:
    """Return the cases of a closed re-reading with their readings, of one verdict and as people say, where given."""
    rows = rereading.cases.prefetch_related("readings__reader")
    rows = rows.select_related("case__transcript__entry__revision__example").order_by("position")
    if verdict in VERDICTS:
        rows = rows.filter(passed=verdict == "passed")
    shown = [case for case in rows.defer("case__detail", "case__transcript__document") if said in ("", said_of(case))]
    return shown[start : None if limit is None else start + limit]


def progress_of(rereading: Rereading) -> Iterator[tuple[str, int]]:
    """Yield (name, number of readings) of everyone who has read, by name."""
    rows = Reading.objects.filter(case__rereading=rereading, reader__isnull=False)
    counts = Counter(rows.values_list("reader__name", "reader"))
    yield from ((name, count) for (name, _), count in sorted(counts.items(), key=lambda item: (item[0][0], str(item))))


def _stated(grading: Grading) -> Rate:
    nothing = Rate(0, 0, None, None, None)
    return verdict_rates([grading.pk], "outcome").get(grading.pk, {}).get("outcome", nothing)
