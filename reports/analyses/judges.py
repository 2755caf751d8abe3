"""What the judges of a grading said: rates with their intervals, mean values, and who they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.analyses.rates import Rate, rate

# How the columns of judges are named beside those of the rules, in addresses and files.
PREFIX = "judged:"
# The shares that sources ask for; of the others what is asked of the rules beside them.
GOALS = {"argument_semantics": 0.93, "natural_language": 0.93, "result_groundedness": 0.90}
GOAL = 0.90


@dataclass(frozen=True, slots=True)
class JudgeTotals:
    """The counts of one judge in one grading. `mean` is of the scored cases; `cost` is None without prices."""

    passed: int
    failed: int
    unscored: int
    errored: int
    mean: float | None
    asked: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One judge in one grading: its rate, and what marks it wherever its numbers stand."""

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


def judge_rows(judges: Sequence[Mapping[str, object]], totals: Mapping[str, JudgeTotals]) -> tuple[JudgeRow, ...]:
    """Return a row for each judge of a grading (`Grading.judges`), with its totals by the name of its rubric."""
    return tuple(_row(seat, totals[str(seat["rubric"])]) for seat in judges if seat["rubric"] in totals)


def _row(seat: Mapping[str, object], found: JudgeTotals) -> JudgeRow:
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
        rate=rate(found.passed, found.passed + found.failed),
        failed=found.failed,
        unscored=found.unscored,
        errored=found.errored,
        mean=found.mean,
        asked=found.asked,
        cost=found.cost,
        goal=GOALS.get(rubric, GOAL),
    )
