"""Reads the judges of traces, and the questions to them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import models
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from toolevals.traces.querysets.traces import first_id
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project

if TYPE_CHECKING:
    from toolevals.traces.models import TraceJudge, TraceQuestion  # noqa: F401

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
        days = self.model._meta.get_field("days").related_model._base_manager
        questions = self.model._meta.get_field("questions").related_model._base_manager
        today = days.filter(judge=OuterRef("pk"), day=timezone.localdate(database_now()))
        waiting = questions.filter(judge=OuterRef("pk"), due_at__isnull=False).order_by().values("judge")
        came_today = questions.filter(trace__gte=first_id(midnight()), trace__settled__gt=0)
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
        judges = self.model._meta.get_field("judge").related_model
        may_be_asked = TraceJudgeQuerySet(judges).may_be_asked(now)
        return self.filter(judge__in=may_be_asked, due_at__lte=now, trace__due_at=None).order_by("due_at", "pk")
