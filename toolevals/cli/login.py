"""Runs `toolevals login` and `toolevals logout`: keeps a server's address and a project's token, and forgets them."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from toolevals.cli.output import CommandError, Exit, note, say
from toolevals.cli.verbs import Verbs
from toolevals.serving.folders import settings_folder

FILE = "servers.json"
# Where `toolevals serve` listens unless told otherwise.
LOCAL = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Login:
    """A token for one project of one server, whose address has no slash at its end."""

    server: str
    project: str
    token: str


def logins() -> list[Login]:
    """Return what is kept, the newest first. Raises CommandError where the file cannot be read or is not ours."""
    path = settings_folder() / FILE
    try:
        return [Login(**each) for each in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError) as error:
        words = f"{path} is not a valid login file: delete it and log in again"
        raise CommandError(Exit.CONFIGURATION, words) from error


def login_for(server: str, project: str) -> Login | None:
    """Return the newest login for a server and a project; where either is empty, any of them will do."""
    return next((each for each in logins() if server in ("", each.server) and project in ("", each.project)), None)


def save_login(login: Login) -> Path:
    """Keep a login as the newest, in place of an earlier one for the same project, and return the file."""
    return _write([login, *(each for each in logins() if (each.server, each.project) != (login.server, login.project))])


def delete_logins(server: str, project: str) -> list[Login]:
    """Forget the logins for a server and a project, where both are empty all of them, and return those."""
    kept = logins()
    gone = [each for each in kept if server in ("", each.server) and project in ("", each.project)]
    if gone:
        _write([each for each in kept if each not in gone])
    return gone


def _write(kept: list[Login]) -> Path:
    """Write the file as a whole, never readable by others, not even for a moment. Raises CommandError."""
    path = settings_folder() / FILE
    new = path.with_name(f"{FILE}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump([asdict(each) for each in kept], file, indent=2)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot write {path}: {error.strerror}") from error
    return path


def add_parser(verbs: Verbs) -> None:
    """Add both verbs."""
    login = verbs.add_parser(
        "login", epilog="Prompts for the token, or reads it from standard input: toolevals login < token.txt"
    )
    default = os.environ.get("TOOLEVALS_URL") or LOCAL
    login.add_argument("server", nargs="?", default=default, metavar="URL", help=f"the server's address ({default})")
    login.set_defaults(run=run)
    logout = verbs.add_parser("logout")
    logout.add_argument("server", nargs="?", default="", metavar="URL", help="by default all servers")
    logout.add_argument("--project", default="", metavar="SLUG", help="by default all projects")
    logout.set_defaults(run=forget)


def run(arguments: argparse.Namespace) -> int:
    """Ask the server whom the token stands for, and keep it for the project that it belongs to."""
    from toolevals.client.connection import Connection

    server = arguments.server.rstrip("/")
    token = _token(server)
    me = Connection(server, token, note=note).request("GET", "me/")
    if not me["project"]:
        raise CommandError(Exit.CONFIGURATION, "this is not a project token: create one on the project's Tokens page")
    path = save_login(Login(server, me["project"], token))
    say(f"{me['user']['name']}, {me['role']} of the project {me['project']} at {server}. Saved in {path}.")
    if os.environ.get("TOOLEVALS_TOKEN"):
        note("TOOLEVALS_TOKEN is set and takes precedence over the saved login.")
    return Exit.OK


def forget(arguments: argparse.Namespace) -> int:
    """Forget tokens here. They stay valid at the server until they are revoked there."""
    gone = delete_logins(arguments.server.rstrip("/"), arguments.project)
    if not gone:
        raise CommandError(Exit.CONFIGURATION, "no saved login matches")
    for login in gone:
        say(f"Logged out of {login.project} at {login.server}.")
        say(f"To revoke the token: {login.server}/p/{login.project}/tokens/")
    return Exit.OK


def _token(server: str) -> str:
    """Return the token as typed without an echo, or as the first line of standard input."""
    if sys.stdin is None:
        raise CommandError(Exit.CONFIGURATION, "no token: standard input is closed")
    typed = getpass.getpass(f"Token for {server}: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not typed.strip():
        raise CommandError(Exit.CONFIGURATION, "no token given: create one on the project's Tokens page")
    return typed.strip()
