"""Registry versions from a server of the Model Context Protocol: by service, page and REST."""

from __future__ import annotations

import shlex
import socket
import sys
from typing import Any

import pytest

from tests.agents.mcp_shop import shop_over_http
from toolevals.grading.problems import InvalidDocument
from toolevals.registry import mcp_servers
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.services import registry_create, registry_fetch
from toolevals.registry.tool_lists import tools_in

COMMAND = [sys.executable, "-m", "tests.agents.mcp_shop"]
PAGE = "/p/shop/registries/shop/mcp/"
REST = "/api/v1/projects/shop/registries/shop/versions/mcp/"


@pytest.fixture
def registry(project) -> Registry:
    return registry_create(project=project, actor=None, slug="shop", name="Shop")


@pytest.fixture
def loopback(settings):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]


def test_what_a_server_lists_becomes_a_version_once(registry, loopback):
    with shop_over_http() as url:
        made, again = (
            registry_fetch(registry=registry, actor=None, options={"url": url}, note="from the shop") for _ in range(2)
        )
    assert made == again
    assert (made.number, made.note, made.losses) == (1, "from the shop", [])
    status, cancel, _ = tools_in(made.tools)
    assert (status.name, status.annotations.read_only, cancel.annotations.destructive) == ("status", True, True)


@pytest.mark.parametrize(
    ("options", "pointer", "words"),
    [
        ({"url": "http://127.0.0.1:9/mcp"}, "/url", "private address"),
        ({"url": "https://x.example/", "secret": "none"}, "/secret", "no secret"),
        ({"command": ["rm", "-r", "/"]}, "/command", "not a command that the operator allows"),
        ({}, "/url", "must be said"),
    ],
)
def test_what_may_not_be_asked_is_named(registry, options, pointer, words):
    with pytest.raises(InvalidDocument, match=words) as caught:
        registry_fetch(registry=registry, actor=None, options=options)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
    assert not RegistryVersion.objects.exists()


def test_a_command_runs_where_the_operator_allows_that_very_one(client, adjudicator, registry, settings):
    settings.MCP_COMMANDS = [shlex.join(COMMAND)]
    client.force_login(adjudicator)
    sent = client.post(PAGE, {"mcp-command": settings.MCP_COMMANDS[0], "mcp-note": "pipes"})
    assert sent["Location"] == "/p/shop/registries/shop/1/"
    assert registry.versions.get().note == "pipes"
    refused = client.post(PAGE, {"mcp-command": shlex.join([*COMMAND, "--more"])})
    assert refused.status_code == 422


def test_the_page_asks_an_address_and_names_what_is_wrong_beside_it(client, adjudicator, registry, loopback):
    client.force_login(adjudicator)
    shown = client.get("/p/shop/registries/shop/").content.decode()
    assert "Ask an MCP server" in shown
    assert "mcp-command" not in shown
    with shop_over_http() as url:
        assert client.post(PAGE, {"mcp-url": url})["Location"] == "/p/shop/registries/shop/1/"
    gone = client.post(PAGE, {"mcp-url": url})
    assert gone.status_code == 422
    assert "The MCP server cannot be used" in gone.content.decode()
    assert client.post(PAGE, {}).status_code == 422


def test_a_request_does_not_wait_for_a_server_that_hangs(client, adjudicator, registry, loopback, monkeypatch):
    monkeypatch.setattr(mcp_servers, "MOST_SECONDS", 0.5)
    client.force_login(adjudicator)
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}/mcp"
        answer = client.post(PAGE, {"mcp-url": url})
    assert answer.status_code == 422
    assert "The MCP server cannot be used: it did not answer in time" in answer.content.decode()


def test_rest_publishes_and_names_what_is_wrong(client, adjudicator, registry, loopback):
    client.force_login(adjudicator)

    def post(**body: Any) -> Any:
        return client.post(REST, body, content_type="application/json")

    with shop_over_http() as url:
        made = post(url=url, note="by REST")
    assert (made.status_code, made.json()["name"], made.json()["size"]) == (201, "shop@1", 3)
    wrong = post(command=["sh"])
    assert (wrong.status_code, wrong.json()["problems"][0]["pointer"]) == (422, "/command")
