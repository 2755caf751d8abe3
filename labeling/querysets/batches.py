"""Read label batches: parts of the work, how far they are and what they took."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, F, FloatField, IntegerField, OuterRef, Q, Subquery, Sum
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce

from labeling.blindness import is_resolved
from toolevals.workspace.models import within

if TYPE_CHECKING:
    from labeling.models import Dataset, LabelBatch  # noqa: F401
    from toolevals.workspace.models import Project


class LabelBatchQuerySet(models.QuerySet["LabelBatch"]):
    """Reads of label batches."""

    def in_project(self, project: Project) -> LabelBatchQuerySet:
        """Return the batches of the project's datasets."""
        return self.filter(within(project, "dataset"))

    def in_work(self, scope: Dataset | Project) -> LabelBatchQuerySet:
        """Return the batches of a dataset or a project that no one has closed, the first due first."""
        from labeling.models import Dataset

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
        from labeling.models import Adjudication, Label, LabelSlot, SlotState

        slots = LabelSlot.objects.filter(batch=OuterRef("pk")).exclude(state=SlotState.CLOSED).order_by()
        revisions = LabelSlot.objects.filter(batch=OuterRef(OuterRef("pk"))).values("revision")
        labels = Label.objects.filter(slot__batch=OuterRef("pk")).order_by()
        decisions = Adjudication.objects.filter(revision__in=revisions).order_by()
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
