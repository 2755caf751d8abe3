"""Rooms tell webhooks and people of each event once, where it happens, with counts and links alone."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.adjudicate.resolution import settle_due
from labeling.datasets.decided import datasets_done
from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.label.services import label_submit
from labeling.models import Dataset, Gold, Revision
from reports.gates.services import gate_preview_start
from tests.fixtures.people import person
from tests.labeling.rows import NO_CALL, SHOP_TOOLS, row
from tests.labeling.windows import later
from tests.reports.building import cases_of
from tests.reports.gate_building import hold, rate
from tests.runs.building import EXAMPLES, STATUS, call, silence, uploaded_run, version_of
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.baseline.starting import baseline_agents_start
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import Run
from toolevals.workspace.access import rules
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Delivery, Role
from toolevals.workspace.notifications.services import webhook_save
from toolevals.workspace.projects.services import member_set

pytestmark = pytest.mark.django_db
CELLS = {("a", "a"): 19, ("a", "b"): 1}


@pytest.fixture
def told(project: Any):
    """Return a function that gives the events of which a webhook was told so far, as (kind, data)."""
    kinds = ["run.finished", "run.failed", "gate.failed", "dataset.done", "judge.drifted", "tools.changed"]
    webhook_save(project=project, actor=None, name="all", url="https://hooks.example.org/", kinds=kinds)

    def found() -> list[tuple[str, Any]]:
        rows = Delivery.objects.order_by("pk")
        return [(each.kind, each.document["data"]) for each in rows]

    return found


def test_a_run_is_finished_once_however_often_it_is_graded_and_baselines_are_not(project, told, run_jobs):
    version = version_of(project)
    run = uploaded_run(project, version, [call("status", STATUS), silence("hello")])
    run_jobs()
    events = [event for event in told() if event[0] == "run.finished"]
    [(_, data)] = events
    assert data["run"] == run.number
    assert sum(data["cases"].values()) == len(EXAMPLES)
    assert data["url"] == f"/p/shop/runs/{run.number}/"
    assert f"Run {run.number} of" in data["summary"]
    grading_start(run=run, actor=None)
    run_jobs()
    assert [event for event in told() if event[0] == "run.finished"] == events


def test_a_gate_tells_of_failures_alone_and_a_preview_of_nothing(project, build, told, run_jobs):
    run = build.grading(cases_of(CELLS)).run
    hold(run, rate("selection", 0.5))
    assert told() == []
    held = hold(run, rate("selection", 0.99))
    [(kind, data)] = told()
    assert kind == "gate.failed"
    assert data["url"] == f"/p/shop/gates/{held.pk}/"
    assert data["run"] == run.number
    gate_preview_start(project=project, actor=None, gate=rate("selection", 0.99))
    run_jobs()
    assert len(told()) == 1


def test_tools_that_change_are_told_and_the_first_ones_are_not(project, told):
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop tools")
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS[:1])
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS[:1])
    assert told() == []
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    [(kind, data)] = told()
    assert (kind, data["version"], data["url"]) == ("tools.changed", 2, "/p/shop/registries/shop/2/")


@pytest.fixture
def dataset(project: Any) -> Dataset:
    registry = registry_create(project=project, actor=None, slug="tools", name="Tools")
    tools = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    made = dataset_create(project=project, actor=None, slug="core", name="Core", default_tools=tools)
    examples_import(dataset=made, actor=None, rows=[row("one"), row("two")])
    return made


def decide(dataset: Dataset, name: str) -> None:
    """Let two people agree on an example."""
    revision = Revision.objects.get(example__external_id=name)
    for number, slot in enumerate(revision.slots.order_by("number")):
        user = person(f"{name}{number}")
        member_set(project=dataset.project, actor=None, user=user, role=Role.REVIEWER)
        label_submit(slot=slot, actor=user, expectation=NO_CALL)
    settle_due(later(60))


def test_a_dataset_is_done_once_and_again_only_after_more_was_open(project, dataset, told):
    decide(dataset, "one")
    datasets_done(database_now())
    assert told() == []
    decide(dataset, "two")
    for _ in range(3):
        datasets_done(database_now())
    [(kind, data)] = told()
    assert (kind, data["examples"], data["url"]) == ("dataset.done", 2, "/p/shop/datasets/core/")
    examples_import(dataset=dataset, actor=None, rows=[row("three")])
    datasets_done(database_now())
    decide(dataset, "three")
    datasets_done(database_now())
    assert [event[1]["examples"] for event in told()] == [2, 3]


def test_what_was_decided_long_ago_is_no_news(project, dataset, told):
    for name in ("one", "two"):
        decide(dataset, name)
    Gold.objects.update(created_at=later(-3 * 86_400))
    datasets_done(database_now())
    assert told() == []


def test_a_run_that_fails_is_told_without_why(project, told, run_jobs):
    run = uploaded_run(project, version_of(project), [call("no such example", STATUS)])
    run_jobs()
    [(kind, data)] = told()
    assert (kind, data["url"]) == ("run.failed", f"/p/shop/runs/{run.number}/")
    assert "no such example" not in str(data)


def test_baseline_agents_are_told_of_to_no_one(project, told, run_jobs):
    baseline_agents_start(version=version_of(project))
    run_jobs()
    assert Run.objects.exclude(baseline_agent="").filter(grading__finished_at__isnull=False).exists()
    assert told() == []


@pytest.mark.parametrize(
    "page", ["reports:run", "reports:gate", "labeling:dataset", "runs:drift", "registry:version", "reports:digest"]
)
def test_every_member_may_open_what_is_told(page):
    assert rules()[page].needs("GET") == Role.VIEWER
