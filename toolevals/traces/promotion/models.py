"""Stores samples of traces that become examples, and the turns that those examples were made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar
from uuid import UUID

from django.db import models

from labeling.models import Dataset, Example
from toolevals.traces.intake.models import Trace
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, Project, Role, User, untrashed, within


class PromotionQuerySet(models.QuerySet["Promotion"]):
    """Samples, narrowed down by name."""

    def in_project(self, project: Project) -> PromotionQuerySet:
        """Return the project's, without those to datasets that were deleted, with what a list shows loaded."""
        found = self.filter(within(project, "dataset"), project=project)
        return found.select_related("dataset", "actor", "job", "schedule", "project").defer("plan")


class ScheduleQuerySet(models.QuerySet["PromotionSchedule"]):
    """Schedules, narrowed down by name."""

    def in_project(self, project: Project) -> ScheduleQuerySet:
        """Return the project's, without those to datasets that were deleted."""
        return self.filter(within(project, "dataset"), project=project).select_related("dataset", "actor", "project")


class TraceExampleQuerySet(models.QuerySet["TraceExample"]):
    """Turns of traces that are examples."""

    def shown(self) -> TraceExampleQuerySet:
        """Leave out those of datasets that were deleted."""
        return self.filter(untrashed("example__dataset"))

    def open_traces(self, project: Project, examples: Iterable[Any], role: Role) -> dict[UUID, UUID]:
        """Return the traces that a project's examples were made of, by example, without those closed to a role."""
        from toolevals.traces.blindness import closed_to

        wanted = list(examples)
        if not wanted:
            return {}
        found = Trace.objects.filter(project=project, examples__example__in=wanted, examples__is_folded=False)
        return dict(found.exclude(closed_to(project, role)).values_list("examples__example", "pk"))


class Turns(models.TextChoices):
    """Names the turns of a trace that become examples."""

    EVERY = "every", "every turn"
    CALLED = "called", "turns that called a tool"
    ONE = "one", "one turn of each trace"


class PromotionState(models.TextChoices):
    """Says how far a promotion is."""

    DRAWING = "drawing", "being drawn"
    # Its texts are shown, and someone says whether it is made.
    DRAWN = "drawn", "ready to create"
    MAKING = "making", "being made"
    MADE = "made", "made"
    UNDOING = "undoing", "being undone"
    UNDONE = "undone", "undone"


class Period(models.TextChoices):
    """Says how often a schedule makes examples."""

    HOURLY = "hourly", "every hour"
    DAILY = "daily", "every day"
    MONDAY = "weekly-monday", "every week, on Monday"
    TUESDAY = "weekly-tuesday", "every week, on Tuesday"
    WEDNESDAY = "weekly-wednesday", "every week, on Wednesday"
    THURSDAY = "weekly-thursday", "every week, on Thursday"
    FRIDAY = "weekly-friday", "every week, on Friday"
    SATURDAY = "weekly-saturday", "every week, on Saturday"
    SUNDAY = "weekly-sunday", "every week, on Sunday"


class Promotion(models.Model):
    """A sample of traces, and what became of it. `wanted` is a filter of traces as its address says it."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="promotions")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="+")
    schedule = models.ForeignKey(
        "traces.PromotionSchedule", null=True, on_delete=models.SET_NULL, related_name="promotions"
    )
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # What is at work on it now, or was last.
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    wanted = DocumentField(default=dict)
    # Names of `toolevals.traces.promotion.sampling.STRATA`.
    strata = DocumentField(default=list)
    count = models.PositiveIntegerField(default=1)
    seed = models.PositiveIntegerField(default=1)
    turns = models.CharField(max_length=10, choices=Turns.choices, default=Turns.EVERY)
    # Ids of the traces that someone chose by hand; empty where they are drawn.
    chosen = DocumentField(default=list)
    # Whether its texts are shown before anything is made.
    shows_first = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=PromotionState.choices, default=PromotionState.DRAWING)
    # What was drawn: see `toolevals.traces.promotion.drawing`.
    plan = DocumentField(default=dict)
    drawn = models.PositiveIntegerField(default=0)
    made = models.PositiveIntegerField(default=0)
    folded = models.PositiveIntegerField(default=0)
    # Traces without an example, the first of them, each with why.
    left_out = DocumentField(default=list)
    created_at = MomentField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    objects = PromotionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["project", "-id"], name="promotion_project")]

    def __str__(self) -> str:
        return f"promotion to {self.dataset.name}"


class PromotionSchedule(models.Model):
    """Examples are made of new traces each hour, day or week, a few at a time. `wanted`, `strata` as of a promotion."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="promotion_schedules")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    period = models.CharField(max_length=20, choices=Period.choices, default=Period.DAILY)
    wanted = DocumentField(default=dict)
    strata = DocumentField(default=list)
    turns = models.CharField(max_length=10, choices=Turns.choices, default=Turns.EVERY)
    # At most so many traces each time, and none while so many examples of the dataset wait for labels.
    count = models.PositiveIntegerField()
    most_waiting = models.PositiveIntegerField()
    is_on = models.BooleanField(default=True)
    # When it is due, which of the traces that came since are next, and why it made nothing when it was due last.
    due_at = models.DateTimeField()
    since = models.DateTimeField()
    skipped = models.CharField(max_length=200, blank=True)
    created_at = MomentField(auto_now_add=True)

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["due_at"], name="promotion_due", condition=models.Q(is_on=True))
        ]

    def __str__(self) -> str:
        return f"{self.get_period_display()} to {self.dataset.name}"


class TraceExample(models.Model):
    """An example, and a turn of a trace that asks it. The trace is kept as long as the example is.

    One turn is what the example was made of. Others that ask nearly the same are folded into it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="examples")
    example = models.ForeignKey(Example, on_delete=models.CASCADE, related_name="traces")
    promotion = models.ForeignKey(Promotion, null=True, on_delete=models.SET_NULL, related_name="examples")
    # Turns count the user's messages, from 1.
    turn = models.PositiveIntegerField()
    is_folded = models.BooleanField(default=False, db_default=False)
    created_at = MomentField(auto_now_add=True)

    objects = TraceExampleQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A turn may be in several datasets.
            models.UniqueConstraint(fields=["trace", "turn", "example"], name="example_of_a_turn"),
            models.UniqueConstraint(
                fields=["example"], condition=models.Q(is_folded=False), name="one_turn_an_example_is_made_of"
            ),
        ]
