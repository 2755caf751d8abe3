"""The workspace in the REST interface."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import ApiToken, AuditEntry, Membership, Project, Role
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.tokens.services import token_create, token_revoke

PROBLEM = "application/problem+json"
ROOT = "/api/v1/"
SHOP = f"{ROOT}projects/shop/"


@pytest.fixture
def bearer(project, owner):
    """Return a function that makes the header of an owner's token."""

    def make(role: Role = Role.OWNER, user=owner, **fields) -> dict[str, str]:
        _, secret = token_create(project=project, actor=user, user=user, name="ci", role=role, **fields)
        return {"HTTP_AUTHORIZATION": f"Bearer {secret}"}

    return make


def send(client: Client, method: str, path: str, body: object = None, **extra):
    data = "" if body is None else json.dumps(body)
    return client.generic(method, path, data, content_type="application/json", **extra)


def test_the_index_leads_on(client, bearer):
    index = client.get(ROOT, **bearer()).json()
    assert index["version"] == "1"
    for name in ("me", "projects", "openapi"):
        assert client.get(index[name], **bearer()).status_code == 200


def test_me_with_a_token_and_with_a_session(client, bearer, owner):
    me = client.get(f"{ROOT}me/", **bearer(Role.VIEWER)).json()
    assert me == {
        "user": {"id": str(owner.pk), "name": "Owner", "email": owner.email},
        "project": "shop",
        "role": "viewer",
    }
    client.force_login(owner)
    assert client.get(f"{ROOT}me/").json()["project"] is None


def test_a_token_sees_its_project_only(client, bearer, owner):
    project_create(actor=owner, slug="other", name="Other")
    header = bearer()
    slugs = [project["slug"] for project in client.get(f"{ROOT}projects/", **header).json()["results"]]
    assert slugs == ["shop"]
    assert client.get(SHOP, **header).json()["name"] == "Shop support"
    assert client.get(f"{ROOT}projects/other/", **header).status_code == 404
    client.force_login(owner)
    assert len(client.get(f"{ROOT}projects/").json()["results"]) == 2


def test_a_signed_in_person_makes_a_project_and_owns_it(client, outsider, settings):
    settings.WHO_MAKES_PROJECTS = "everyone"
    client.force_login(outsider)
    response = send(client, "POST", f"{ROOT}projects/", {"slug": "desk", "name": " Help desk "})
    assert response.status_code == 201
    made = Project.objects.get(slug="desk")
    assert (response.json()["id"], made.name) == (str(made.pk), "Help desk")
    assert client.get(f"{ROOT}projects/desk/").json() == response.json()
    assert list(made.memberships.values_list("user", "role")) == [(outsider.pk, Role.OWNER)]
    assert AuditEntry.objects.get(project=made).verb == "project_create"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"slug": "shop", "name": "Again"}, "/slug"),
        ({"slug": "two words", "name": "Desk"}, "/slug"),
        ({"slug": "desk", "name": " "}, "/name"),
        ({"slug": "desk"}, "/name"),
        ({"slug": "desk", "name": "x" * 121}, "/name"),
    ],
)
def test_a_project_that_cannot_be_made_is_422_and_says_where(client, project, owner, body, pointer):
    client.force_login(owner)
    response = send(client, "POST", f"{ROOT}projects/", body)
    assert (response.status_code, response["Content-Type"]) == (422, PROBLEM)
    assert [each["pointer"] for each in response.json()["problems"]] == [pointer]
    assert Project.objects.count() == 1


@pytest.mark.parametrize(
    ("token_role", "member_role", "status"),
    [(Role.OWNER, Role.OWNER, 201), (Role.ADJUDICATOR, Role.OWNER, 403), (Role.OWNER, Role.VIEWER, 403)],
)
def test_a_token_makes_projects_only_as_an_owner(client, bearer, owner, token_role, member_role, status):
    header = bearer(token_role)
    Membership.objects.filter(user=owner).update(role=member_role)
    response = send(client, "POST", f"{ROOT}projects/", {"slug": "desk", "name": "Help desk"}, **header)
    assert response.status_code == status
    assert Project.objects.filter(slug="desk").exists() == (status == 201)
    assert client.get(f"{ROOT}projects/desk/", **header).status_code == 404


