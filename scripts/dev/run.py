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

# Seconds before a process that died is started again, longer each time; after one more death nothing is.
PAUSES = (1.0, 2.0, 4.0, 8.0)
# A death so long ago does not count any more.
CALM_SECONDS = 120
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


class Restarts:
    """Recent deaths of each process, and the pause before it is started again."""

    def __init__(self) -> None:
        self._deaths: dict[str, list[float]] = {}

    def pause(self, name: str, now: float) -> float | None:
        """Note a death at `now` and return the pause in seconds; None where it has died too often to go on."""
        recent = [at for at in self._deaths.get(name, []) if now - at < CALM_SECONDS]
        self._deaths[name] = [*recent, now]
        return PAUSES[len(recent)] if len(recent) < len(PAUSES) else None


def watch(application: Application) -> NoReturn:
    """Start again whatever ends by itself. Raises DevError once that happens too often."""
    restarts = Restarts()
    while True:
        while not (name := application.ended()):
            time.sleep(0.5)
        status = application.processes[name].returncode
        pause = restarts.pause(name, time.monotonic())
        if pause is None:
            raise DevError(
                f"The {name} ended {len(PAUSES) + 1} times within {CALM_SECONDS} seconds, the last time with status "
                f"{status}, so everything was stopped. Nothing is lost: put right what is said above, and start again."
            )
        say(f"The {name} ended unexpectedly (status {status}). It is started again in {pause:g} s. Nothing is lost.")
        time.sleep(pause)
        try:
            application.restart(name)
        except DevError:
            if not application.ended():
                raise
        else:
            say(f"The {name} runs again.")


def say_logins(logins: list[dict[str, str]]) -> None:
    """Say who may sign in to the sample project."""
    if logins:
        say("\nThe sample project's people sign in from this machine only, with a password that only you are told:")
    for login in logins:
        say(f"  {login['email']:<22}{login['password']:<16}{login['role']:<13}{login['does']}")


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
