"""Redirects: no client follows one, so that no secret leaves for another address."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from toolevals.agents.anthropic_chat import AnthropicChat
from toolevals.agents.chats import UnreachableError
from toolevals.agents.http_simulator import HttpOptions, HttpSimulator
from toolevals.agents.mcp_client import McpSession, McpUnreachableError
from toolevals.agents.network import AddressPolicy, guarded_client
from toolevals.agents.openai_chat import OpenAIChat
from toolevals.agents.options import AnthropicOptions, ChatOptions, McpOptions
from toolevals.agents.webhook import Webhook
from toolevals.agents.worlds import WorldDiedError
from toolevals.grading.values import Message

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])


@pytest.fixture
def servers() -> Iterator[Callable[[], tuple[str, list[str]]]]:
    """Return a function that starts a server which redirects to another: its address, and what the other saw."""
    started: list[Any] = []

    def serve(answer: Callable[[Any], None]) -> str:
        handler = type("Handler", (http.server.BaseHTTPRequestHandler,), {})
        handler.do_POST = handler.do_GET = answer  # type: ignore[attr-defined]
        handler.log_message = lambda *_: None  # type: ignore[attr-defined]
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        started.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    def start() -> tuple[str, list[str]]:
        seen: list[str] = []

        def second(request: Any) -> None:
            seen.append(str(request.headers))
            request.send_response(500)
            request.end_headers()

        there = serve(second)

        def first(request: Any) -> None:
            request.send_response(307)
            request.send_header("Location", f"{there}{request.path}")
            request.send_header("Content-Length", "0")
            request.end_headers()

        return serve(first), seen

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def by_openai(url: str) -> None:
    with OpenAIChat(ChatOptions(url, "small"), key="hush-1", policy=LOOPBACK) as chat:
        chat.reply([Message("user", "Hi")], [])


def by_anthropic(url: str) -> None:
    with AnthropicChat(AnthropicOptions("small", base_url=url), key="hush-1", policy=LOOPBACK) as chat:
        chat.reply([Message("user", "Hi")], [])


def by_simulator(url: str) -> None:
    with HttpSimulator(HttpOptions(url), key="hush-1", policy=LOOPBACK) as simulator, simulator.world({"messages": []}):
        raise AssertionError("a world was opened")


def by_webhook(url: str) -> None:
    with guarded_client(LOOPBACK, seconds=20) as client:
        Webhook(client, url, "hush-1").post({}, "turn-1")


def by_mcp(url: str) -> None:
    McpSession(McpOptions(url=url), key="hush-1", policy=LOOPBACK).tools_at_once(20)


@pytest.mark.parametrize(
    "ask", [by_openai, by_anthropic, by_simulator, by_webhook, by_mcp], ids=lambda ask: ask.__name__
)
def test_a_redirect_is_not_followed_with_it(servers, ask):
    url, seen = servers()
    with pytest.raises((UnreachableError, WorldDiedError, McpUnreachableError)):
        ask(url)
    assert seen == []
