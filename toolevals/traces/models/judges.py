"""Stores the judges that are asked about traces: of how much, at which price, and what became of each question."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.runs.models import Judge
from toolevals.traces.models.traces import Trace
from toolevals.traces.querysets.judges import JUDGE_RULE, TraceJudgeQuerySet, TraceQuestionQuerySet
from toolevals.workspace.fields import MomentField
from toolevals.workspace.models import Project, User


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
