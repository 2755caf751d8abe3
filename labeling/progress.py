"""How far one person is with labelling, for themselves to see: nothing in it tells of anybody else's labels."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from django.db.models import Count, Q
from django.utils import timezone

from labeling.models import Dataset, Label, LabelSlot
from toolevals.workspace.models import User

RECENT = 20


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


def progress_of(dataset: Dataset, user: User) -> Progress:
    """Return one person's progress in one dataset: what they have labelled and what still waits for them."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    own = Label.objects.filter(reviewer=user, revision__example__dataset=dataset).in_force()
    slots = LabelSlot.objects.of_dataset(dataset)
    waiting = slots.free(timezone.now()).for_reviewer(user).values("revision").distinct().count()
    recent = [seconds for seconds in own.order_by("-id").values_list("seconds", flat=True)[:RECENT] if seconds > 0]
    counts = own.aggregate(done=Count("pk"), today=Count("pk", filter=Q(created_at__gte=midnight)))
    return Progress(
        done=counts["done"],
        left=waiting + slots.held_by(user).count(),
        seconds_each=median(recent) if len(recent) >= 3 else None,
        today=counts["today"],
    )


def _span(seconds: float) -> str:
    if seconds < 100:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"
