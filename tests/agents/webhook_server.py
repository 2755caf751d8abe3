"""An agent on loopback behind a webhook, which answers as a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.agents.loopback import Handler, Trouble, serving

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


@contextmanager
def webhook_server(behaviour: Behaviour) -> Iterator[WebhookServer]:
    """Serve until the context ends."""
    played = WebhookServer(behaviour)

    class Played(_Handler):
        server_state = played

    with serving(Played) as address:
        played.url = f"{address}/agent"
        yield played


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
