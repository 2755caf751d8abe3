"""Tell what pages of calibrations show besides the results: figures of a list, cases of a cell, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count

from toolevals.grading.judging.raters import JUDGE, PEOPLE
from toolevals.grading.metrics.rates import Estimate
from toolevals.runs.judge_calibrations.forms import MOST_GRADINGS
from toolevals.runs.judge_calibrations.results import SETS, CaseResult, table_of
from toolevals.runs.judging.judge_snapshots import seats_of
from toolevals.runs.models import Grading, Judge, JudgeCalibration, Thumb
from toolevals.workspace.requests import page_number

CASES_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """The cases of a calibration that the address asks for; empty filters nothing."""

    chosen: str = SETS[0]
    judge: str = ""
    people: str = ""

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Wanted:
        """Read the address; what is none of the choices counts as not given."""

        def choice(name: str, choices: Sequence[str], default: str) -> str:
            return value if (value := parameters.get(name, "")) in choices else default

        return cls(choice("set", SETS, SETS[0]), choice("judge", JUDGE, ""), choice("people", PEOPLE, ""))

    @property
    def query(self) -> str:
        """The filter as the query of an address."""
        named = {"set": self.chosen, "judge": self.judge, "people": self.people}
        return urlencode({name: value for name, value in named.items() if value})

    def admits(self, case: CaseResult) -> bool:
        """Tell whether a case is asked for; of a hidden one it must not be known what the judge says."""
        return (not self.judge or (self.judge == case.judge and not case.is_hidden)) and self.people in (
            "",
            case.people,
        )


@dataclass(frozen=True, slots=True)
class CasePage:
    """Some of the cases that are asked for; `following` is the number of the next page, 0 at the end."""

    rows: Sequence[CaseResult]
    count: int
    following: int
    number: int


def case_page(cases: Sequence[CaseResult], wanted: Wanted, page: str) -> CasePage:
    """Return a page of cases, from 1."""
    admitted = [case for case in cases if wanted.admits(case)]
    number = page_number(page)
    end = number * CASES_A_PAGE
    return CasePage(admitted[end - CASES_A_PAGE : end], len(admitted), number + 1 if len(admitted) > end else 0, number)


def figures_of(calibration: JudgeCalibration) -> dict[str, Estimate] | None:
    """Return kappa and agreement of a closed calibration."""
    if calibration.table is None:
        return None
    table = table_of(calibration)
    return {"kappa": table.kappa, "agreement": table.agreement}


@dataclass(frozen=True, slots=True)
class ThumbCounts:
    """The thumbs on a judge's verdicts: (verdict, thumbs up, thumbs down).

    They choose themselves what they look at: no figure takes them. `proposed` counts the verdicts with a thumb down on
    examples that no calibration has had, `grading` is the newest of theirs, `run` its number.
    """

    rows: Sequence[tuple[str, int, int]]
    proposed: int
    grading: Any
    run: Any

    @classmethod
    def of(cls, judge: Judge) -> ThumbCounts:
        """Count the thumbs that are shown of one judge."""
        thumbs = Thumb.objects.on(judge).counted().with_verdicts().order_by().values_list("verdict", "is_up")
        counts = {(verdict, is_up): count for verdict, is_up, count in thumbs.annotate(count=Count("pk"))}
        proposed = Thumb.objects.proposed(judge)
        newest = proposed.order_by("-case__grading").values_list("case__grading", "case__grading__run__number").first()
        return cls(
            rows=[(verdict, counts.get((verdict, True), 0), counts.get((verdict, False), 0)) for verdict in JUDGE],
            proposed=proposed.order_by().values("case").distinct().count(),
            grading=newest and newest[0],
            run=newest and newest[1],
        )

    @property
    def any(self) -> bool:
        """Return whether there is a thumb."""
        return any(up or down for _, up, down in self.rows)


def gradings_judged_by(judge: Judge) -> dict[str, Grading]:
    """Return the newest finished gradings that asked the judge's rubric version and model, by their ids."""
    wanted = (judge.rubric.name, judge.rubric.version, judge.model)
    same = Judge.objects.filter(rubric=judge.rubric_id, model=judge.model)
    rows: Any = Grading.objects.filter(finished_at__isnull=False, judge_counts__judge__in=same).distinct()
    gradings = rows.select_related("run").order_by("-pk")[:MOST_GRADINGS]
    return {
        str(grading.pk): grading
        for grading in gradings
        if any((seat.rubric, seat.version, seat.model) == wanted for seat in seats_of(grading))
    }
