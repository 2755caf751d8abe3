"""Measures what a coding agent waits for: a read call of the MCP server over HTTP, on the sample project.

The calls are those of the tasks that a scripted client solves in the suite, by the official library.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import django

from benchmarks._measuring import installation, p95, processor_seconds, served, size, step
from benchmarks.row import Row
from tests.cli.mcp_session import solved
from tests.cli.mcp_tasks import ACTS, TASKS, Ask

# How often each task is solved.
TIMES = size(10)
# Milliseconds.
READ = 150


def rows() -> Iterator[Row]:
    """Measure in a fresh installation, after the first calls, by which a process loads what it needs."""
    with installation("SQLite") as environment, served(environment) as (server, address):
        token = step("mcp", environment)
        took: list[float] = []
        for turn in range(TIMES + 1):
            if turn == 1:
                took.clear()
                before = processor_seconds(server.pid)
            for task in TASKS.keys() - ACTS:
                solved(address, token, _timed(task, took))
        each = 1000 * (processor_seconds(server.pid) - before) / len(took)
    yield Row("MCP, sample, SQLite: read call", p95(took), "ms", target=READ, better="lower")
    yield Row("MCP, sample, SQLite: read call, processor time with its session", each, "ms", better="lower")


def _timed(task: Callable[[Ask], Awaitable[Any]], took: list[float]) -> Callable[[Ask], Awaitable[Any]]:
    """Return a task that notes how many seconds each of its calls took."""

    async def script(ask: Ask) -> Any:
        async def noted(name: str, **arguments: Any) -> Any:
            began = time.perf_counter()
            found = await ask(name, **arguments)
            took.append(time.perf_counter() - began)
            return found

        return await task(noted)

    return script


if __name__ == "__main__":
    django.setup()
    import json

    from benchmarks.memory import settle
    from toolevals.workspace.models import Project, Role, User
    from toolevals.workspace.tokens.services import token_create

    settle()
    who, project = User.objects.get(email="ada@shop.example"), Project.objects.get(slug="shop-support")
    _, made = token_create(project=project, actor=who, user=who, name="bench", role=Role.VIEWER)
    sys.stdout.write(json.dumps(made))
