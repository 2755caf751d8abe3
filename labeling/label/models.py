"""Store who labels what, what they said, and what helps them, and read it."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

from django.apps import apps
from django.db import models
from django.db.models import Count, F, FloatField, IntegerField, OuterRef, Q, Subquery, Sum
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce

from labeling.blindness import is_resolved
from labeling.datasets.models import Dataset
from labeling.examples.models import Revision
from labeling.label.querysets import LabelQuerySet, SkipQuerySet, SlotQuerySet, SpareLabelQuerySet
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, User, within

LONGEST_AUTHOR = 200


class LabelBatchQuerySet(models.QuerySet["LabelBatch"]):
    """Reads of label batches."""

    def in_project(self, project: Project) -> LabelBatchQuerySet:
        """Return the batches of the project's datasets."""
        return self.filter(within(project, "dataset"))

    def in_work(self, scope: Dataset | Project) -> LabelBatchQuerySet:
        """Return the batches of a dataset or a project that no one has closed, the first due first."""
        place = Q(dataset=scope) if isinstance(scope, Dataset) else within(scope, "dataset")
        return self.filter(place, closed_at=None).order_by(F("due_on").asc(nulls_last=True), "id")

    def overdue(self, today: date) -> LabelBatchQuerySet:
        """Return the batches in work whose day has passed."""
        return self.filter(closed_at=None, due_on__lt=today)

    def with_progress(self) -> LabelBatchQuerySet:
        """Add what each batch holds and what it took.

        `examples`; `wanted`, labels; `labels`, those that are in; `kept`, slots still free that are kept for someone;
        `label_hours`, `adjudication_hours` and `hours` of work, that on labels that were taken back included. Hours on
        labels are those of resolved examples: before, how long a label took could tell it from another.
        """
        adjudications: Any = apps.get_model("labeling", "Adjudication").objects
        slots = LabelSlot.objects.filter(batch=OuterRef("pk")).exclude(state=SlotState.CLOSED).order_by()
        revisions = LabelSlot.objects.filter(batch=OuterRef(OuterRef("pk"))).values("revision")
        labels = Label.objects.filter(slot__batch=OuterRef("pk")).order_by()
        decisions = adjudications.filter(revision__in=revisions).order_by()
        waiting = Q(priority__isnull=False, assignee__isnull=False)
        return self.annotate(
            examples=_number(slots.values("batch").annotate(n=Count("revision", distinct=True))),
            wanted=_number(slots.values("batch").annotate(n=Count("pk"))),
            labels=_number(slots.filter(state=SlotState.SUBMITTED).values("batch").annotate(n=Count("pk"))),
            kept=_number(slots.filter(waiting).values("batch").annotate(n=Count("pk"))),
            label_hours=_hours(labels.filter(is_resolved()).values("slot__batch").annotate(n=Sum("seconds"))),
            adjudication_hours=_hours(decisions.annotate(one=models.Value(1)).values("one").annotate(n=Sum("seconds"))),
        ).annotate(hours=F("label_hours") + F("adjudication_hours"))


def _number(rows: models.QuerySet[Any, Any]) -> Coalesce:
    return Coalesce(Subquery(rows.values("n"), output_field=IntegerField()), 0)


def _hours(rows: models.QuerySet[Any, Any]) -> CombinedExpression:
    return Coalesce(Subquery(rows.values("n"), output_field=FloatField()), 0.0) / 3600.0


class SlotState(models.TextChoices):
    """The stage of a slot. Claimed and overdue counts as open again; closed is one whose label is no longer needed."""

    OPEN = "open"
    CLAIMED = "claimed"
    SUBMITTED = "submitted"
    CLOSED = "closed"


class LabelSlot(models.Model):
    """A place for one person's label of one revision. Leased, so that never more than wanted come in."""

    id = PublicIdField()
    # The revision's, repeated here so that the queue is read from one index. Foreign keys have no index of their own
    # where one below begins with them: slots are written by the ten thousand.
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="+", db_index=False)
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="slots", db_index=False)
    round = models.PositiveSmallIntegerField(default=1, db_default=1)
    number = models.PositiveSmallIntegerField()
    # The part of the work that it belongs to, and the one person who may take it, where someone said so.
    batch = models.ForeignKey(
        "labeling.LabelBatch", null=True, on_delete=models.SET_NULL, related_name="slots", db_index=False
    )
    assignee = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    # Until when they should have labelled it; of no meaning without them.
    due_on = models.DateField(null=True)
    reviewer = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    state = models.CharField(max_length=12, choices=SlotState.choices, default=SlotState.OPEN)
    # Higher first; within one priority by `turn`, lower first, then the oldest revision. All three are the revision's,
    # whatever labels it has: see docs/decisions/0024.
    # Null once no one is wanted for the slot: the queue's index holds the others only.
    priority = models.SmallIntegerField(default=0, null=True)
    # The place that the dataset's order gives; 0 where that is the oldest first.
    turn = models.IntegerField(default=0, db_default=0)
    claimed_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)

    objects = SlotQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["revision", "round", "number"], name="slot_number"),
            models.UniqueConstraint(fields=["revision", "round", "reviewer"], name="slot_reviewer"),
            models.CheckConstraint(
                condition=models.Q(priority__isnull=False) | models.Q(state__in=["submitted", "closed"]),
                name="slot_open_is_queued",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["dataset", "-priority", "turn", "revision", "id"],
                name="slot_queue",
                # SQLite uses a partial index only where it can see that the query asks for no more: not by parameters.
                condition=models.Q(priority__isnull=False),
            ),
            models.Index(
                fields=["reviewer", "state"],
                name="slot_reviewer_state",
                condition=models.Q(reviewer__isnull=False),
            ),
            models.Index(fields=["batch"], name="slot_batch", condition=models.Q(batch__isnull=False)),
            models.Index(fields=["assignee"], name="slot_assignee", condition=models.Q(assignee__isnull=False)),
        ]


