"""Tell how far people are with a round: everyone for owners, oneself for others. It tells nothing of what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from labeling.blindness import is_resolved
from labeling.models import CalibrationAnswer, CalibrationItem, CalibrationRound
from toolevals.workspace.models import Membership, Project, Role, User


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """The number of a round's examples that a person has answered."""

    name: str
    is_self: bool
    done: int
    total: int

    @property
    def is_finished(self) -> bool:
        return self.done >= self.total


def progress_in(calibration: CalibrationRound, user: User, role: Role) -> Sequence[PersonProgress]:
    """Return how far this person is, and for owners everyone who labels in the project, by name."""
    total = CalibrationItem.objects.filter(round=calibration).asked().count()
    answers = CalibrationAnswer.objects.of_round(calibration)
    if role < Role.OWNER:
        done = answers.filter(reviewer=user).counts()
        return [PersonProgress(user.name, True, done.get(user.pk, 0), total)]
    done = answers.counts()
    members = Membership.objects.filter(project=calibration.dataset.project_id, role__gte=Role.REVIEWER)
    people = [member.user for member in members.select_related("user").order_by("user__name")]
    return [PersonProgress(one.name, one.pk == user.pk, done.get(one.pk, 0), total) for one in people]


def finished_counts(rounds: Sequence[CalibrationRound], project: Project) -> Mapping[Any, tuple[int, int]]:
    """Return by round how many of those who label have answered all of it, and how many label: for owners.

    `rounds` as `with_progress` returns them.
    """
    members = set(Membership.objects.filter(project=project, role__gte=Role.REVIEWER).values_list("user", flat=True))
    answers = CalibrationAnswer.objects.filter(
        is_resolved("item__revision"), item__round__in=[one.pk for one in rounds]
    )
    sizes = {one.pk: vars(one)["size"] for one in rounds}
    finished = dict.fromkeys(sizes, 0)
    for calibration, person, done in answers.values_list("item__round", "reviewer").annotate(n=Count("pk")).order_by():
        finished[calibration] += person in members and done >= sizes[calibration]
    return {pk: (count, len(members)) for pk, count in finished.items()}
