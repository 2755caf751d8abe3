"""Tells a gate's result on a pull request: one comment, a commit status and the step's summary.

Everything is taken from the environment that GitHub Actions gives to a job.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from toolevals.cli.connection import PASSING, RetryDeadline, retry_after
from toolevals.cli.http import BadAddressError, Http, Response, UnreachableError
from toolevals.cli.output import CommandError, Exit, note
from toolevals.json_types import JsonObject
from toolevals.presentation.gate_comment import code, text
from toolevals.presentation.gate_reports import GateReport

API: Final = "https://api.github.com"
# How long a forge may be away, and how much of a status is shown there.
SECONDS: Final = 120
_LONGEST_STATUS: Final = 140
# Who may have written the comment: an app, or someone who may write to the repository. No stranger's is taken over.
_WRITERS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_NEXT: Final = re.compile(r'<([^<>]+)>\s*;[^,]*\brel="?next\b')
_MAY_NOT: Final = (
    "the token may not write here. That of a pull request from a fork never may; else the job needs"
    " `permissions: {pull-requests: write, statuses: write}`"
)
_OUTSIDE: Final = "run it in a workflow on pull_request, or leave --github out"


class ReadOnlyTokenError(CommandError):
    """The token may not write."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request, and what a job may do there. `commit` is the newest one of its branch."""

    repository: str
    number: int
    commit: str
    token: str = field(repr=False)
    api: str = API
    page: str = ""
    summary: str = ""

    @classmethod
    def from_environment(cls) -> PullRequest:
        """Return the pull request that the job is about. Raises CommandError that names what is missing."""
        values = {name: os.environ.get(name, "") for name in ("GITHUB_REPOSITORY", "GITHUB_EVENT_PATH", "GITHUB_TOKEN")}
        if not values["GITHUB_REPOSITORY"] or not values["GITHUB_EVENT_PATH"]:
            missing = next(name for name, said in values.items() if not said)
            raise _wrong(f"{missing} is not set: this is no job of GitHub Actions; {_OUTSIDE}")
        number, commit = _event(values["GITHUB_EVENT_PATH"])
        if not values["GITHUB_TOKEN"]:
            raise _wrong("GITHUB_TOKEN is not set: give the step `env: {GITHUB_TOKEN: ${{ github.token }}}`")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", values["GITHUB_REPOSITORY"], re.ASCII):
            raise _wrong("GITHUB_REPOSITORY is not OWNER/NAME")
        if not (values["GITHUB_TOKEN"].isascii() and values["GITHUB_TOKEN"].isprintable()):
            raise _wrong("GITHUB_TOKEN has characters that no token has")
        server, run = os.environ.get("GITHUB_SERVER_URL", ""), os.environ.get("GITHUB_RUN_ID", "")
        return cls(
            values["GITHUB_REPOSITORY"],
            number,
            commit or os.environ.get("GITHUB_SHA", ""),
            values["GITHUB_TOKEN"],
            (os.environ.get("GITHUB_API_URL", "") or API).rstrip("/"),
            f"{server}/{values['GITHUB_REPOSITORY']}/actions/runs/{run}" if server and run else "",
            os.environ.get("GITHUB_STEP_SUMMARY", ""),
        )

    def summarise(self, markdown: str) -> None:
        """Add to the step's summary. Raises CommandError where that cannot be written."""
        if not self.summary:
            return
        try:
            with Path(self.summary).open("a", encoding="utf-8") as file:
                file.write(f"{markdown}\n")
        except OSError as error:
            raise _wrong(f"cannot write the step's summary {self.summary}: {error.strerror}") from error


def _event(path: str) -> tuple[int, str]:
    """Return the number of the pull request that a job runs for, and its newest commit."""
    try:
        event = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise _wrong(f"cannot read the event in {path} (GITHUB_EVENT_PATH): {error}") from error
    found = event.get("pull_request") if isinstance(event, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("number"), int):
        name = os.environ.get("GITHUB_EVENT_NAME", "") or "this one"
        raise _wrong(f"the event {name} has no pull request: {_OUTSIDE}")
    head = found.get("head")
    return found["number"], str(head.get("sha") or "") if isinstance(head, dict) else ""


def _wrong(words: str) -> CommandError:
    return CommandError(Exit.CONFIGURATION, f"--github: {words}")


def publish(place: PullRequest, name: str, report: GateReport, markdown: str, *, passed: bool) -> Exit:
    """Write the comment, the status and the summary.

    A token that may not write, as on a fork, leaves the summary, which says why; any other failure is returned.
    """
    forge = _GitHub(place)
    told: list[str] = []
    worst = Exit.OK
    acts: dict[str, Callable[[], None]] = {
        "comment": lambda: forge.comment(name, markdown),
        "status": lambda: forge.status(name, report, passed=passed),
    }
    for what, act in acts.items():
        try:
            act()
        except CommandError as error:
            told.append(f"The pull request gets no {what}: {error}")
            worst = worst if isinstance(error, ReadOnlyTokenError) else error.exit_status
    for line in told:
        note(f"--github: {line}")
    place.summarise("\n\n".join([markdown, *map(text, told)]))
    return worst


