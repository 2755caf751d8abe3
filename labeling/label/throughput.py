"""Tell how fast a dataset is labelled, and when it will be done: counts over everyone, and one's own next to them.

Labels of everyone count in full blocks of 20, as in agreement: no one reads from a change of a number whether another
person has labelled an example.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil, sqrt
from typing import Any, Final

from django.core.cache import cache
from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils import timezone

from labeling.agreement.figures import BLOCK
from labeling.label.open_tasks import Progress, progress_of
from labeling.models import Dataset, Label, LabelSlot, SlotState
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

# So many days are drawn, and the pace is that of the last ones of them.
DAYS: Final = 28
PACE_DAYS: Final = 14
# Fewer labels, or labels on fewer days, tell no pace.
FEWEST: Final = 10
FEWEST_DAYS: Final = 2
# Days beyond this are no forecast.
FARTHEST: Final = 3 * 365
# The counts of larger datasets are kept for so long.
KEPT_FROM: Final = 20_000
KEPT_SECONDS: Final = 600


# How many labels are wanted and in, and how many came in by day: everyone's, and one's own.
_Counts = tuple[int, int, dict[date, int], dict[date, int]]


@dataclass(frozen=True, slots=True)
class Day:
    """Labels that came in on one day: everyone's, and one's own among them."""

    day: date
    labels: int
    own: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """The day of the last label at a pace of labels a day, with a 95 % range of both. `last` is None if never."""

    pace: float
    day: date
    first: date
    last: date | None


@dataclass(frozen=True, slots=True)
class Throughput:
    """Labels of a dataset: how many are `wanted`, how many full blocks of them are `done`, and by day.

    As of now without `counted_at`.
    """

    wanted: int
    done: int
    days: tuple[Day, ...]
    own: Progress
    forecast: Forecast | None
    counted_at: datetime | None

    @property
    def left(self) -> int:
        return max(0, self.wanted - self.done)

    @property
    def own_pace(self) -> float:
        """One's own labels a day over the last days."""
        return sum(day.own for day in self.days[-PACE_DAYS:]) / PACE_DAYS


def throughput_of(dataset: Dataset, user: User) -> Throughput:
    """Return how labelling of a dataset goes. Counts of large datasets are kept for some minutes."""
    today = timezone.localdate(database_now())
    key = f"labeling.throughput-at:{dataset.pk}:{user.pk}:{today}"
    kept: tuple[_Counts, datetime | None] | None = cache.get(key)
    if kept is None:
        kept = _counts(dataset, user, today), None
        if kept[0][0] >= KEPT_FROM:
            kept = kept[0], database_now()
            cache.set(key, kept, KEPT_SECONDS)
    (wanted, done, everybody, own), counted_at = kept
    dates = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    before = done - sum(everybody.get(day, 0) for day in dates)
    days = tuple(
        Day(day, labels, own.get(day, 0))
        for day, labels in zip(dates, in_blocks(before, [everybody.get(day, 0) for day in dates]), strict=True)
    )
    done -= done % BLOCK
    expected = _forecast(wanted - done, days, today)
    return Throughput(wanted, done, days, progress_of(dataset, user), expected, counted_at)


def _forecast(left: int, days: tuple[Day, ...], today: date) -> Forecast | None:
    """Return the forecast from the pace of the last days, or of those since the first label where that is newer."""
    recent, before = days[-PACE_DAYS:], days[:-PACE_DAYS]
    worked = [day.day for day in recent if day.labels]
    if len(worked) < FEWEST_DAYS:
        return None
    length = PACE_DAYS if any(day.labels for day in before) else (today - worked[0]).days + 1
    return forecast(left, sum(day.labels for day in recent), length, today)


def in_blocks(before: int, counts: list[int]) -> list[int]:
    """Return counts in full blocks, each block on the day that completed it, after `before` earlier ones."""
    found, total = [], before
    for count in counts:
        found.append((total + count) // BLOCK * BLOCK - total // BLOCK * BLOCK)
        total += count
    return found


def forecast(left: int, labels: int, days: int, today: date) -> Forecast | None:
    """Return when `left` labels are done at the pace of `labels` in the last `days`; None where that tells nothing.

    The range takes the count as Poisson: with the square root as the stabilised variable, its 95 % limits are
    (sqrt(n) - 0.98)² and (sqrt(n) + 0.98)² (Anscombe's transformation without its shift).
    """
    if left <= 0 or labels < FEWEST:
        return None
    root = sqrt(labels)
    slow, fast = (root - 0.98) ** 2 / days, (root + 0.98) ** 2 / days
    middle, soonest, latest = (ceil(left / pace) for pace in (labels / days, fast, slow))
    if middle > FARTHEST:
        return None
    last = today + timedelta(days=latest) if latest <= FARTHEST else None
    return Forecast(labels / days, today + timedelta(days=middle), today + timedelta(days=soonest), last)


def _counts(dataset: Dataset, user: User, today: date) -> _Counts:
    rows = LabelSlot.objects.filter(dataset=dataset).order_by().values_list("state").annotate(count=Count("pk"))
    states = Counter(dict(rows))
    done = states[SlotState.SUBMITTED]
    wanted = done + states[SlotState.OPEN] + states[SlotState.CLAIMED]
    # Those of an import came at once: they say nothing about the pace.
    firsts = Label.objects.filter(slot__dataset=dataset, is_first=True, withdrawn_at=None)
    first: Any = firsts.filter(external_author="")
    since = timezone.localtime(database_now()).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(
        days=DAYS - 1
    )
    recent = first.filter(created_at__gte=since).order_by()
    by_day = recent.annotate(day=TruncDate("created_at")).values_list("day").annotate(count=Count("pk"))
    return wanted, done, dict(by_day), dict(by_day.filter(reviewer=user))
