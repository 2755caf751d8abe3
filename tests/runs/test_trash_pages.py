"""Deleting, restoring and destroying by pages and by the REST interface."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.datasets.services import dataset_create
from labeling.models import Dataset
from tests.fixtures.people import member
from tests.runs.building import HISTORY, call, uploaded_run
from tests.runs.trashing import destroyed
from toolevals.registry.services import registry_create
from toolevals.runs.baseline.starting import baseline_agents_start
from toolevals.runs.models import Run
from toolevals.workspace.models import Project, Role
from toolevals.workspace.tokens.services import token_create
from toolevals.workspace.trash.services import trash_put

pytestmark = pytest.mark.django_db
API = "/api/v1/projects/shop/"


@pytest.fixture
def as_owner(client, owner):
    client.force_login(owner)
    return client


@pytest.fixture
def empty(project):
    return dataset_create(project=project, actor=None, slug="failed", name="Failed import")


@pytest.fixture
def run(project, version, run_jobs):
    made = uploaded_run(project, version, [call("status", HISTORY)])
    run_jobs()
    made.refresh_from_db()
    return made


def page(client: Client, name: str, *arguments: Any) -> str:
    answer = client.get(reverse(name, args=["shop", *arguments]))
    assert answer.status_code == HTTPStatus.OK
    return " ".join(answer.content.decode().split())


def test_an_empty_dataset_is_deleted_from_the_list_and_restored_from_the_trash(as_owner, empty):
    delete = reverse("workspace:delete", args=["shop", "dataset", empty.pk])
    assert delete in page(as_owner, "labeling:datasets")
    assert "It contains no data." in page(as_owner, "workspace:delete", "dataset", empty.pk)
    shown = as_owner.post(delete, follow=True).content.decode()
    assert "Failed import" in shown
    assert "Failed import" not in page(as_owner, "labeling:datasets")
    restore = reverse("workspace:trash-restore", args=["shop", "dataset", empty.pk])
    assert restore in page(as_owner, "workspace:trash")
    as_owner.post(restore)
    assert "Failed import" in page(as_owner, "labeling:datasets")


def test_a_full_dataset_is_deleted_from_its_settings_and_says_what_rests_on_it(as_owner, run, version):
    assert reverse("workspace:delete", args=["shop", "dataset", version.dataset.pk]) in page(
        as_owner, "labeling:dataset-settings", "core"
    )
    said = page(as_owner, "workspace:delete", "dataset", version.dataset.pk)
    assert "1 run rests on version 1. Its 4 examples and gold labels stay for them" in said


def test_only_owners_delete(client, adjudicator, empty):
    client.force_login(adjudicator)
    assert reverse("workspace:delete", args=["shop", "dataset", empty.pk]) not in page(client, "labeling:datasets")
    path = reverse("workspace:delete", args=["shop", "dataset", empty.pk])
    assert client.post(path).status_code == HTTPStatus.FORBIDDEN
    assert client.delete(f"{API}datasets/failed/").status_code == HTTPStatus.FORBIDDEN
    assert Dataset.objects.filter(pk=empty.pk).exists()


def test_destroying_now_needs_the_name(as_owner, empty):
    trash_put(row=empty, actor=None)
    path = reverse("workspace:trash-destroy", args=["shop", "dataset", empty.pk])
    assert "Type failed to delete it permanently" in as_owner.post(path, {"typed": "no"}, follow=True).content.decode()
    assert (
        "A job is deleting it permanently: dataset"
        in as_owner.post(path, {"typed": "failed"}, follow=True).content.decode()
    )


def test_a_run_says_that_its_dataset_was_deleted_before_and_after_it_is_destroyed(as_owner, owner, run, version):
    trash_put(row=version.dataset, actor=owner)
    for _ in range(2):
        said = page(as_owner, "reports:run", run.number)
        assert "The dataset Core was deleted on" in said
        assert "by Owner" in said
        assert as_owner.get(f"{API}runs/{run.number}/").status_code == HTTPStatus.OK
        case = as_owner.get(f"{API}runs/{run.number}/cases/").json()["results"][0]
        assert page(as_owner, "reports:case", run.number, case["id"])
        destroyed(version.dataset)
    assert "Core" in page(as_owner, "workspace:trash")


@pytest.mark.parametrize("shown", ["run", "golds", "case"])
def test_no_link_of_a_run_leads_to_its_deleted_dataset(as_owner, owner, run, version, shown):
    trash_put(row=version.dataset, actor=owner)
    case = as_owner.get(f"{API}runs/{run.number}/cases/").json()["results"][0]["id"]
    said = page(as_owner, f"reports:{shown}", run.number, *([case] if shown == "case" else []))
    assert f"/datasets/{version.dataset.slug}/" not in said


def test_trends_name_a_run_that_is_not_drawn(as_owner, project, version, run, run_jobs):
    uploaded_run(project, version, [call("status", HISTORY)])
    run_jobs()
    destroyed(run)
    assert f"Not drawn: run {run.number}" in page(as_owner, "reports:trends", "nightly")
    assert as_owner.get(reverse("reports:run", args=["shop", run.number])).status_code == HTTPStatus.NOT_FOUND


def test_a_project_is_deleted_from_its_settings_and_restored_from_the_page_of_projects(as_owner, project):
    delete = reverse("workspace:delete", args=["shop", "project", project.pk])
    assert delete in page(as_owner, "workspace:settings")
    shown = as_owner.post(delete, follow=True)
    assert "Shop support" in shown.content.decode()
    assert as_owner.get("/p/shop/").status_code == HTTPStatus.NOT_FOUND
    assert as_owner.get("/?all").status_code == HTTPStatus.OK
    as_owner.post(reverse("workspace:deleted-project-restore", args=[project.pk]))
    assert as_owner.get("/p/shop/").status_code == HTTPStatus.OK


def test_a_deleted_project_is_its_owners(client, as_owner, project, viewer):
    trash_put(row=project, actor=None)
    client.force_login(viewer)
    assert "Shop support" not in client.get(reverse("workspace:deleted-projects")).content.decode()
    path = reverse("workspace:deleted-project-restore", args=[project.pk])
    assert client.post(path).status_code == HTTPStatus.NOT_FOUND


def test_rest_deletes_once_under_a_key_and_restores(as_owner, empty, run, project):
    registry_create(project=project, actor=None, slug="tools", name="Tools")
    for path, kind, name in (
        ("datasets/failed/", "dataset", "failed"),
        (f"runs/{run.number}/", "run", str(run.number)),
        ("registries/tools/", "registry", "tools"),
    ):
        first = as_owner.delete(API + path, headers={"Idempotency-Key": path})
        assert first.status_code == HTTPStatus.OK, first.content
        again = as_owner.delete(API + path, headers={"Idempotency-Key": path})
        assert (again.json(), again["Idempotent-Replay"]) == (first.json(), "true")
        assert as_owner.delete(API + path).status_code == HTTPStatus.NOT_FOUND
        item = first.json()
        assert (item["kind"], item["name"], item["deleted_by"]["name"]) == (kind, name, "Owner")
        assert [each["id"] for each in as_owner.get(f"{API}trash/").json()["results"]] == [item["id"]]
        restored = as_owner.post(f"{API}trash/{item['id']}/restore/")
        assert (restored.status_code, restored.json()["deleted_at"]) == (HTTPStatus.OK, None)
        assert as_owner.get(API + path).status_code == HTTPStatus.OK
    assert as_owner.get(f"{API}trash/").json()["results"] == []


def test_rest_refuses_a_clash_with_what_to_do(as_owner, empty, project):
    item = as_owner.delete(f"{API}datasets/failed/").json()
    made = as_owner.post(
        f"{API}datasets/", json.dumps({"slug": "failed", "name": "B"}), content_type="application/json"
    )
    assert made.status_code == HTTPStatus.CREATED
    answer = as_owner.post(f"{API}trash/{item['id']}/restore/")
    assert answer.status_code == HTTPStatus.CONFLICT
    assert "Delete that one" in answer.json()["detail"]


def test_a_token_of_an_owner_deletes_and_restores_its_project(client, owner, project):
    _, secret = token_create(project=project, actor=owner, user=owner, name="own", role=Role.OWNER)
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.delete(API, headers=headers).status_code == HTTPStatus.OK
    assert client.get(API, headers=headers).status_code == HTTPStatus.NOT_FOUND
    item = client.get("/api/v1/deleted-projects/", headers=headers).json()["results"][0]
    assert (item["kind"], item["name"]) == ("project", "shop")
    assert client.post(f"/api/v1/deleted-projects/{item['id']}/restore/", headers=headers).status_code == HTTPStatus.OK
    assert Project.objects.filter(pk=project.pk).exists()


def test_a_weaker_token_of_an_owner_restores_no_project(client, owner, project):
    _, secret = token_create(project=project, actor=owner, user=owner, name="weak", role=Role.VIEWER)
    trash_put(row=project, actor=owner)
    answer = client.get("/api/v1/deleted-projects/", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == HTTPStatus.FORBIDDEN


def test_the_trash_asks_as_often_however_much_lies_in_it(as_owner, project, django_assert_max_num_queries):
    for number in range(20):
        trash_put(row=dataset_create(project=project, actor=None, slug=f"d{number}", name="D"), actor=None)
    with django_assert_max_num_queries(20):
        assert "d19" in page(as_owner, "workspace:trash")


def test_baseline_agents_are_not_deleted_by_anybody(as_owner, version, run_jobs, project):
    baseline_agents_start(version=version)
    baseline_agent = Run.objects.exclude(baseline_agent="").order_by("number")[0]
    assert as_owner.delete(f"{API}runs/{baseline_agent.number}/").status_code == HTTPStatus.NOT_FOUND
    path = reverse("workspace:delete", args=["shop", "run", baseline_agent.pk])
    assert as_owner.post(path).status_code == HTTPStatus.NOT_FOUND


def test_members_see_no_trash(client, project, empty):
    client.force_login(member(project, Role.VIEWER))
    assert "Trash" not in page(client, "labeling:datasets")
