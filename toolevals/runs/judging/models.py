"""Store judges of a project, their rubrics, their answers, and the figures of each grading."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Count, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from toolevals.json_types import JsonObject
from toolevals.runs.grading.models import CaseGrade, Grading
from toolevals.runs.judging.blindness import verdict_hidden
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, User, untrashed

_Check = TypeVar("_Check", bound=models.Model)


class RubricQuerySet(models.QuerySet["Rubric"]):
    """Reads of rubrics."""

    def in_project(self, project: Project) -> RubricQuerySet:
        """Return the project's rubrics, by name, the newest version first."""
        return self.filter(project=project).order_by("name", "-version")


class JudgeQuerySet(models.QuerySet["Judge"]):
    """Reads of judges."""

    def in_project(self, project: Project) -> JudgeQuerySet:
        """Return the project's judges with their rubrics, the newest first."""
        return self.filter(project=project).select_related("rubric").order_by("-id")

    def with_newest_count(self) -> Any:
        """Add `newest_run`, the number of the run of its newest finished grading, and what it came to there."""
        counts = JudgeCount.objects.filter(
            untrashed("grading__run"), judge=OuterRef("pk"), grading__finished_at__isnull=False
        ).order_by("-pk")
        return self.annotate(
            newest_run=Subquery(counts.values("grading__run__number")[:1]),
            **{f"newest_{name}": Subquery(counts.values(name)[:1]) for name in ("passed", "failed", "errored", "cost")},
        )

    def with_thumbs(self) -> Any:
        """Add `thumbs_up` and `thumbs_down`: how many people say so now."""
        thumbs: Any = apps.get_model("runs", "Thumb")

        def count(is_up: bool) -> Any:
            rows = thumbs.objects.counted().filter(
                ~verdict_hidden(), untrashed("case__grading__run"), judge=OuterRef("pk"), is_up=is_up
            )
            counted = rows.order_by().values("judge").annotate(count=Count("pk")).values("count")
            return Coalesce(Subquery(counted), 0)

        return self.annotate(thumbs_up=count(True), thumbs_down=count(False))

    def switched_on(self) -> JudgeQuerySet:
        """Return those that gradings ask, in one order always."""
        return self.filter(is_on=True).select_related("rubric", "project").order_by("rubric__name", "pk")


class JudgementQuerySet(models.QuerySet["Judgement"]):
    """Reads of judgements."""

    def usable_by(self, grading: Grading, rubric: UUID, model: str, digests: Collection[str]) -> JudgementQuerySet:
        """Return those that answer these questions: answers of any time, and errors of this very grading."""
        fresh = Q(error="") | Q(grading=grading)
        return self.filter(fresh, rubric=rubric, model=model, inputs__in=list(digests))

    def spent_on(self, grading: Grading, rubric: UUID, model: str) -> JsonObject:
        """Return `asked` and `cost` (None without prices) of what a grading asked one judge."""
        answers = self.filter(grading=grading, rubric=rubric, model=model)
        return answers.aggregate(asked=Count("pk"), cost=Sum("cost"))


class JudgedCaseQuerySet(models.QuerySet["JudgedCase"]):
    """Reads of judges' verdicts."""

    def shown(self) -> JudgedCaseQuerySet:
        """Return the verdicts that are shown to anyone: not those that people rate without knowing them."""
        return self.filter(~verdict_hidden())

    def for_export(self, grading: Grading) -> Any:
        """Return a grading's verdicts with their cases and examples, in the order of their rows.

        Add `is_hidden`, whether a verdict is shown to no one.
        """
        return (
            self.filter(grading=grading)
            .annotate(is_hidden=verdict_hidden())
            .select_related("case__transcript__entry__revision__example")
            .defer("case__transcript__document", "case__transcript__entry__revision__input")
            .order_by("pk")
        )


# Of kappa: "substantial" from here on, after J. R. Landis and G. G. Koch, Biometrics 33 (1977).
USUAL_THRESHOLD = 0.6
# Of the verdicts that change when a judge is asked again: why so many is said in docs/calibration.md.
USUAL_TOLERANCE = 0.02


class Rubric(models.Model):
    """One version of a question to judges, immutable: one's own, or a shipped one that the project uses."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rubrics")
    name = models.CharField(max_length=50)
    version = models.PositiveIntegerField()
    title = models.CharField(max_length=120)
    layer = models.CharField(max_length=20)
    # The document of `toolevals.grading.judging.Rubric`.
    document = DocumentField()
    is_shipped = models.BooleanField(default=False)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = RubricQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "name", "version"], name="rubric_version"),
        ]

    def __str__(self) -> str:
        return f"{self.title} v{self.version}"


class Measure(models.TextChoices):
    """By what a judge's calibration is held to its threshold."""

    KAPPA = "kappa"
    AGREEMENT = "agreement"


