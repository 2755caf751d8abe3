"""What judges said in each run of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from reports.analyses.judges import JudgeRow, JudgeTotals, Mark, judge_rows
from reports.analyses.trend import RunFacts
from reports.judge_queries import TOTALS, mark_of
from reports.run_facts import recent_runs
from reports.trend_page import MOST_RUNS
from toolevals.presentation.csv import Cell
from toolevals.runs.judging.standings import standings_of
from toolevals.runs.models import Experiment, Grading, Judge, JudgeCount


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One run and its judges' rows."""

    run: RunFacts
    judges: tuple[JudgeRow, ...]


def judged_runs(experiment: Experiment) -> tuple[JudgedRun, ...]:
    """Return the experiment's newest runs that were judged, oldest first; as many queries for one as for all."""
    runs = recent_runs(experiment, most=MOST_RUNS)
    seats = dict(Grading.objects.filter(pk__in=[grading for _, grading in runs]).values_list("pk", "judges"))
    counts: dict[UUID, dict[str, JudgeTotals]] = {}
    found = JudgeCount.objects.filter(grading__in=[pk for pk, judges in seats.items() if judges])
    for count in found:
        totals = JudgeTotals(**{name: getattr(count, name) for name in TOTALS})
        counts.setdefault(count.grading_id, {})[count.rubric] = totals
    judges = Judge.objects.filter(pk__in={seat["judge"] for each in seats.values() for seat in each})
    marks = {str(pk): mark_of(standing) for pk, standing in standings_of(judges).items()}
    return tuple(
        JudgedRun(facts, judge_rows(seats[grading], counts[grading], _named(seats[grading], marks)))
        for facts, grading in runs
        if grading in counts
    )


def _named(seats: list[dict[str, str]], marks: dict[str, Mark]) -> dict[str, Mark]:
    return {seat["rubric"]: marks[seat["judge"]] for seat in seats if seat["judge"] in marks}


def judge_trend_rows(found: Iterable[JudgedRun]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each judged run and judge, in the order of `tables.TRENDS`."""
    for each in found:
        run = each.run
        for row in each.judges:
            rate = row.rate
            about = run.number, run.created_at, run.subject, run.dataset, run.changed
            said = row.name, rate.passed, rate.total, rate.value, rate.low, rate.high
            yield *about, *said, row.judge, row.model, row.mark.flag
