"""Find what is assigned to a person: examples that are kept for them, and disputes that they should decide."""

from __future__ import annotations

from django.db.models import QuerySet

from labeling.label.claims import QUEUED
from labeling.label.querysets import SlotQuerySet
from labeling.models import Dispute, LabelSlot
from toolevals.workspace.models import Project, User, within


def examples(project: Project, user: User) -> QuerySet[LabelSlot]:
    """Return the places that are kept for this person and that they have not labelled."""
    return kept_for(user).filter(within(project, "dataset"))


def kept_for(user: User) -> SlotQuerySet:
    """Return the places of any project that are kept for a person and not labelled."""
    return LabelSlot.objects.filter(assignee=user, state__in=QUEUED).of_current_round()


def disputes(project: Project, user: User) -> QuerySet[Dispute]:
    """Return the open disputes that are assigned to this person."""
    return Dispute.objects.filter(within(project, "revision__example__dataset"), assignee=user).open()
