"""Tell what rules leave unscored in a grading for judges, layer by layer, and who can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from toolevals.grading.engine.case_findings import UNSCORED
from toolevals.runs.judging.estimate import JudgeEstimate, unscored_estimate
from toolevals.runs.judging.judge_snapshots import seats_of
from toolevals.runs.models import CaseGrade, Grading, Judge, JudgedCase, Rubric

# The shipped rubric that answers the question of a layer's rules; those of one's own of the layer may, too.
ANSWERS: Final = {"result_use": "result_groundedness", "recovery": "trajectory_recovery"}


@dataclass(frozen=True, slots=True)
class Unscored:
    """A layer whose rules leave questions: in how many cases, and what it takes to ask each judge that can answer.

    `rubric` is the shipped one that answers.
    """

    layer: str
    rubric: str
    cases: int
    estimates: tuple[JudgeEstimate, ...]


def answers_unscored(rubric: Rubric) -> bool:
    """Return whether a rubric answers what the rules of its layer leave unscored."""
    return rubric.layer in ANSWERS and (not rubric.is_shipped or rubric.name == ANSWERS[rubric.layer])


def unscored_cases(grading: Grading, layer: str) -> QuerySet[CaseGrade]:
    """Return the cases of a grading in which the layer's rules leave a question."""
    return CaseGrade.objects.filter(grading=grading, findings__family="unscored", findings__kind=layer)


def unjudged_cases(grading: Grading, rubric: Rubric) -> QuerySet[CaseGrade]:
    """Return those that no judge has scored by the rubric."""
    scored = JudgedCase.objects.filter(grading=grading, rubric=rubric.name, status__in=("passed", "failed"))
    return unscored_cases(grading, rubric.layer).exclude(pk__in=scored.values("case"))


def unscored_layers(grading: Grading) -> Iterator[Unscored]:
    """Yield the layers that leave questions in a grading, each with what asking its judges takes.

    A baseline agent is judged by rules alone.
    """
    if grading.run.baseline_agent:
        return
    seated = {seat.rubric: seat.judge for seat in seats_of(grading)}
    judges = Judge.objects.in_project(grading.run.project).filter(rubric__layer__in=UNSCORED)
    able = [judge for judge in judges if answers_unscored(judge.rubric)]
    able = [judge for judge in able if seated.get(judge.rubric.name, str(judge.pk)) == str(judge.pk)]
    for layer in UNSCORED:
        if cases := unscored_cases(grading, layer).count():
            asked = (judge for judge in able if judge.rubric.layer == layer)
            estimates = (unscored_estimate(grading, judge, unjudged_cases(grading, judge.rubric)) for judge in asked)
            yield Unscored(layer, ANSWERS[layer], cases, tuple(estimates))
