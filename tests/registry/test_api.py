from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.labeling.rows import SHOP_TOOLS
from toolevals.registry.large_documents import LARGE
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.files import job_files_forget
from toolevals.workspace.models import Job

API = "/api/v1/projects/shop/registries/"


@pytest.fixture
def send(client, adjudicator):
    """Return a function that asks as an adjudicator and returns the answer's JSON."""
    client.force_login(adjudicator)

    def do(method, path="", body=None, status=200, **headers):
        text = "" if body is None else json.dumps(body)
        response = client.generic(method, API + path, text, content_type="application/json", headers=headers)
        assert response.status_code == status, response.content
        return response.json()

    return do


def test_registry_is_made_published_and_read(send):
    made = send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    assert (made["slug"], made["newest_number"]) == ("shop", None)
    version = send("POST", "shop/versions/", {"document": SHOP_TOOLS, "note": "first"}, 201)
    assert (version["name"], version["size"], version["losses"]) == ("shop@1", 2, [])
    assert send("POST", "shop/versions/", {"document": {"tools": SHOP_TOOLS}}, 201) == version
    assert [each["newest_number"] for each in send("GET")["results"]] == [1]
    assert send("GET", "shop/")["newest_size"] == 2
    assert send("GET", "shop/versions/")["results"] == [version]
    assert send("GET", "shop/versions/1/")["tools"] == SHOP_TOOLS


MCP = {"name": "find", "title": "Find", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
OPENAPI = {"openapi": "3.1.0", "paths": {"/orders/{id}": {"delete": {"callbacks": {}}}}}


@pytest.mark.parametrize(
    ("document", "format_name", "name", "losses"),
    [
        ({"tools": [MCP]}, "mcp", "find", []),
        ({"functionDeclarations": [{"name": "find"}]}, "gemini", "find", []),
        ([{"name": "find", "input_schema": {"type": "object"}, "strict": True}], "anthropic", "find", []),
        (OPENAPI, "openapi", "delete_orders_id", ["/paths/~1orders~1{id}/delete/callbacks"]),
    ],
)
@pytest.mark.parametrize("said", [True, False])
def test_every_format_is_published(send, document, format_name, name, losses, said):
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    version = send("POST", "shop/versions/", {"document": document, "format": format_name if said else "auto"}, 201)
    assert [loss["pointer"] for loss in version["losses"]] == losses
    assert [tool["name"] for tool in send("GET", "shop/versions/1/")["tools"]] == [name]


def test_formats_are_asserted_unless_that_is_said(send):
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    properties = {"day": {"format": "date"}, "call": {"format": "phone"}}
    tool = {"name": "book", "description": "", "input_schema": {"type": "object", "properties": properties}}
    send("POST", "shop/versions/", {"document": [tool]}, 201)
    version = send("GET", "shop/versions/1/")
    assert version["tools"] == [{**tool, "assert_formats": True}]
    assert version["unchecked_formats"] == ["Nothing checks the format phone of book."]
    send("POST", "shop/versions/", {"document": [tool], "assert_formats": False}, 201)
    version = send("GET", "shop/versions/2/")
    assert (version["tools"], version["unchecked_formats"]) == ([tool], [])


def test_bad_tools_are_a_problem_with_pointers(send):
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    problem = send("POST", "shop/versions/", {"document": [{"description": "nameless"}]}, 422)
    assert problem["problems"][0]["pointer"].startswith("/0")
    assert send("POST", "shop/versions/", {}, 422)["problems"][0]["pointer"] == "/document"
    assert send("POST", body={"slug": "shop", "name": "Again"}, status=422)["problems"]


def test_unknown_registry_and_version_are_not_found(send):
    send("GET", "nowhere/", status=404)
    send("POST", "nowhere/versions/", {"document": SHOP_TOOLS}, 404)
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    send("GET", "shop/versions/1/", status=404)


PATHS = {
    f"/{name}": {"get": {"operationId": name, "tags": [name[0]], "deprecated": True}} for name in ("a1", "a2", "b1")
}


def test_a_preview_names_what_would_be_read_and_lost_and_stores_nothing(send):
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    document = {"openapi": "3.1.0", "paths": PATHS | {"/bad": {"get": {"operationId": "bad", "parameters": 3}}}}
    shown = send("POST", "shop/versions/preview/", {"document": document})
    assert (shown["format"], shown["because"]) == ("openapi", "openapi is '3.1.0'")
    assert [(tool["name"], tool["tags"], bool(tool["problem"])) for tool in shown["tools"]] == [
        ("a1", ["a"], False),
        ("a2", ["a"], False),
        ("b1", ["b"], False),
        ("", [], True),
    ]
    assert [(each["key"], each["count"]) for each in shown["losses"]] == [("deprecated", 3)]
    assert send("GET", "shop/versions/")["results"] == []
    version = send("POST", "shop/versions/", {"document": document, "choice": {"tags": ["a"]}}, 201)
    assert (version["size"], len(version["losses"])) == (2, 2)
    refused: list[object] = [
        {"document": document},
        {"document": document, "choice": {"tags": ["z"]}},
        {"document": []},
    ]
    for said in refused:
        send("POST", "shop/versions/", said, 422)


def test_a_file_of_yaml_is_published_with_a_choice(send, client):
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    file = SimpleUploadedFile("api.yaml", f"openapi: 3.0.0\npaths: {json.dumps(PATHS)}".encode())
    response = client.post(f"{API}shop/versions/", {"file": file, "choice.tags": ["b"], "choice.search": ""})
    assert (response.status_code, response.json().get("size")) == (201, 1)
    assert client.post(f"{API}shop/versions/preview/", {"note": "no file"}).status_code == 422


LARGE_API = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        f"/things/{number}": {"get": {"operationId": f"get_{number}", "callbacks": {}, "description": "Reads. " * 120}}
        for number in range(300)
    },
}


