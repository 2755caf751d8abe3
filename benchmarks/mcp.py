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

Script = Callable[[Ask], Awaitable[Any]]
# How often each task is solved.
TIMES = size(10)
# Milliseconds.
READ = 150


def rows() -> Iterator[Row]:
    """Measure in a fresh installation, after the first calls, by which a process loads what it needs."""
    with installation("SQLite") as environment, served(environment) as (server, address):
        token = step("mcp", environment)
        clock: list[float] = []
        processor: list[float] = []
        for turn in range(TIMES + 1):
            if turn == 1:
                clock.clear()
                processor.clear()
            for task in TASKS.keys() - ACTS:
                solved(address, token, _timed(task, server.pid, clock, processor))
    yield Row("MCP, sample, SQLite: read call", p95(clock), "ms", target=READ, better="lower")
    yield Row("MCP, sample, SQLite: read call, processor time", p95(processor), "ms", target=READ, better="lower")


def _timed(task: Script, server: int, clock: list[float], processor: list[float]) -> Script:
    """Return a task that notes the seconds of each of its calls, by the clock and of the server's processor time."""

    async def script(ask: Ask) -> Any:
        async def noted(name: str, **arguments: Any) -> Any:
            before, began = processor_seconds(server), time.perf_counter()
            found = await ask(name, **arguments)
            clock.append(time.perf_counter() - began)
            processor.append(processor_seconds(server) - before)
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