def test_the_token_of_a_former_member_makes_no_project(client, bearer, owner):
    header = bearer()
    Membership.objects.filter(user=owner).delete()
    response = send(client, "POST", f"{ROOT}projects/", {"slug": "desk", "name": "Help desk"}, **header)
    assert response.status_code == 403


@pytest.mark.parametrize(
    ("token_role", "member_role", "status"),
    [(Role.OWNER, Role.OWNER, 200), (Role.ADJUDICATOR, Role.OWNER, 403), (Role.OWNER, Role.ADJUDICATOR, 403)],
)
def test_a_token_can_do_no_more_than_its_role_and_no_more_than_its_person(
    client, bearer, owner, token_role, member_role, status
):
    header = bearer(token_role)
    Membership.objects.filter(user=owner).update(role=member_role)
    assert client.get(f"{SHOP}audit/", **header).status_code == status


@pytest.mark.parametrize("header", ["Bearer te_nonsense", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "te_x"])
def test_an_unknown_token_is_401_even_with_a_session(client, owner, header):
    client.force_login(owner)
    response = client.get(SHOP, HTTP_AUTHORIZATION=header)
    assert (response.status_code, response["Content-Type"]) == (401, PROBLEM)
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_token_that_is_over_is_unknown(client, bearer, owner):
    expired = bearer(expires_at=database_now() - timedelta(seconds=1))
    revoked = bearer()
    token_revoke(token=ApiToken.objects.latest("pk"), actor=owner)
    alive = bearer()
    assert [client.get(SHOP, **header).status_code for header in (expired, revoked, alive)] == [401, 401, 200]
    owner.is_active = False
    owner.save()
    assert client.get(SHOP, **alive).status_code == 401


def test_the_token_of_a_former_member_opens_nothing(client, bearer, owner):
    header = bearer()
    Membership.objects.filter(user=owner).delete()
    assert client.get(SHOP, **header).status_code == 404


def test_a_samples_token_works_on_this_machine_only(client, bearer, owner):
    header = bearer() | {"HTTP_HOST": "localhost"}
    type(owner).objects.update(is_sample=True)
    assert client.get(SHOP, **header).status_code == 200
    assert client.get(SHOP, REMOTE_ADDR="192.0.2.7", **header).status_code == 401


def test_a_tokens_use_is_noted_once_a_minute(client, bearer):
    header = bearer()
    client.get(SHOP, **header)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    client.get(SHOP, **header)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    client.get(SHOP, **header)
    assert ApiToken.objects.filter(last_used_at__gte=first).exists()


def test_pages_do_not_take_tokens(client, bearer):
    assert client.get("/p/shop/", **bearer()).status_code == 302


def test_a_session_needs_a_csrf_token_to_write_and_a_bearer_does_not(bearer, owner, job_of):
    client = Client(enforce_csrf_checks=True)
    job = f"{SHOP}jobs/{job_of([{}]).pk}/"
    client.force_login(owner)
    refused = client.delete(job)
    assert (refused.status_code, refused["Content-Type"]) == (403, PROBLEM)
    # The session comes along, and does not matter beside the token.
    assert client.delete(job, **bearer()).json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("path", "status"), [("nothing/", 404), ("projects/none/", 404), ("projects/shop/jobs/nothing/", 404)]
)
def test_errors_are_problems(client, bearer, path, status):
    response = client.get(f"{ROOT}{path}", **bearer())
    assert (response.status_code, response["Content-Type"]) == (status, PROBLEM)
    assert response.json() == {"type": "about:blank", "title": "Not Found", "status": 404}


def test_a_wrong_method_malformed_json_and_a_wrong_type_are_problems(client, bearer):
    header = bearer()
    responses = [
        client.patch(SHOP, **header),
        client.post(f"{SHOP}tokens/", "{", content_type="application/json", **header),
        client.post(f"{SHOP}tokens/", "a,b", content_type="text/csv", **header),
    ]
    assert [response.status_code for response in responses] == [405, 400, 415]
    assert {response["Content-Type"] for response in responses} == {PROBLEM}
    assert all(response.json()["detail"] for response in responses)


