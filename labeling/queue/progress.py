"""Tell how far one person is with labelling, for themselves to see: nothing in it tells of anyone else's labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from statistics import median
from uuid import UUID

from django.core.cache import cache
from django.utils import timezone

from labeling.models import Dataset, Label
from labeling.queue.waiting import KEPT_FROM, KEPT_SECONDS, Counts, own_part
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

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
