"""Tell what waits for one person, for the top bar and a project's first page, and how far they are with labelling.

Nothing in it tells of anyone else's labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.core.cache import cache as kept_numbers
from django.db import models
from django.db.models import Subquery
from django.utils import timezone
from django.utils.module_loading import import_string

from labeling.label.queries import calibration_waiting, own_counts
from labeling.label.statements import count_left
from labeling.models import CalibrationRound, Comment, Dataset, Feedback, Label, Revision
from labeling.second_looks.pending_second_looks import looks_due
from toolevals.workspace.clock import database_now
from toolevals.workspace.expressions import lengths
from toolevals.workspace.mentions.queries import unread, unread_count
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
OF_ALL = ("answered", "to_read", "mentions")
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
    left = min(count_left(place, user, database_now(), most), most)
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
    if found["mentions"]:
        # Of those that there are, the ones that may be read.
        found["mentions"] = unread_count(project, user, role)
    waiting = calibration_waiting(project, user)
    return found | {
        "to_label": to_label(project, user),
        "to_calibrate": 0 if waiting is None else int(vars(waiting)["size"] - vars(waiting)["own"]),
        "to_adjudicate": min(found["differing"] + found["disputed"], MANY),
        # No one answers their own questions: no thread is in both.
        "questions": min(found["answered"] + found["to_answer"], MANY),
    }


def counted_at_home(project: Project, user: User, role: Role) -> dict[str, int]:
    """Return what waits for a person and is counted for the first page alone: their second looks.

    Of who does not label, the mentions, which `counted` tells of others.
    """
    if role < Role.REVIEWER:
        issues = {"assigned_issues": _assigned(project, user)["assigned_issues"]}
        numbers, due = _told(issues, lengths(project, [*issues.values()], most=MANY, also=_first_due(issues)).get())
        return numbers | due | {"mentions": unread_count(project, user, role)}
    return {"second_looks": len(looks_due(project, user))}


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
    assigned = _assigned(project, user)
    rows = _rows(project, user, role) | assigned
    names = (*names, *assigned)
    told = lengths(project, [rows[name] for name in names], most=FAR_MORE, also=_first_due(assigned)).get()
    found, due = _told({name: rows[name] for name in names}, told)
    if found.get("differing") == FAR_MORE:
        kept_numbers.set(key, True, KEPT_SECONDS)
    known = due | ({"differing": MANY} if far_more else {})
    return known | {name: min(number, MANY) for name, number in found.items()}


def _assigned(project: Project, user: User) -> dict[str, models.QuerySet[Any, Any]]:
    """Return the rows that are assigned to a person, by the names of `ASSIGNED` in the settings."""
    return {name: import_string(path)(project, user) for name, path in settings.ASSIGNED.items()}


def _first_due(rows: Mapping[str, models.QuerySet[Any, Any]]) -> list[Subquery]:
    """Return, of each, the first day on which one is due."""
    dated = (each.filter(due_on__isnull=False).order_by("due_on").values("due_on")[:1] for each in rows.values())
    return [Subquery(each) for each in dated]


def _told(rows: Mapping[str, Any], told: Sequence[Any]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers by name, and the days by which they are due as ordinals, 0 where none is."""
    days = [name for name in rows if name in settings.ASSIGNED]
    numbers = dict(zip(rows, told[: len(rows)], strict=True))
    return numbers, {
        f"{name}_due": day.toordinal() if day else 0 for name, day in zip(days, told[len(rows) :], strict=True)
    }


def _names(role: Role) -> tuple[str, ...]:
    """Return what is counted for this role."""
    return (*OF_ALL, *OF_ADJUDICATORS) if role >= Role.ADJUDICATOR else OF_ALL


