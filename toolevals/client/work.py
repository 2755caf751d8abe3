"""Speaks to one project on a server, and waits for its background work."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable
from urllib.parse import quote

from toolevals.client.connection import Connection, unsaid
from toolevals.client.http import Transport, job_errors
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.server_errors import LateError, ServerError


class ProjectConnection(Connection):
    """One project's addresses. A piece of work is waited for `timeout` seconds.

    `note` is told what is worth knowing, a line each; `progress` is told often how far the work is.
    """

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
        note: Callable[[str], None] = unsaid,
        progress: Callable[[str], None] = unsaid,
    ) -> None:
        path = f"projects/{quote(project, safe='')}/"
        super().__init__(server, token, path, timeout=timeout, transport=transport, sleep=sleep, clock=clock, note=note)
        self.project = project
        self.token = token
        self.progress = progress

    def page(self, path: str) -> str:
        """Return the address of one of the project's pages."""
        return f"{self.server}/p/{self.project}/{path}"

    def wait(self, job: JsonMapping) -> JsonObject:
        """Return the job once it has ended well, and name its page.

        Raises ServerError when it failed, or at the deadline. Where it goes on without us, how to look again is said.
        """
        self.retry.deadline = self.retry.clock() + self.timeout
        try:
            ended = self._ended(job)
        except ServerError as error:
            raise type(error)(f"{error}\n{self._look_again(job)}") from error
        except KeyboardInterrupt:
            self.note(f"\nThe job continues on the server.\n{self._look_again(job)}")
            raise
        finally:
            self.retry.deadline = math.inf
            self.progress("")
        if ended["state"] != "succeeded":
            said = [f"{ended['title']}: {ended['state']}", *job_errors(ended), self._page_of(job)]
            raise ServerError("\n".join(said))
        self.note(self._page_of(job))
        return ended

    def _ended(self, job: JsonMapping) -> JsonObject:
        pause = 0.1
        while True:
            state: JsonObject = self.request("GET", f"jobs/{job['id']}/")
            self.progress(f"{state['title']}: {state['done']} of {state['total']}")
            if state["state"] in ("succeeded", "failed", "cancelled"):
                return state
            if self.retry.clock() > self.retry.deadline:
                raise LateError(f"{state['title']}: timed out; the job continues on the server")
            self.retry.sleep(pause)
            pause = min(pause * 1.5, 2)

    def _look_again(self, job: JsonMapping) -> str:
        """Return how to look at a job that is at work: the command, and the page."""
        words = ("toolevals", "jobs", str(job["id"]), "--server", self.server, "--project", self.project)
        return f"check the job: {shlex.join(words)}\n{self._page_of(job)}"

    def _page_of(self, job: JsonMapping) -> str:
        return f"the page: {self.page('jobs/' + str(job['id']) + '/')}"
