"""A project on a server, spoken to with a token over the REST interface."""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from toolevals.cli.exits import CommandError, Exit


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add what every verb that speaks to a server needs to know."""
    group = parser.add_argument_group("server", "The token is read from the environment variable TOOLEVALS_TOKEN.")
    group.add_argument("--server", default=os.environ.get("TOOLEVALS_URL", "http://127.0.0.1:8000"), metavar="URL")
    group.add_argument("--project", default=os.environ.get("TOOLEVALS_PROJECT", ""), metavar="SLUG")
    group.add_argument("--timeout", type=float, default=3600, metavar="SECONDS", help="for the work to finish")


class ProjectClient:
    """One project's addresses; every error of the server or the network becomes a CommandError."""

    def __init__(
        self,
        *,
        server: str,
        project: str,
        token: str,
        timeout: float = 3600,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.project = project
        self.deadline = time.monotonic() + timeout
        self.http = httpx.Client(
            base_url=f"{server.rstrip('/')}/api/v1/projects/{project}/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            transport=transport,
        )

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> ProjectClient:
        """Return a client for what the command line and the environment say."""
        token = os.environ.get("TOOLEVALS_TOKEN", "")
        if not token:
            raise CommandError(
                Exit.CONFIGURATION, "no token: set TOOLEVALS_TOKEN to one made on the project's Tokens page"
            )
        if not arguments.project:
            raise CommandError(Exit.CONFIGURATION, "no project: give --project SLUG or set TOOLEVALS_PROJECT")
        return cls(server=arguments.server, project=arguments.project, token=token, timeout=arguments.timeout)

    def request(self, method: str, path: str, **options: Any) -> Any:
        """Return the answer's JSON value. Raises CommandError with what the server said is wrong."""
        with self._spoken():
            response = self.http.request(method, path, **options)
        _check(response)
        return response.json() if response.content else None

    def download(self, path: str) -> Iterator[bytes]:
        """Yield the parts of a file as they arrive."""
        with self._spoken(), self.http.stream("GET", path) as response:
            if not response.is_success:
                response.read()
            _check(response)
            yield from response.iter_bytes()

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        try:
            yield
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise CommandError(Exit.CONFIGURATION, f"the server's address is not one: {error}") from error
        except httpx.ReadTimeout as error:
            raise CommandError(Exit.TIMED_OUT, f"no answer in time from {self.http.base_url}") from error
        except httpx.TransportError as error:
            raise CommandError(Exit.UNREACHABLE, f"cannot reach {self.http.base_url}: {error}") from error

    def pages(self, path: str, **parameters: str) -> Iterator[dict[str, Any]]:
        """Yield every item of a paginated list."""
        address: str | None = path
        while address:
            page = self.request("GET", address, params=parameters)
            yield from page["results"]
            address, parameters = page["next"], {}

    def upload(self, path: str, file: Path, fields: Mapping[str, str]) -> Any:
        """Send a file; a repeated send of the same request is answered, not done again."""
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        try:
            with file.open("rb") as stream:
                return self.request(
                    "POST", path, files={"file": (file.name, stream)}, data=dict(fields), headers=headers
                )
        except OSError as error:
            raise CommandError(Exit.DATA, f"cannot read {file}: {error.strerror}") from error

    def wait(self, job: Mapping[str, Any], *, say: Callable[[str], None] | None = None) -> dict[str, Any]:
        """Return the job once it has ended well. Raises CommandError when it failed, or at the deadline."""
        pause = 0.1
        while True:
            state: dict[str, Any] = self.request("GET", f"jobs/{job['id']}/")
            if say:
                say(f"{state['title']}: {state['done']} of {state['total']}")
            if state["state"] == "succeeded":
                return state
            if state["state"] in ("failed", "cancelled"):
                raise CommandError(Exit.DATA, "\n".join([f"{state['title']}: {state['state']}", *_job_errors(state)]))
            if time.monotonic() > self.deadline:
                raise CommandError(Exit.TIMED_OUT, f"{state['title']}: not finished in time; it goes on at the server")
            time.sleep(pause)
            pause = min(pause * 1.5, 2)


def say_progress(line: str) -> None:
    """Show one line of progress on a terminal, in place of the last one; nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _check(response: httpx.Response) -> None:
    if not response.is_success:
        raise CommandError(_exit_for(response.status_code), _what_is_wrong(response))


def _exit_for(status: int) -> Exit:
    if status in (401, 403, 404):
        return Exit.CONFIGURATION
    return Exit.UNREACHABLE if status >= 500 else Exit.DATA


def _what_is_wrong(response: httpx.Response) -> str:
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    missing = response.url.path if response.status_code == httpx.codes.NOT_FOUND else ""
    said = (str(response.status_code), problem.get("detail") or problem.get("title"), missing)
    lines = ["the server answered " + ": ".join(filter(None, said))]
    places = ((item.get("pointer"), item.get("message")) for item in problem.get("problems", []))
    lines += ["  " + ": ".join(filter(None, place)) for place in places]
    return "\n".join(lines)


def _job_errors(state: Mapping[str, Any]) -> list[str]:
    errors = state.get("report", {}).get("errors", [])
    return [
        "  " + ", ".join(str(error[key]) for key in ("line", "pointer", "message") if error.get(key) not in (None, ""))
        for error in errors
    ]
