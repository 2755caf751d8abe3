"""Bind a project's judges to its traces: how many they are asked about, and what that may take a day."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from django.db import transaction

from toolevals.grading.judging import Rubric
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.runs.models import Judge
from toolevals.traces.models import SpanKind, TraceJudge, TraceQuestion
from toolevals.traces.reading.judging import is_without_gold
from toolevals.traces.reading.span_judging import GATES_BY_KIND
from toolevals.traces.services.judging import questions_leave
from toolevals.workspace.models import Project, User
from toolevals.workspace.services.audit import audit_record

QUESTIONS_A_DAY = 100
MOST_QUESTIONS_A_DAY = 1_000_000
MOST_TOKENS_A_DAY = 10**12
SWITCHED_OFF = "The judge was switched off."


@dataclass(frozen=True, slots=True)
class TraceJudgeRequest:
    """Says how a judge is asked about traces: of which share, 0 to 1, and what it may take a day, None for no limit.

    Money is in the currency of the judge's prices. `span_kind` is one of `SpanKind`, and stays as it is once a judge is
    asked: None for that, else for the whole trace.
    """

    share: float
    most_questions: int = QUESTIONS_A_DAY
    most_tokens: int | None = None
    most_cost: float | None = None
    is_on: bool = True
    span_kind: str | None = None


@transaction.atomic
def trace_judge_set(*, project: Project, actor: User | None, judge: Judge, request: TraceJudgeRequest) -> TraceJudge:
    """Have a judge asked about traces that are summed up from now on, or as said now. Raises InvalidDocument.

    Where it is switched off, the traces that wait for it are not judged.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    bound = TraceJudge.objects.filter(judge=judge).first()
    kind = (bound.span_kind if bound else "") if request.span_kind is None else request.span_kind
    problems = [*_problems(project, judge, request), *_problems_of_kind(bound, judge, kind)]
    if problems:
        raise InvalidDocument(problems)
    if not request.is_on:
        questions_leave(TraceQuestion.objects.filter(judge__judge=judge, due_at__isnull=False), SWITCHED_OFF)
    said = {**asdict(request), "span_kind": kind}
    found, _ = TraceJudge.objects.update_or_create(
        judge=judge,
        defaults={**said, "failures": 0, "paused_until": None, "trouble": ""},
        create_defaults={**said, "project": project, "rubric": judge.rubric.name, "actor": actor},
    )
    detail = {"judge": judge.name, **said}
    audit_record(project=project, actor=actor, verb="trace_judge_set", target=judge, detail=detail)
    return found


def trace_judges_possible(project: Project) -> list[Judge]:
    """Return the judges of a project that can be asked about traces and are not bound to them."""
    judges = Judge.objects.in_project(project).filter(of_traces=None)
    return [judge for judge in judges if _kinds_of(judge)]


def _kinds_of(judge: Judge) -> list[str]:
    """Return the kinds of spans that a judge can be asked about; an empty one for whole traces."""
    rubric = Rubric.from_document(judge.rubric.document)
    return [kind for kind in GATES_BY_KIND if is_without_gold(rubric, kind)]


def _problems(project: Project, judge: Judge, request: TraceJudgeRequest) -> Iterator[Problem]:
    if judge.project_id != project.pk:
        yield Problem("/judge", "is not of this project")
    others = TraceJudge.objects.switched_on(project).filter(rubric=judge.rubric.name).exclude(judge=judge)
    if request.is_on and (other := others.first()):
        yield Problem("/judge", f"{other} judges traces by this rubric already: switch it off first")
    if not (math.isfinite(request.share) and 0 < request.share <= 1):
        yield Problem("/share", "must be above 0 and at most 1")
    if not 1 <= request.most_questions <= MOST_QUESTIONS_A_DAY:
        yield Problem("/most_questions", f"must be from 1 to {MOST_QUESTIONS_A_DAY:,}")
    if request.most_tokens is not None and not 1 <= request.most_tokens <= MOST_TOKENS_A_DAY:
        yield Problem("/most_tokens", f"must be from 1 to {MOST_TOKENS_A_DAY:,}")
    cost = request.most_cost
    if cost is not None and not (math.isfinite(cost) and cost >= 0):
        yield Problem("/most_cost", "must be a number from 0")
    elif cost is not None and not judge.prices:
        yield Problem("/most_cost", "needs prices: without them it is not known what was spent")


def _problems_of_kind(bound: TraceJudge | None, judge: Judge, kind: str) -> Iterator[Problem]:
    if kind not in SpanKind.values:
        yield Problem("/span_kind", f"must be one of {', '.join(filter(None, SpanKind.values))}, or empty")
    elif bound is not None and bound.span_kind != kind:
        yield Problem("/span_kind", "cannot change, since its verdicts stand there: bind another judge with its rubric")
    elif kind not in (kinds := _kinds_of(judge)):
        gates = ", ".join(GATES_BY_KIND[kind])
        words = f"the gate of its rubric is {judge.rubric.document['gate']}, and must be one of {gates}"
        if not kinds:
            yield Problem("/judge", f"asks about what is expected; traces have no gold: {words}, without expectation")
        else:
            yield Problem("/span_kind", f"is nothing that this judge can be asked about: {words}")
