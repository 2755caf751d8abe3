"""A source is looked at by its schedule, and what changed is told; workers may die; what is deleted is let alone."""

from __future__ import annotations

import pytest

from reports.tool_drift.services import look_ask, sources_due, sources_look
from tests.reports.tool_drift.sources import examples, looked, offered, with_changes
from tests.runs.building import TOOLS, baseline_run, version_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import Registry, ToolSource
from toolevals.registry.services import registry_publish
from toolevals.registry.sources import services as sources
from toolevals.registry.sources.services import LEASE, MOST_ATTEMPTS, source_set, source_take
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.agents.services import agent_ensure
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Delivery
from toolevals.workspace.notifications.services import webhook_save
from toolevals.workspace.trash.services import trash_destroy, trash_put

pytestmark = pytest.mark.django_db
PAGE = "/p/shop/registries/shop/source/"


def test_people_are_told_once_of_what_changed_with_counts_alone(project, registry, source, site):
    webhook_save(project=project, actor=None, name="all", url="https://hooks.example.org/", kinds=["tools.changed"])
    version_of(project, examples(registry))
    looked(source)
    assert not Delivery.objects.exists()
    site.show(with_changes())
    for _ in range(3):
        looked(source)
    data = Delivery.objects.get().document["data"]
    assert {name: data[name] for name in ("breaking", "unknown", "widening", "wording", "gold", "published")} == {
        "breaking": 1,
        "unknown": 0,
        "widening": 1,
        "wording": 1,
        "gold": 1,
        "published": False,
    }
    assert "1 breaking, 1 widening, 1 wording (1 gold label no longer validates" in data["summary"]
    assert data["url"] == PAGE
    site.show(TOOLS)
    looked(source)
    site.show(with_changes())
    looked(source)
    assert Delivery.objects.count() == 2


def test_a_schedule_looks_again_in_time_and_off_does_not(source, site):
    for schedule, hours in (("hourly", 1), ("daily", 24)):
        source_set(registry=source.registry, actor=None, kind="openapi", options={"url": site.url}, schedule=schedule)
        looked(source)
        source.refresh_from_db()
        assert round((source.due_at - source.looked_at).total_seconds() / 3600) == hours
        assert sources_look() == 0
    source_set(registry=source.registry, actor=None, kind="openapi", options={"url": site.url})
    looked(source)
    source.refresh_from_db()
    assert source.due_at is None


def test_a_source_whose_worker_was_killed_is_looked_at_once_more_and_the_late_one_keeps_nothing(source, site):
    look_ask(source=source)
    taken = source_take()
    assert taken is not None
    assert source_take() is None
    ToolSource.objects.update(due_at=database_now())
    assert sources_look() == 1
    source.refresh_from_db()
    assert source.error == ""
    assert not sources.look_keep(taken, error="late")
    source.refresh_from_db()
    assert (source.error, source.lease) == ("", None)
    assert LEASE.total_seconds() > 2 * 20


def test_a_source_that_ends_its_workers_is_given_up(source):
    look_ask(source=source)
    for _ in range(MOST_ATTEMPTS):
        assert source_take() is not None
        ToolSource.objects.update(due_at=database_now())
    assert source_take() is None
    source.refresh_from_db()
    assert "workers that looked ended" in source.error
    assert source.due_at is None


def test_another_place_forgets_what_was_seen_and_the_same_keeps_it(source, site):
    looked(source)
    said = {"registry": source.registry, "actor": None, "kind": "openapi", "options": {"url": site.url}}
    assert source_set(**said, schedule="daily").seen_at is not None
    assert source_set(**{**said, "options": {"url": f"{site.url}?2"}}).seen_at is None
    with pytest.raises(InvalidDocument, match="MCP servers"):
        source_set(**{**said, "options": {"command": ["sh"]}})


def test_sources_of_what_is_in_the_trash_are_not_looked_at_and_go_with_it(source, adjudicator, run_jobs):
    looked(source)
    look_ask(source=source)
    trash_put(row=source.registry, actor=adjudicator)
    sources_due(database_now())
    assert sources_look() == 0
    trash_destroy(row=source.registry, actor=adjudicator, typed=source.registry.slug)
    run_jobs()
    assert not ToolSource.objects.exists()
    assert not Registry.with_trash.exists()


def test_a_registry_in_use_that_is_destroyed_forgets_its_source(project, registry, source, site, adjudicator, run_jobs):
    looked(source)
    baseline_run(project, version_of(project, examples(registry)))
    agent_ensure(project=project, actor=None, name="a", connector="upload", tools=registry.versions.get(), options={})
    run_jobs()
    trash_destroy(row=trash_put(row=registry, actor=adjudicator), actor=adjudicator, typed="shop")
    run_jobs()
    assert Registry.with_trash.exists()
    assert not ToolSource.objects.exists()


def test_a_project_is_destroyed_with_its_sources(project, source, owner, run_jobs):
    looked(source)
    trash_destroy(row=trash_put(row=project, actor=owner), actor=owner, typed="shop")
    run_jobs()
    assert not ToolSource.objects.exists()


def test_what_people_gave_a_tool_stays_where_the_source_says_none(registry, source, site):
    own = offered(registry)
    own[0]["cost"] = 2.5
    registry_publish(registry=registry, actor=None, document=own)
    view = looked(source)
    assert view.changes == ()
    assert tools_in(view.source.tools)[0].cost == 2.5
