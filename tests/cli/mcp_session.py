"""A session with our MCP server over HTTP, by the official client library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.cli.mcp_tasks import Ask
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
