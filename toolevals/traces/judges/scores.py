"""Has the four scores of whole traces given: a judge for each of their rubrics, made after one that is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from toolevals.grading.judging import SHIPPED, TRACE_SCORES
from toolevals.runs.judging.services import JudgeRequest, judge_add, rubric_use
from toolevals.runs.models import Judge, Rubric
from toolevals.traces.judges.models import JUDGE_RULE, SpanKind, TraceJudge
from toolevals.traces.judges.services import TraceJudgeRequest, trace_judge_set
from toolevals.workspace.models import Project, User

# The share of traces that a score is asked about to begin with.
SHARE: Final = 0.1
# The names of what scores traces: the rule without a judge, and each rubric's judge.
SCORE_RULES: Final = ("privacy_and_safety", *(f"{JUDGE_RULE}{name}" for name in TRACE_SCORES))


@dataclass(frozen=True, slots=True)
class ScoreJudge:
    """One of the four scores, and the judge that gives it; None where none is on."""

    name: str
    title: str
    judge: TraceJudge | None


def score_judges(judges: Iterable[TraceJudge]) -> list[ScoreJudge]:
    """Return the four scores with those of a project's judges that are on and judge whole traces."""
    by_rubric = {each.rubric: each for each in judges if each.is_on and each.span_kind == SpanKind.TRACE}
    return [ScoreJudge(name, SHIPPED[name].title, by_rubric.get(name)) for name in TRACE_SCORES]


@transaction.atomic
def trace_scores_use(*, project: Project, actor: User | None, like: Judge) -> list[TraceJudge]:
    """Have each score given that no judge gives so far, by the model and options of a judge. Raises InvalidDocument.

    A judge that is like it is asked again; where there is none, one is made. Return those that are asked now.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    taken = set(TraceJudge.objects.switched_on(project).values_list("rubric", flat=True))
    asked = []
    for name in TRACE_SCORES:
        if name in taken:
            continue
        rubric = rubric_use(project=project, actor=actor, name=name)
        judge = next(_alike(like, rubric), None) or _made(like, rubric, actor)
        bound = TraceJudge.objects.filter(judge=judge).first()
        limits = (
            TraceJudgeRequest(bound.share, bound.most_questions, bound.most_tokens, bound.most_cost)
            if bound
            else TraceJudgeRequest(SHARE)
        )
        asked.append(trace_judge_set(project=project, actor=actor, judge=judge, request=limits))
    return asked


def _alike(like: Judge, rubric: Rubric) -> Iterator[Judge]:
    """Yield the judges by a rubric that ask the same model in the same way, about whole traces or about none yet."""
    for judge in Judge.objects.filter(project=like.project_id, rubric=rubric, model=like.model).order_by("-created_at"):
        bound = TraceJudge.objects.filter(judge=judge).first()
        if judge.options == like.options and judge.prices == like.prices and not (bound and bound.span_kind):
            yield judge


def _made(like: Judge, rubric: Rubric, actor: User | None) -> Judge:
    name = wanted = f"{rubric.title} of traces"
    number = 2
    while Judge.objects.filter(project=like.project_id, name=name).exists():
        name, number = f"{wanted} {number}", number + 1
    options = {key: value for key, value in like.options.items() if key != "model"}
    request = JudgeRequest(name, like.model, options, like.prices, allow_alias=not like.is_pinned)
    return judge_add(project=like.project, actor=actor, rubric=rubric, request=request)
