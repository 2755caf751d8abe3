"""A project that the verbs of a server speak to, on the running application: its tools, examples and predictions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from toolevals.cli import main as command
from toolevals.cli.output import Exit

TOKEN = """
from toolevals.workspace.models import Project, User, Role
from toolevals.workspace.tokens.services import token_create
user = User.objects.get(email="rae@example.org")
made = token_create(project=Project.objects.get(slug="from-cli"), actor=user, user=user, name="cli", role=Role.OWNER)
print(made[1])
"""
OPEN_RUNS = """
from toolevals.workspace.models import Job
print(Job.objects.open().filter(kind="run").count())
"""
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"When {when}",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
        },
    }
    for name, when in (("get_order_status", "the state of one order is asked for"), ("cancel_order", "to cancel"))
]
EXAMPLES: list[dict[str, Any]] = [
    {
        "id": "ex-1",
        "input": {"messages": [{"role": "user", "content": "What is the state of order A-1?"}]},
        "expected_tool": "get_order_status",
        "expected_args": {"order_id": "A-1"},
    },
    {"id": "ex-2", "input": {"messages": [{"role": "user", "content": "Thanks!"}]}, "expected_tool": None},
]
PREDICTIONS: list[dict[str, Any]] = [
    {"id": "ex-1", "tool_calls": [{"name": "get_order_status", "arguments": '{"order_id": "A-1"}'}]},
    {"id": "ex-2", "tool_calls": [{"name": "cancel_order", "arguments": {"order_id": "A-1"}}]},
]


def lines(path: Path, rows: Iterable[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture(scope="module")
def server(live_app_start):
    """An application with a project and its owner's token in the environment."""
    app = live_app_start(AGENT_NETWORKS="127.0.0.0/8")
    with pytest.MonkeyPatch.context() as patch:
        owner = ["create-owner", "rae@example.org", "--name", "Rae Example", "--project", "from-cli"]
        app.python(
            "import os; os.environ['TOOLEVALS_PASSWORD'] = 'correct horse battery';"
            f"from toolevals.cli.main import main; raise SystemExit(main({owner!r}))"
        )
        patch.setenv("TOOLEVALS_URL", app.url)
        patch.setenv("TOOLEVALS_PROJECT", "from-cli")
        patch.setenv("TOOLEVALS_TOKEN", app.python(TOKEN).strip())
        yield app


@pytest.fixture(scope="module")
def imported(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("import")
    tools = folder / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    assert command.main(["import", "tools", str(tools), "--registry", "shop"]) == Exit.OK
    examples = lines(folder / "examples.jsonl", EXAMPLES)
    asked = ["import", "jsonl", examples, "--dataset", "core", "--tools", "shop", "--freeze", "first"]
    assert command.main(asked) == Exit.OK
