"""Stores the judges of traces, what became of each question to them, and what rules and judges say of spans."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar, Final
from uuid import UUID

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from toolevals.json_types import JsonObject
from toolevals.runs.models import Judge
from toolevals.traces.intake.models import Trace, TraceQuerySet, first_id
from toolevals.workspace.clock import database_now
from toolevals.workspace.fields import MomentField
from toolevals.workspace.models import Project, User

# What the names of judges' rules begin with; their rubric follows.
JUDGE_RULE: Final = "judge:"


def midnight() -> datetime:
    """Return when today began, in the server's time zone: budgets and lists are by its days."""
    return timezone.localtime(database_now()).replace(hour=0, minute=0, second=0, microsecond=0)


class TraceJudgeQuerySet(models.QuerySet["TraceJudge"]):
    """Judges of traces."""

    def in_project(self, project: Project) -> TraceJudgeQuerySet:
        """Return those of a project with their judges, those that are on first."""
        return (
            self.filter(project=project).select_related("judge__rubric", "project").order_by("-is_on", "rubric", "pk")
        )

    def with_today(self) -> Any:
        """Add what each was asked today, how many traces wait for it, and how many that came today it leaves out."""
        today = TraceJudgeDay.objects.filter(judge=OuterRef("pk"), day=timezone.localdate(database_now()))
        waiting = TraceQuestion.objects.filter(judge=OuterRef("pk"), due_at__isnull=False).order_by().values("judge")
        came_today = TraceQuestion.objects.filter(trace__gte=first_id(midnight()), trace__settled__gt=0)
        left = came_today.filter(judge=OuterRef("pk"), state="not_judged").order_by().values("judge")
        return self.annotate(
            **{f"{name}_today": Coalesce(Subquery(today.values(name)[:1]), 0) for name in ("questions", "tokens")},
            cost_today=Coalesce(Subquery(today.values("cost")[:1]), 0.0),
            waiting=Coalesce(Subquery(waiting.annotate(count=Count("pk")).values("count")), 0),
            not_judged_today=Coalesce(Subquery(left.annotate(count=Count("pk")).values("count")), 0),
        )

    def switched_on(self, project: Project) -> TraceJudgeQuerySet:
        """Return those that new traces are judged by."""
        return self.in_project(project).filter(is_on=True)

    def may_be_asked(self, now: datetime) -> TraceJudgeQuerySet:
        """Return those that are on, of no deleted project, that no worker has, and that may be reached again."""
        return self.filter(
            Q(paused_until=None) | Q(paused_until__lte=now),
            Q(busy_until=None) | Q(busy_until__lte=now),
            is_on=True,
            project__deleted_at=None,
        )


class TraceQuestionQuerySet(models.QuerySet["TraceQuestion"]):
    """Questions about traces."""

    def about(self, project: Project, *, rule: str = "", judge: int | None = None) -> TraceQuestionQuerySet:
        """Return a project's, of one judge or of those by whose name `rule` goes; no online rule has any."""
        found = self.filter(judge__project=project)
        if judge is not None:
            return found.filter(judge=judge)
        return (
            found.filter(judge__rubric=rule.removeprefix(JUDGE_RULE))
            if rule.startswith(JUDGE_RULE)
            else (self.none() if rule else found)
        )

    def due(self, now: datetime) -> TraceQuestionQuerySet:
        """Return those that may be asked now, the longest waiting first: of traces that wait for no summing up."""
        return self.filter(
            judge__in=TraceJudge.objects.may_be_asked(now), due_at__lte=now, trace__due_at=None
        ).order_by("due_at", "pk")


class QuestionState(models.TextChoices):
    """Says what became of a question about a trace."""

    WAITING = "waiting", "waits"
    JUDGED = "judged", "judged"
    # Its budget was spent, or no one could be reached: no verdict.
    NOT_JUDGED = "not_judged", "not judged"


class SpanKind(models.TextChoices):
    """Names the spans of a trace that a judge is asked about, each by itself."""

    TRACE = "", "The whole trace"
    TOOL = "tool", "Each call of a tool (TOOL)"
    MODEL = "model", "Each call of a model (LLM)"
    AGENT = "agent", "Each agent (AGENT)"