class _GitHub:
    """One pull request's addresses."""

    def __init__(self, place: PullRequest) -> None:
        self.place = place
        headers = {
            "Authorization": f"Bearer {place.token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "toolevals",
        }
        try:
            self.http = Http(f"{place.api}/repos/{place.repository}/", headers)
        except BadAddressError as error:
            raise _wrong(f"GITHUB_API_URL {place.api} is not an address: {error}") from error
        self.retry = RetryDeadline(time.monotonic() + SECONDS)

    def comment(self, name: str, markdown: str) -> None:
        """Write the one comment of a gate: the oldest is changed, else there is a new one.

        Two jobs that begin at once make one each, and see both: the oldest stays, with the words of the last.
        """
        mark = f"<!-- toolevals gate {quote(name, safe='')} -->"
        commit = f"For {code(self.place.commit[:7])}. " if self.place.commit else ""
        body = f"{mark}\n{markdown}\n<sub>{commit}One comment, changed by each push.</sub>\n"
        found = self._marked(mark)
        made = None
        if not found:
            made = self._ask("POST", f"issues/{self.place.number}/comments", {"body": body})[0]["id"]
            found = sorted({made, *self._marked(mark)})
        oldest, *others = found
        if oldest != made:
            self._ask("PATCH", f"issues/comments/{oldest}", {"body": body})
        for other in others:
            self._ask("DELETE", f"issues/comments/{other}", gone=True)

    def status(self, name: str, report: GateReport, *, passed: bool) -> None:
        """Set the status of the commit."""
        if not self.place.commit:
            raise _wrong("no commit is named: GITHUB_SHA is not set")
        failed = "error" if report.result.status == "unanswered" else "failure"
        said = {
            "state": "success" if passed else failed,
            "context": f"toolevals / gate {name}",
            "description": report.summary[:_LONGEST_STATUS],
        }
        page = report.links.get("gate", "") or self.place.page
        self._ask(
            "POST", f"statuses/{quote(self.place.commit, safe='')}", said | ({"target_url": page} if page else {})
        )

    def _marked(self, mark: str) -> list[int]:
        """Return the comments that begin with the mark, the oldest first."""
        comments = self._comments()
        return sorted(each["id"] for each in comments if str(each.get("body")).startswith(mark) and _is_ours(each))

    def _comments(self) -> Iterator[JsonObject]:
        path: str = f"issues/{self.place.number}/comments?per_page=100"
        while path:
            comments, headers = self._ask("GET", path)
            yield from comments
            following = _NEXT.search(headers.get("Link", ""))
            path = following[1] if following else ""
            # The token goes to this forge alone.
            if path and not path.startswith(f"{self.place.api}/"):
                raise _wrong(f"{self.place.api} names a next page at another address")

    def _ask(
        self, method: str, path: str, said: Mapping[str, Any] | None = None, *, gone: bool = False
    ) -> tuple[Any, Mapping[str, str]]:
        """Return the value and headers of a success; with `gone` what is not there is one.

        Asks again where that may help.
        """
        while True:
            answer, asked = None, None
            try:
                answer = self.http.request(method, path, json=said)
                value = _value(answer)
                why, asked = f"{self.place.api} answered {answer.status}{_words(value)}", retry_after(answer)
            except BadAddressError as error:
                raise _wrong(f"{self.place.api}: {error}") from error
            except UnreachableError as error:
                answer, why = None, f"{self.place.api} does not answer ({error})"
            if answer and (answer.is_success or (gone and answer.status == HTTPStatus.NOT_FOUND)):
                self.retry.answered()
                return value, answer.headers
            if not _passes(answer):
                raise self._refusal(answer, why)
            if not self.retry.wait(why, asked):
                raise CommandError(Exit.UNREACHABLE, why)

    def _refusal(self, answer: Response | None, why: str) -> CommandError:
        if answer and answer.status == HTTPStatus.FORBIDDEN:
            return ReadOnlyTokenError(Exit.CONFIGURATION, f"{why}: {_MAY_NOT}")
        if answer and answer.status == HTTPStatus.NOT_FOUND:
            why += f": is {self.place.repository}#{self.place.number} there for this token?"
        return CommandError(Exit.CONFIGURATION, why)


def _passes(answer: Response | None) -> bool:
    """Return whether a failure may pass. One of rights with a time, or with no requests left, is a limit of these."""
    if answer is None or answer.status in PASSING or answer.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return True
    return "Retry-After" in answer.headers or answer.headers.get("X-RateLimit-Remaining") == "0"


def _value(answer: Response) -> Any:
    """Return an answer's JSON value, None where it is none. Raises CommandError where a success is none."""
    try:
        return answer.json() if answer.content else None
    except ValueError as error:
        if not answer.is_success:
            return None
        raise _wrong(f"{answer.request.url} answers with no JSON: is GITHUB_API_URL that of a forge?") from error


def _is_ours(comment: JsonObject) -> bool:
    user = comment.get("user")
    is_app = isinstance(user, dict) and user.get("type") == "Bot"
    return is_app or comment.get("author_association") in _WRITERS


def _words(said: Any) -> str:
    """Return what an answer says is wrong, short enough for a line."""
    words = said.get("message") if isinstance(said, dict) else ""
    return f" ({' '.join(str(words).split())[:200]})" if words else ""
