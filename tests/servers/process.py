"""One server process in a folder of its own."""

from __future__ import annotations

import fcntl
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from toolevals.serving.application import end_with_parent

READY_SECONDS = 30


class UnavailableError(Exception):
    """The server is not installed here, or does not start; the text says which and why."""


# Below what systems give to clients, so that no connection takes a port between its choice and its use.
PORTS = range(20_000, 32_000)
# Descriptors, which the end of the process closes without a word. An open file would warn that nobody closed it.
_locks: list[int] = []


def free_port() -> int:
    """Return a loopback port that nobody listens on, and that no other test process is given while this one lives."""
    folder = Path(tempfile.gettempdir()) / f"toolevals-ports-{os.geteuid()}"
    folder.mkdir(exist_ok=True)
    for port in random.sample(PORTS, len(PORTS)):
        lock = os.open(folder / str(port), os.O_RDWR | os.O_CREAT, 0o644)
        if locked(lock) and listens_nowhere(port):
            _locks.append(lock)
            return port
        os.close(lock)
    raise UnavailableError(f"every port from {PORTS.start} to {PORTS.stop} is in use")


def locked(file: int) -> bool:
    """Lock a file for as long as this process lives, unless another has."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def listens_nowhere(port: int) -> bool:
    """Return whether a server can be started on this port."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def unprivileged() -> dict[str, Any]:
    """Return the options of `subprocess` that drop root's rights; nothing for anyone else."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


class Server(ABC):
    """A process that is started, killed and started again on the same port and files, and cleaned up at the end."""

    name: str
    stop_signal = signal.SIGTERM

    def __init__(self) -> None:
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix=f"toolevals-{self.name}-"))
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.prepare()
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def prepare(self) -> None:  # noqa: B027 (most need nothing)
        """Make what the first start needs."""

    @abstractmethod
    def command(self) -> Sequence[str | Path]:
        """Return the command that runs the server in the foreground."""

    def identity(self) -> dict[str, Any]:
        """Return the options of `subprocess` that say as whom the server runs."""
        return {}

    @abstractmethod
    def answers(self) -> bool:
        """Return whether a client can use the server now."""

    def start(self) -> None:
        """Start the process and return when it answers. Raises UnavailableError."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=end_with_parent,  # noqa: PLW1509 - one system call
                **self.identity(),
            )
        if not wait_until(self.answers, while_alive=self.process):
            raise UnavailableError(
                f"{self.name} does not start: {(self.folder / 'log').read_text(errors='replace')[-800:]}"
            )

    def kill(self) -> None:
        """End the process as a crash would, and leave its files."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the process in good order, and leave its files."""
        self._end(self.stop_signal)

    def close(self) -> None:
        """End the process and remove its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(number)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


def wait_until(
    condition: Callable[[], bool], *, while_alive: subprocess.Popen[Any], seconds: float = READY_SECONDS
) -> bool:
    """Return True once the condition holds; False when the process ended or the time is over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and while_alive.poll() is None:
        if condition():
            return True
        time.sleep(0.05)
    return False
