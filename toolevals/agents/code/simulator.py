"""Makes worlds of a simulator's code: a process for each conversation that goes on at a time, kept for the next one."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from toolevals.agents.code.launching import Launcher, Limits, owner
from toolevals.agents.scripted import Simulation, text_of
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer, World, WorldDiedError
from toolevals.grading.matching.value_differences import patched
from toolevals.grading.values import ToolCall
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

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

    def ask(self, request: JsonMapping, *, longest: int | None = None) -> JsonObject:
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

    def _reply(self, request: bytes, seconds: float, longest: int) -> JsonObject:
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


def _object(line: bytes, most: int) -> JsonObject:
    """Read a reply of at most `most` values. The code shares a process with its writer, so that it may say anything."""
    if values_in(line) > most and values_in(_TEXT.sub(b'""', line)) > most:
        return {"died": Death.OUTPUT, "detail": f"more than {most:,} values"}
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        reply = None
    return reply if isinstance(reply, dict) else {"broken": "it wrote something that is not a reply"}


class CodeSimulator:
    """Runs a simulator's files, the main one being `simulator.py`; a context manager that ends its processes.

    Safe in several threads: each world has a process to itself until it is left. A process that died is replaced by a
    new one for the next world. Entering raises NoSandboxError.
    """

    def __init__(self, files: Mapping[str, str], *, limits: Limits | None = None, trusted: bool = False) -> None:
        self._files = files
        self._limits = limits or Limits()
        self._trusted = trusted
        self._opened = ExitStack()
        self._idle: list[Child] = []
        # The code's own state, asked for once: worlds that share it in memory are compared at no cost.
        self._initial: JsonMapping | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="toolevals-simulator-")))
            _write(self._files, folder, None if self._trusted else owner())
            self._launcher = opened.enter_context(Launcher(folder, self._limits, trusted=self._trusted))
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            for child in self._idle:
                child.close()
            self._idle.clear()
        self._opened.close()

    @contextmanager
    def world(self, example: JsonMapping) -> Iterator[World]:
        """Yield a world in the example's state, or in the code's own. Raises WorldDiedError."""
        state = Simulation.of_example(example).state
        with self._child() as child:
            child.ask({"do": "begin", "state": state})
            yield _CodeWorld(child, self._limits, self._began(child) if state is None else state)

    def tools(self) -> list[str]:
        """Return the names of the tools that the code answers. Raises WorldDiedError."""
        with self._child() as child:
            return [str(name) for name in child.tools]

    def _began(self, child: Child) -> JsonMapping:
        if self._initial is None:
            state = child.ask({"do": "initial"}, longest=self._limits.state).get("state")
            if not isinstance(state, dict):
                raise CodeBrokenError("The simulator's code is wrong: its state is not an object.")
            self._initial = state
        return self._initial

    @contextmanager
    def _child(self) -> Iterator[Child]:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        child = child or Child(self._launcher, self._limits)
        try:
            yield child
        finally:
            if child.is_alive:
                with self._lock:
                    self._idle.append(child)


class _CodeWorld:
    def __init__(self, child: Child, limits: Limits, initial: JsonMapping) -> None:
        self._child = child
        self._limits = limits
        self._initial = initial
        self._called = False

    def call(self, call: ToolCall) -> ToolAnswer:
        self._called = True
        start = time.perf_counter()
        reply = self._child.ask({"do": "call", "tool": call.name, "arguments": call.arguments})
        if "missing" in reply:
            raise NotSimulatedError(call.name)
        latency = (time.perf_counter() - start) * 1000
        if "error" in reply:
            return ToolAnswer(str(reply["error"]), is_error=True, latency_ms=latency)
        return ToolAnswer(text_of(reply.get("result")), latency_ms=latency)

    def state(self) -> JsonMapping | None:
        """Return the initial state with what became of it: the rest is shared with it."""
        if not self._called:
            return self._initial
        said: Any = self._child.ask({"do": "changes"}, longest=self._limits.state)
        try:
            return patched(self._initial, said["patch"])
        except (InvalidDocument, AttributeError, KeyError, TypeError, ValueError):
            raise CodeBrokenError("The simulator's code is wrong: it wrote no changes of its state.") from None


def tools_of_code(files: Mapping[str, str], *, limits: Limits | None = None, trusted: bool = False) -> list[str]:
    """Return the tools that code answers, by running it. Raises NoSandboxError and WorldDiedError."""
    with CodeSimulator(files, limits=limits, trusted=trusted) as simulator:
        return simulator.tools()


def files_in(folder: Path) -> dict[str, str]:
    """Return the files of a simulator that stands in a folder."""
    paths = sorted(path for kind in ("*.py", "*.json") for path in folder.rglob(kind))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def _write(files: Mapping[str, str], folder: Path, user: int | None) -> None:
    """Write the files where only the code's own user reads them."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if user is not None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user)
