"""Drives a tool at work: a process of its own Python does one step after another."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.side_by_side.tools import PEERS, Tool
from scripts.dev.environment import ROOT
from toolevals.serving.application import end_group
from toolevals.serving.parents import end_with_parent

# What would lead a tool to another database or report its use elsewhere.
DROPPED = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "PYTHONPATH", "VIRTUAL_ENV")
SILENT = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true", "LANGSMITH_TRACING": "false"}


class StepError(Exception):
    """A step was not done; the text says why."""


@dataclass(frozen=True, slots=True)
class Took:
    """The result of a step, and the seconds that it took."""

    result: Any
    processor: float
    clock: float


class Driver:
    """The process; a context manager that ends it. Raises StepError where it does not start."""

    def __init__(self, tool: Tool, python: str, folder: Path, *, seconds: float) -> None:
        self.tool = tool
        self.seconds = seconds
        folder.mkdir(parents=True)
        kept = {name: value for name, value in os.environ.items() if name not in DROPPED} | SILENT
        own = {"PYTHONPATH": str(ROOT)} if tool.is_ours else {}
        self._log = (folder / "log").open("w+b")
        self._process = subprocess.Popen(
            [python, str(PEERS / "driver.py"), str(tool.adapter), str(folder)],
            cwd=folder,
            env=kept | own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - one system call
        )
        self._read = b""
        try:
            self.versions: dict[str, str] = self._answer()
        except StepError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def do(self, step: str, **given: Any) -> Took:
        """Do a step. Raises StepError where the tool raises, ends, or takes longer than it may."""
        if self._process.stdin is None or self._process.poll() is not None:
            raise StepError(f"it has ended: {self._said()}")
        try:
            self._process.stdin.write(json.dumps({"step": step, "given": given}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise StepError(f"it ended: {self._said()}") from None
        return took(self._answer())

    def close(self) -> None:
        """End the process and all that it started."""
        end_group(self._process)
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue

    def _answer(self) -> dict[str, Any]:
        """Return the next line. Raises StepError, and ends the process where none comes in time."""
        output = self._process.stdout
        assert output is not None
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while b"\n" not in self._read:
                if not selector.select(self.seconds):
                    end_group(self._process)
                    raise StepError(f"took longer than {self.seconds:g} seconds")
                part = os.read(output.fileno(), 65536)
                if not part:
                    raise StepError(f"it ended: {self._said()}")
                self._read += part
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-300:]


def took(answer: dict[str, Any]) -> Took:
    """Return a driver's answer to a step. Raises StepError where it is an error or not an answer."""
    if "error" in answer:
        raise StepError(str(answer["error"]))
    try:
        return Took(answer["result"], float(answer["processor"]), float(answer["clock"]))
    except (KeyError, TypeError, ValueError):
        raise StepError(f"its answer cannot be read: {str(answer)[:300]}") from None
