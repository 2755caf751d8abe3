"""An installation of its own for a test: a database, perhaps a broker, and worker processes that can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fixtures.kept_python import KeptPython
from tests.fixtures.loaded import LOADED
from toolevals.serving.application import Process

ROOT = Path(__file__).resolve().parent.parent.parent
LEASE_SECONDS = 2


class Installation:
    """Made of environment variables; everything in it runs in processes of their own, which end with it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")},
            "DJANGO_SETTINGS_MODULE": "toolevals.settings",
            "TOOLEVALS_DATA_DIR": str(folder),
            "BATCH_LEASE_SECONDS": str(LEASE_SECONDS),
            **environment,
        }
        self.workers: list[Process] = []
        self.python = KeptPython(self.environment)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.python.close()
        for worker in list(self.workers):
            self.kill(worker)

    def drive(self, step: str, number: int, driver: str = "tests.workspace.queue_driver") -> Any:
        """Do one step of a driver to its end and return what it printed."""
        try:
            printed = self.python.run(f"from {driver} import {step} as step; step({number})")
        except subprocess.CalledProcessError as error:
            raise AssertionError(f"{error.stderr}{self.log()}") from error
        return json.loads(printed) if printed else None

    def worker(self, processes: int = 2, *, loaded: bool = False) -> Process:
        """Start a worker; with `loaded` it begins with the application loaded, and is not meant to be killed."""
        words = ["celery", "-A", "tests.workspace.worker", "worker", "-n", f"worker{len(self.workers)}@tests"]
        words += ["-c", str(processes), "--loglevel", "WARNING"]
        log = self.folder / "worker.log"
        worker: Process = LOADED.run(self.environment, log, *words) if loaded else self._start(log, words)
        self.workers.append(worker)
        return worker

    def _start(self, log: Path, words: list[str]) -> subprocess.Popen[bytes]:
        with log.open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def kill(self, worker: Process) -> None:
        """End a worker and its pool as a power failure would."""
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        self.workers.remove(worker)

    def kill_pool_of(self, worker: Process) -> None:
        """End the pool's processes and leave the worker that minds them."""
        children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)

    def log(self) -> str:
        """Return the end of what the workers said."""
        return self.log_whole()[-4000:]

    def log_whole(self) -> str:
        """Return what the workers said."""
        path = self.folder / "worker.log"
        return path.read_text() if path.exists() else ""