class TraceJudge(models.Model):
    """One of a project's judges, asked about a share of its traces within a budget a day.

    It is never deleted: its verdicts name it. Where it is off, no new trace is asked about.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trace_judges")
    judge = models.OneToOneField(Judge, on_delete=models.CASCADE, related_name="of_traces")
    # The rubric's name: of each rubric one judge is on.
    rubric = models.CharField(max_length=50)
    is_on = models.BooleanField(default=True)
    # What it is asked about: it never changes, since its verdicts stand there.
    span_kind = models.CharField(max_length=10, choices=SpanKind.choices, blank=True, default="", db_default="")
    # The share of traces that it is asked about, above 0 and at most 1, by the trace's id.
    share = models.FloatField()
    # At most so much a day; null for no limit. Money is in the currency of the judge's prices.
    most_questions = models.PositiveIntegerField()
    most_tokens = models.PositiveBigIntegerField(null=True)
    most_cost = models.FloatField(null=True)
    # Until when a worker has it: one question at a time, so that a killed worker leaves one that is asked again.
    busy_until = models.DateTimeField(null=True)
    # While it cannot be reached: how often in succession, until when no one asks it, and why.
    failures = models.PositiveIntegerField(default=0)
    paused_until = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=500, blank=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = TraceJudgeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["project", "rubric"], condition=models.Q(is_on=True), name="one_trace_judge_a_rubric"
            ),
        ]

    def __str__(self) -> str:
        return self.judge.name

    @property
    def rule(self) -> str:
        """The name under which its verdicts are next to those of rules."""
        return f"{JUDGE_RULE}{self.rubric}"


class TraceJudgeDay(models.Model):
    """Counts what one judge was asked about traces on one day, and what that took.

    A question counts from before it is asked, with what it is expected to take: one whose worker was killed may have
    been paid for.
    """

    judge = models.ForeignKey(TraceJudge, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField()
    questions = models.PositiveIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    # In the currency of its prices; 0 without prices.
    cost = models.FloatField(default=0.0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["judge", "day"], name="day_of_a_trace_judge"),
        ]


class TraceQuestion(models.Model):
    """A trace or a span that a judge is asked about. The rows are the queue: who takes one moves `due_at` on."""

    judge = models.ForeignKey(TraceJudge, on_delete=models.CASCADE, related_name="questions", db_index=False)
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="questions")
    # Empty for the whole trace.
    span_id = models.CharField(max_length=16, blank=True, default="", db_default="")
    state = models.CharField(max_length=10, choices=QuestionState.choices, default=QuestionState.WAITING)
    # When it may be asked, or asked again; null once it is settled.
    due_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    # The last day on which the judge was asked; null where it never was, or was not reached.
    asked_on = models.DateField(null=True)
    # SHA-256 over what the verdict rests on; empty before there is one.
    inputs = models.CharField(max_length=64, blank=True)
    # Why there is no verdict.
    reason = models.CharField(max_length=500, blank=True)

    objects = TraceQuestionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["judge", "trace", "span_id"], name="question_about_a_span"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["judge", "due_at"], name="trace_question_due", condition=models.Q(due_at__isnull=False)
            ),
            models.Index(
                fields=["judge", "trace"],
                name="trace_question_not_judged",
                condition=models.Q(state=QuestionState.NOT_JUDGED),
            ),
            models.Index(
                fields=["judge", "asked_on", "trace"],
                name="trace_question_asked",
                condition=models.Q(asked_on__isnull=False),
            ),
        ]


class VerdictStatus(models.TextChoices):
    """As of the graders of runs."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"
    ERRORED = "errored"


# Judges' verdicts are numbered from here on, each by its judge: so that none has two on one trace, or on one span.
JUDGES_FROM = 1_000_000


class SpanVerdict(models.Model):
    """Holds what one rule, or judge, says of one span.

    That of a rule follows from the trace and is made again when more comes. That of a judge stays until it is asked
    again.
    """

    # Both have indexes below that begin with them.
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="verdicts", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    # Empty for a call that only the conversation tells of.
    span_id = models.CharField(max_length=16, blank=True)
    # A judge's is `TraceJudge.rule`, a policy's `policy:` and its short name; its version is that of the policy.
    rule = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    status = models.CharField(max_length=8, choices=VerdictStatus.choices)
    value = models.FloatField(null=True)
    reason = models.CharField(max_length=500, blank=True)
    # Of a judge's verdict alone: whose it is, the snapshot that the endpoint says has answered, tokens and cost. The
    # cost is null where nothing was asked, or its judge has no prices.
    judge = models.ForeignKey(TraceJudge, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    snapshot = models.CharField(max_length=120, blank=True, db_default="")
    tokens = models.PositiveIntegerField(null=True)
    judge_cost = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["trace", "number", "span_id"], name="verdict_on_a_span"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "rule", "status", "trace"], name="span_verdict_of_a_rule"),
        ]


def with_verdicts(
    traces: TraceQuerySet,
    project: Project,
    *,
    rule: str = "",
    judge: UUID | None = None,
    verdict: str = "",
    asked_on: date | None = None,
) -> TraceQuerySet:
    """Return those traces of a project of which a rule, or a judge, said `verdict`, or anything where it is empty.

    `not_judged` and `waiting` are those to whose question a judge gave no answer. `asked_on` narrows them down to
    those that a judge was asked about on a day.
    """
    said: JsonObject = {"rule": rule, "status": verdict}
    if judge:
        its = TraceJudge.objects.in_project(project).filter(judge=judge).first()
        if its is None or (rule and rule != its.rule):
            return traces.none()
        said |= {"rule": its.rule, "judge": its.pk}
    asked = TraceQuestion.objects.about(project, rule=said["rule"], judge=said.get("judge"))
    asked = asked.filter(trace=OuterRef("pk"))
    found = traces.filter(Exists(asked.filter(asked_on=asked_on))) if asked_on else traces
    if verdict in (QuestionState.NOT_JUDGED, QuestionState.WAITING):
        return found.filter(Exists(asked.filter(state=verdict)))
    if asked_on and not verdict:
        return found
    wanted = {column: value for column, value in said.items() if value}
    return found.filter(Exists(SpanVerdict.objects.filter(project=project, trace=OuterRef("pk"), **wanted)))
