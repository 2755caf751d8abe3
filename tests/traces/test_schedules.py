"""Examples are made of new traces on a schedule: each time once, a few, and none while many wait."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.utils import timezone

from labeling.models import Example
from tests.traces.sending import conversation, export, send
from toolevals.traces.models import Promotion, PromotionSchedule
from toolevals.traces.promotion.schedules import (
    ScheduleRequest,
    due_after,
    promotions_due,
    schedule_add,
    schedule_switch,
)
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.clock import database_now

PAGE = "/p/shop/traces/examples/"
API = "/api/v1/projects/shop/traces/schedules/"


@pytest.fixture
def schedule(dataset, owner) -> PromotionSchedule:
    asked = ScheduleRequest(
        dataset=dataset, wanted={"since": "2020-01-01"}, period="hourly", count=2, most_waiting=5, turns="every",
        strata=("calls",),
    )  # fmt: skip
    return schedule_add(request=asked, actor=owner)


def due(run_jobs: Any, schedule: PromotionSchedule, hours: float = 1.01) -> PromotionSchedule:
    promotions_due(database_now() + timedelta(hours=hours))
    run_jobs()
    schedule.refresh_from_db()
    return schedule


def test_the_sweeper_asks_which_schedule_is_due():
    assert "toolevals.traces.promotion.schedules.promotions_due" in configured.SWEEP_TASKS


def test_examples_are_made_of_new_traces_a_few_each_time(schedule, sent, owner, run_jobs):
    assert not Promotion.objects.exists()
    promotions_due(database_now())
    assert not Promotion.objects.exists()
    due(run_jobs, schedule)
    promotion = Promotion.objects.get()
    assert (promotion.schedule, promotion.actor, promotion.state, promotion.made) == (schedule, owner, "made", 2)
    # Nobody starts the same hour twice.
    promotions_due(database_now() + timedelta(hours=1.01))
    assert Promotion.objects.count() == 1


def test_traces_from_before_the_schedule_are_left_alone(sent, schedule, client, token, run_jobs):
    PromotionSchedule.objects.update(since=database_now() + timedelta(hours=1))
    due(run_jobs, schedule)
    assert Promotion.objects.get().drawn == 0
    assert "since" in TraceFilter.of(Promotion.objects.get().wanted).said
    assert "since" not in schedule.wanted


def test_none_are_made_while_many_wait(schedule, sent, run_jobs):
    for hours in (1.01, 2.02, 3.03):
        # As if they had come since.
        PromotionSchedule.objects.update(since=database_now())
        due(run_jobs, schedule, hours)
    PromotionSchedule.objects.update(since=database_now())
    schedule.refresh_from_db()
    assert (Example.objects.count(), schedule.skipped) == (6, "")
    since = schedule.since
    due(run_jobs, schedule, 4.04)
    assert (Example.objects.count(), "5 examples in the dataset are unlabelled" in schedule.skipped) == (6, True)
    # What came meanwhile is drawn from the next time.
    assert schedule.since == since
    assert schedule.due_at > database_now() + timedelta(hours=5)


@pytest.mark.parametrize(
    ("period", "now", "after"),
    [
        # A Sunday.
        ("weekly-monday", "2026-11-29T10:30:00Z", "2026-11-30T10:30:00Z"),
        ("weekly-saturday", "2026-11-29T10:30:00Z", "2026-12-05T10:30:00Z"),
        ("weekly-sunday", "2026-11-29T10:30:00Z", "2026-12-06T10:30:00Z"),
        # Over the end of summer time it stays half past twelve for people.
        ("weekly-sunday", "2026-10-18T10:30:00Z", "2026-10-25T11:30:00Z"),
        # In the server's time zone it is Monday already.
        ("weekly-monday", "2026-11-29T23:30:00Z", "2026-12-06T23:30:00Z"),
    ],
)
def test_a_weekly_schedule_is_due_on_its_weekday_at_its_time_of_day(settings, period, now, after):
    settings.TIME_ZONE = "Europe/Berlin"
    with timezone.override("Europe/Berlin"):
        assert due_after(period, datetime.fromisoformat(now)) == datetime.fromisoformat(after)


def test_a_weekly_schedule_makes_examples_once_a_week(dataset, owner, sent, run_jobs):
    weekday = f"weekly-{timezone.localtime():%A}".lower()
    asked = ScheduleRequest(
        dataset=dataset, wanted={}, period=weekday, count=2, most_waiting=50, turns="every", strata=("calls",)
    )
    schedule = schedule_add(request=asked, actor=owner)
    first = schedule.due_at
    assert timedelta(days=6, hours=22) < first - schedule.since < timedelta(days=7, hours=2)
    due(run_jobs, schedule, 6 * 24)
    assert not Promotion.objects.exists()
    # However late the sweeper comes, it keeps its time of day; a week that was missed is not made up.
    due(run_jobs, schedule, 8 * 24)
    assert (Promotion.objects.count(), schedule.due_at - first) == (1, timedelta(days=7))
    due(run_jobs, schedule, 30 * 24)
    assert (Promotion.objects.count(), schedule.due_at - first) == (2, timedelta(days=28))


def test_a_schedule_that_is_off_makes_nothing(schedule, sent, owner, run_jobs):
    schedule_switch(schedule=schedule, actor=owner, is_on=False)
    due(run_jobs, schedule, 30)
    assert not Promotion.objects.exists()
    schedule_switch(schedule=schedule, actor=owner, is_on=True)
    assert schedule.due_at > database_now()


def test_a_dataset_in_the_trash_gets_no_examples(schedule, sent, dataset, run_jobs):
    type(dataset).with_trash.update(deleted_at=database_now())
    due(run_jobs, schedule)
    assert (Promotion.objects.count(), schedule.skipped) == (0, "The dataset was deleted.")


def test_adjudicators_set_it_on_a_page(sent, dataset, adjudicator, client, token, run_jobs):
    client.force_login(adjudicator)
    assert "get_order" in client.get(f"{PAGE}schedule/?tool=get_order").content.decode()
    said = {
        "dataset": str(dataset.pk), "period": "daily", "count": "3", "most_waiting": "50", "turns": "every",
        "strata": ["calls"],
    }  # fmt: skip
    assert client.post(f"{PAGE}schedule/?tool=get_order", said | {"count": "0"}).status_code == 422
    assert client.post(f"{PAGE}schedule/?tool=get_order&since=2020-01-01", said).status_code == 302
    schedule = PromotionSchedule.objects.get()
    assert (schedule.wanted, schedule.count, schedule.actor) == ({"tool": "get_order"}, 3, adjudicator)
    send(client, token, export(*conversation(f"{70:032x}", asked="Where is order 70?")))
    traces_settle()
    due(run_jobs, schedule, 25)
    page = client.get(PAGE).content.decode()
    assert page.count("every day") == 2
    one = f"{PAGE}schedules/{schedule.pk}/"
    for act, is_on in (("off", False), ("on", True), ("other", True)):
        client.post(one, {"act": act})
        schedule.refresh_from_db()
        assert schedule.is_on == is_on
    client.post(one, {"act": "remove"})
    assert not PromotionSchedule.objects.exists()
    assert client.post(f"{PAGE}schedule/", said | {"period": "weekly-friday"}).status_code == 302
    assert "every week, on Friday" in client.get(PAGE).content.decode()
    assert Promotion.objects.count() == 1


def test_schedules_by_rest(dataset, adjudicator, owner, client):
    client.force_login(adjudicator)
    said = {"dataset": "core", "period": "hourly", "filter": {"tool": "get_order"}, "count": 4}
    answer = client.post(API, json.dumps(said), content_type="application/json")
    assert answer.status_code == 201
    made = answer.json()
    assert (made["count"], made["most_waiting"], made["filter"], made["is_on"]) == (4, 200, {"tool": "get_order"}, True)
    one = f"{API}{made['id']}/"
    off = client.patch(one, json.dumps({"is_on": False}), content_type="application/json").json()
    assert (off["is_on"], client.get(API).json()["results"][0]["is_on"]) == (False, False)
    weekly = client.post(API, json.dumps(said | {"period": "weekly-friday"}), content_type="application/json").json()
    assert (weekly["period"], datetime.fromisoformat(weekly["due_at"]).weekday()) == ("weekly-friday", 4)
    assert client.post(API, json.dumps(said | {"period": "weekly"}), content_type="application/json").status_code == 422
    assert client.post(API, json.dumps(said | {"period": "yearly"}), content_type="application/json").status_code == 422
    client.force_login(owner)
    assert client.get(one).json()["filter"] is None
    assert "visible to its author only" in client.get(PAGE).content.decode()
    assert client.delete(one).status_code == 204
    assert client.get(one).status_code == 404
