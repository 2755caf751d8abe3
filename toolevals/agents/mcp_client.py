"""Opens a session with a server of the Model Context Protocol, through the `mcp` client, for callers that wait.

The client is asynchronous: each session has a thread of its own that runs it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import Any, Self

import anyio
import httpx2
from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from toolevals.agents.answers import ANSWER_BYTES, AnswerRefusedError, too_long
from toolevals.agents.failures import safe
from toolevals.agents.mcp_options import McpOptions
from toolevals.agents.mcp_pipes import pipes_to
from toolevals.agents.network import AddressPolicy, ForbiddenAddressError, guarded_async_client

# A list of tools longer than this does not end.
MOST_PAGES = 200
LATE = "it did not answer in time"
# Codes of the client itself: the connection ended, or no one answered in time.
BROKEN = frozenset({CONNECTION_CLOSED, REQUEST_TIMEOUT})
# What the client's transports raise, alone or as a group.
FAILURES = (
    MCPError,
    ForbiddenAddressError,
    AnswerRefusedError,
    httpx2.HTTPError,
    OSError,
    RuntimeError,
    ValueError,
    RecursionError,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
    anyio.EndOfStream,
    ExceptionGroup,
)


class McpUnreachableError(Exception):
    """The server cannot be spoken to, or does not keep to the protocol. The text never holds the key."""


class McpSession:
    """One session. Used as a context; entering begins it. Raises McpUnreachableError, as its methods do."""

    def __init__(self, options: McpOptions, *, key: str = "", policy: AddressPolicy | None = None) -> None:
        self._options = options
        self._key = key
        self._policy = policy or AddressPolicy()
        self._opened = ExitStack()
        # What was refused of its answers: the client passes that on as an end of the connection.
        self._refused: list[AnswerRefusedError] = []

    def __enter__(self) -> Self:
        with self._failures_named(), ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            self._client = stack.enter_context(self._portal.wrap_async_context_manager(self._connected()))
            self._opened = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        # A server that has gone cannot be taken leave of: the caller that needed it has been told before.
        try:
            self._opened.close()
        except FAILURES:
            return

    def tools(self) -> dict[str, Any]:
        """Return every page of `tools/list` as one, in the protocol's own form."""
        with self._failures_named():
            return {"tools": self._portal.call(self._all_tools, self._client)}

    def tools_at_once(self, seconds: float) -> dict[str, Any]:
        """Return the same from a session that begins and ends here, all within so many seconds; do not enter it."""
        with self._failures_named(), start_blocking_portal() as portal:
            return {"tools": portal.call(self._asked, seconds)}

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a call, in the protocol's own form.

        What the server refuses by a JSON-RPC error (no such tool, wrong arguments) is a result with `isError` too.
        """
        with self._failures_named():
            try:
                result = self._portal.call(self._client.call_tool, name, dict(arguments))
            except MCPError as error:
                if error.code in BROKEN:
                    raise
                return {"content": [{"type": "text", "text": error.message}], "isError": True}
            document: dict[str, Any] = result.model_dump(by_alias=True, exclude_none=True, mode="json")
            return document

    async def _asked(self, seconds: float) -> list[dict[str, Any]]:
        with anyio.fail_after(seconds):
            async with self._connected() as client:
                return await self._all_tools(client)

    async def _all_tools(self, client: Client) -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        length = 0
        with anyio.fail_after(self._options.timeout):
            for _ in range(MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools += [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in page.tools]
                length += len(page.model_dump_json())
                if length > ANSWER_BYTES:
                    raise too_long("Its list of tools")
                cursor = page.next_cursor
                if not cursor:
                    return tools
        raise ValueError(f"its list of tools has more than {MOST_PAGES} pages")

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        async with AsyncExitStack() as stack:
            client = Client(await self._transport(stack), read_timeout_seconds=self._options.timeout, cache=None)
            yield await stack.enter_async_context(client)

    async def _transport(self, stack: AsyncExitStack) -> Any:
        options = self._options
        if options.command:
            return pipes_to(options.command, self._refused.append)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        http = guarded_async_client(self._policy, seconds=options.timeout, headers=headers, note=self._refused.append)
        client = await stack.enter_async_context(http)
        return streamable_http_client(options.url, http_client=client, max_sse_event_size=ANSWER_BYTES)

    @contextmanager
    def _failures_named(self) -> Iterator[None]:
        try:
            yield
        except FAILURES as error:
            said = self._refused.pop() if self._refused else _first(error)
            words = str(said) or (LATE if isinstance(said, TimeoutError) else type(said).__name__)
            raise McpUnreachableError(f"The MCP server cannot be used: {safe(words, self._key)}") from None


def _first(error: BaseException) -> BaseException:
    """Return what a group of errors began with."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
