"""The Trash page by pages, and destroying now by the REST interface."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.datasets.services import dataset_create
from labeling.models import Dataset
from tests.runs.trashing import jobs_destroy
from toolevals.registry.models import Registry
from toolevals.registry.services import registry_create
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import FIRST_NUMBER, AuditEntry, Batch, Job, Project, Role
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.tokens.services import token_create
from toolevals.workspace.trash.kinds import kind_of
from toolevals.workspace.trash.lists import project_trash, trash_page
from toolevals.workspace.trash.services import trash_destroy, trash_put, trash_sweep

API = "/api/v1/projects/shop/"
MANY = 7


@pytest.fixture
def as_owner(client: Client, owner: Any) -> Client:
    client.force_login(owner)
    return client


@pytest.fixture
def many(project: Project) -> list[str]:
    """Seven datasets and seven registries that were deleted, some in the same moment; most recently deleted first."""
    made: list[Any] = []
    for number in range(MANY):
        made.append(dataset_create(project=project, actor=None, slug=f"d{number}", name=f"Data {number}"))
        made.append(registry_create(project=project, actor=None, slug=f"r{number}", name=f"Tools {number}"))
    now = database_now()
    for number, row in enumerate(made):
        trash_put(row=row, actor=None)
        type(row).with_trash.filter(pk=row.pk).update(deleted_at=now - timedelta(minutes=number // 4))
    rows = [*Dataset.with_trash.all(), *Registry.with_trash.all()]
    return [row.slug for row in sorted(rows, key=lambda row: (row.deleted_at, row.pk), reverse=True)]


@pytest.mark.parametrize("size", [1, 3, 14, 20])
def test_every_deleted_thing_is_on_one_page_and_in_one_order(project: Project, many: list[str], size: int):
    found: list[str] = []
    before, pages = "", 0
    while True:
        page = trash_page(project_trash(project), before, size=size)
        found += [kind.key(row) for kind, row in page.rows]
        pages, before = pages + 1, page.older
        if not before:
            break
    assert found == many
    assert pages == -(-len(many) // size)


@pytest.mark.parametrize(
    "cursor", ["x", "_", "2026-01-01_", "2026-13-45T00:00:00+00:00_", "2026-01-01T00:00:00_" + "0" * 32]
)
def test_what_is_no_cursor_begins_anew(as_owner: Client, many: list[str], cursor: str):
    for name in ("before", "destroyed"):
        answer = as_owner.get(reverse("workspace:trash", args=["shop"]), {name: cursor})
        assert answer.status_code == 200
        assert len(answer.context["items"]) == 2 * MANY


def test_the_page_leads_to_the_older_ones_and_to_older_tombstones(as_owner: Client, many: list[str], monkeypatch):
    def few(*arguments: Any, **more: Any) -> Any:
        return trash_page(*arguments, size=4, **more)

    monkeypatch.setattr("toolevals.workspace.trash.views.trash_page", few)
    address, found = reverse("workspace:trash", args=["shop"]), []
    link = ""
    for _ in range(4):
        answer = as_owner.get(address + link)
        found += [item.key for item in answer.context["items"]]
        links = re.findall(r'href="(\?before=[^"]+)"', answer.content.decode())
        link = links[0] if links else ""
    assert found == many
    assert link == ""


def test_by_rest_the_pages_hold_everything_once_and_the_last_leads_nowhere(as_owner: Client, many: list[str]):
    address, found = f"{API}trash/?limit=4", []
    while address:
        answer = as_owner.get(address).json()
        found += [item["name"] for item in answer["results"]]
        assert len(answer["results"]) <= 4
        address = answer["next"]
    assert found == many


@pytest.mark.parametrize("asked", ["before=x", "before=2026-01-01T00:00:00_" + "0" * 32])
def test_by_rest_what_is_no_cursor_is_refused(as_owner: Client, many: list[str], asked: str):
    for address in (f"{API}trash/", "/api/v1/deleted-projects/"):
        assert as_owner.get(f"{address}?{asked}").status_code == 404


@pytest.mark.parametrize("limit", ["", "0", "-1", "9" * 50, "x", "²"])
def test_by_rest_a_limit_that_is_none_is_the_usual_one(as_owner: Client, many: list[str], limit: str):
    assert len(as_owner.get(f"{API}trash/", {"limit": limit}).json()["results"]) in (1, 2 * MANY)


def test_deleted_projects_come_in_pages_too(as_owner: Client, owner: Any, monkeypatch):
    slugs = [f"gone-{number}" for number in range(5)]
    for slug in slugs:
        trash_put(row=project_create(actor=owner, slug=slug, name=slug), actor=owner)

    def few(*arguments: Any, **more: Any) -> Any:
        return trash_page(*arguments, **more | {"size": 2})

    monkeypatch.setattr("toolevals.workspace.trash.views.trash_page", few)
    address, found, links = reverse("workspace:deleted-projects"), [], [""]
    while links:
        answer = as_owner.get(address + links[0])
        found += [item.key for item in answer.context["items"]]
        links = re.findall(r'href="(\?before=[^"]+)"', answer.content.decode())
    assert found == slugs[::-1]
    following, named = "/api/v1/deleted-projects/?limit=3", []
    while following:
        page = as_owner.get(following).json()
        named += [item["name"] for item in page["results"]]
        following = page["next"]
    assert named == slugs[::-1]


def test_an_owner_destroys_by_rest_what_is_named_and_it_is_audited(as_owner: Client, project: Project, owner: Any):
    made = dataset_create(project=project, actor=None, slug="failed", name="Failed")
    address = f"{API}trash/{made.pk}/destroy/"
    assert as_owner.post(address, {"name": "failed"}, content_type="application/json").status_code == 409
    trash_put(row=made, actor=owner)
    for wrong in ({}, {"name": "other"}, {"name": "Failed"}):
        answer = as_owner.post(address, wrong, content_type="application/json")
        assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (422, "/name")
    assert trash_sweep(database_now()) == 0
    answer = as_owner.post(address, {"name": "failed"}, content_type="application/json")
    assert (answer.status_code, answer.json()["name"]) == (200, "failed")
    job = f"/api/v1/projects/shop/jobs/{answer.json()['job']}/"
    assert as_owner.get(job).json()["state"] == "running"
    assert as_owner.delete(job).status_code == 409
    assert as_owner.post(f"{job}pause/").json()["state"] == "paused"
    assert as_owner.post(f"{job}resume/").json()["state"] == "running"
    assert AuditEntry.objects.get(verb="dataset_destroy_now").actor == owner
    assert jobs_destroy() == 1
    assert as_owner.get(job).json()["state"] == "succeeded"
    assert not Dataset.with_trash.filter(pk=made.pk).exists()
    assert as_owner.post(address, {"name": "failed"}, content_type="application/json").status_code == 404


def test_others_than_owners_and_other_projects_destroy_nothing(
    client: Client, project: Project, adjudicator: Any, owner: Any
):
    made = trash_put(row=dataset_create(project=project, actor=None, slug="failed", name="F"), actor=owner)
    client.force_login(adjudicator)
    said = {"name": "failed"}
    assert client.post(f"{API}trash/{made.pk}/destroy/", said, content_type="application/json").status_code == 403
    other = project_create(actor=owner, slug="other", name="Other")
    client.force_login(owner)
    elsewhere = f"/api/v1/projects/{other.slug}/trash/{made.pk}/destroy/"
    assert client.post(elsewhere, said, content_type="application/json").status_code == 404
    assert trash_sweep(database_now()) == 0


def test_a_project_is_destroyed_by_rest_by_its_owner_alone(client: Client, project: Project, owner: Any):
    _, low = token_create(project=project, actor=owner, user=owner, name="low", role=Role.ADJUDICATOR)
    _, high = token_create(project=project, actor=owner, user=owner, name="high", role=Role.OWNER)
    trash_put(row=project, actor=owner)
    address = f"/api/v1/deleted-projects/{project.pk}/destroy/"

    def destroy(token: str, name: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return client.post(address, {"name": name}, content_type="application/json", headers=headers).status_code

    assert destroy(low, "shop") == 403
    assert destroy(high, "other") == 422
    going = Project.with_trash.filter(pk=project.pk, destroy_at__lte=database_now())
    assert not going.exists()
    assert destroy(high, "shop") == 200
    going = Project.with_trash.filter(pk=project.pk, destroy_at__lte=database_now())
    assert going.exists()


def test_jobs_of_a_row_are_those_whose_every_batch_names_it(project: Project):
    made = dataset_create(project=project, actor=None, slug="core", name="Core")
    own, other = {"dataset": str(made.pk)}, {"dataset": "another"}
    plans = {"own": [own, own], "shared": [own, other], "late": [other, own], "staged": [own]}
    for title, payloads in plans.items():
        job_create(
            project=project,
            actor=None,
            kind="export",
            title=title,
            batches=[BatchPlan("none", each, stage=int(title == "staged")) for each in payloads],
        )
    with CaptureQueriesContext(connection) as asked:
        assert {job.title for job in kind_of(made).jobs(made)} == {"own", "staged"}
    # A project's runs have a great many batches: of each stage the first alone is looked at.
    named = [query["sql"] for query in asked if "payload" in query["sql"]]
    assert '"number" = 1' in named[0]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="a small table is read whole by PostgreSQL")
def test_jobs_that_went_into_the_trash_with_a_row_are_found_by_an_index(project: Project):
    assert "job_trashed" in Job.objects.filter(trashed_with=project.pk).explain()
    first = Batch.objects.filter(job__project=project, number=FIRST_NUMBER)
    assert "batch_first" in first.explain()


def test_what_is_destroyed_next_says_so_and_can_still_be_restored(as_owner: Client, project: Project, owner: Any):
    made = trash_put(row=dataset_create(project=project, actor=None, slug="failed", name="Failed"), actor=owner)
    address = reverse("workspace:trash", args=["shop"])
    assert "Delete permanently" in as_owner.get(address).content.decode()
    trash_destroy(row=made, actor=owner, typed="failed")
    page = as_owner.get(address).content.decode()
    assert "A job will delete it permanently next." in page
    assert "Delete permanently" not in page
    assert reverse("workspace:trash-restore", args=["shop", "dataset", made.pk]) in page
