"""Knows the pull request that a job of GitHub Actions or GitLab CI is about, all from the job's environment."""

from __future__ import annotations

import json
import os
import re
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final, Self

from toolevals.cli.forge import Forge
from toolevals.cli.output import note
from toolevals.json_types import JsonObject
from toolevals.presentation.gate_annotations import tool_changes
from toolevals.presentation.gate_comment import RunChanges, text
from toolevals.presentation.gate_reports import GateReport

# So many in one request, as GitHub's interface says.
_MOST_ANNOTATIONS: Final = 50
# Who may write to a repository.
_WRITERS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})


def _said(name: str) -> str:
    return os.environ.get(name, "")


def _tools_changed(number: int) -> str:
    return "The numbers of 1 tool changed" if number == 1 else f"The numbers of {number} tools changed"


class GitHub(Forge):
    """A pull request at GitHub. It is the event's; so is its newest commit, as GITHUB_SHA is that of the merge."""

    option = "--github"
    change = "PATCH"
    failed = {False: "failure", True: "error"}  # noqa: RUF012 - a constant
    context = "context"
    summary = "GITHUB_STEP_SUMMARY"
    checkout = "GITHUB_WORKSPACE"
    advice = (
        "That of a pull request from a fork never may; else the job needs"
        " `permissions: {pull-requests: write, statuses: write, checks: write}`"
    )
    number = 0

    @classmethod
    def from_environment(cls) -> Self:
        """Return the pull request that the job is about. Raises CommandError that names what is missing."""
        outside = "run it in a workflow on pull_request, or leave --github out"
        for name in ("GITHUB_REPOSITORY", "GITHUB_EVENT_PATH"):
            if not _said(name):
                raise cls.wrong(f"{name} is not set: this is not a job of GitHub Actions; {outside}")
        repository = _said("GITHUB_REPOSITORY")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository, re.ASCII):
            raise cls.wrong("GITHUB_REPOSITORY is not OWNER/NAME")
        found = cls._pull_request(_said("GITHUB_EVENT_PATH"))
        if found is None:
            event = _said("GITHUB_EVENT_NAME") or "this one"
            raise cls.wrong(f"the event {event} has no pull request: {outside}")
        if not _said("GITHUB_TOKEN"):
            raise cls.wrong("GITHUB_TOKEN is not set: give the step `env: {GITHUB_TOKEN: ${{ github.token }}}`")
        head = found.get("head")
        server, job = _said("GITHUB_SERVER_URL"), _said("GITHUB_RUN_ID")
        forge = cls(
            _said("GITHUB_API_URL") or "https://api.github.com",
            f"repos/{repository}",
            {
                "Authorization": f"Bearer {_said('GITHUB_TOKEN')}",
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
            },
            where=f"{repository}#{found['number']}",
            commit=(isinstance(head, dict) and str(head.get("sha") or "")) or _said("GITHUB_SHA"),
            page=f"{server}/{repository}/actions/runs/{job}" if server and job else "",
        )
        forge.number = found["number"]
        return forge

    @classmethod
    def _pull_request(cls, path: str) -> JsonObject | None:
        """Return the event's pull request, None where it has none."""
        try:
            event = json.loads(Path(path).read_bytes())
        except (OSError, ValueError) as error:
            raise cls.wrong(f"cannot read the event in {path} (GITHUB_EVENT_PATH): {error}") from error
        found = event.get("pull_request") if isinstance(event, dict) else None
        return found if isinstance(found, dict) and isinstance(found.get("number"), int) else None

    @property
    def comments(self) -> str:
        return f"issues/{self.number}/comments"

    def comment(self, number: int) -> str:
        return f"issues/comments/{number}"

    def is_ours(self, comment: JsonObject) -> bool:
        """Return whether an app wrote it, as a job's token does, or someone who may write to the repository."""
        user = comment.get("user")
        is_app = isinstance(user, dict) and user.get("type") == "Bot"
        return is_app or comment.get("author_association") in _WRITERS

    def annotate(self, name: str, report: GateReport, changes: RunChanges | None) -> None:
        """Make a check run of the commit whose annotations stand at the lines of the tools that changed.

        It is neutral: the status decides. A request takes fifty of them, and an update adds to those that are there.
        """
        told = tool_changes(changes)
        path, lines = self.lines_of({each.tool for each in told}) if told else ("", {})
        annotations = [
            {
                "path": path,
                "start_line": lines[each.tool],
                "end_line": lines[each.tool],
                "annotation_level": "warning" if each.is_worse else "notice",
                "title": each.title,
                "message": each.message,
            }
            for each in told
            if each.tool in lines
        ]
        check = ""
        for begin in range(0, len(annotations), _MOST_ANNOTATIONS):
            some = annotations[begin : begin + _MOST_ANNOTATIONS]
            output = {"title": _tools_changed(len(annotations)), "summary": text(report.summary), "annotations": some}
            if check:
                self.ask("PATCH", check, {"output": output})
                continue
            page = report.links.get("comparison", "") or self.page
            said = {
                "name": f"toolevals / gate {name} / tools",
                "head_sha": self.commit,
                "status": "completed",
                "conclusion": "neutral",
                "output": output,
                **({"details_url": page} if page else {}),
            }
            check = f"check-runs/{self.ask('POST', 'check-runs', said)[0]['id']}"

    def changed_files(self) -> list[str]:
        """Return the paths of the files that the pull request changes."""
        return [str(each["filename"]) for each in self.pages(f"pulls/{self.number}/files")]