def _rows(project: Project, user: User, role: Role) -> dict[str, models.QuerySet[Any, Any]]:
    """Return the rows that are counted for this role, by name."""
    comments = Comment.objects.in_project(project)
    rows: dict[str, models.QuerySet[Any, Any]] = {
        "answered": comments.answered_to(user),
        "to_read": Feedback.objects.for_reviewer(project, user).unseen(),
        "mentions": unread(project, user),
    }
    if role >= Role.ADJUDICATOR:
        rows["differing"] = Revision.objects.differing_for(project, user)
        rows["disputed"] = Revision.objects.disputed_for(project, user)
        rows["to_answer"] = comments.unanswered_for(user, role)
    return rows


RECENT = 20
# No one labels more in a day.
DAYS_WORK = 1000
# More that are left are not counted.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of examples; `seconds_each` is the median of the person's latest labels, None before there are three.

    `today` counts those labelled since midnight where the server is.
    """

    done: int
    left: int
    seconds_each: float | None
    today: int = 0

    @property
    def total(self) -> int:
        return self.done + self.left

    @property
    def pace(self) -> str:
        """Return the pace in words, such as "41 s each, about 1 h left"; empty before it is known."""
        if self.seconds_each is None or not self.left:
            return ""
        return f"{_span(self.seconds_each)} each, about {_span(self.seconds_each * self.left)} left"


def progress_of(dataset: Dataset, user: User, counts: Counts | None = None) -> Progress:
    """Return one person's progress in one dataset: what they have labelled and what still waits for them.

    `counts`: as `own_part` takes them.
    """
    part = own_part(dataset, user, most=MOST, counts=counts)
    today, seconds_each = _pace(dataset, user, part.done)
    return Progress(done=part.done, left=part.held + part.left, seconds_each=seconds_each, today=today)


def handed_in_today(scope: Dataset | Project, user: User) -> int:
    """Return how many examples of a place this person has labelled since midnight where the server is."""
    midnight = timezone.localtime(database_now()).replace(hour=0, minute=0, second=0, microsecond=0)
    own = Label.objects.filter(reviewer=user, withdrawn_at=None, created_at__gte=midnight)
    rows = own.filter(slot__dataset=scope) if isinstance(scope, Dataset) else own.in_project(scope)
    return rows.order_by().values("slot").distinct().count()


def _pace(dataset: Dataset, user: User, done: int) -> tuple[int, float | None]:
    """Return how many examples this person labelled today, and their pace; of many labels kept for some seconds.

    What they label meanwhile is counted: `done` says how many they have labelled in all. Of few labels those that came
    since are read: the others may stand behind thousands that the person gave elsewhere.
    """
    midnight = timezone.localtime(database_now()).replace(hour=0, minute=0, second=0, microsecond=0)
    key = f"labeling.pace:{dataset.pk}:{user.pk}:{midnight.date()}"
    then, today, newest = cache.get(key) or (0, 0, None)
    if newest is not None and (len(newest) >= KEPT_FROM or (not newest and done == then)):
        return max(today + done - then, 0), _median(newest)
    own = Label.objects.filter(reviewer=user, slot__dataset=dataset, withdrawn_at=None)
    rows = own.order_by("-id").values_list("pk", "slot", "seconds", "created_at")
    since = list(rows.filter(pk__gt=newest[0][0])[:DAYS_WORK]) if newest else []
    # Unless others were taken back or changed.
    newest = since + newest if newest and len(since) == done - then else list(rows[:DAYS_WORK])
    today = len({slot for _, slot, _, created_at in newest if created_at >= midnight})
    cache.set(key, (done, today, newest[:KEPT_FROM]), KEPT_SECONDS)
    return today, _median(newest)


def _median(newest: list[tuple[UUID, UUID, float, datetime]]) -> float | None:
    """Return the median seconds of the latest labels, None of fewer than three."""
    recent = [seconds for _, _, seconds, _ in newest[:RECENT] if seconds > 0]
    return median(recent) if len(recent) >= 3 else None


def _span(seconds: float) -> str:
    if seconds < 100:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"
