"""Store re-readings: passed and failed cases of a grading, drawn by chance and read without gold and verdict."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce

from toolevals.json_types import JsonObject
from toolevals.runs.grading.models import CaseGrade, Grading
from toolevals.runs.rereading.blindness import is_at_rest, made_gold, readings_shown
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, User, within


class RereadingQuerySet(models.QuerySet["Rereading"]):
    """Reads of re-readings."""

    def in_project(self, project: Project) -> RereadingQuerySet:
        """Return the project's re-readings with their runs, the newest first."""
        related = "grading__run__project", "grading__run__dataset_version", "grading__dataset_version__dataset", "actor"
        return self.filter(within(project, "grading__run")).select_related(*related).order_by("-id")

    def with_progress(self) -> Any:
        """Add `size` (its cases) and `read` (how many readings there are)."""
        readings = Reading.objects.filter(case__rereading=OuterRef("pk")).order_by().values("case__rereading")
        counted = readings.annotate(count=Count("pk")).values("count")
        return self.annotate(size=Count("cases"), read=Coalesce(models.Subquery(counted), 0))

    def newest_of(self, grading: Grading) -> Rereading | None:
        """Return the re-reading of a grading that was closed last and not cancelled."""
        closed = self.filter(grading=grading, closed_at__isnull=False, is_cancelled=False)
        return closed.order_by("-closed_at", "-id").first()


class RereadCaseQuerySet(models.QuerySet["RereadCase"]):
    """Reads of the cases of a re-reading."""

    def resting(self) -> RereadCaseQuerySet:
        """Return those that no one is shown now, because their example is being labelled."""
        return self.filter(is_at_rest())

    def left_for(self, user: User) -> RereadCaseQuerySet:
        """Return those that this person may still read, in their order: not by them yet, nor by as many as it takes."""
        own = Reading.objects.filter(case=OuterRef("pk"), reader=user)
        free = self.filter(~Exists(own), ~Q(made_gold(user)), rereading__closed_at=None).exclude(
            pk__in=self.resting().order_by().values("pk")
        )
        return free.annotate(had=Count("readings")).filter(had__lt=F("rereading__readers")).order_by("position")

    def with_content(self) -> RereadCaseQuerySet:
        """Return cases with what their page shows loaded."""
        related = (
            "rereading__grading__run__project",
            "case__grading__run__agent__tools__tools",
            "case__transcript__entry__revision__tools",
            "case__transcript__entry__version__dataset",
        )
        return self.select_related(*related)


class ReadingQuerySet(models.QuerySet["Reading"]):
    """Reads of what people said. Whose is shown to whom says `toolevals.runs.rereading.blindness`."""

    def visible_to(self, user: User) -> ReadingQuerySet:
        """Return the readings that this person may see."""
        return self.filter(readings_shown(user))


class Said(models.TextChoices):
    """The answer of a person who reads a case."""

    RIGHT = "right", "right"
    WRONG = "wrong", "wrong"
    CANNOT_SAY = "cannot_say", "cannot say"


class Rereading(models.Model):
    """Passed and failed cases of one grading, to be read by people who are shown neither its gold nor its verdicts."""

    id = PublicIdField()
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="rereadings")
    # How many people read each case, at most.
    readers = models.PositiveSmallIntegerField()
    seed = models.CharField(max_length=100)
    # How many examples there were to draw from, by verdict: {"passed": 80, "failed": 20}.
    drawn_from = DocumentField()
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)
    # Closed without an estimate.
    is_cancelled = models.BooleanField(default=False)
    # Once it is closed: verdict -> what people say -> (scored trials of the example, cases).
    counts = DocumentField(null=True)

    objects = RereadingQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # One at a time, so that no one reads the same for two.
            models.UniqueConstraint(fields=["grading"], condition=Q(closed_at=None), name="one_open_rereading"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["grading", "-closed_at"], name="rereading_newest"),
        ]

    def __str__(self) -> str:
        return f"re-reading of {self.grading}"

    @property
    def is_open(self) -> bool:
        """Return whether people may still read it."""
        return self.closed_at is None

    @property
    def has_results(self) -> bool:
        """Return whether what came of it may be shown, to anyone."""
        return self.closed_at is not None and not self.is_cancelled


class RereadCase(models.Model):
    """One case of a re-reading, with its verdict and the number of scored trials of its example."""

    id = PublicIdField()
    rereading = models.ForeignKey(Rereading, on_delete=models.CASCADE, related_name="cases")
    position = models.PositiveIntegerField()
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="reread")
    passed = models.BooleanField()
    trials = models.PositiveSmallIntegerField()

    objects = RereadCaseQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["rereading", "position"], name="reread_position"),
            models.UniqueConstraint(fields=["rereading", "case"], name="reread_once"),
        ]

    @property
    def verdict(self) -> str:
        return "passed" if self.passed else "failed"


class Reading(models.Model):
    """The reading of one case by one person, once and for all. `place` counts the readings of a case, from 1."""

    id = PublicIdField()
    case = models.ForeignKey(RereadCase, on_delete=models.CASCADE, related_name="readings")
    reader = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    place = models.PositiveSmallIntegerField()
    said = models.CharField(max_length=10, choices=Said.choices)
    note = models.TextField(blank=True)
    created_at = MomentField(auto_now_add=True)

    objects = ReadingQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["place"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["case", "reader"], name="read_once_each"),
            models.UniqueConstraint(fields=["case", "place"], name="reading_place"),
        ]

    @property
    def content(self) -> JsonObject:
        """Return what a retry has to repeat."""
        return {"said": self.said, "note": self.note}