class GitLab(Forge):
    """A merge request at GitLab. A job has no token that may write comments: GITLAB_TOKEN is one of the project's."""

    option = "--gitlab"
    change = "PUT"
    failed = {False: "failed", True: "failed"}  # noqa: RUF012 - a constant
    context = "name"
    checkout = "CI_PROJECT_DIR"
    # Where the job keeps its Code Quality report.
    code_quality: Path | None = None
    advice = "GITLAB_TOKEN needs the scope `api` and the role of a developer"
    number = ""

    @classmethod
    def from_environment(cls) -> Self | None:
        """Return the merge request that the job is about, None where it is a fork's and the job has no token.

        Raises CommandError that names what is missing.
        """
        names = "CI_API_V4_URL", "CI_MERGE_REQUEST_PROJECT_ID", "CI_MERGE_REQUEST_IID", "GITLAB_TOKEN"
        for name in names[:3]:
            if not _said(name):
                words = "run it in a pipeline of merge requests, or leave --gitlab out"
                raise cls.wrong(f"{name} is not set: {words}")
        if not all(_said(name).isascii() and _said(name).isdigit() for name in names[1:3]):
            raise cls.wrong(f"{names[1]} and {names[2]} are not numbers")
        if not _said("GITLAB_TOKEN") and _said("CI_MERGE_REQUEST_SOURCE_PROJECT_ID") not in ("", _said(names[1])):
            note("--gitlab: the merge request is a fork's, whose job has no GITLAB_TOKEN: it gets no comment")
            return None
        if not _said("GITLAB_TOKEN"):
            raise cls.wrong("GITLAB_TOKEN is not set: keep a project's access token in a masked variable of the name")
        forge = cls(
            _said("CI_API_V4_URL"),
            f"projects/{_said(names[1])}",
            {"PRIVATE-TOKEN": _said("GITLAB_TOKEN")},
            where=f"!{_said(names[2])} of project {_said(names[1])}",
            # In a pipeline of merged results CI_COMMIT_SHA is that of the merge.
            commit=_said("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or _said("CI_COMMIT_SHA"),
            page=_said("CI_JOB_URL"),
        )
        forge.number = _said(names[2])
        return forge

    @property
    def comments(self) -> str:
        return f"merge_requests/{self.number}/notes"

    def comment(self, number: int) -> str:
        return f"{self.comments}/{number}"

    def changed_files(self) -> list[str]:
        """Return the paths of the files that the merge request changes."""
        return [str(each["new_path"]) for each in self.pages(f"merge_requests/{self.number}/diffs")]

    def annotate(self, name: str, report: GateReport, changes: RunChanges | None) -> None:
        """Write the Code Quality report, where one is asked for: GitLab shows its findings at the lines of the tools.

        A finding has the same fingerprint as long as its text is the same: GitLab tells new ones by it.
        """
        if self.code_quality is None:
            return
        told = tool_changes(changes)
        path, lines = self.lines_of({each.tool for each in told}) if told else ("", {})
        found = [
            {
                "check_name": f"toolevals / gate {name}",
                "description": f"{each.title}. {each.message}",
                "severity": "minor" if each.is_worse else "info",
                "fingerprint": sha256(f"{name}\0{path}\0{each.title}\0{each.message}".encode()).hexdigest(),
                "location": {"path": path, "lines": {"begin": lines[each.tool]}},
            }
            for each in told
            if each.tool in lines
        ]
        try:
            self.code_quality.write_text(json.dumps(found, indent=2))
        except OSError as error:
            raise self.wrong(f"cannot write {self.code_quality}: {error.strerror}") from error

    def is_ours(self, comment: JsonObject) -> bool:
        """Return whether the token's own account wrote it."""
        author = comment.get("author")
        return isinstance(author, dict) and author.get("id") == self._account

    @cached_property
    def _account(self) -> object:
        return self.ask("GET", f"{self.api}/user")[0]["id"]
