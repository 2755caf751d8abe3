"""`toolevals mcp` and `toolevals skill`: a client of the protocol asks a server over pipes; a checkout gets a skill."""

from __future__ import annotations

import json
import os
import sys
from operator import eq
from typing import Any

import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.served import imported, server  # noqa: F401 - fixtures
from tests.fixtures.event_loops import run_apart
from tests.mcp_server.judged import FOLDER, NO_CALL, expected_tool, lines
from toolevals.cli import main as command
from toolevals.cli.output import Exit


def answers_to(calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Return what the tools answer to a real client, which starts the command as clients do."""
    answers: list[Any] = []

    async def session() -> None:
        program = StdioServerParameters(
            command=sys.executable, args=["-m", "toolevals.cli.main", "mcp"], env=dict(os.environ)
        )
        async with stdio_client(program) as streams, ClientSession(*streams) as client:
            await client.initialize()
            answers.append([tool.name for tool in (await client.list_tools()).tools])
            for name, arguments in calls:
                answers.append(await client.call_tool(name, arguments))

    run_apart(session)
    return answers


@pytest.mark.usefixtures("imported")
def test_a_client_starts_a_baseline_run_again_and_reads_its_confusions(capsys):
    assert command.main(["run", "core", "--experiment", "first", "--baseline"]) == Exit.OK
    names, estimate, started = answers_to([("estimate_run", {"like_run": 1}), ("start_run", {"like_run": 1})])
    assert "find_confusions" in names
    assert estimate.structured_content["conversations"] == 2
    job = started.structured_content["job"]
    while (waited := answers_to([("wait_for_job", {"job": job})])[1]).structured_content["state"] in (
        "queued",
        "running",
    ):
        pass
    (_, found, compared) = answers_to(
        [
            ("find_confusions", {"run": started.structured_content["run"]}),
            ("compare_runs", {"baseline": 1, "candidate": started.structured_content["run"]}),
        ]
    )
    assert waited.structured_content["state"] == "succeeded"
    assert found.structured_content["accuracy"]["total"] == 2
    assert compared.structured_content["examples"] == 2
    assert "2 examples are too few to compare" in compared.structured_content["sentence"]


@pytest.mark.usefixtures("server")
def test_our_own_requests_are_imported_and_run_as_the_docs_say(capsys):
    tools, requests = str(FOLDER / "tools.json"), str(FOLDER / "requests.jsonl.gz")
    assert command.main(["import", "tools", tools, "--registry", "mcp"]) == Exit.OK
    asked = ["import", "jsonl", requests, "--dataset", "mcp", "--tools", "mcp", "--freeze", "first"]
    assert command.main(asked) == Exit.OK
    capsys.readouterr()
    assert command.main(["run", "mcp", "--experiment", "own", "--baseline", "--json"]) == Exit.OK
    run = json.loads(capsys.readouterr().out)["number"]
    (_, answer) = answers_to([("find_confusions", {"run": run})])
    found = answer.structured_content
    # What the server counts is what the docs say.
    said = [each["tool_calls"][0]["name"] if "tool_calls" in each else NO_CALL for each in lines("answers.jsonl")]
    right = sum(map(eq, said, map(expected_tool, lines("requests.jsonl.gz"))))
    assert (found["accuracy"]["passed"], found["accuracy"]["total"]) == (right, 80)


@pytest.mark.usefixtures("server")
def test_a_token_that_is_not_known_is_said_before_anything_is_served(monkeypatch, capsys):
    monkeypatch.setenv("TOOLEVALS_TOKEN", "te_unknown")
    assert command.main(["mcp"]) != Exit.OK
    assert "401" in capsys.readouterr().err


def test_the_skill_is_written_and_what_is_other_stays(tmp_path, capsys):
    assert command.main(["skill", str(tmp_path)]) == Exit.OK
    written = tmp_path / ".claude/skills/toolevals/SKILL.md"
    assert written.read_text().startswith("---\nname: toolevals\ndescription: Use when")
    assert (written.parent / "references/commands.md").is_file()
    assert command.main(["skill", str(tmp_path)]) == Exit.OK
    written.write_text("mine")
    assert command.main(["skill", str(tmp_path)]) == Exit.CONFIGURATION
    assert written.read_text() == "mine"
    assert command.main(["skill", str(tmp_path), "--force"]) == Exit.OK
    assert written.read_text() != "mine"
    assert command.main(["skill", str(tmp_path), "--for", "codex"]) == Exit.OK
    assert (tmp_path / ".agents/skills/toolevals/SKILL.md").is_file()
    assert command.main(["skill", str(tmp_path / "none")]) == Exit.CONFIGURATION
