"""How far one reviewer is. Counts of their own work and of what is left for them: they say nothing about others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from labeling.models import Dataset, Label, LabelSlot, Skip
from toolevals.workspace.models import Project, User


@dataclass(frozen=True, slots=True)
class Progress:
    """One reviewer's work in a dataset or a project, in examples."""

    labelled: int
    # In the last 24 hours.
    lately: int
    passed_on: int
    remaining: int

    @property
    def total(self) -> int:
        """What this reviewer has labelled and still can."""
        return self.labelled + self.remaining


def progress_of(*, dataset_or_project: Dataset | Project, user: User, now: datetime | None = None) -> Progress:
    """Return how many examples `user` has labelled, passed on, and still can label. Labels taken back do not count."""
    now = now or timezone.now()
    labels, slots = Label.objects.filter(reviewer=user).in_force(), LabelSlot.objects.all()
    skips = Skip.objects.filter(reviewer=user).standing()
    if isinstance(dataset_or_project, Dataset):
        labels = labels.filter(slot__dataset=dataset_or_project)
        slots = slots.of_dataset(dataset_or_project)
        skips = skips.filter(revision__example__dataset=dataset_or_project)
    else:
        labels = labels.filter(slot__dataset__project=dataset_or_project)
        slots = slots.in_project(dataset_or_project)
        skips = skips.filter(revision__example__dataset__project=dataset_or_project)
    return Progress(
        labelled=labels.count(),
        lately=labels.filter(created_at__gte=now - timedelta(days=1)).count(),
        passed_on=skips.count(),
        remaining=slots.free(now).for_reviewer(user).order_by().values("revision").distinct().count()
        + slots.held_by(user).count(),
    )
