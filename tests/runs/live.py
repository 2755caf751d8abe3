"""Live runs of a model on loopback, and what it does."""

from __future__ import annotations

import json
from typing import Any

from tests.agents.chat_server import ChatServer, calls, says
from toolevals.runs.runs.requesting import RunRequest, run_request_live
from toolevals.workspace.models import Project


def live_run(project: Project, version: Any, server: ChatServer, *, trials: int = 1, **said: Any) -> Any:
    """Start a run of the model behind `server`; `options` and `settings` as a person would give them."""
    return run_request_live(
        project=project,
        actor=None,
        request=RunRequest(
            experiment="live",
            dataset_version=version,
            trials=trials,
            name="Shop agent",
            model="small",
            options={"base_url": server.url, **said.get("options", {})},
            settings=said.get("settings", {}),
        ),
    )


def last(body: dict[str, Any]) -> dict[str, Any]:
    """Return the newest message of a request."""
    message: dict[str, Any] = body["messages"][-1]
    return message


def shop_agent(body: dict[str, Any]) -> dict[str, Any]:
    """Look up the status where it is asked for, else greet; read out what comes back."""
    message = last(body)
    if message["role"] == "tool":
        return says(f"It says: {message['content']}")
    if "status" in message["content"]:
        return calls(("get_order_status", json.dumps({"order_id": "ORD-1"})))
    return says("How can I help?")
