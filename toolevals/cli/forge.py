"""Tells a gate's result on a pull request of a forge: one comment, the status of a commit, and annotations of tools."""

from __future__ import annotations

import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import quote

from toolevals.cli.output import CommandError, Exit, note
from toolevals.cli.tool_lines import file_of_tools, lines_of_tools
from toolevals.client.connection import PASSING, RetryDeadline, retry_after
from toolevals.client.http import Http, Response
from toolevals.json_types import JsonObject
from toolevals.presentation.gate_comment import RunChanges, code, text
from toolevals.presentation.gate_reports import GateReport
from toolevals.server_errors import BadAddressError, UnreachableError

# How long a forge may be away, and how much of a status is shown there.
SECONDS: Final = 120
_LONGEST_STATUS: Final = 140
_NEXT: Final = re.compile(r'<([^<>]+)>\s*;[^,]*\brel="?next\b')


class ReadOnlyTokenError(CommandError):
    """The token may not write."""


class Forge(ABC):
    """One pull request, and what a job may do there. `commit` is the newest one of its branch."""

    option: ClassVar[str]
    # How a comment is changed, what a status of a gate that is not passed is, and what its name is called.
    change: ClassVar[str]
    failed: ClassVar[Mapping[bool, str]]
    context: ClassVar[str]
    # What to do where the token may not write.
    advice: ClassVar[str]
    # The variable with the file of the job's summary; empty where the forge has none.
    summary: ClassVar[str] = ""
    # The variable with the folder of the checkout.
    checkout: ClassVar[str]
    # The file that defines the tools, where --tool-file names it; else the pull request's own files are looked through.
    tool_file: Path | None = None

    def __init__(self, api: str, project: str, token: Mapping[str, str], *, where: str, commit: str, page: str) -> None:
        self.api, self.where, self.commit, self.page = api.rstrip("/"), where, commit, page
        if not all(said.isascii() and said.isprintable() for said in token.values()):
            raise self.wrong("the token has characters that no token has")
        try:
            self.http = Http(f"{self.api}/{project}/", {"User-Agent": "toolevals", **token})
        except BadAddressError as error:
            raise self.wrong(f"{api} is not an address: {error}") from error

    @classmethod
    def wrong(cls, words: str) -> CommandError:
        """Return the error of an environment in which nothing can be told."""
        return CommandError(Exit.CONFIGURATION, f"{cls.option}: {words}")

    @cached_property
    def retry(self) -> RetryDeadline:
        """The limit on asking again. It begins with the first request: a run may be waited for before."""
        return RetryDeadline(time.monotonic() + SECONDS, note=note)

    @property
    @abstractmethod
    def comments(self) -> str:
        """The path of the comments."""

    @abstractmethod
    def comment(self, number: int) -> str:
        """Return the path of one comment."""

    @abstractmethod
    def is_ours(self, comment: JsonObject) -> bool:
        """Return whether no stranger wrote a comment."""

    def summarise(self, markdown: str) -> None:
        """Add to the summary of the job, where there is one. Raises CommandError where that cannot be written."""
        path = os.environ.get(self.summary, "")
        if not path:
            return
        try:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(f"{markdown}\n")
        except OSError as error:
            raise self.wrong(f"cannot write the summary {path}: {error.strerror}") from error

    @abstractmethod
    def changed_files(self) -> Iterable[str]:
        """Return the paths of the files that the pull request changes."""

    def lines_of(self, tools: Collection[str]) -> tuple[str, Mapping[str, int]]:
        """Return the file of the checkout that defines the tools, as the forge names it, and their lines."""
        root = Path(os.environ.get(self.checkout) or ".").resolve()
        if self.tool_file is None:
            return file_of_tools(root, self.changed_files(), tools)
        file = self.tool_file.resolve()
        if not file.is_file() or not file.is_relative_to(root):
            raise self.wrong(f"--tool-file {self.tool_file} is not a file of the checkout {root}")
        return file.relative_to(root).as_posix(), lines_of_tools(file, tools)

    @abstractmethod
    def annotate(self, name: str, report: GateReport, changes: RunChanges | None) -> None:
        """Say at the lines of the tools what changed for them, where the forge has that."""

    def publish(
        self, name: str, report: GateReport, markdown: str, changes: RunChanges | None, *, passed: bool
    ) -> Exit:
        """Write the comment, the status, the annotations and the summary.

        A token that may not write, as on a fork, leaves the summary, which says why; any other failure is returned.
        """
        told: list[str] = []
        worst = Exit.OK
        acts: Mapping[str, Callable[[], None]] = {
            "comment": lambda: self.write_comment(name, markdown),
            "status": lambda: self.set_status(name, report, passed=passed),
            "annotation": lambda: self.annotate(name, report, changes),
        }
        for what, act in acts.items():
            try:
                act()
            except CommandError as error:
                told.append(f"The pull request gets no {what}: {error}")
                worst = worst if isinstance(error, ReadOnlyTokenError) else error.exit_status
        for line in told:
            note(f"{self.option}: {line}")
        self.summarise("\n\n".join([markdown, *map(text, told)]))
        return worst

    def write_comment(self, name: str, markdown: str) -> None:
        """Write the one comment of a gate: the oldest is changed, else there is a new one.

        Two jobs that begin at once make one each, and see both: the oldest stays, with the words of the last.
        """
        mark = f"<!-- toolevals gate {quote(name, safe='')} -->"
        commit = f"For {code(self.commit[:7])}. " if self.commit else ""
        body = {"body": f"{mark}\n{markdown}\n<sub>{commit}One comment, changed by each push.</sub>\n"}
        found = self._marked(mark)
        made = None
        if not found:
            made = self.ask("POST", self.comments, body)[0]["id"]
            found = sorted({made, *self._marked(mark)})
        oldest, *others = found
        if oldest != made:
            self.ask(self.change, self.comment(oldest), body)
        for other in others:
            self.ask("DELETE", self.comment(other), gone=True)

    def set_status(self, name: str, report: GateReport, *, passed: bool) -> None:
        """Set the status of the commit."""
        if not self.commit:
            raise self.wrong("the environment names no commit")
        page = report.links.get("gate", "") or self.page
        said = {
            "state": "success" if passed else self.failed[report.result.status == "unanswered"],
            self.context: f"toolevals / gate {name}",
            "description": report.summary[:_LONGEST_STATUS],
            **({"target_url": page} if page else {}),
        }
        self.ask("POST", f"statuses/{quote(self.commit, safe='')}", said)

    def _marked(self, mark: str) -> list[int]:
        """Return the comments that begin with the mark, the oldest first."""
        marked = [each for each in self.pages(self.comments) if str(each.get("body")).startswith(mark)]
        return sorted(each["id"] for each in marked if self.is_ours(each))

    def pages(self, path: str) -> Iterator[JsonObject]:
        """Yield a list's entries, page by page."""
        path = f"{path}?per_page=100"
        while path:
            entries, headers = self.ask("GET", path)
            yield from entries
            following = _NEXT.search(headers.get("Link", ""))
            path = following[1] if following else ""
            # The token goes to this forge alone.
            if path and not path.startswith(f"{self.api}/"):
                raise self.wrong(f"{self.api} names a next page at another address")

    def ask(
        self, method: str, path: str, said: Mapping[str, Any] | None = None, *, gone: bool = False
    ) -> tuple[Any, Mapping[str, str]]:
        """Return the value and headers of a success; with `gone` what is not there is one.

        Asks again where that may help.
        """
        while True:
            answer, asked = None, None
            try:
                answer = self.http.request(method, path, json=said)
                value = self._value(answer)
                why, asked = f"{self.api} answered {answer.status}{_words(value)}", retry_after(answer)
            except BadAddressError as error:
                raise self.wrong(f"{self.api}: {error}") from error
            except UnreachableError as error:
                answer, why = None, f"{self.api} does not answer ({error})"
            if answer and (answer.is_success or (gone and answer.status == HTTPStatus.NOT_FOUND)):
                self.retry.answered()
                return value, answer.headers
            if not _passes(answer):
                raise self._refusal(answer, why)
            if not self.retry.wait(why, asked):
                raise CommandError(Exit.UNREACHABLE, why)

    def _refusal(self, answer: Response | None, why: str) -> CommandError:
        if answer and answer.status == HTTPStatus.FORBIDDEN:
            return ReadOnlyTokenError(Exit.CONFIGURATION, f"{why}: the token may not write here. {self.advice}")
        if answer and answer.status == HTTPStatus.NOT_FOUND:
            why += f": is {self.where} there for this token?"
        return CommandError(Exit.CONFIGURATION, why)

    def _value(self, answer: Response) -> Any:
        """Return an answer's JSON value, None where it is none. Raises CommandError where a success is none."""
        try:
            return answer.json() if answer.content else None
        except ValueError as error:
            if not answer.is_success:
                return None
            raise self.wrong(f"{self.api} answers with no JSON: is this the address of a forge?") from error


def _passes(answer: Response | None) -> bool:
    """Return whether a failure may pass. One of rights with a time, or with no requests left, is a limit of these."""
    if answer is None or answer.status in PASSING or answer.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return True
    return "Retry-After" in answer.headers or answer.headers.get("X-RateLimit-Remaining") == "0"


def _words(said: Any) -> str:
    """Return what an answer says is wrong, short enough for a line."""
    words = said.get("message") if isinstance(said, dict) else ""
    return f" ({' '.join(str(words).split())[:200]})" if words else ""
