"""Calls tools behind a server of the Model Context Protocol: each conversation has a session of its own with it.

A server that is started by a command begins again for each conversation, so that its state does too. What a server
behind an address keeps from one session to the next is its own affair.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from toolevals.agents.mcp_client import McpSession, McpUnreachableError
from toolevals.agents.mcp_options import McpOptions
from toolevals.agents.network import AddressPolicy
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer, World, WorldDiedError
from toolevals.grading.reading.parsing import printable
from toolevals.grading.values import ToolCall


class McpSimulator:
    """Answers calls by a server's own tools; those that it does not list are not simulated."""

    def __init__(self, options: McpOptions, *, key: str = "", policy: AddressPolicy | None = None) -> None:
        self._options = options
        self._key = key
        self._policy = policy

    @contextmanager
    def world(self, example: Mapping[str, Any]) -> Iterator[World]:
        """Yield a world whose session begins with its first call."""
        with ExitStack() as stack:
            session = McpSession(self._options, key=self._key, policy=self._policy)
            yield _Session(lambda: stack.enter_context(session))


class _Session:
    def __init__(self, begin: Callable[[], McpSession]) -> None:
        self._begin = begin
        self._session: McpSession | None = None
        self._tools: frozenset[str] = frozenset()

    def call(self, call: ToolCall) -> ToolAnswer:
        try:
            session = self._session or self._begun()
            if call.name not in self._tools:
                raise NotSimulatedError(call.name)
            start = time.monotonic()
            result = session.call(call.name, call.arguments)
        except McpUnreachableError as error:
            raise WorldDiedError(str(error)) from None
        milliseconds = (time.monotonic() - start) * 1000
        return ToolAnswer(result_text(result), bool(result.get("isError")), milliseconds)

    def state(self) -> Mapping[str, Any] | None:
        return None

    def _begun(self) -> McpSession:
        self._session = self._begin()
        self._tools = frozenset(tool["name"] for tool in self._session.tools()["tools"])
        return self._session


def result_text(result: Mapping[str, Any]) -> str:
    """Return a result as an agent reads it: its texts, one a line; else its structured content.

    What is neither text nor an embedded text is named by its type.
    """
    content = result.get("content") or []
    if not content and result.get("structuredContent") is not None:
        return printable(json.dumps(result["structuredContent"], ensure_ascii=False))
    return printable("\n".join(map(_block_text, content)))


def _block_text(block: Mapping[str, Any]) -> str:
    if isinstance(text := block.get("text"), str):
        return text
    resource = block.get("resource")
    if isinstance(resource, Mapping) and isinstance(text := resource.get("text"), str):
        return text
    where = block.get("uri") or block.get("mimeType") or ""
    return f"[{block.get('type', 'content')}{f' {where}' if where else ''}]"
