"""Keep servers with their tokens for the account that runs the command, in a file that no one else may read."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from toolevals.cli.exits import CommandError, Exit
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
        words = f"{path} was not written by login: delete it, and log in"
        raise CommandError(Exit.CONFIGURATION, words) from error


def login_for(server: str, project: str) -> Login | None:
    """Return the newest login for a server and a project; where either is empty, any of them will do."""
    return next((each for each in logins() if server in ("", each.server) and project in ("", each.project)), None)


def login_keep(login: Login) -> Path:
    """Keep a login as the newest, in place of an earlier one for the same project, and return the file."""
    return _write([login, *(each for each in logins() if (each.server, each.project) != (login.server, login.project))])


def logins_forget(server: str, project: str) -> list[Login]:
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
