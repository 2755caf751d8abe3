"""Simulators that are servers of the Model Context Protocol, behind the tools of a run."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from tests.agents.chat_server import calls, chat_server, says
from tests.agents.mcp_shop import shop_over_http
from tests.runs.building import cases_of, example, uploaded_run, version_of
from tests.runs.live import last, live_run
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Simulator, Transcript
from toolevals.runs.simulators.services import simulator_choose, simulator_ensure
from toolevals.workspace.models import JobState

pytestmark = pytest.mark.django_db(transaction=True)
COMMAND = [sys.executable, "-m", "tests.agents.mcp_shop"]


@pytest.fixture(autouse=True)
def loopback(settings):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    settings.MCP_COMMANDS = [shlex.join(COMMAND)]


def agent(body):
    """Cancel, look, and read out what comes back."""
    message = last(body)
    if message["role"] == "user":
        return calls(*((tool, json.dumps({"order_id": "A-1"})) for tool in ("cancel", "status")))
    return says(f"It is {message['content']}.")


@pytest.mark.parametrize("way", ["pipes", "http"])
def test_a_server_answers_the_calls_of_a_run(project, run_jobs, way):
    version = version_of(project, [example("cancel", "Cancel A-1", None)])
    with shop_over_http() as url, chat_server(agent) as server:
        content = {"command": COMMAND} if way == "pipes" else {"url": url}
        simulator = simulator_ensure(project=project, actor=None, name="Shop", kind="mcp", content=content)
        assert simulator.tools == ["status", "cancel", "crash"]
        simulator_choose(dataset=version.dataset, actor=None, simulator=simulator)
        run = live_run(project, version, server)
        run_jobs()
    transcript = Transcript.objects.get(run=run)
    assert transcript.document["answer"] == "It is cancelled."
    assert [message["role"] for message in transcript.document["messages"]] == [
        *("assistant", "tool", "tool", "assistant")
    ]


def test_a_command_that_is_no_longer_allowed_fails_the_run_and_says_so(project, run_jobs, settings):
    version = version_of(project, [example("cancel", "Cancel A-1", None)])
    simulator = simulator_ensure(project=project, actor=None, name="Shop", kind="mcp", content={"command": COMMAND})
    simulator_choose(dataset=version.dataset, actor=None, simulator=simulator)
    settings.MCP_COMMANDS = []
    with chat_server(agent) as server:
        run = live_run(project, version, server)
        run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    assert "not a command that the operator allows" in run.job.failures().first().error


def test_grading_makes_no_call_of_a_server_which_tells_no_state(project, run_jobs, monkeypatch):
    version = version_of(project, [example("cancel", "Cancel A-1", "cancel")])
    simulator = simulator_ensure(project=project, actor=None, name="Shop", kind="mcp", content={"command": COMMAND})
    simulator_choose(dataset=version.dataset, actor=None, simulator=simulator)
    monkeypatch.setattr("toolevals.agents.mcp_client.McpSession.call", None)
    row = {"id": "cancel", "tool_calls": [{"name": "cancel", "arguments": {"order_id": "ORD-1"}}]}
    run = uploaded_run(project, version, [row])
    run_jobs()
    run.refresh_from_db()
    case = cases_of(run.grading)["cancel", 0]
    assert (case.outcome, case.execution) == ("passed", "unscored")


def test_the_page_adds_a_server_and_its_job_names_what_is_wrong(client, owner, project, settings, run_jobs):
    client.force_login(owner)
    address = f"/p/{project.slug}/simulators/new/"
    sent = {"kind": "mcp", "mcp-name": "Shop", "mcp-timeout": "60", "mcp-command": settings.MCP_COMMANDS[0]}
    assert client.post(address, sent).status_code == 302
    run_jobs()
    made = Simulator.objects.get()
    assert (made.kind, made.content) == ("mcp", {"command": COMMAND, "timeout": 60.0})
    refused = client.post(address, sent | {"mcp-command": "", "mcp-url": "http://127.0.0.1:9/mcp", "mcp-name": "Other"})
    run_jobs()
    refused = client.get(refused["Location"])
    assert "The MCP server cannot be used" in refused.content.decode()


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ({}, "/content/url"),
        ({"url": "ftp://x"}, "/content/url"),
        ({"url": "http://127.0.0.1:9/mcp"}, "/content/url"),
        ({"command": ["sh"]}, "/content/command"),
        ({"url": "https://x.example/", "secret": "none"}, "/content/secret"),
    ],
)
def test_what_is_wrong_with_a_server_is_named(project, content, pointer):
    with pytest.raises(InvalidDocument) as caught:
        simulator_ensure(project=project, actor=None, name="Shop", kind="mcp", content=content)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
    assert not Simulator.objects.exists()
