"""Strata that tell a label reach no reviewer before the example is resolved; every address: `test_blindness_walk`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.datasets.services import strata_show
from labeling.exports import Selection
from labeling.exports.services import export_start
from labeling.models import Dataset, Example, Revision
from tests.fixtures.people import person
from tests.labeling.two_worlds import REOPENED, ROLES, TO_LABEL, WORLDS, world_made
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.projects.services import member_set

MARK = "marked"
UNSAFE = [name for name in Example.STRATA if name != "difficulty"]


@pytest.fixture
def people(project: Project) -> dict[str, User]:
    project.undo_seconds = 3600
    project.save()
    found = {name: person(name.title()) for name in ROLES}
    for name, role in ROLES.items():
        member_set(project=project, actor=None, user=found[name], role=role)
    return found


def planted(dataset: Dataset, names: list[str]) -> None:
    """Give every example of some names a stratum of each kind whose value is to be found again."""
    values = {name: f"{MARK}-{name[:6]}" for name in Example.STRATA if name != "effect"} | {"effect": MARK}
    Example.objects.filter(dataset=dataset, external_id__in=names).update(**values)


def test_filters_and_counts_tell_no_more_than_rows(
    client: Client, dataset: Dataset, people: dict[str, User], run_jobs, pass_time
):
    world_made(dataset, people, WORLDS[0], run_jobs, decidable=False, pass_time=pass_time)
    planted(dataset, [REOPENED, *TO_LABEL])
    Example.objects.filter(external_id="gold").update(bucket="marked-bucket", category="open-to-all")
    client.force_login(people["carl"])

    def found(query: str) -> set[str]:
        listed = client.get(reverse("labeling:dataset", args=["shop", dataset.slug]) + query)
        answer = client.get(reverse("labeling-api:examples", args=["shop", dataset.slug]) + query)
        names = {row.example.external_id for row in listed.context["rows"]}
        if "covers" not in query:
            assert {row["external_id"] for row in answer.json()["results"]} == names
        return names

    assert found("?bucket=marked-bucket") == {"gold"}
    assert found("?category=marked-catego") == set()
    assert found("?difficulty=marked-diffic") == {REOPENED, *TO_LABEL}
    assert found("?covers=bucket.marked-bucket&gold=none") == set()
    strata_show(dataset=dataset, actor=people["ben"], strata=["bucket"])
    assert found("?bucket=marked-bucket") == {"gold", REOPENED, *TO_LABEL}
    client.force_login(people["nora"])
    assert found("?category=marked-catego") == {REOPENED, *TO_LABEL}


def test_whoever_labels_sees_no_more_whatever_their_role(
    client: Client, dataset: Dataset, people: dict[str, User], run_jobs, pass_time
):
    scene = world_made(dataset, people, WORLDS[0], run_jobs, decidable=False, pass_time=pass_time)
    planted(dataset, [REOPENED, *TO_LABEL])
    for name in ("carl", "nora"):
        client.force_login(people[name])
        page = client.get(reverse("labeling:label", args=["shop"]), follow=True)
        strata = page.context["example"].strata
        assert strata["bucket"] == "marked-bucket"
        assert f">{strata['difficulty']}<" in page.text
        assert "marked-bucket" not in page.text
        assert "marked-catego" not in page.text
        claim = client.post(reverse("labeling-api:claims", args=["shop"]), {}, content_type="application/json")
        assert b"marked-bucket" not in claim.content
    strata_show(dataset=dataset, actor=people["ben"], strata=["bucket"])
    assert "marked-bucket" in client.get(reverse("labeling:label", args=["shop"]), follow=True).text
    assert scene.dataset == dataset


def test_a_resolved_example_shows_all(client: Client, dataset: Dataset, people: dict[str, User], run_jobs, pass_time):
    scene = world_made(dataset, people, WORLDS[0], run_jobs, decidable=False, pass_time=pass_time)
    planted(dataset, ["gold"])
    example = Revision.objects.get(example__external_id="gold").example_id
    client.force_login(people["carl"])
    assert "marked-bucket" in client.get(reverse("labeling:example", args=["shop", dataset.slug, example])).text
    strata = client.get(reverse("labeling-api:example", args=["shop", example])).json()["strata"]
    assert strata["category"] == "marked-catego"
    assert set(strata) == set(Example.STRATA)
    assert "marked-bucket" in b"".join(client.get(reverse("labeling:export", args=["shop", dataset.slug]))).decode()
    assert scene.dataset == dataset


def test_a_file_of_all_strata_is_for_adjudicators(
    client: Client, dataset: Dataset, people: dict[str, User], run_jobs, pass_time
):
    world_made(dataset, people, WORLDS[0], run_jobs, decidable=False, pass_time=pass_time)
    planted(dataset, [*TO_LABEL])
    whole = export_start(selection=Selection(dataset), actor=people["abe"], format="jsonl")
    blind = Selection(dataset, hidden=frozenset(UNSAFE))
    own = export_start(selection=blind, actor=people["carl"], format="csv")
    run_jobs()

    def file(name: str, job: Any) -> tuple[int, bytes]:
        client.force_login(people[name])
        page = client.get(reverse("labeling:export-file", args=["shop", dataset.slug, job.pk]))
        answer = client.get(reverse("labeling-api:export-file", args=["shop", job.pk]))
        assert answer.status_code == page.status_code
        return page.status_code, b"".join(page) if page.streaming else page.content

    assert file("abe", whole)[0] == HTTPStatus.OK
    assert b"marked-bucket" in file("abe", whole)[1]
    status, words = file("carl", whole)
    assert status == HTTPStatus.FORBIDDEN
    assert b"Export the dataset yourself" in words
    status, rows = file("carl", own)
    assert status == HTTPStatus.OK
    assert b"marked-diffic" in rows
    assert b"marked-bucket" not in rows


def test_owners_alone_choose_what_is_shown(client: Client, dataset: Dataset, people: dict[str, User]):
    page = reverse("labeling:dataset-settings", args=["shop", dataset.slug])
    address = reverse("labeling:shown-strata", args=["shop", dataset.slug])
    api = reverse("labeling-api:shown-strata", args=["shop", dataset.slug])
    client.force_login(people["abe"])
    assert "Shown to reviewers" not in client.get(page).text
    assert client.post(address, {"strata": ["bucket"]}).status_code == HTTPStatus.FORBIDDEN
    client.force_login(people["ben"])
    assert "Shown to reviewers" in client.get(page).text
    client.post(address, {"strata": ["category", "bucket"]})
    assert client.get(api).json() == {"strata": ["bucket", "category"]}
    assert client.put(api, {"strata": ["effect"]}, content_type="application/json").json() == {"strata": ["effect"]}
    wrong = client.put(api, {"strata": ["colour"]}, content_type="application/json")
    assert wrong.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    with pytest.raises(InvalidDocument, match="no stratum 'colour'"):
        strata_show(dataset=dataset, actor=people["ben"], strata=["colour"])
    dataset.refresh_from_db()
    assert dataset.shown_strata == ["effect"]
    assert ROLES["ben"] == Role.OWNER
