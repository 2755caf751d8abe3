"""Work out what the judges of a grading said: rates with their intervals, mean values, and who they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reports.rates import ExampleSums, Rate, rate
from toolevals.grading.judging.raters import corrected_rate
from toolevals.grading.metrics.calibration import JudgeTable
from toolevals.grading.metrics.rates import Estimate

# How the columns of judges are named beside those of the rules, in addresses and files.
PREFIX = "judged:"
# The shares that sources ask for; of the others what is asked of the rules beside them.
GOALS = {"argument_semantics": 0.93, "natural_language": 0.93, "result_groundedness": 0.90}
GOAL = 0.90


@dataclass(frozen=True, slots=True)
class Mark:
    """The standing of a judge compared with people. `flag` says why its numbers are marked; empty where they are not.

    `table` holds the counts of its newest calibration; None without one.
    """

    flag: str
    calibration: UUID | None = None
    calibrated_at: datetime | None = None
    table: JudgeTable | None = None


UNMARKED = Mark("never compared with people")


@dataclass(frozen=True, slots=True)
class JudgeTotals:
    """The counts of one judge in one grading. `mean` is of the scored cases; `cost` is None without prices.

    `settled` of the passed rules settled without a question; None where no one counted them.
    """

    passed: int
    failed: int
    unscored: int
    errored: int
    mean: float | None
    asked: int
    cost: float | None
    settled: int | None = None
    # How many of the cases that it scored hold a text that speaks to it.
    injections: int = 0
    # Of several trials an example.
    sums: ExampleSums | None = None


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One judge in one grading: its rate, and what marks it where its numbers stand."""

    name: str
    title: str
    layer: str
    rubric: str
    version: int
    judge: str
    model: str
    pinned: bool
    share: float
    rate: Rate
    failed: int
    unscored: int
    errored: int
    mean: float | None
    asked: int
    cost: float | None
    goal: float
    settled: int | None
    mark: Mark
    # Asked where rules leave a question, too, in its share or not.
    only_unscored: bool
    # The rate put right by what people say of a sample; None where they were not asked, or it cannot be told.
    corrected: Estimate | None
    injections: int


def judge_rows(
    judges: Sequence[Mapping[str, object]], totals: Mapping[str, JudgeTotals], marks: Mapping[str, Mark]
) -> tuple[JudgeRow, ...]:
    """Return a row for each judge of a grading (`Grading.judges`), with totals and marks by the name of its rubric."""
    named = [(seat, str(seat["rubric"])) for seat in judges]
    return tuple(_row(seat, totals[name], marks.get(name, UNMARKED)) for seat, name in named if name in totals)


def _corrected(totals: JudgeTotals, mark: Mark) -> Estimate | None:
    if mark.table is None or totals.settled is None:
        return None
    return corrected_rate(totals.passed, totals.failed, mark.table, settled=totals.settled, sums=totals.sums)


def _row(seat: Mapping[str, object], totals: JudgeTotals, mark: Mark) -> JudgeRow:
    rubric = str(seat["rubric"])
    return JudgeRow(
        name=f"{PREFIX}{rubric}",
        title=str(seat["title"]),
        layer=str(seat["layer"]),
        rubric=rubric,
        version=int(str(seat["version"])),
        judge=str(seat["name"]),
        model=str(seat["model"]),
        pinned=bool(seat["pinned"]),
        share=float(str(seat["share"])),
        rate=rate(totals.passed, totals.passed + totals.failed, totals.sums),
        failed=totals.failed,
        unscored=totals.unscored,
        errored=totals.errored,
        mean=totals.mean,
        asked=totals.asked,
        cost=totals.cost,
        goal=GOALS.get(rubric, GOAL),
        settled=totals.settled,
        mark=mark,
        only_unscored=bool(seat.get("unscored")),
        corrected=_corrected(totals, mark),
        injections=totals.injections,
    )
