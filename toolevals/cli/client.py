"""Speaks to a project on a server: the one that options, the environment or a login name, and its background work."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections.abc import Callable
from urllib.parse import quote

from toolevals.cli.connection import ServerClient
from toolevals.cli.http import Transport, job_errors
from toolevals.cli.login import LOCAL, login_for
from toolevals.cli.output import CommandError, Exit, note
from toolevals.json_types import JsonMapping, JsonObject


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add what every verb that speaks to a server needs to know."""
    words = "Defaults to the saved login. TOOLEVALS_TOKEN takes precedence."
    group = parser.add_argument_group("server", words)
    group.add_argument("--server", default="", metavar="URL", help="by default TOOLEVALS_URL")
    group.add_argument("--project", default="", metavar="SLUG", help="by default TOOLEVALS_PROJECT")
    group.add_argument("--timeout", type=_seconds, default=3600, metavar="SECONDS", help="how long to wait for the job")


class ProjectClient(ServerClient):
    """One project's addresses."""

    def __init__(
        self,
        *,
        server: str,
        project: str,
        token: str,
        timeout: float = 3600,
        transport: Transport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        path = f"projects/{quote(project, safe='')}/"
        super().__init__(server, token, path, timeout=timeout, transport=transport, sleep=sleep, clock=clock)
        self.project = project
        self.token = token

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> ProjectClient:
        """Return a client for what the command line, the environment and `toolevals login` say.

        A token that was kept goes to the server that it was kept for, and to no other.
        """
        server = (arguments.server or os.environ.get("TOOLEVALS_URL", "")).rstrip("/")
        project = arguments.project or os.environ.get("TOOLEVALS_PROJECT", "")
        token = os.environ.get("TOOLEVALS_TOKEN", "")
        if not token:
            login = login_for(server, project)
            if login is None:
                of = " ".join(filter(None, (project and f"for the project {project}", server and f"at {server}")))
                words = f"no token {of}".rstrip()
                words += ": make one on the project's Tokens page, and run toolevals login or set TOOLEVALS_TOKEN"
                raise CommandError(Exit.CONFIGURATION, words)
            server, project, token = login.server, login.project, login.token
        if not project:
            raise CommandError(Exit.CONFIGURATION, "no project: give --project SLUG or set TOOLEVALS_PROJECT")
        return cls(server=server or LOCAL, project=project, token=token, timeout=arguments.timeout)

    def page(self, path: str) -> str:
        """Return the address of one of the project's pages."""
        return f"{self.server}/p/{self.project}/{path}"

    def wait(self, job: JsonMapping, *, say: Callable[[str], None] | None = None) -> JsonObject:
        """Return the job once it has ended well, and name its page.

        Raises CommandError when it failed, or at the deadline. Where it goes on without us, how to look again is said.
        """
        try:
            ended = self._ended(job, say or (lambda _: None))
        except CommandError as error:
            raise CommandError(error.exit_status, f"{error}\n{self._look_again(job)}") from error
        except KeyboardInterrupt:
            note(f"\nThe job continues on the server.\n{self._look_again(job)}")
            raise
        finally:
            if say:
                say("")
        if ended["state"] != "succeeded":
            said = [f"{ended['title']}: {ended['state']}", *job_errors(ended), self._page_of(job)]
            raise CommandError(Exit.DATA, "\n".join(said))
        note(self._page_of(job))
        return ended

    def _ended(self, job: JsonMapping, say: Callable[[str], None]) -> JsonObject:
        pause = 0.1
        while True:
            state: JsonObject = self.request("GET", f"jobs/{job['id']}/")
            say(f"{state['title']}: {state['done']} of {state['total']}")
            if state["state"] in ("succeeded", "failed", "cancelled"):
                return state
            if self.retry.clock() > self.retry.deadline:
                raise CommandError(Exit.TIMED_OUT, f"{state['title']}: timed out; the job continues on the server")
            self.retry.sleep(pause)
            pause = min(pause * 1.5, 2)

    def _look_again(self, job: JsonMapping) -> str:
        """Return how to look at a job that is at work: the command, and the page."""
        words = ("toolevals", "jobs", str(job["id"]), "--server", self.server, "--project", self.project)
        return f"check the job: {shlex.join(words)}\n{self._page_of(job)}"

    def _page_of(self, job: JsonMapping) -> str:
        return f"the page: {self.page('jobs/' + str(job['id']) + '/')}"


def _seconds(said: str) -> float:
    seconds = float(said)
    if not 0 < seconds < float("inf"):
        raise ValueError(said)
    return seconds