class Judge(models.Model):
    """A model that judges by one rubric. What decides its answers never changes; when and how much it is asked may."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=120)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="judges")
    model = models.CharField(max_length=120)
    # Whether the model's name stands for one snapshot; an alias is taken only where someone insists.
    is_pinned = models.BooleanField()
    # The document of `toolevals.agents.options.ChatOptions`.
    options = DocumentField()
    # Prices of a million tokens (`toolevals.agents.prices.Prices`), null where no one said.
    prices = DocumentField(null=True)
    is_on = models.BooleanField(default=False)
    # The share of the examples that it is asked about, 0 to 1.
    share = models.FloatField(default=1.0)
    # In the currency of the prices: what one grading may cost.
    budget = models.FloatField(null=True)
    # What it must reach beside people on held-out cases, and by which figure: else its numbers are flagged.
    threshold = models.FloatField(default=USUAL_THRESHOLD)
    measure = models.CharField(max_length=10, choices=Measure.choices, default=Measure.KAPPA)
    # The share of its verdicts, 0 to 1, that may change when it is asked again: else its numbers are flagged too.
    tolerance = models.FloatField(default=USUAL_TOLERANCE)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = JudgeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "name"], name="judge_name"),
            models.UniqueConstraint(fields=["rubric"], condition=Q(is_on=True), name="one_judge_a_rubric"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def tolerance_words(self) -> str:
        """The tolerance in percent."""
        return f"{100 * self.tolerance:g} %"


class JudgeAnswer(models.Model):
    """Holds what every answer of a judge keeps."""

    value = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    error = models.TextField(blank=True)
    # The snapshot that the endpoint says has answered.
    answered_by = models.CharField(max_length=120, blank=True)
    # Null where the judge has no prices.
    cost = models.FloatField(null=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    created_at = MomentField(auto_now_add=True)

    class Meta:
        abstract = True


class JudgeCheckQuerySet(models.QuerySet[_Check]):
    """Reads of checks of either kind."""

    def of_judge(self, judge: Judge) -> Self:
        """Return the checks of a judge's rubric version and model, whichever judge asked by them."""
        return self.filter(judge__rubric=judge.rubric_id, judge__model=judge.model)

    def with_spending(self) -> Any:
        """Add `asked`, how many questions were asked, and `cost` of it (None without prices)."""
        return self.annotate(asked=Count("answers"), cost=Sum("answers__cost"))

    def under_way(self) -> Self:
        """Return those whose job may still go on by itself."""
        return self.filter(Q(job__state="running") | Q(job__state="paused"), finished_at=None)


class Judgement(JudgeAnswer):
    """A judge's answer, kept by what was asked: no model is asked the same twice by one rubric.

    One that errored is asked again by the next grading, and by no retry of the one that asked it.
    """

    id = PublicIdField()
    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="judgements")
    model = models.CharField(max_length=120)
    # SHA-256 over the inputs (`toolevals.grading.judging.JudgementRequest.digest`).
    inputs = models.CharField(max_length=64)
    # The grading that asked.
    grading = models.ForeignKey(Grading, null=True, on_delete=models.SET_NULL, related_name="judgements")
    answer = DocumentField(default=dict)

    objects = JudgementQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["rubric", "model", "inputs"], name="asked_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["grading", "rubric"], name="judgement_grading"),
        ]


class JudgedCase(models.Model):
    """A judge's verdict on one case, by the name of its rubric. The reason is in the case's detail."""

    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="judged_cases")
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="judged_cases")
    rubric = models.CharField(max_length=50)
    status = models.CharField(max_length=8)
    value = models.FloatField(null=True)
    # How many questions the verdict rests on; 0 where rules settled it. Null in gradings from before it was kept.
    questions = models.PositiveIntegerField(null=True)

    objects = JudgedCaseQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["case", "rubric"], name="one_verdict_a_rubric"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["grading", "rubric", "status", "case"], name="judged_status"),
        ]


class JudgeCount(models.Model):
    """The results of one judge in one grading, counted when it finished. `asked` and the cost are of this grading."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="judge_counts")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="counts")
    rubric = models.CharField(max_length=50)
    passed = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()
    unscored = models.PositiveIntegerField()
    errored = models.PositiveIntegerField()
    # How many of the passed rules settled without a question. Null in gradings from before it was kept.
    settled = models.PositiveIntegerField(null=True)
    # The mean value of the scored cases, null without any.
    mean = models.FloatField(null=True)
    asked = models.PositiveIntegerField()
    # Null where the judge has no prices.
    cost = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "rubric"], name="judge_count"),
        ]
