"""Connects to the server behind the guard: a child that speaks over its pipes, or an address of streamable HTTP."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any, Protocol, Self

from toolevals.cli.guard_mcp.pipes import TooLong, lines_of, write_all
from toolevals.json_types import JsonValue

# A server has so long to end by itself when its input ends, and again when it is asked to; then it is killed.
GRACE_SECONDS = 2.0
# Ours: a server has no use for them.
_OWN_VARIABLES = "TOOLEVALS_"
# What the transport's thread says when it has stopped.
_ENDED = (RuntimeError, CancelledError)


class Server(Protocol):
    """The server of one session, used as a context. Its methods wait; they may come from several threads."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def lines(self) -> Iterator[bytes | TooLong]:
        """Yield the messages of the server, until there are no more."""

    def send(self, line: bytes) -> None:
        """Send a message. Raises OSError where no one takes it."""

    def end_input(self) -> None:
        """Say that no more messages come, so that the server may end."""

    def why_ended(self) -> str:
        """Return why there are no more messages, in a sentence."""


class ChildServer:
    """A server that a command starts. It gets our environment, and its error output is ours."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it. Raises OSError and ValueError where that is not possible."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_OWN_VARIABLES)}
        self._name = command[0]
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            bufsize=0,
            # What it starts ends with it.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_input()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._has_ended():
                break
            self._signal(number)
        self._has_ended()
        # What it started may still be there.
        self._signal(signal.SIGKILL)

    def lines(self) -> Iterator[bytes | TooLong]:
        yield from lines_of(self._output.fileno())

    def send(self, line: bytes) -> None:
        if self._input.closed:
            raise BrokenPipeError
        write_all(self._input.fileno(), line.rstrip(b"\r\n") + b"\n")

    def end_input(self) -> None:
        with suppress(OSError):
            self._input.close()

    def why_ended(self) -> str:
        if not self._has_ended():
            return f"The server {self._name} has ended its output or its input."
        return f"The server {self._name} has ended with status {self._process.returncode}."

    def _has_ended(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        return self._process.returncode is not None

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


class HttpServer:
    """A server behind an address. Needs the `mcp` library, whose transport has a thread of its own."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = headers
        self._stack = ExitStack()
        self._version = ""

    def __enter__(self) -> Self:
        from anyio.from_thread import start_blocking_portal

        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            streams = stack.enter_context(self._portal.wrap_async_context_manager(self._connected()))
            self._incoming, self._outgoing = streams
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            self._stack.close()

    def lines(self) -> Iterator[bytes | TooLong]:
        import anyio

        while True:
            try:
                found = self._portal.call(self._incoming.receive)
            except (*_ENDED, anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return
            if isinstance(found, Exception):
                continue
            self._note_version(found.message)
            yield found.message.model_dump_json(by_alias=True, exclude_unset=True).encode()

    def send(self, line: bytes) -> None:
        import anyio
        from mcp.shared.message import ClientMessageMetadata, SessionMessage
        from mcp_types import jsonrpc_message_adapter

        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        metadata = ClientMessageMetadata(headers=self._stamped(message))
        try:
            self._portal.call(self._outgoing.send, SessionMessage(message, metadata))
        except (*_ENDED, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise BrokenPipeError from error

    def end_input(self) -> None:
        """Do nothing: what was asked may still be answered, and leaving ends the session."""

    def why_ended(self) -> str:
        return f"The connection to {self._url} has ended."

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[Any, Any]]:
        from mcp.client.streamable_http import streamable_http_client

        from toolevals.agents.network import ANSWER_BYTES, AddressPolicy, guarded_async_client

        # The person who names the address may call what their machine reaches.
        everywhere = AddressPolicy.of(["*"])
        http = guarded_async_client(everywhere, seconds=300, headers=self._headers, note=lambda _: None)
        async with (
            http as client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=ANSWER_BYTES) as streams,
        ):
            yield streams

    def _note_version(self, message: JsonValue) -> None:
        """Keep the protocol's version that a handshake agreed on: later requests name it in a header."""
        result = getattr(message, "result", None)
        if isinstance(result, dict) and isinstance(version := result.get("protocolVersion"), str):
            self._version = version

    def _stamped(self, message: JsonValue) -> dict[str, str]:
        """Return the headers of a message: without a handshake each names version, method and name."""
        from mcp.shared.inbound import (
            MCP_METHOD_HEADER,
            MCP_NAME_HEADER,
            MCP_PROTOCOL_VERSION_HEADER,
            NAME_BEARING_METHODS,
            encode_header_value,
        )
        from mcp_types import PROTOCOL_VERSION_META_KEY

        params = getattr(message, "params", None) or {}
        meta = params.get("_meta")
        version = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: message.method}
        named = params.get(NAME_BEARING_METHODS.get(message.method, ""))
        return headers | ({MCP_NAME_HEADER: encode_header_value(named)} if isinstance(named, str) else {})
