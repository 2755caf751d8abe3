"""Makes worlds of a simulator's code: a process for each conversation that goes on at a time, kept for the next one."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from toolevals.agents.code.children import Child, CodeBrokenError
from toolevals.agents.code.launching import Launcher, Limits, owner
from toolevals.agents.scripted import text_of
from toolevals.agents.simulations import Simulation
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer, World
from toolevals.grading.matching.value_differences import patched
from toolevals.grading.values import ToolCall
from toolevals.grading.values.problems import InvalidDocument


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
        self._initial: Mapping[str, Any] | None = None
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
    def world(self, example: Mapping[str, Any]) -> Iterator[World]:
        """Yield a world in the example's state, or in the code's own. Raises WorldDiedError."""
        state = Simulation.of_example(example).state
        with self._child() as child:
            child.ask({"do": "begin", "state": state})
            yield _CodeWorld(child, self._limits, self._began(child) if state is None else state)

    def tools(self) -> list[str]:
        """Return the names of the tools that the code answers. Raises WorldDiedError."""
        with self._child() as child:
            return [str(name) for name in child.tools]

    def _began(self, child: Child) -> Mapping[str, Any]:
        if self._initial is None:
            state = child.ask({"do": "initial"}, longest=self._limits.state).get("state")
            if not isinstance(state, dict):
                raise CodeBrokenError("The simulator's code is wrong: its state is no object.")
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
    def __init__(self, child: Child, limits: Limits, initial: Mapping[str, Any]) -> None:
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

    def state(self) -> Mapping[str, Any] | None:
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
