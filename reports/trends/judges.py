"""Tell what judges said in each of some runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from reports.analyses.trend import Point, RunFacts, Trend, TrendRow, series_of
from reports.judges.analysis import JudgeRow, JudgeTotals, Mark, judge_rows
from reports.judges.queries import TOTALS, mark_of
from toolevals.runs.counts.kept_sums import kept_sums_of
from toolevals.runs.judging.judge_reliability import standings_of
from toolevals.runs.models import Grading, Judge, JudgeCount

OTHER_JUDGE = "another judge, model or version of the rubric, or asked of other cases"


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One run and its judges' rows."""

    run: RunFacts
    judges: tuple[JudgeRow, ...]


def judged_runs(runs: Sequence[RunFacts]) -> tuple[JudgedRun, ...]:
    """Return the runs that were judged, in their order; as many queries for one as for all."""
    seats = dict(Grading.objects.filter(pk__in=[run.grading for run in runs]).values_list("pk", "judges"))
    counts: dict[UUID, dict[str, JudgeTotals]] = {}
    judged = [pk for pk, judges in seats.items() if judges]
    several = Grading.objects.filter(pk__in=judged, run__trials__gt=1, finished_at__isnull=False)
    sums = kept_sums_of(list(several.select_related("run")), "judgements")
    for count in JudgeCount.objects.filter(grading__in=judged):
        own = sums.get(count.grading_id, {}).get((count.rubric,))
        totals = JudgeTotals(**{name: getattr(count, name) for name in TOTALS}, sums=own)
        counts.setdefault(count.grading_id, {})[count.rubric] = totals
    judges = Judge.objects.filter(pk__in={seat["judge"] for each in seats.values() for seat in each})
    marks = {str(pk): mark_of(standing) for pk, standing in standings_of(judges).items()}
    return tuple(
        JudgedRun(run, judge_rows(seats[grading], counts[grading], _named(seats[grading], marks)))
        for run in runs
        if (grading := run.grading) in counts
    )


def _named(seats: list[dict[str, str]], marks: dict[str, Mark]) -> dict[str, Mark]:
    return {seat["rubric"]: marks[seat["judge"]] for seat in seats if seat["judge"] in marks}


def judge_trend(judged: Sequence[JudgedRun]) -> Trend:
    """Return the rate of each judge over runs, oldest first; another judge or rubric version is not joined."""
    rows = [TrendRow(each.run, {row.name: row.rate for row in each.judges}) for each in judged]
    told = {(each.run.number, row.name): row for each in judged for row in each.judges}

    def apart(before: RunFacts, after: RunFacts, name: str) -> tuple[str, ...]:
        one, two = told[before.number, name], told[after.number, name]
        other = _who(one) != _who(two)
        return (*after.apart_from(before), *([OTHER_JUDGE] if other else []))

    # The goal is that of the newest run.
    goals = {name: row.goal for (_, name), row in told.items()}
    return Trend(tuple(rows), tuple(series_of(rows, tuple(goals), goals.__getitem__, apart)))


def _who(row: JudgeRow) -> tuple[str, str, int, bool]:
    return row.judge, row.model, row.version, row.only_unscored


def judge_points(judged: Sequence[JudgedRun]) -> Iterator[Point]:
    """Yield every judge's rate in every run, with who judged."""
    told = {(each.run.number, row.name): row for each in judged for row in each.judges}
    for point in judge_trend(judged).points:
        row = told[point.run.number, point.name]
        yield replace(point, judge=row.judge, model=row.model, flag=row.mark.flag)
