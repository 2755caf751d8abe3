"""Registry versions from a server of the Model Context Protocol: by service, page and REST."""

from __future__ import annotations

import shlex
import socket
import sys
from typing import Any

import pytest

from tests.agents.mcp_shop import shop_over_http
from toolevals.agents.secret_binding import Origin
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry import mcp_servers
from toolevals.registry.mcp_servers import registry_fetch_begin
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.services import registry_create
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import AuditEntry, Job, JobState
from toolevals.workspace.secrets.services import secret_set

COMMAND = [sys.executable, "-m", "tests.agents.mcp_shop"]
PAGE = "/p/shop/registries/shop/mcp/"
REST = "/api/v1/projects/shop/registries/shop/versions/mcp/"


@pytest.fixture
def registry(project) -> Registry:
    return registry_create(project=project, actor=None, slug="shop", name="Shop")


@pytest.fixture
def loopback(settings):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]


def test_what_a_server_lists_becomes_a_version_once(registry, loopback, run_jobs):
    with shop_over_http() as url:
        jobs = [
            registry_fetch_begin(registry=registry, actor=None, options={"url": url}, note="from the shop")
            for _ in range(2)
        ]
        run_jobs()
    for job in jobs:
        job.refresh_from_db()
        assert (job.state, job.report["version"]) == (JobState.SUCCEEDED, 1)
    made = registry.versions.get()
    assert (made.number, made.note, made.losses) == (1, "from the shop", [])
    status, cancel, _ = tools_in(made.tools)
    assert (status.name, status.annotations.read_only, cancel.annotations.destructive) == ("status", True, True)


@pytest.mark.parametrize(
    ("options", "pointer", "words"),
    [
        ({"url": "https://x.example/", "secret": "none"}, "/secret", "no secret"),
        ({"command": ["rm", "-r", "/"]}, "/command", "not a command that the operator allows"),
        ({}, "/url", "is missing: give it, or a command"),
    ],
)
def test_what_may_not_be_asked_is_named(registry, options, pointer, words):
    with pytest.raises(InvalidDocument, match=words) as caught:
        registry_fetch_begin(registry=registry, actor=None, options=options)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
    assert not Job.objects.exists()


def test_an_address_that_may_not_be_called_fails_the_job_and_is_named(registry, run_jobs):
    job = registry_fetch_begin(registry=registry, actor=None, options={"url": "http://127.0.0.1:9/mcp"})
    run_jobs()
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert job.errors[0]["pointer"] == "/url"
    assert "private address" in job.errors[0]["message"]
    assert not RegistryVersion.objects.exists()


def test_a_command_runs_where_the_operator_allows_that_very_one(client, adjudicator, registry, settings, run_jobs):
    settings.MCP_COMMANDS = [shlex.join(COMMAND)]
    client.force_login(adjudicator)
    sent = client.post(PAGE, {"mcp-command": settings.MCP_COMMANDS[0], "mcp-note": "pipes"})
    run_jobs()
    assert registry.versions.get().note == "pipes"
    shown = client.get(sent["Location"]).content.decode()
    assert 'href="/p/shop/registries/shop/1/"' in shown
    assert "Open the result" in shown
    refused = client.post(PAGE, {"mcp-command": shlex.join([*COMMAND, "--more"])})
    assert refused.status_code == 422


def test_the_page_asks_an_address_and_its_job_names_what_is_wrong(client, adjudicator, registry, loopback, run_jobs):
    client.force_login(adjudicator)
    shown = client.get("/p/shop/registries/shop/").content.decode()
    assert "Ask an MCP server" in shown
    assert "mcp-command" not in shown
    with shop_over_http() as url:
        client.post(PAGE, {"mcp-url": url})
        run_jobs()
    assert registry.versions.get().number == 1
    gone = client.post(PAGE, {"mcp-url": url})
    assert "Open the result" not in client.get(gone["Location"]).content.decode()
    run_jobs()
    assert "The MCP server cannot be used" in client.get(gone["Location"]).content.decode()
    assert client.post(PAGE, {}).status_code == 422


def test_a_job_gives_up_a_server_that_hangs(registry, loopback, monkeypatch, run_jobs):
    monkeypatch.setattr(mcp_servers, "MOST_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}/mcp"
        job = registry_fetch_begin(registry=registry, actor=None, options={"url": url})
        run_jobs()
    job.refresh_from_db()
    assert "The MCP server cannot be used: it did not answer in time" in job.errors[0]["message"]


def test_a_secret_is_sent_to_no_server_that_its_owner_has_not_named(client, adjudicator, project, registry, loopback):
    said = {"project": project, "actor": None, "name": "mcp-key"}
    secret_set(**said, value="key-0815", addresses=["https://mcp.example.org"])
    client.force_login(adjudicator)
    with shop_over_http() as url:
        refused = client.post(PAGE, {"mcp-url": url, "mcp-secret": "mcp-key"})
        assert refused.status_code == 422
        assert "may not be sent to http://127.0.0.1" in refused.content.decode()
        assert AuditEntry.objects.filter(project=project, verb="secret_refuse").count() == 1
        secret_set(**said, value="key-0815", addresses=[str(Origin.of(url))])
        assert client.post(PAGE, {"mcp-url": url, "mcp-secret": "mcp-key"}).status_code == 302


def test_rest_answers_a_job_that_names_the_version(client, adjudicator, registry, loopback, run_jobs):
    client.force_login(adjudicator)

    def post(**body: Any) -> Any:
        return client.post(REST, body, content_type="application/json")

    with shop_over_http() as url:
        begun = post(url=url, note="by REST")
        assert (begun.status_code, begun.json()["state"]) == (202, "running")
        run_jobs()
    job = client.get(f"/api/v1/projects/shop/jobs/{begun.json()['id']}/").json()
    assert (job["state"], job["report"]) == ("succeeded", {"registry": "shop", "version": 1, "name": "shop@1"})
    assert job["result_path"] == "/p/shop/registries/shop/1/"
    wrong = post(command=["sh"])
    assert (wrong.status_code, wrong.json()["problems"][0]["pointer"]) == (422, "/command")
