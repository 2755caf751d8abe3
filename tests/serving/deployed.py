"""Commands of the deployment files, as a platform runs them: kept running until the installation is ready."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

PATIENCE_SECONDS = 120


@contextmanager
def running(
    words: list[str], folder: Path, environment: Mapping[str, str], status: int = 0, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Keep a command running as its own session, and end it as systemd and Docker do: its status must be this."""
    process = subprocess.Popen(words, cwd=folder, env=environment, start_new_session=True, **options)
    try:
        yield process
        assert process.poll() is None, words
    finally:
        process.terminate()
        process.wait(timeout=60)
    assert process.returncode == status, words


def wait_ready(port: int) -> None:
    """Return once every part of the installation does its work. Raises AssertionError with those that do not."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := readiness(port)).get("ready"):
        assert time.monotonic() < deadline, found
        time.sleep(0.3)


def readiness(port: int) -> dict[str, object]:
    """Return the answer of /readyz; nothing where it is not ready."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=30) as answer:
            found: dict[str, object] = json.load(answer)
    except URLError as error:
        return {"error": str(error)}
    return found
