"""People of the installation, a project's whole export and one's mentions in the REST interface."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.urls import reverse

from labeling.imports.services import examples_import
from labeling.questions.services import comment_add
from tests.fixtures.jobs import jobs_run
from tests.labeling.conftest import *  # noqa: F403
from tests.labeling.rows import row
from toolevals.workspace.models import Membership, Mention, Role, User
from toolevals.workspace.tokens.services import token_create

PEOPLE = "/api/v1/people/"
SHOP = "/api/v1/projects/shop/"


@pytest.fixture
def by_token(client, project) -> Any:
    """Return a function that asks by a person's token, and returns the status and the body."""

    def ask(user: User, method: str, path: str, role: Role = Role.OWNER, **body: Any) -> tuple[int, Any]:
        _, secret = token_create(project=project, actor=None, user=user, name="ci", role=role)
        header = {"Authorization": f"Bearer {secret}"}
        answer = client.generic(method, path, json.dumps(body) if body else "", "application/json", headers=header)
        return answer.status_code, answer.json() if answer["Content-Type"].endswith("json") else answer

    return ask


def test_owners_of_the_installation_manage_people_by_an_owners_token_alone(project, owner, reviewer, by_token):
    assert by_token(owner, "GET", PEOPLE, role=Role.ADJUDICATOR)[0] == 403
    Membership.objects.filter(user=reviewer).update(role=Role.OWNER)
    assert by_token(reviewer, "GET", PEOPLE)[0] == 403
    Membership.objects.filter(user=reviewer).update(role=Role.REVIEWER)
    assert {each["name"] for each in by_token(owner, "GET", PEOPLE)[1]["results"]} == {owner.name, reviewer.name}
    theirs = f"{PEOPLE}{reviewer.pk}/"
    assert by_token(owner, "GET", theirs)[1]["memberships"] == [{"project": "shop", "role": "reviewer"}]
    for act, state in (("deactivate", "deactivated"), ("deactivate", "deactivated"), ("reactivate", "active")):
        assert by_token(owner, "POST", f"{theirs}{act}/")[1]["state"] == state
    for wrong, pointer in (
        ({"email": "x", "has_export": True}, "/email"),
        ({"email": reviewer.email, "has_export": False}, "/has_export"),
        ({"email": reviewer.email, "has_export": True, "heir": str(reviewer.pk)}, "/heir"),
    ):
        status, answer = by_token(owner, "POST", f"{theirs}delete/", **wrong)
        assert (status, answer["problems"][0]["pointer"]) == (422, pointer)
    status, answer = by_token(owner, "POST", f"{theirs}delete/", email=reviewer.email, has_export=True)
    assert (status, answer["name"], answer["state"]) == (200, "Former member 1", "deleted")
    assert by_token(owner, "POST", f"{theirs}reactivate/")[0] == 409


def test_the_projects_of_a_deleted_person_go_to_the_named_heir(project, owner, reviewer, by_token):
    User.objects.filter(pk=reviewer.pk).update(is_installation_owner=True)
    Membership.objects.filter(user=owner).update(role=Role.ADJUDICATOR)
    Membership.objects.filter(user=reviewer).update(role=Role.OWNER)
    theirs, said = f"{PEOPLE}{reviewer.pk}/", {"email": reviewer.email, "has_export": True}
    status, answer = by_token(reviewer, "POST", f"{theirs}delete/", **said)
    assert (status, "last owner of Shop support" in answer["detail"]) == (409, True)
    assert by_token(reviewer, "GET", theirs)[1]["owned_alone"] == ["shop"]
    assert by_token(reviewer, "POST", f"{theirs}delete/", **said, heir=str(owner.pk))[1]["owned_alone"] == []
    assert project.memberships.get(user=owner).role == Role.OWNER


def test_a_project_is_exported_whole_by_rest_once_nothing_is_blind(project, owner, dataset, by_token):
    assert by_token(owner, "POST", f"{SHOP}export/", role=Role.ADJUDICATOR)[0] == 403
    examples_import(dataset=dataset, actor=None, rows=[row("open")])
    status, answer = by_token(owner, "POST", f"{SHOP}export/")
    assert (status, "decided" in answer["detail"]) == (409, True)
    dataset.examples.all().delete()
    status, job = by_token(owner, "POST", f"{SHOP}export/")
    assert status == 202
    at = f"{SHOP}export/{job['id']}/"
    assert by_token(owner, "GET", at)[0] == 410
    jobs_run()
    status, answer = by_token(owner, "GET", at)
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as opened:
        assert owner.email in opened.read("people.jsonl").decode()


def test_a_person_reads_their_mentions_and_no_one_elses(examples, owner, reviewer, adjudicator, viewer, by_token):
    said = f"@{adjudicator.name} and @{viewer.name}"
    comment_add(revision=examples[0], asker=reviewer, actor=reviewer, text=said)
    assert by_token(owner, "GET", f"{SHOP}mentions/")[1]["results"] == []
    # It is not decided: a viewer may not read it, and an adjudicator not who wrote it.
    assert by_token(viewer, "GET", f"{SHOP}mentions/")[1]["results"] == []
    assert by_token(adjudicator, "GET", f"{SHOP}mentions/", role=Role.VIEWER)[1]["results"] == []
    [found] = by_token(adjudicator, "GET", f"{SHOP}mentions/")[1]["results"]
    assert found["path"] == reverse("labeling:thread", args=["shop", examples[0].pk])
    assert (found["actor"], found["read_at"]) == (None, None)
    read = f"{SHOP}mentions/{found['id']}/read/"
    assert by_token(viewer, "POST", read)[0] == 404
    assert by_token(adjudicator, "POST", read)[1]["read_at"] is not None
    hidden = Mention.objects.get(person=viewer)
    assert by_token(viewer, "POST", f"{SHOP}mentions/{hidden.pk}/read/")[0] == 404