class LabelAnswer(models.TextChoices):
    """The answer of a label: what should happen, or why no one can say."""

    EXPECTATION = "expectation", "an expectation"
    AMBIGUOUS = "ambiguous", "ambiguous: more than one reading"
    MISSING_TOOL = "missing_tool", "the right tool is missing"


class LabelBatch(models.Model):
    """A part of a dataset's labelling that someone answers for, perhaps until a day."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="batches")
    name = models.CharField(max_length=120)
    owner = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    due_on = models.DateField(null=True)
    note = models.CharField(max_length=300, blank=True)
    created_at = MomentField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    objects = LabelBatchQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["dataset", "name"], name="label_batch_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Label(models.Model):
    """The answer of one person, and the reason. Changing one's mind adds a label; the newest is in force."""

    id = PublicIdField()
    slot = models.ForeignKey(LabelSlot, on_delete=models.RESTRICT, related_name="labels")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="labels")
    reviewer = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # Who gave it elsewhere, as the imported file names them: no account here. Nothing says if it was given blind.
    external_author = models.CharField(max_length=LONGEST_AUTHOR, blank=True, default="", db_default="")
    answer = models.CharField(max_length=12, choices=LabelAnswer.choices, default=LabelAnswer.EXPECTATION)
    # The document of `toolevals.grading.values.Expectation`; null where the answer is another.
    expectation = DocumentField(null=True)
    rationale = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)
    # The number of the guideline that was in force; 0 where there was none.
    guideline = models.PositiveIntegerField(default=0)
    # What a model suggested and the reviewer saw; null where nothing was shown.
    suggestion = DocumentField(null=True)
    # Set when its author took it back.
    withdrawn_at = models.DateTimeField(null=True)
    # Whether its author had handed in no other in this round: this one counts for agreement.
    is_first = models.BooleanField(default=True, db_default=True)
    # Seconds of work.
    seconds = models.FloatField(default=0)
    created_at = MomentField(auto_now_add=True)

    objects = LabelQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["reviewer", "revision"], name="label_reviewer"),
            models.Index(fields=["revision"], name="label_flagged", condition=models.Q(flagged=True)),
            models.Index(fields=["revision"], name="label_elsewhere", condition=~models.Q(external_author="")),
        ]

    @property
    def blindness(self) -> str | None:
        """Return "unknown" of a label that was given elsewhere; None of one that was given here, by the rules."""
        return "unknown" if self.external_author else None

    @property
    def author_name(self) -> str:
        """Return the name of who gave it; empty where that account is gone."""
        return self.reviewer.name if self.reviewer else self.external_author


class SpareLabel(models.Model):
    """An answer whose author's claim had ended, with no place left for it: kept, counted in no figure and no gold."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="spare_labels")
    # That of the claim.
    round = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    answer = models.CharField(max_length=12, choices=LabelAnswer.choices, default=LabelAnswer.EXPECTATION)
    # As a label's.
    expectation = DocumentField(null=True)
    rationale = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)
    guideline = models.PositiveIntegerField(default=0)
    suggestion = DocumentField(null=True)
    seconds = models.FloatField(default=0)
    created_at = MomentField(auto_now_add=True)

    objects = SpareLabelQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["reviewer", "revision"], name="spare_reviewer")]


class Draft(models.Model):
    """The part of a label that one person has entered and not submitted."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    # The form's state, as the page keeps it.
    document = DocumentField()
    saved_at = MomentField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["revision", "user"], name="one_draft_each"),
        ]


class Skip(models.Model):
    """One person passed an example on, and said why."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="skips")
    reviewer = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    reason = models.CharField(max_length=300, blank=True)
    undone_at = models.DateTimeField(null=True)
    created_at = MomentField(auto_now_add=True)

    objects = SkipQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["revision", "reviewer"], name="one_skip_each", condition=models.Q(undone_at=None)
            ),
        ]


class Suggestion(models.Model):
    """The expectation that a model suggests for a revision; shown only where the project allows it."""

    id = PublicIdField()
    revision = models.OneToOneField(Revision, on_delete=models.CASCADE, related_name="suggestion")
    # Who says so, such as an agent's name and model.
    source = models.CharField(max_length=200)
    expectation = DocumentField()
    created_at = MomentField(auto_now_add=True)


class KeyBindings(models.Model):
    """One person's own keys: `{"submit": "ctrl+enter", ...}`, where they differ from the usual ones."""

    id = PublicIdField()
    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="+")
    bindings = DocumentField(default=dict, blank=True)
