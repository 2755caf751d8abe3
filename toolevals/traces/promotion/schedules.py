"""Make examples of new traces on a schedule: the sweeper asks which is due, the rows are the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from labeling.models import Dataset, Example, Resolution
from toolevals.traces.models import Period, Promotion, PromotionSchedule, PromotionState
from toolevals.traces.promotion.services import PromotionRequest, promotion_start
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

EVERY: Mapping[str, timedelta] = {Period.HOURLY: timedelta(hours=1), Period.DAILY: timedelta(days=1)}
# From Monday on, as weekdays are counted.
WEEKDAYS: Sequence[str] = [period for period in Period.values if period not in EVERY]
# At most so many traces each time; so many examples may wait for labels.
MOST_EACH_TIME, MOST_WAITING = 200, 10_000
# Traces that came shortly before the last time may not have been summed up then; what is an example is not drawn again.
OVERLAP = timedelta(minutes=10)
_AT_WORK = (PromotionState.DRAWING, PromotionState.MAKING, PromotionState.UNDOING)


@dataclass(frozen=True, slots=True)
class ScheduleRequest:
    """Says what a schedule makes and when: see `PromotionSchedule`."""

    dataset: Dataset
    wanted: Mapping[str, str]
    period: str
    count: int
    most_waiting: int
    turns: str
    strata: Sequence[str]


@transaction.atomic
def schedule_add(*, request: ScheduleRequest, actor: User | None) -> PromotionSchedule:
    """Make examples on a schedule from now on: of traces that come later, first when one period has passed."""
    now = database_now()
    made = PromotionSchedule.objects.create(
        project=request.dataset.project,
        dataset=request.dataset,
        actor=actor,
        period=request.period,
        wanted={name: value for name, value in request.wanted.items() if name not in ("since", "until")},
        strata=list(request.strata),
        turns=request.turns,
        count=min(request.count, MOST_EACH_TIME),
        most_waiting=min(request.most_waiting, MOST_WAITING),
        due_at=due_after(request.period, now),
        since=now,
    )
    detail = {"dataset": request.dataset.slug, "period": made.period, "count": made.count, "filter": made.wanted}
    audit_record(project=made.project, actor=actor, verb="schedule_add", target=made, detail=detail)
    return made


def due_after(period: str, now: datetime, before: datetime | None = None) -> datetime:
    """Return when a schedule is due next; a weekly one at the time of day at which it was due before, or is begun."""
    if period in EVERY:
        return now + EVERY[period]
    today = timezone.localtime(now)
    days = (WEEKDAYS.index(period) - today.weekday() - 1) % 7 + 1
    clock = timezone.localtime(before or now).time()
    return timezone.make_aware(datetime.combine(today.date() + timedelta(days=days), clock))


@transaction.atomic
def schedule_switch(*, schedule: PromotionSchedule, actor: User | None, is_on: bool) -> PromotionSchedule:
    """Switch a schedule on or off. What came while it was off is not drawn from."""
    if schedule.is_on != is_on:
        now = database_now()
        schedule.is_on = is_on
        if is_on:
            schedule.since, schedule.due_at, schedule.skipped = now, due_after(schedule.period, now), ""
        schedule.save(update_fields=["is_on", "since", "due_at", "skipped"])
        detail = {"is_on": is_on}
        audit_record(project=schedule.project, actor=actor, verb="schedule_switch", target=schedule, detail=detail)
    return schedule


@transaction.atomic
def schedule_remove(*, schedule: PromotionSchedule, actor: User | None) -> None:
    """Remove a schedule. What it has made stays."""
    detail = {"dataset": schedule.dataset.slug, "period": schedule.period}
    audit_record(project=schedule.project, actor=actor, verb="schedule_remove", target=schedule, detail=detail)
    schedule.delete()


def promotions_due(now: datetime) -> None:
    """Begin what is due, each once, however many workers ask."""
    due = PromotionSchedule.objects.filter(is_on=True, due_at__lte=now, project__in=Project.objects.all())
    for schedule in due.select_related("dataset", "project", "actor").order_by("due_at")[:100]:
        _run(schedule, now)


@transaction.atomic
def _run(schedule: PromotionSchedule, now: datetime) -> Promotion | None:
    """Start the promotion of a schedule that is due, or write down why not. A period that was missed is not made up."""
    following = due_after(schedule.period, now, schedule.due_at)
    skipped = _why_not(schedule)
    # What came while examples waited is drawn from next time.
    since = schedule.since if skipped else now
    taken = PromotionSchedule.objects.filter(pk=schedule.pk, due_at=schedule.due_at, is_on=True)
    if not taken.update(due_at=following, since=since, skipped=skipped) or skipped:
        return None
    request = PromotionRequest(
        dataset=schedule.dataset,
        wanted={**schedule.wanted, "since": (schedule.since - OVERLAP).isoformat(), "until": now.isoformat()},
        count=schedule.count,
        seed=schedule.promotions.count() + 1,
        turns=schedule.turns,
        strata=tuple(schedule.strata),
    )
    return promotion_start(request=request, actor=schedule.actor, schedule=schedule)


def _why_not(schedule: PromotionSchedule) -> str:
    """Return why nothing is made now, in a sentence; empty where it is."""
    if schedule.dataset.is_deleted:
        return "The dataset was deleted."
    if schedule.promotions.filter(state__in=_AT_WORK, job__state__in=("running", "paused")).exists():
        return "The previous sample has not been created yet."
    waiting = Example.objects.filter(dataset=schedule.dataset, current__resolution=Resolution.OPEN)
    if waiting.count() >= schedule.most_waiting:
        return f"{schedule.most_waiting:,} examples in the dataset are unlabelled, which is the limit."
    return ""
