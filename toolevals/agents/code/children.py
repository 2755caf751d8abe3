"""Holds one process that runs a simulator's code: requests and replies over pipes, time limits, what it died of."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import time
from collections.abc import Mapping
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

from toolevals.agents.code.launching import Launcher, Limits
from toolevals.agents.worlds import WorldDiedError

CHUNK = 1 << 16
# Seconds to start the interpreter and to load the code, beside the code's own.
START_SECONDS = 20
SHELL_SIGNAL = 128


class Death(StrEnum):
    """The cause of the death of a simulator's process."""

    MEMORY = "memory"
    TIME = "time"
    PROCESSES = "processes"
    NETWORK = "network"
    OUTPUT = "output"
    DISK = "disk"
    FILES = "files"
    EXIT = "exit"


_WORDS = {
    Death.MEMORY: "it ran out of memory: {memory} MB are allowed",
    Death.TIME: "it took too long: {seconds:g} seconds are allowed for a call",
    Death.PROCESSES: "it tried to start another process ({detail})",
    Death.NETWORK: "it tried to reach the network ({detail})",
    Death.OUTPUT: "its output is too long ({detail}): {output} KB are allowed",
    Death.DISK: "its disk is full: {scratch} MB are allowed ({detail})",
    Death.FILES: "it opened too many files",
    Death.EXIT: "it ended by itself ({detail})",
}


class ChildDiedError(WorldDiedError):
    """A simulator's process is gone; `death` says of what."""

    def __init__(self, death: Death, limits: Limits, detail: str = "") -> None:
        self.death = death
        words = _WORDS[death].format(
            memory=limits.memory >> 20,
            seconds=limits.seconds,
            output=limits.output >> 10,
            scratch=limits.scratch >> 20,
            detail=detail or "no more is known",
        )
        super().__init__(f"The simulator was stopped: {words}.")


class CodeBrokenError(WorldDiedError):
    """The simulator's code is wrong, whatever it was asked."""


class Child:
    """Starts with its first request's caller, ends with `close` or with its own death."""

    def __init__(self, launcher: Launcher, limits: Limits) -> None:
        self._limits = limits
        self._read = bytearray()
        self._process, self._group = launcher.start()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
        self.is_alive = True
        try:
            self.tools: list[str] = self._reply(b"", limits.timeout + START_SECONDS, limits.output)["tools"]
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, request: Mapping[str, Any], *, longest: int | None = None) -> dict[str, Any]:
        """Return the reply to a request. Raises WorldDiedError; afterwards `is_alive` tells whether to go on."""
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        return self._reply(line, self._limits.timeout, longest or self._limits.output)

    def close(self) -> None:
        """End the process, and everything in its sandbox with it."""
        self.is_alive = False
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        if self._group is not None:
            self._group.close()

    def _reply(self, request: bytes, seconds: float, longest: int) -> dict[str, Any]:
        try:
            reply = _object(self._exchange(request, time.monotonic() + seconds, longest), self._limits.values)
        except ChildDiedError:
            self.close()
            raise
        if "died" in reply:
            death = Death(reply["died"]) if reply["died"] in set(Death) else Death.EXIT
            self.close()
            raise ChildDiedError(death, self._limits, str(reply.get("detail", "")))
        if "broken" in reply:
            raise CodeBrokenError(f"The simulator's code is wrong: {reply['broken']}")
        return reply

    def _exchange(self, request: bytes, deadline: float, longest: int) -> bytes:
        """Write a request while there is some left, and read up to the end of a line."""
        inward, outward = self._process.stdin, self._process.stdout
        assert inward is not None and outward is not None  # noqa: PT018 - both are pipes
        rest = memoryview(request)
        # Some room for the reply's own words around a result.
        longest += CHUNK
        with selectors.DefaultSelector() as ready:
            ready.register(outward, selectors.EVENT_READ)
            if rest:
                ready.register(inward, selectors.EVENT_WRITE)
            while b"\n" not in self._read[-CHUNK:]:
                events = ready.select(max(0.0, deadline - time.monotonic()))
                if not events:
                    raise ChildDiedError(Death.TIME, self._limits)
                for key, _ in events:
                    if key.fileobj is outward:
                        self._take(outward.fileno(), longest)
                    else:
                        rest = self._give(inward.fileno(), rest)
                        if not rest:
                            ready.unregister(inward)
        line, _, self._read = self._read.partition(b"\n")
        return bytes(line)

    def _give(self, descriptor: int, rest: memoryview) -> memoryview:
        try:
            return rest[os.write(descriptor, rest[:CHUNK]) :]
        except BrokenPipeError:
            raise self._gone() from None

    def _take(self, descriptor: int, longest: int) -> None:
        some = os.read(descriptor, CHUNK)
        if not some:
            raise self._gone()
        self._read += some
        if len(self._read) > longest:
            raise ChildDiedError(Death.OUTPUT, self._limits, "more than any reply has")

    def _gone(self) -> ChildDiedError:
        status = self._process.wait()
        if self._group is not None and self._group.killed:
            return ChildDiedError(Death.MEMORY, self._limits)
        number = -status if status < 0 else status - SHELL_SIGNAL
        if number == signal.SIGXCPU:
            return ChildDiedError(Death.TIME, self._limits)
        if number == signal.SIGKILL:
            return ChildDiedError(Death.EXIT, self._limits, "killed, perhaps for want of memory")
        if number in set(signal.Signals):
            return ChildDiedError(Death.EXIT, self._limits, f"by {signal.Signals(number).name}")
        return ChildDiedError(Death.EXIT, self._limits, self._last_words() or f"with status {status}")

    def _last_words(self) -> str:
        stream = self._process.stderr
        said = stream.read(CHUNK) if stream is not None else None
        return said.decode(errors="replace").strip()[-500:] if said else ""


# A text of JSON, so that what stands in it is not counted.
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def values_in(line: bytes) -> int:
    """Return a number that a document's JSON values do not exceed, without reading them."""
    return 1 + sum(line.count(mark) for mark in (b",", b"[", b"{"))


def _object(line: bytes, most: int) -> dict[str, Any]:
    """Read a reply of at most `most` values. The code shares a process with its writer, so that it may say anything."""
    if values_in(line) > most and values_in(_TEXT.sub(b'""', line)) > most:
        return {"died": Death.OUTPUT, "detail": f"more than {most:,} values"}
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        reply = None
    return reply if isinstance(reply, dict) else {"broken": "it wrote something that is no reply"}
