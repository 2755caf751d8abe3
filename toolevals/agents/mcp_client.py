"""Opens a session with a server of the Model Context Protocol, through the `mcp` client, for callers that wait.

The client is asynchronous: each session has a thread of its own that runs it. A server that a command
starts is spoken to over its pipes, a JSON message a line, with a limit on its length, of which the client knows none.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any, Self, TypeAlias

import anyio
import httpx2
from anyio.abc import Process
from anyio.from_thread import start_blocking_portal
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, MCPError
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, jsonrpc_message_adapter

from toolevals.agents.chats import safe
from toolevals.agents.network import (
    ANSWER_BYTES,
    AddressPolicy,
    AnswerRefusedError,
    ForbiddenAddressError,
    guarded_async_client,
    too_long,
)
from toolevals.agents.options import McpOptions
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer, World, WorldDiedError
from toolevals.grading.reading.parsing import printable
from toolevals.grading.values import ToolCall
from toolevals.json_types import JsonMapping, JsonObject

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

    def tools(self) -> JsonObject:
        """Return every page of `tools/list` as one, in the protocol's own form."""
        with self._failures_named():
            return {"tools": self._portal.call(self._all_tools, self._client)}

    def tools_at_once(self, seconds: float) -> JsonObject:
        """Return the same from a session that begins and ends here, all within so many seconds; do not enter it."""
        with self._failures_named(), start_blocking_portal() as portal:
            return {"tools": portal.call(self._asked, seconds)}

    def call(self, name: str, arguments: JsonMapping) -> JsonObject:
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
            document: JsonObject = result.model_dump(by_alias=True, exclude_none=True, mode="json")
            return document

    async def _asked(self, seconds: float) -> list[JsonObject]:
        with anyio.fail_after(seconds):
            async with self._connected() as client:
                return await self._all_tools(client)

    async def _all_tools(self, client: Client) -> list[JsonObject]:
        tools: list[JsonObject] = []
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


# A server has so long to end by itself when its input ends, and again when it is asked to; then it is killed.
GRACE_SECONDS = 2.0
Incoming: TypeAlias = SessionMessage | Exception
Streams: TypeAlias = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def pipes_to(command: Sequence[str], note: Callable[[AnswerRefusedError], None]) -> AsyncIterator[Streams]:
    """Start a server and yield what comes from it and what goes to it; leaving ends it.

    A line that is too long ends what comes, and is noted. Raises OSError and ValueError where it cannot be started.
    """
    process = await anyio.open_process(
        list(command),
        env=get_default_environment(),
        # What a server says on its error output is not ours to keep.
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    heard, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, said = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_hear, process, heard, note)
            tasks.start_soon(_say, process, said, heard)
            try:
                yield incoming, outgoing
            finally:
                for stream in (incoming, outgoing):
                    stream.close()
                with anyio.CancelScope(shield=True):
                    await _end(process)
                tasks.cancel_scope.cancel()
    finally:
        for each in (heard, incoming, outgoing, said):
            each.close()


class Lines:
    """Cuts what comes into lines. What is left is kept until its end comes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def taken(self, part: bytes) -> Iterator[bytes]:
        """Yield the lines that a part ends. Raises AnswerRefusedError for one that is too long."""
        *ended, rest = part.split(b"\n")
        for each in ended:
            yield b"".join([*self._parts, self._counted(each)])
            self._parts, self._length = [], 0
        if rest:
            self._parts.append(self._counted(rest))

    def _counted(self, part: bytes) -> bytes:
        self._length += len(part)
        if self._length > ANSWER_BYTES:
            raise too_long("A line of the answer")
        return part


async def _hear(
    process: Process, heard: MemoryObjectSendStream[Incoming], note: Callable[[AnswerRefusedError], None]
) -> None:
    assert process.stdout is not None
    lines = Lines()
    async with heard:
        try:
            async for part in process.stdout:
                for line in lines.taken(part):
                    await heard.send(_message(line))
        except AnswerRefusedError as error:
            note(error)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
            # The session has ended, or the server has.
            return


async def _say(
    process: Process, said: MemoryObjectReceiveStream[SessionMessage], heard: MemoryObjectSendStream[Incoming]
) -> None:
    assert process.stdin is not None
    try:
        async with said:
            async for each in said:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{text}\n".encode())
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        # No one listens any more: callers that wait for an answer learn of it.
        heard.close()


def _message(line: bytes) -> Incoming:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _end(process: Process) -> None:
    """Close its input, wait, ask it and all that it started to end, then kill them."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if await _has_ended(process):
            break
        _signal(process, number)
    await _has_ended(process)
    # What it started may hold on to the pipes.
    _signal(process, signal.SIGKILL)
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdout.aclose()
    # What was never read keeps asyncio's end of the pipe open, and nothing public closes that.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        transport.close()


async def _has_ended(process: Process) -> bool:
    # Not by waiting: that waits for the pipes' other ends too, which a child of the server may hold.
    with anyio.move_on_after(GRACE_SECONDS):
        while process.returncode is None:
            await anyio.sleep(0.01)
    return process.returncode is not None


def _signal(process: Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class McpSimulator:
    """Answers calls by a server's own tools; those that it does not list are not simulated."""

    def __init__(self, options: McpOptions, *, key: str = "", policy: AddressPolicy | None = None) -> None:
        self._options = options
        self._key = key
        self._policy = policy

    @contextmanager
    def world(self, example: JsonMapping) -> Iterator[World]:
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

    def state(self) -> JsonMapping | None:
        return None

    def _begun(self) -> McpSession:
        self._session = self._begin()
        self._tools = frozenset(tool["name"] for tool in self._session.tools()["tools"])
        return self._session


def result_text(result: JsonMapping) -> str:
    """Return a result as an agent reads it: its texts, one a line; else its structured content.

    What is neither text nor an embedded text is named by its type.
    """
    content = result.get("content") or []
    if not content and result.get("structuredContent") is not None:
        return printable(json.dumps(result["structuredContent"], ensure_ascii=False))
    return printable("\n".join(map(_block_text, content)))


def _block_text(block: JsonMapping) -> str:
    if isinstance(text := block.get("text"), str):
        return text
    resource = block.get("resource")
    if isinstance(resource, Mapping) and isinstance(text := resource.get("text"), str):
        return text
    where = block.get("uri") or block.get("mimeType") or ""
    return f"[{block.get('type', 'content')}{f' {where}' if where else ''}]"
