"""`./dev run`: everything that a newcomer needs, until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from scripts.dev.application import Application
from scripts.dev.environment import PYTHON, ROOT, DevError, ensure, say, writable

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Ctrl-C, or a signal that asks for the end."""


class StopOnce:
    """A signal handler that raises StopRequested the first time; the end itself is not interrupted."""

    def __init__(self) -> None:
        self.requested = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.requested:
            self.requested = True
            raise StopRequested


def run(arguments: argparse.Namespace) -> int:
    """Prepare, serve until asked to stop, stop. Raises DevError."""
    data = (arguments.data or Path(os.environ.get("TOOLEVALS_DATA_DIR", ROOT / "data"))).resolve()
    port_free(arguments.host, arguments.port)
    ensure("run")
    writable(data)
    application = Application(python=PYTHON, data=data, host=arguments.host, port=arguments.port)
    stop = StopOnce()
    for number in SIGNALS:
        signal.signal(number, stop)
    with application:
        try:
            logins = application.prepare(sample=not arguments.no_sample)
            application.start()
            say(f"\ntoolevals runs at {application.url}, with its data in {data}. Ctrl-C stops it.")
            say_logins(json.loads(logins or "[]"))
            watch(application)
        except StopRequested:
            say("\nStopping")
    return 0


def watch(application: Application) -> NoReturn:
    """Wait until a process ends by itself. Raises DevError then."""
    while not (name := application.ended()):
        time.sleep(0.5)
    status = application.processes[name].returncode
    raise DevError(
        f"The {name} ended unexpectedly (status {status}), so everything was stopped. Nothing is lost: start again."
    )


def say_logins(logins: list[dict[str, str]]) -> None:
    """Say who may sign in to the sample project."""
    if logins:
        say("\nThe sample project's people sign in from this machine only:")
    for login in logins:
        say(f"  {login['email']:<22}{login['password']:<14}{login['role']:<13}{login['does']}")


def port_free(host: str, port: int) -> None:
    """Raise DevError when the address cannot be listened on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OverflowError as error:
            raise DevError(f"{port} is no port: choose one between 1024 and 65535.") from error
        except OSError as error:
            raise DevError(
                f"Cannot listen on {host}, port {port} ({error.strerror}). "
                f"Choose another port: ./dev run --port {port + 1}"
            ) from error
