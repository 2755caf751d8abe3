"""What waits for one person, counted for the top bar."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Exists, Q
from django.utils import timezone

from labeling.at_hand import calibration_waiting, own_counts
from labeling.blindness import TO_DECIDE
from labeling.models import CalibrationRound, Comment, Dataset, Feedback, LabelSlot, Revision
from toolevals.workspace.models import Membership, Project, Role, User

# Beyond this the exact number tells nobody anything, and counting it would cost.
MANY = 1000
# From so many on a number is kept, for some seconds, and very many longer.
KEPT_FROM = 100
KEPT_SECONDS, LONG_KEPT_SECONDS = 30, 600


@dataclass(frozen=True, slots=True)
class Own:
    """One person's part of some slots, in examples: labelled, at work on, and still to come."""

    done: int
    held: int
    left: int


def to_label(project: Project, user: User) -> int:
    """Return how many examples wait for a label of this person, those they are at work on included; at most MANY."""
    own = own_part(project, user, most=MANY)
    return min(own.held + own.left, MANY)


def own_part(place: Dataset | Project, user: User, *, most: int) -> Own:
    """Return one person's part of the slots of a dataset or a project; at most `most` are left.

    A large number is kept for a while, less what the person does meanwhile: counting it anew with each example would
    cost more than handing the example out. What others do shows a little later; a small number is always exact.
    """
    held, done = own_counts(place, user)
    key = f"labeling.left:{place.pk}:{user.pk}"
    kept = cache.get(key)
    if kept is not None:
        return Own(done, held, max(kept[0] - (done - kept[1]) - held, 0))
    left = LabelSlot.objects.in_place(place).count_waiting(user, timezone.now(), most)
    if left >= KEPT_FROM:
        cache.set(key, (left + held, done), KEPT_SECONDS if left < MANY else LONG_KEPT_SECONDS)
    return Own(done, held, left)


def to_adjudicate(project: Project, user: User) -> int:
    """Return how many examples wait for this person's decision; at most MANY."""
    return Revision.objects.to_adjudicate(project, user).order_by().select_related(None)[:MANY].count()


def to_decide(project: Project, user: User) -> tuple[int, int]:
    """Return the same in two: examples whose labels differ or were passed on, and gold that is disputed."""
    found = Revision.objects.to_adjudicate(project, user).order_by().select_related(None)
    labels = found.filter(resolution__in=TO_DECIDE)[:MANY].count()
    return labels, found.exclude(resolution__in=TO_DECIDE)[:MANY].count()


def to_read(project: Project, user: User) -> int:
    """Return how many decisions differ from this person's labels and are not marked as read; at most MANY."""
    return Feedback.objects.for_reviewer(project, user).unseen()[:MANY].count()


def questions(project: Project, user: User) -> int:
    """Return how many questions wait for this person's answer, and how many of their own were answered."""
    comments = Comment.objects.in_project(project)
    chief = Membership.objects.filter(project=project, user=user, role__gte=Role.ADJUDICATOR)
    waiting = comments.unanswered_for(user, Role.ADJUDICATOR).filter(Exists(chief))
    told = Q(pk__in=comments.answered_to(user).order_by().values("pk")) | Q(pk__in=waiting.order_by().values("pk"))
    return Comment.objects.filter(told).order_by()[:MANY].count()


def to_answer(project: Project, user: User) -> int:
    """Return how many threads wait for an answer of this adjudicator; at most MANY."""
    waiting = Comment.objects.in_project(project).unanswered_for(user, Role.ADJUDICATOR)
    return waiting.order_by()[:MANY].count()


def left_to_calibrate(project: Project, user: User) -> int:
    """Return how many examples of the calibration round that waits for this person they have still to answer."""
    waiting = calibration_waiting(project, user)
    return 0 if waiting is None else int(vars(waiting)["size"] - vars(waiting)["own"])


def to_calibrate(project: Project, user: User) -> CalibrationRound | None:
    """Return a calibration round of which this person has something to answer, with `size` and `own`; None if none."""
    return calibration_waiting(project, user)
