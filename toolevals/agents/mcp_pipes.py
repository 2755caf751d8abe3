"""Speaks to a server of the Model Context Protocol that a command starts, over its pipes: a JSON message a line.

As the transport of the `mcp` client, with a limit on the length of a line, of which that knows none.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from toolevals.agents.answers import ANSWER_BYTES, AnswerRefusedError, too_long

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
