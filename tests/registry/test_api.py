from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.labeling.rows import SHOP_TOOLS

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
