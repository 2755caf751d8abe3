"""What waits for one person, counted for the top bar."""

from __future__ import annotations

from django.utils import timezone

from labeling.models import Comment, Feedback, LabelSlot, Revision
from toolevals.workspace.models import Membership, Project, Role, User

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


def questions(project: Project, user: User) -> int:
    """Return how many questions wait for this person's answer, and how many of their own were answered."""
    comments = Comment.objects.in_project(project)
    answered = comments.answered_to(user).order_by()[:MANY].count()
    membership = Membership.objects.filter(project=project, user=user, role__gte=Role.ADJUDICATOR).first()
    if membership is None:
        return answered
    waiting = comments.unanswered_for(user, Role(membership.role)).order_by()[:MANY].count()
    return min(answered + waiting, MANY)
