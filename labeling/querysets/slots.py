"""Reads of label slots: the queue that reviewers work from."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Exists, OuterRef, Q

if TYPE_CHECKING:
    from labeling.models import Dataset, LabelSlot  # noqa: F401
    from toolevals.workspace.models import Project, User


class SlotQuerySet(models.QuerySet["LabelSlot"]):
    """Reads of slots."""

    def in_project(self, project: Project) -> SlotQuerySet:
        """Return the slots of the project's datasets."""
        return self.filter(dataset__project=project)

    def of_dataset(self, dataset: Dataset) -> SlotQuerySet:
        """Return the slots of one dataset."""
        return self.filter(dataset=dataset)

    def held_by(self, user: User) -> SlotQuerySet:
        """Return what this person has claimed and not submitted, the newest claim first."""
        from labeling.models import SlotState

        return self.filter(reviewer=user, state=SlotState.CLAIMED).order_by("-claimed_at")

    def free(self, now: datetime) -> SlotQuerySet:
        """Return the slots that nobody holds: open, or claimed by somebody whose lease has run out."""
        from labeling.models import SlotState

        return self.filter(
            Q(state=SlotState.OPEN) | Q(state=SlotState.CLAIMED, lease_until__lt=now),
            priority__isnull=False,
        )

    def for_reviewer(self, user: User) -> SlotQuerySet:
        """Leave out the revisions where this person has a slot already, and those that they passed on."""
        from labeling.models import LabelSlot, Skip

        taken = LabelSlot.objects.filter(revision=OuterRef("revision"), reviewer=user)
        passed = Skip.objects.filter(revision=OuterRef("revision"), reviewer=user, undone_at=None)
        return self.exclude(Exists(taken)).exclude(Exists(passed))

    def in_turn(self) -> SlotQuerySet:
        """Return slots in the order of work: by priority, then by turn, then the oldest first."""
        return self.order_by("-priority", "turn", "id")

    def with_content(self) -> SlotQuerySet:
        """Return slots with what their page shows at hand."""
        return self.select_related("revision__example__dataset__project", "revision__tools", "dataset")
