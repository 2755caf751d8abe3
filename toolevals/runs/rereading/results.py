"""Tell what came of a re-reading: what people say of each case, and the score that this speaks for, in words too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.metrics.clustered import Rate
from toolevals.grading.metrics.rereading import CorrectedScore, corrected_score
from toolevals.presentation.numbers import count, percent, span
from toolevals.runs.models import Grading, Reading, RereadCase, Rereading, Run
from toolevals.runs.rereading.counting import JUDGED, PEOPLE, VERDICTS, RereadCounts, said_of
from toolevals.runs.services.example_sums import verdict_rates


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
