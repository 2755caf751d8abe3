"""Runs `toolevals serve`: the web server, a worker and, unless told otherwise, the sample project, until Ctrl-C."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.verbs import Verbs
from toolevals.path_prefix import PathPrefixError
from toolevals.serving.application import WEB, Application, CannotServeError
from toolevals.serving.folders import data_folder

# Seconds before a process that died is started again, longer each time. After one more death of the web server nothing
# is; a worker waits the longest.
PAUSES = (1.0, 2.0, 4.0, 8.0)
LONGEST_PAUSE = 20.0
# A death so long ago does not count any more.
CALM_SECONDS = 120
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


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


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("serve")
    add_serve_options(parser)
    parser.set_defaults(run=run)


def add_serve_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be chosen; `./dev run` takes the same."""
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="to listen on (8000)")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"of the database and the uploads ({data_folder()})")
    parser.add_argument("--no-sample", action="store_true", help="start without the sample project")


def run(arguments: argparse.Namespace) -> int:
    """Prepare, serve until asked to stop, stop."""
    if importlib.util.find_spec("django") is None:
        raise CommandError(Exit.CONFIGURATION, 'this verb needs the server: pip install "toolevals[server]"')
    data = (arguments.data or data_folder()).resolve()
    port_free(arguments.host, arguments.port)
    require_writable(data)
    try:
        application = Application(python=sys.executable, data=data, host=arguments.host, port=arguments.port)
    except PathPrefixError as error:
        raise CommandError(Exit.CONFIGURATION, str(error)) from error
    stop = StopOnce()
    for number in SIGNALS:
        signal.signal(number, stop)
    with application:
        try:
            logins = application.prepare(sample=not arguments.no_sample)
            application.start()
            say(f"\ntoolevals runs at {application.url}, with its data in {data}. Ctrl-C stops it.")
            say(f"The command line is {command_line()}.")
            if arguments.no_sample:
                say(f"Create the first account with: {first_account(data)}")
            say_logins(json.loads(logins or "[]"))
            watch(application)
        except StopRequested:
            say("\nStopping")
        except CannotServeError as error:
            raise CommandError(Exit.CRASHED, str(error)) from error
    return Exit.OK


def command_line() -> str:
    """Return where the `toolevals` command of this environment is."""
    beside = Path(sys.executable).with_name("toolevals")
    return str(beside) if beside.exists() else f"{sys.executable} -m toolevals.cli.main"


def first_account(data: Path) -> str:
    """Return the command that makes an account in this data folder, for a shell."""
    # Another shell may not have the variable.
    is_usual = data == data_folder().resolve() and not os.environ.get("TOOLEVALS_DATA_DIR")
    place = [] if is_usual else [f"TOOLEVALS_DATA_DIR={shlex.quote(str(data))}"]
    command = str(Path(sys.executable).with_name("toolevals"))
    words = [shlex.quote(command)] if Path(command).exists() else [shlex.quote(sys.executable), "-m toolevals.cli.main"]
    return " ".join([*place, *words, "create-owner you@example.org --name 'Your Name' --project evals"])


def require_writable(folder: Path) -> None:
    """Make the folder where it is missing. Raises CommandError unless files can be made in it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        words = f"cannot write in {folder} ({error.strerror}): name another folder for the data with --data"
        raise CommandError(Exit.CONFIGURATION, words) from error


class Restarts:
    """Recent deaths of each process, and the pause before it is started again."""

    def __init__(self) -> None:
        self._deaths: dict[str, list[float]] = {}

    def pause(self, name: str, now: float) -> float | None:
        """Note a death at `now` and return the pause in seconds; None where the web server has died too often.

        A worker is started again however often it dies: without one, people still read and label.
        """
        recent = [at for at in self._deaths.get(name, []) if now - at < CALM_SECONDS]
        self._deaths[name] = [*recent, now]
        if len(recent) < len(PAUSES):
            return PAUSES[len(recent)]
        return None if name == WEB else LONGEST_PAUSE


def watch(application: Application) -> NoReturn:
    """Start again whatever ends by itself. Raises CannotServeError once the web server does so too often."""
    restarts = Restarts()
    due: dict[str, float] = {}
    while True:
        now = time.monotonic()
        for name in application.ended():
            if name not in due:
                due[name] = now + pause_after(application, restarts, name, now)
            if due[name] <= now:
                del due[name]
                if restart(application, name):
                    say(f"The {name} runs again.")
        time.sleep(0.5)


def pause_after(application: Application, restarts: Restarts, name: str, now: float) -> float:
    """Say that a process has ended; return the pause before it is started again. Raises CannotServeError."""
    status = application.processes[name].returncode
    pause = restarts.pause(name, now)
    if pause is None:
        raise CannotServeError(
            f"The {name} ended {len(PAUSES) + 1} times within {CALM_SECONDS} seconds, the last time with status "
            f"{status}, so everything was stopped. No data was lost. Fix the problem shown above, then restart."
        )
    say(f"The {name} ended unexpectedly (status {status}). It is started again in {pause:g} s. Nothing is lost.")
    return pause


def restart(application: Application, name: str) -> bool:
    """Start a process again; return whether it runs. Raises CannotServeError where the web server can't be started."""
    try:
        application.restart(name)
    except CannotServeError:
        # The next round tries again: the process has ended still.
        if name == WEB and not application.ended():
            raise
        return False
    return True


def say_logins(logins: list[dict[str, str]]) -> None:
    """Say who may sign in to the sample project."""
    if logins:
        say("\nThe sample project's people can only sign in from this machine. Their password (shown only here):")
    for login in logins:
        say(f"  {login['email']:<22}{login['password']:<16}{login['role']:<13}{login['does']}")


def port_free(host: str, port: int) -> None:
    """Raise CommandError when the address cannot be listened on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OverflowError as error:
            words = f"{port} is not a port: choose one between 1024 and 65535"
            raise CommandError(Exit.CONFIGURATION, words) from error
        except OSError as error:
            words = f"cannot listen on {host}, port {port} ({error.strerror}): choose another, as --port {port + 1}"
            raise CommandError(Exit.CONFIGURATION, words) from error
