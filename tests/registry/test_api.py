from __future__ import annotations

import json

import pytest

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