def test_a_large_document_is_previewed_by_a_job(send, run_jobs):
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    send("POST", body={"slug": "other", "name": "Other"}, status=201)
    assert len(json.dumps(LARGE_API)) > LARGE
    body = {"document": LARGE_API, "choice": {"paths": ["/things/7"]}}
    job = send("POST", "shop/versions/preview/", body, 202)
    place = f"versions/preview/{job['id']}/"
    assert send("GET", f"shop/{place}", status=202)["id"] == job["id"]
    run_jobs()
    read = send("GET", f"shop/{place}")
    assert [each["name"] for each in read["tools"]] == ["get_7"]
    assert [(each["key"], each["count"]) for each in read["losses"]] == [("callbacks", 1)]
    send("GET", f"other/{place}", status=404)
    assert send("GET", "shop/versions/")["results"] == []
    Job.objects.update(finished_at=database_now() - timedelta(days=2))
    job_files_forget(database_now())
    assert "has expired" in send("GET", f"shop/{place}", status=404)["detail"]


def test_a_large_document_is_published_by_a_job_as_a_small_one_is(send, run_jobs, client):
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    body = {"document": LARGE_API, "note": "first", "choice": {"search": "get_1"}}
    job = send("POST", "shop/versions/", body, 202, **{"Idempotency-Key": "k"})
    assert send("POST", "shop/versions/", body, 202, **{"Idempotency-Key": "k"})["id"] == job["id"]
    run_jobs()
    version = send("GET", "shop/versions/1/")
    chosen = [f"get_{number}" for number in range(300) if str(number).startswith("1")]
    assert [each["name"] for each in version["tools"]] == chosen
    assert (version["note"], len(version["losses"])) == ("first", len(chosen))
    done = client.get(f"/api/v1/projects/shop/jobs/{job['id']}/").json()
    assert (done["state"], done["report"]["name"]) == ("succeeded", "shop@1")
    file = SimpleUploadedFile("things.json", json.dumps(LARGE_API).encode())
    again = client.post(f"{API}shop/versions/", {"file": file, "choice": ""})
    assert again.status_code == 202
    run_jobs()
    assert send("GET", "shop/versions/2/")["size"] == 300


def test_what_cannot_be_read_of_a_large_document_is_said_by_its_job(send, run_jobs, client):
    send("POST", body={"slug": "shop", "name": "Shop"}, status=201)
    bad = {"openapi": "3.1.0", "paths": 7, "info": "x" * LARGE}
    jobs = [send("POST", f"shop/versions/{place}", {"document": bad}, 202)["id"] for place in ("", "preview/")]
    run_jobs()
    for job in jobs:
        done = client.get(f"/api/v1/projects/shop/jobs/{job}/").json()
        assert (done["state"], "/paths" in json.dumps(done)) == ("failed", True)
    assert "failed" in send("GET", f"shop/versions/preview/{jobs[1]}/", status=404)["detail"]
    assert send("GET", "shop/versions/")["results"] == []
