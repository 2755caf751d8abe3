"""Asks a fork server for processes, and holds each as `subprocess` holds one that it has started."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from toolevals.serving.parents import end_with_parent

READ_BYTES = 64 * 1024
# Between two looks at a process that nobody tells of any more, and until it counts as ended.
LOOK_SECONDS = 0.05
LOST_SECONDS = 30.0
STOP_SECONDS = 5.0


class ForkServerEnded(Exception):  # noqa: N818 - what happened
    """The fork server is gone, and forks nothing more."""


class Process(Protocol):
    """The parts of `subprocess.Popen` that are used of a process, forked here or by a fork server."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...


class Server(Protocol):
    """The parts of `subprocess.Popen` that are used of the fork server itself."""

    @property
    def stdin(self) -> IO[bytes] | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class Forked:
    """A process that a fork server has forked, in a session of its own."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self._server = server
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, below zero for a signal; None while it runs."""
        self._server.look(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status once it has ended. Raises subprocess.TimeoutExpired after `timeout` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            seconds = None if until is None else max(0.0, until - time.monotonic())
            self._server.look(seconds)
            if self.returncode is None and until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return self.returncode

    def terminate(self) -> None:
        """Ask it to end in good order."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)


class ForkServer:
    """Started with the first process that it forks. Its processes end with it, and it ends with who started it."""

    def __init__(self, python: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._lock = threading.RLock()
        self._forked: dict[int, Forked] = {}
        self._new: list[Forked] = []
        self._rest = b""
        self._lost_at: float | None = None
        self._process, self._answers = self._begin(python, folder, environment)

    def _begin(self, python: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[Server, int]:
        """Start it; return it and the file descriptor in which it answers."""
        told, answers = os.pipe()
        process = subprocess.Popen(
            [*python, "-m", "toolevals.serving.fork_server", str(answers)],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            pass_fds=(answers,),
            start_new_session=True,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - one system call
        )
        os.close(answers)
        return process, told

    @property
    def ended(self) -> bool:
        """True once it forks nothing more."""
        self.look(0)
        return self._lost_at is not None

    def fork(self, *words: str) -> Forked:
        """Fork a program of `fork_server.PROGRAMS`; return when it runs. Raises ForkServerEnded."""
        with self._lock:
            try:
                os.write(self._asked, json.dumps(words).encode() + b"\n")
            except OSError as error:
                raise ForkServerEnded from error
            while not self._new:
                if self._lost_at is not None:
                    raise ForkServerEnded
                self.look(None)
            return self._new.pop()

    def look(self, seconds: float | None) -> None:
        """Read what has happened, and wait for it so long where nothing has; None waits for ever."""
        with self._lock:
            if self._lost_at is not None:
                time.sleep(LOOK_SECONDS if seconds is None else min(LOOK_SECONDS, seconds))
                self._look_for_lost(self._lost_at)
            elif select.select([self._answers], [], [], seconds)[0]:
                self._read()

    def close(self) -> None:
        """End it, once what it forked has ended."""
        with self._lock:
            if self._process.stdin is None or self._process.stdin.closed:
                return
            self._process.stdin.close()
            try:
                self._process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if self._lost_at is None:
                self._lost_at = time.monotonic()
            os.close(self._answers)

    @property
    def _asked(self) -> int:
        if self._process.stdin is None or self._process.stdin.closed:
            raise ForkServerEnded
        return self._process.stdin.fileno()

    def _read(self) -> None:
        read = os.read(self._answers, READ_BYTES)
        if not read:
            self._lost_at = time.monotonic()
            self._process.wait()
            return
        *lines, self._rest = (self._rest + read).split(b"\n")
        for kind, pid, *status in map(json.loads, lines):
            if kind == "forked":
                self._forked[pid] = Forked(self, pid)
                self._new.append(self._forked[pid])
            else:
                self._forked.pop(pid).returncode = status[0]

    def _look_for_lost(self, since: float) -> None:
        """Note which processes are gone that the fork server, gone itself, tells nothing of."""
        for pid, forked in list(self._forked.items()):
            if not _runs(pid) or time.monotonic() - since > LOST_SECONDS:
                del self._forked[pid]
                forked.returncode = -signal.SIGTERM


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
