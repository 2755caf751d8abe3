"""An agent on loopback behind a webhook, which answers as a test says."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.agents.loopback import Handler, Trouble, playing

# From a task to what is answered: a JSON value, or what goes wrong.
Behaviour = Callable[[dict[str, Any]], Any]


class WebhookServer:
    """The agent: its address, and every task that it was sent, with headers and the bytes as they came."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.tasks: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.url = ""


def webhook_server(behaviour: Behaviour) -> AbstractContextManager[WebhookServer]:
    """Serve until the context ends."""
    return playing(_Handler, WebhookServer(behaviour), "/agent")


class _Handler(Handler):
    server_state: WebhookServer

    def answer(self) -> None:
        body = self.body()
        self.server_state.bodies.append(body)
        self.server_state.tasks.append(json.loads(body))
        self.server_state.headers.append({name.lower(): value for name, value in self.headers.items()})
        said = self.server_state.behaviour(json.loads(body))
        if isinstance(said, Trouble):
            self.trouble(said)
        else:
            self.send(200, json.dumps(said), "application/json", {})
