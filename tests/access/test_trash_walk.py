"""Every address of a deleted thing, asked for by its owner and by a member: it is closed, and nothing names it."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse

from labeling.models import Dataset
from tests.access.addresses import Address, addresses
from tests.access.arguments import argument
from tests.access.asking import client_of
from tests.access.registry_arguments import a_version
from tests.access.runs_arguments import a_graded_run
from tests.access.world import World
from toolevals.registry.models import Registry
from toolevals.runs.models import Run
from toolevals.workspace.models import Role
from toolevals.workspace.trash.services import trash_put

# What is found by the short name or the number of a deleted thing, or by the id of what hangs on it.
OF_DATASETS = {
    "dataset",
    "slot",
    "revision",
    "example",
    "batch",
    "skip",
    "label",
    "dispute",
    "adjudication",
    "proposal",
}
# Whoever had an example of the dataset open is told that it is theirs no more, or is led to what is left to label.
LED_AWAY = {
    "labeling:label-slot": 302,
    "labeling:label-release": 302,
    "labeling:label-leave": 204,
    "labeling:label-ahead": 204,
    **dict.fromkeys(
        ("labeling:label-draft", "labeling:label-submit", "labeling:label-skip", "labeling:label-renew"), 409
    ),
}
OF_RUNS = {"number", "case", "case_id", "grading"}


def walked(names: set[str], but: Collection[str] = ()) -> list[Address]:
    """Return the addresses within a project that have one of these arguments and none of the others."""
    found = [each for each in addresses() if names & set(each.arguments) and each.arguments[0] == "project"]
    return [each for each in found if not set(but) & set(each.arguments)]


def answers(world: World, address: Address, trash: Any) -> dict[tuple[str, str], int]:
    """Make what the address names, delete the thing, and return what its owner and a reviewer get by method."""
    found = {}
    sign_in(world)
    with transaction.atomic():
        values = {
            name: argument(address.name, name)(world, world.owner) if name != "project" else world.project.slug
            for name in address.arguments
        }
        trash(world, values)
        path = reverse(address.name, kwargs=values)
        for role in (Role.OWNER, Role.REVIEWER):
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
                client = client_of(world, world.people[role])
                answer = client.generic(method, path, content_type="application/json")
                found[str(role.label), method] = answer.status_code
        transaction.set_rollback(True)
    return found


def sign_in(world: World) -> None:
    """Sign everybody in before the transaction that is undone."""
    for person in world.people.values():
        client_of(world, person)


def let_in(address: Address, found: dict[tuple[str, str], int]) -> list[tuple[tuple[str, str], int]]:
    """Return the answers that let somebody in: a method that an address does not take at all is none."""
    refused = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.FORBIDDEN, LED_AWAY.get(address.name)}
    return [(who, status) for who, status in found.items() if status not in refused]


def every_dataset(world: World, values: dict[str, Any]) -> None:
    for dataset in Dataset.objects.filter(project=world.project):
        trash_put(row=dataset, actor=world.owner)


def every_run(world: World, values: dict[str, Any]) -> None:
    for run in Run.objects.filter(project=world.project, baseline_agent=""):
        trash_put(row=run, actor=world.owner)


def every_registry(world: World, values: dict[str, Any]) -> None:
    for registry in Registry.objects.filter(project=world.project):
        trash_put(row=registry, actor=world.owner)


@pytest.mark.parametrize(
    "address", [each for each in walked(OF_DATASETS) if not OF_RUNS & set(each.arguments)], ids=str
)
def test_no_address_of_a_deleted_dataset_lets_anybody_in(world, address):
    assert let_in(address, answers(world, address, every_dataset)) == []


NUMBERED = [each for each in walked(OF_RUNS) if "registry" not in each.name and "policy" not in each.arguments]


@pytest.mark.parametrize("address", NUMBERED, ids=str)
def test_no_address_of_a_deleted_run_lets_anybody_in(world, address):
    assert let_in(address, answers(world, address, every_run)) == []


@pytest.mark.parametrize("address", walked({"registry"}), ids=str)
def test_no_address_of_a_deleted_registry_lets_anybody_in(world, address):
    assert let_in(address, answers(world, address, every_registry)) == []


def test_no_address_of_a_deleted_project_lets_anybody_in(world):
    sign_in(world)
    with transaction.atomic():
        trash_put(row=world.project, actor=world.owner)
        for name in ("workspace:project", "labeling:datasets", "runs:runs", "workspace:trash", "workspace-api:project"):
            path = reverse(name, args=[world.project.slug])
            for role in Role:
                assert client_of(world, world.people[role]).get(path).status_code == HTTPStatus.NOT_FOUND
        home = client_of(world, world.owner).get("/?all").content.decode()
        assert world.project.name not in home
        assert "1 deleted project" in home
        listed = client_of(world, world.owner).get("/api/v1/projects/").json()["results"]
        assert world.project.slug not in {each["slug"] for each in listed}
        transaction.set_rollback(True)


LISTS = (
    "workspace:project",
    "workspace:jobs",
    "labeling:datasets",
    "labeling:datasets-csv",
    "runs:runs",
    "runs:runs-csv",
    "runs:new",
    "registry:registries",
    "registry:registries-csv",
    "reports:gates",
    "labeling-api:datasets",
    "runs-api:runs",
    "registry-api:registries",
    "workspace-api:jobs",
)


def test_no_list_names_what_was_deleted(world):
    sign_in(world)
    with transaction.atomic():
        a_version(world)
        a_graded_run(world)
        names = [
            *Dataset.objects.filter(project=world.project).values_list("name", flat=True),
            *Registry.objects.filter(project=world.project).values_list("name", flat=True),
        ]
        every_run(world, {})
        every_dataset(world, {})
        every_registry(world, {})
        client = client_of(world, world.owner)
        for name in LISTS:
            answer = client.get(reverse(name, args=[world.project.slug]))
            assert answer.status_code == HTTPStatus.OK, name
            whole = b"".join(answer) if answer.streaming else answer.content
            assert [each for each in names if f">{each}<" in whole.decode() or f'"{each}"' in whole.decode()] == [], (
                name
            )
        for each in names:
            found = client.get(reverse("workspace:search", args=[world.project.slug]), {"q": each})
            assert f"/{each.lower()}/" not in found.content.decode()
        transaction.set_rollback(True)


def test_the_trash_page_is_the_owners(world):
    sign_in(world)
    with transaction.atomic():
        every_registry(world, {})
        path = reverse("workspace:trash", args=[world.project.slug])
        assert client_of(world, world.owner).get(path).status_code == HTTPStatus.OK
        assert client_of(world, world.people[Role.ADJUDICATOR]).get(path).status_code == HTTPStatus.FORBIDDEN
        transaction.set_rollback(True)
