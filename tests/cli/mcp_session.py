"""A session with our MCP server over HTTP, by the official client library."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import httpx2
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.cli.mcp_tasks import Ask
from tests.cli.test_gate_server import token_of
from tests.fixtures.event_loops import run_apart


def solved(address: str, token: str, script: Callable[[Ask], Awaitable[Any]]) -> Any:
    """Return what a script answers, each call of which goes over one session to the server."""

    async def session() -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            streamable_http_client(f"{address}/mcp", http_client=http) as streams,
            ClientSession(*streams) as client,
        ):
            await client.initialize()

            async def ask(name: str, **arguments: Any) -> Any:
                found = await client.call_tool(name, arguments)
                assert not found.is_error, (name, arguments, found.content)
                return found.structured_content

            return await script(ask)

    return run_apart(session)


def graded_sample(app: Any) -> tuple[str, str]:
    """Return the address of an application with the sample, and an adjudicator's token, once its runs are graded."""
    token = token_of(app, "shop-support", "ada@shop.example")
    path, headers = f"{app.url}/api/v1/projects/shop-support/runs/", {"Authorization": f"Bearer {token}"}
    deadline = time.monotonic() + 120
    while any(run["outcome"] is None for run in httpx.get(path, headers=headers).raise_for_status().json()["results"]):
        assert time.monotonic() < deadline, "the sample's runs are not graded"
        time.sleep(0.2)
    return str(app.url), token