def test_what_is_wrong_is_pointed_at(client, bearer):
    response = send(client, "POST", f"{SHOP}tokens/", {"role": "king"}, **bearer())
    assert response.status_code == 422
    assert response.json()["problems"] == [
        {"pointer": "/name", "message": "This field is required."},
        {"pointer": "/role", "message": "A role is one of viewer, reviewer, adjudicator, owner."},
    ]


def test_members_are_changed_and_removed_and_none_is_put_in_without_asking(client, bearer, viewer):
    header = bearer()
    url = f"{SHOP}members/{Membership.objects.get(user=viewer).pk}/"
    assert send(client, "PUT", url, {"role": "reviewer"}, **header).json()["role"] == "reviewer"
    assert client.get(url, **header).json()["role"] == "reviewer"
    assert client.delete(url, **header).status_code == 204
    assert client.get(url, **header).status_code == 404
    added = send(client, "POST", f"{SHOP}members/", {"email": viewer.email, "role": "viewer"}, **header)
    assert added.status_code == 405
    assert not Membership.objects.filter(user=viewer).exists()


def test_the_last_owner_stays(client, bearer, owner):
    header, mine = bearer(), Membership.objects.get(user=owner)
    url = f"{SHOP}members/{mine.pk}/"
    for response in (client.delete(url, **header), send(client, "PUT", url, {"role": "viewer"}, **header)):
        assert (response.status_code, response.json()["detail"][:27]) == (409, "Owner is the last owner. Ma")


def test_a_job_is_a_resource(client, bearer, job_of, run_jobs):
    header = bearer()
    job = job_of([{}, {"refuse": "no"}], size=5)
    url = f"{SHOP}jobs/{job.pk}/"
    assert client.get(url, **header).json()["state"] == "running"
    run_jobs()
    ended = client.get(url, **header).json()
    assert (ended["state"], ended["done"], ended["total"], ended["report"]["worked"]) == ("failed", 5, 10, 1)
    assert client.delete(url, **header).status_code == 409
    assert client.post(f"{url}retry/", **header).json()["state"] == "running"
    assert client.post(f"{url}retry/", **header).status_code == 409
    assert client.post(f"{url}pause/", **header).json()["state"] == "paused"
    assert client.post(f"{url}pause/", **header).status_code == 409
    assert client.post(f"{url}resume/", **header).json()["state"] == "running"
    assert client.delete(url, **header).json()["state"] == "cancelled"


@pytest.mark.parametrize("resource", ["members", "tokens", "jobs", "audit"])
def test_lists_come_in_pages_and_in_a_fixed_number_of_queries(
    client, bearer, project, owner, job_of, resource, django_assert_max_num_queries
):
    header = bearer()
    for _ in range(12):
        job_of([{}])
        token_create(project=project, actor=owner, user=owner, name="ci", role=Role.VIEWER)
    url, seen = f"{SHOP}{resource}/?limit=5", []
    while url:
        with django_assert_max_num_queries(5):
            page = client.get(url, **header).json()
        seen += [row["id"] for row in page["results"]]
        url = page["next"]
    assert seen == sorted(seen, reverse=True)
    assert (
        len(seen)
        == len(set(seen))
        == {"members": 1, "tokens": 13, "jobs": 12}.get(resource, AuditEntry.objects.filter(project=project).count())
    )


def test_the_openapi_document_is_valid_and_without_warnings(client, db):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null")
    document = client.get(f"{ROOT}openapi.json").json()
    assert document["openapi"].startswith("3.1")
    operation = document["paths"]["/api/v1/projects/{project}/jobs/{job}/"]["get"]
    assert operation["security"] == [{"token": []}, {"session": []}]
    errors = {status: said["$ref"] for status, said in operation["responses"].items() if status >= "400"}
    assert set(errors) == {"400", "401", "403", "404", "406", "500", "503"}
    assert errors["404"] == "#/components/responses/NotFound"
    assert all(PROBLEM in each["content"] for each in document["components"]["responses"].values())
    upload = document["paths"]["/api/v1/projects/{project}/runs/predictions/"]["post"]
    assert {"dataset", "experiment", "name"} < {each["name"] for each in upload["parameters"] if each["in"] == "query"}
    assert "requestBody" in document["paths"]["/api/v1/projects/{project}/datasets/{dataset}/assignments/"]["delete"]
    assert document["components"]["schemas"]["NewImport"]["properties"]["file"]["format"] == "binary"
