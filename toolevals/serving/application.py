"""Starts and stops the application as processes: the web server and one Celery worker on one data folder."""

from __future__ import annotations

import ctypes
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from toolevals.path_prefix import VARIABLE, prefix_of
from toolevals.serving.folders import checkout
from toolevals.serving.preparation import Preparation, static_state, tables_state

WEB = "web server"
READY_SECONDS = 120
STOP_SECONDS = 20
WEB_WORDS = ["-m", "gunicorn", "--config", "python:toolevals.serving.options"]
WORKER_WORDS = ["-m", "celery", "--quiet", "--app", "toolevals.celery", "worker", "--loglevel", "WARNING"]
# Nothing is asked of other workers: the rows are the queue.
WORKER_WORDS += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
PR_SET_PDEATHSIG = 1  # linux/prctl.h
WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


class CannotServeError(Exception):
    """Something that a person can put right; the text says what to do."""


class Process(Protocol):
    """The parts of `subprocess.Popen` that are used of a process."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...


class Application:
    """Started and stopped as a whole; also a context manager that stops it at the end."""

    def __init__(
        self,
        *,
        python: str | Path,
        data: Path,
        host: str = "127.0.0.1",
        port: int = 8000,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Raises PathPrefixError."""
        self.data = data
        # Installed code is found without the working folder, and files there are never taken for modules.
        self.folder = checkout() or data
        self.python = [str(python)] if checkout() else [str(python), "-P"]
        self.host = host
        self.port = port
        self.environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "toolevals.settings",
            "TOOLEVALS_DATA_DIR": str(data),
            "PYTHONUNBUFFERED": "1",
            # glibc would keep eight heaps a core, mostly room that nothing is in.
            "MALLOC_ARENA_MAX": os.environ.get("MALLOC_ARENA_MAX", "2"),
        }
        if host not in ("127.0.0.1", "localhost", "::1"):
            own = ",".join(own_names(host))
            # Under either of its names it was said already.
            self.environment.setdefault("TOOLEVALS_ALLOWED_HOSTS", self.environment.get("ALLOWED_HOSTS", own))
        self.environment |= environment or {}
        self.prefix = prefix_of(self.environment.get(VARIABLE, ""))
        self.processes: dict[str, Process] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Return the address for a browser on this machine."""
        host = "127.0.0.1" if self.host in WILDCARDS else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self.prefix}"

    def prepare(self, *, sample: bool) -> str:
        """Migrate, collect, load the sample, as far as needed; return its logins as JSON. Raises CannotServeError."""
        before = Preparation.of(self.data)
        now = Preparation(tables_state(), static_state(), before.logins if sample else None)
        if now == before and (now.logins or not sample) and self._has_database_file():
            return now.logins or ""
        words = ["-m", "toolevals.serving.preparation"]
        words += ["--static"] if now.static != before.static else []
        words += ["--sample"] if sample else []
        result = subprocess.run(
            [*self.python, *words],
            cwd=self.folder,
            env=self.environment,
            input=now.logins or "",
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            start_new_session=True,  # Ctrl-C is for the parent, which ends it
        )
        if result.returncode:
            raise CannotServeError("The database could not be prepared: see above.")
        replace(now, logins=result.stdout if sample else None).keep(self.data)
        return result.stdout

    def start(self) -> None:
        """Start the web server, and once it answers the worker. Raises CannotServeError."""
        self.web_start()
        self.worker_start()

    def web_start(self) -> None:
        """Start the web server and wait until it answers. Raises CannotServeError."""
        bind = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        self.start_process(WEB, [*WEB_WORDS, "--bind", bind])
        self._wait_ready()

    def web_kill(self) -> None:
        """Kill the web server and its workers at once, as a crash would; the port is free for `web_start`."""
        end_group(self.processes.pop(WEB))

    def restart(self, name: str) -> None:
        """Start a process again that has ended by itself; end what it left behind. Raises CannotServeError."""
        # It stays among the processes until the new one is there: what could not be started has ended still.
        end_group(self.processes[name])
        if name == WEB:
            self.web_start()
        else:
            self.worker_start(name)

    def worker_start(self, name: str = "worker") -> Process:
        """Start a Celery worker under this name. Raises CannotServeError."""
        node = f"{name}-{os.getpid()}@{socket.gethostname()}"
        processes = max(1, (os.cpu_count() or 2) - 1)
        words = [*WORKER_WORDS, "--hostname", node, "--concurrency", str(processes)]
        # A worker that stands still hears no other signal. Killing it loses nothing.
        return self.start_process(name, words, end_by=signal.SIGKILL)

    def worker_stop(self, name: str = "worker") -> None:
        """End the Celery worker of this name in good order, so that nothing is done until one is started."""
        worker = self.processes.pop(name)
        worker.terminate()
        try:
            worker.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            end_group(worker)

    def start_process(self, name: str, words: list[str], end_by: signal.Signals = signal.SIGTERM) -> Process:
        """Start one process in a session of its own, so that Ctrl-C reaches only who starts and stops it."""
        self.processes[name] = subprocess.Popen(
            [*self.python, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: end_with_parent(end_by),  # noqa: PLW1509 - one system call
        )
        return self.processes[name]

    def ended(self) -> list[str]:
        """Return the names of the processes that have ended by themselves."""
        return [name for name, process in self.processes.items() if process.poll() is not None]

    def stop(self) -> None:
        """End all processes: in good order first, by force when that takes too long."""
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in self.processes.values():
            try:
                process.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            finally:
                end_group(process)
        self.processes.clear()

    def _has_database_file(self) -> bool:
        return not self.environment.get("DATABASE_URL") and (self.data / "toolevals.sqlite3").exists()

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if WEB in self.ended():
                raise CannotServeError(f"The {WEB} ended at once: see above.")
            if self._answers():
                return
            time.sleep(0.1)
        raise CannotServeError(f"The web server does not answer at {self.url} after {READY_SECONDS} seconds.")

    def _answers(self) -> bool:
        host = "127.0.0.1" if self.host in WILDCARDS else self.host
        connection = http.client.HTTPConnection(host, self.port, timeout=5)
        try:
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()


def end_group(process: Process) -> None:
    """Kill what is left of a process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def end_with_parent(by: signal.Signals = signal.SIGTERM) -> None:
    """Let Linux end this process by a signal when its parent is gone, however that came to its end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, by)


def own_names(host: str) -> list[str]:
    """Return the names under which browsers elsewhere may reach this machine."""
    name = socket.gethostname()
    names = {"localhost", "127.0.0.1", "[::1]", name}
    if host not in WILDCARDS:
        return sorted(names | {host})
    try:
        names |= {str(entry[4][0]) for entry in socket.getaddrinfo(name, None)}
    except OSError:
        sys.stderr.write(f"The name of this machine, {name}, is not known to it: set TOOLEVALS_ALLOWED_HOSTS.\n")
    return sorted(names)
