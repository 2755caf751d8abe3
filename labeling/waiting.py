"""What waits for one person, counted for the top bar."""

from __future__ import annotations

from django.utils import timezone

from labeling.models import Feedback, LabelSlot, Revision
from toolevals.workspace.models import Project, User

# Beyond this the exact number tells nobody anything, and counting it would cost.
MANY = 1000


def to_label(project: Project, user: User) -> int:
    """Return how many examples wait for a label of this person, those they are at work on included; at most MANY."""
    slots = LabelSlot.objects.in_project(project)
    free = slots.free(timezone.now()).for_reviewer(user).order_by().values("revision").distinct()[:MANY]
    return min(free.count() + slots.held_by(user).order_by().count(), MANY)


def to_adjudicate(project: Project, user: User) -> int:
    """Return how many examples wait for this person's decision; at most MANY."""
    return Revision.objects.to_adjudicate(project, user).order_by().select_related(None)[:MANY].count()


def to_read(project: Project, user: User) -> int:
    """Return how many decisions differ from this person's labels and are not marked as read; at most MANY."""
    return Feedback.objects.for_reviewer(project, user).unseen()[:MANY].count()
