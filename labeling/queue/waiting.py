"""Tell what waits for one person, counted for the top bar and a project's first page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.cache import cache as kept_numbers
from django.db import models
from django.db.models import F

from labeling.models import CalibrationRound, Comment, Dataset, Feedback, LabelSlot, Revision
from labeling.queue.label_page_queries import calibration_waiting, own_counts
from labeling.second_looks.waiting import looks_due
from toolevals.workspace.clock import database_now
from toolevals.workspace.expressions import Different, lengths
from toolevals.workspace.models import Project, Role, User

# Beyond this the exact number tells no one anything, and counting it would cost.
MANY = 1000
# From so many on a number is kept, for some seconds, and very many longer.
KEPT_FROM = 100
KEPT_SECONDS, LONG_KEPT_SECONDS = 30, 600
# So many more that the number shown stays MANY, whatever is done in the seconds for which that is kept.
FAR_MORE = 2 * MANY
# What a person holds, and what they have labelled.
Counts = tuple[int, int]
# What is counted for everyone who labels, and for adjudicators besides.
OF_ALL = ("answered", "to_read")
OF_ADJUDICATORS = ("differing", "disputed", "to_answer")


@dataclass(frozen=True, slots=True)
class Own:
    """One person's part of some slots, in examples: labelled, at work on, and still to come."""

    done: int
    held: int
    left: int


def to_label(project: Project, user: User, counts: Counts | None = None) -> int:
    """Return how many examples wait for a label of this person, those they are at work on included; at most MANY.

    `counts`: as `own_part` takes them.
    """
    own = own_part(project, user, most=MANY, counts=counts)
    return min(own.held + own.left, MANY)


def own_part(place: Dataset | Project, user: User, *, most: int, counts: Counts | None = None) -> Own:
    """Return one person's part of the slots of a dataset or a project; at most `most` are left.

    `counts`: what `own_counts` returns, where that is known already.

    A large number is kept for a while, less what the person does meanwhile: counting it again with each example would
    cost more than handing the example out. What others do shows a little later; a small number is always exact.
    """
    held, done = counts or own_counts(place, user)
    key = f"labeling.left:{place.pk}:{user.pk}"
    kept = kept_numbers.get(key)
    if kept is not None:
        return Own(done, held, max(kept[0] - (done - kept[1]) - held, 0))
    left = min(_left(place, user, most), most)
    if left >= KEPT_FROM:
        kept_numbers.set(key, (left + held, done), KEPT_SECONDS if left < MANY else LONG_KEPT_SECONDS)
    return Own(done, held, left)


def counted(project: Project, user: User, role: Role) -> dict[str, int]:
    """Return what waits for a person who labels, each at most MANY, by the names that settings and the first page use.

    One statement for all but what is to be labelled and calibrated, which are read in ways of their own.
    """
    if role < Role.REVIEWER:
        return {}
    found = dict.fromkeys(OF_ADJUDICATORS, 0) | _counted_rows(project, user, role)
    waiting = calibration_waiting(project, user)
    return found | {
        "to_label": to_label(project, user),
        "to_calibrate": 0 if waiting is None else int(vars(waiting)["size"] - vars(waiting)["own"]),
        "to_adjudicate": min(found["differing"] + found["disputed"], MANY),
        # No one answers their own questions: no thread is in both.
        "questions": min(found["answered"] + found["to_answer"], MANY),
    }


def counted_at_home(project: Project, user: User, role: Role) -> dict[str, int]:
    """Return what waits for a person and is counted for the first page alone: their second looks."""
    return {} if role < Role.REVIEWER else {"second_looks": len(looks_due(project, user))}


def to_calibrate(project: Project, user: User) -> CalibrationRound | None:
    """Return a calibration round of which this person has something to answer, with `size` and `own`; None if none."""
    return calibration_waiting(project, user)


def _counted_rows(project: Project, user: User, role: Role) -> dict[str, int]:
    """Return how many rows there are of each of `_names`, each at most MANY.

    Of differing examples each costs several look-ups: that they are far more than MANY is kept for some seconds.
    """
    key = f"labeling.differing:{project.pk}:{user.pk}:{project.decide_own}"
    far_more = role >= Role.ADJUDICATOR and kept_numbers.get(key) is not None
    names = tuple(name for name in _names(role) if not (far_more and name == "differing"))
    rows = _rows(project, user, role)
    numbers = lengths(project, [rows[name] for name in names], most=FAR_MORE).get()
    found = dict(zip(names, numbers, strict=True))
    if found.get("differing") == FAR_MORE:
        kept_numbers.set(key, True, KEPT_SECONDS)
    known = {"differing": MANY} if far_more else {}
    return known | {name: min(number, MANY) for name, number in found.items()}


def _names(role: Role) -> tuple[str, ...]:
    """Return what is counted for this role."""
    return (*OF_ALL, *OF_ADJUDICATORS) if role >= Role.ADJUDICATOR else OF_ALL


def _rows(project: Project, user: User, role: Role) -> dict[str, models.QuerySet[Any, Any]]:
    """Return the rows that are counted for this role, by name."""
    comments = Comment.objects.in_project(project)
    rows: dict[str, models.QuerySet[Any, Any]] = {
        "answered": comments.answered_to(user),
        "to_read": Feedback.objects.for_reviewer(project, user).unseen(),
    }
    if role >= Role.ADJUDICATOR:
        rows["differing"] = Revision.objects.differing_for(project, user)
        rows["disputed"] = Revision.objects.disputed_for(project, user)
        rows["to_answer"] = comments.unanswered_for(user, role)
    return rows


def _left(place: Dataset | Project, user: User, most: int) -> int:
    """Return how many examples a label by a person is wanted of in a dataset or project."""
    waiting = LabelSlot.objects.in_scope(place).waiting(user, database_now(), most)
    # Of a part of the rows, the different ones are counted outside it.
    different = Different(waiting.values(different=F("revision_id")))
    return int(User.objects.filter(pk=user.pk).values_list(different, flat=True).get())
