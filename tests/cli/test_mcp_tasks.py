"""A scripted client of the official library, over HTTP, solves twenty tasks on the sample project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.cli.mcp_tasks import TASKS, Ask, Truth
from tests.cli.test_gate_server import token_of
from tests.fixtures.event_loops import run_apart

pytestmark = pytest.mark.servers


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


class Sample:
    """The sample project of a running application, for one token."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address, token
        base, headers = f"{address}/api/v1/projects/shop-support/", {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=base, headers=headers, timeout=60)

    def rest(self, path: str) -> Any:
        return self.http.get(path).raise_for_status().json()


@pytest.fixture(scope="module")
def sample(live_app_start):
    app = live_app_start(sample=True)
    found = Sample(app.url, token_of(app, "shop-support", "ada@shop.example"))
    gate = {"gate": {"bounds": [{"metric": "selection", "min": 0.5}]}}
    found.http.put("named-gates/selection/", json=gate).raise_for_status()
    yield found
    found.http.close()


def test_there_are_twenty_tasks():
    assert len(TASKS) == 20


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_task_is_solved(sample, task):
    answer = solved(sample.address, sample.token, task)
    assert TASKS[task](Truth(sample.rest), answer), answer
