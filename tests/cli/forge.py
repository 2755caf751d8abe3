"""A forge on this machine that speaks GitHub's and GitLab's REST interface for comments and statuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "shop/agent"
# What the same is at GitLab, and who the token's account is.
PROJECT = 9
ACCOUNT = 7
TOKEN = "ghs_example"
PULL_REQUEST = 218
COMMIT = "3f9c2ab0c0ffee00000000000000000000000000"
BOT = {"login": "github-actions[bot]", "type": "Bot"}


class Forge(ThreadingHTTPServer):
    """Keeps the comments of one pull request, and the statuses of its commits."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = Lock()
        self.comments: list[dict[str, Any]] = []
        self.statuses: list[tuple[str, dict[str, Any]]] = []
        # The check runs, by their number, with all annotations that were sent; the files that the pull request changes.
        self.checks: dict[int, dict[str, Any]] = {}
        self.changed: list[str] = []
        self.pull_requests: list[dict[str, Any]] = []
        self.asked: list[str] = []
        # The answers that come first, by "METHOD part of the path": a status, headers, and whether it is done anyhow.
        self.first: dict[str, list[tuple[int, dict[str, str], bool]]] = {}
        # So many comments on a page.
        self.page_size = 2
        # Those that create a comment wait for each other, so that all have searched before.
        self.together: Barrier | None = None
        self.last_id = 100

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def add(self, body: str, **facts: Any) -> dict[str, Any]:
        """Add a comment, by default of the forge's own app."""
        with self.lock:
            self.last_id += 1
            known = {"user": BOT, "author_association": "NONE", "author": {"id": ACCOUNT}}
            comment = {"id": self.last_id, "body": body, **known, **facts}
            self.comments.append(comment)
        return comment

    def environment(self, folder: Any) -> dict[str, str]:
        """Return what a job on the pull request has in its environment."""
        event = folder / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": PULL_REQUEST, "head": {"sha": COMMIT}}}))
        return {
            "GITHUB_API_URL": self.url,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_EVENT_NAME": "pull_request",
            # That of the merge, which no one looks at.
            "GITHUB_SHA": "0" * 40,
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_SERVER_URL": "https://forge.example",
            "GITHUB_RUN_ID": "9",
        }

    def gitlab_environment(self) -> dict[str, str]:
        """Return what a job on the merge request has in its environment."""
        return {
            "CI_API_V4_URL": self.url,
            "CI_MERGE_REQUEST_PROJECT_ID": str(PROJECT),
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": str(PROJECT),
            "CI_MERGE_REQUEST_IID": str(PULL_REQUEST),
            "CI_COMMIT_SHA": COMMIT,
            "CI_JOB_URL": "https://forge.example/jobs/9",
            "GITLAB_TOKEN": TOKEN,
        }


_LISTS = (
    f"/repos/{REPOSITORY}/issues/{PULL_REQUEST}/comments",
    f"/projects/{PROJECT}/merge_requests/{PULL_REQUEST}/notes",
)
_ONE = {f"/repos/{REPOSITORY}/issues/comments/": "PATCH", f"{_LISTS[1]}/": "PUT"}


class _Handler(BaseHTTPRequestHandler):
    server: Forge

    def log_message(self, *_: object) -> None:
        return None

    def _answer(self, status: int, value: Any = None, headers: dict[str, str] | None = None) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, said in (headers or {}).items():
            self.send_header(name, said)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _asked(self) -> None:
        forge, path = self.server, urlsplit(self.path)
        said = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        with forge.lock:
            forge.asked.append(f"{self.command} {path.path}")
            forced = next((each for key, each in forge.first.items() if each and self._is(key)), None)
            status, headers, is_done = forced.pop(0) if forced else (0, {}, True)
        if TOKEN not in (
            self.headers.get("Authorization", "").removeprefix("Bearer "),
            self.headers.get("PRIVATE-TOKEN"),
        ):
            self._answer(401, {"message": "Bad credentials"})
        elif status and not is_done:
            self._answer(status, {"message": "Resource not accessible by integration"}, headers)
        else:
            found = self._done(path.path, parse_qs(path.query), said)
            self._answer(status, {"message": "It went wrong"}) if status else self._answer(*found)

    def do_GET(self) -> None:
        self._asked()

    def do_POST(self) -> None:
        self._asked()

    def do_PATCH(self) -> None:
        self._asked()

    def do_PUT(self) -> None:
        self._asked()

    def do_DELETE(self) -> None:
        self._asked()

    def _is(self, key: str) -> bool:
        method, part = key.split(" ", 1)
        return method == self.command and part in self.path

    def _done(self, path: str, query: dict[str, list[str]], said: Any) -> tuple[Any, ...]:
        forge, missing = self.server, (404, {"message": "Not Found"})
        alone = {
            "/user": {"id": ACCOUNT},
            f"/projects/{PROJECT}/merge_requests/{PULL_REQUEST}/diffs": [{"new_path": name} for name in forge.changed],
        }
        if path in alone:
            return 200, alone[path]
        if path in _LISTS and self.command == "GET":
            return self._listed(path, int(query.get("page", ["1"])[0]), int(query.get("per_page", ["30"])[0]))
        if path in _LISTS and self.command == "POST":
            if forge.together:
                forge.together.wait(20)
            made = forge.add(said["body"])
            if forge.together:
                forge.together.wait(20)
            return 201, made
        if path.startswith((f"/repos/{REPOSITORY}/pulls", f"/repos/{REPOSITORY}/check-runs")):
            return self._checked(path, said) if "/check-runs" in path else self._of_pull_request(said)
        if "/statuses/" in path and self.command == "POST":
            forge.statuses.append((path.rpartition("/")[2], said))
            return 201, said
        folder, _, number = path.rpartition("/")
        change = _ONE.get(f"{folder}/")
        with forge.lock:
            comment = next((each for each in forge.comments if change and str(each["id"]) == number), None)
            if comment and self.command == change:
                comment["body"] = said["body"]
                return 200, comment
            if comment and self.command == "DELETE":
                forge.comments.remove(comment)
                return (204,)
        return missing

    def _of_pull_request(self, said: Any) -> tuple[Any, ...]:
        """Open the pull request, or list the files that it changes."""
        forge = self.server
        if self.command == "POST":
            forge.pull_requests.append({"number": PULL_REQUEST, **said})
            return 201, forge.pull_requests[-1]
        return 200, [{"filename": name, "status": "modified"} for name in forge.changed]

    def _checked(self, path: str, said: Any) -> tuple[Any, ...]:
        """Make a check run, or add to one: fifty annotations at most in a request, as the interface documents."""
        forge = self.server
        if len(said["output"]["annotations"]) > 50:
            return 422, {"message": "No more than 50 annotations"}
        if self.command == "POST":
            with forge.lock:
                forge.last_id += 1
                forge.checks[forge.last_id] = said | {"id": forge.last_id}
            return 201, forge.checks[forge.last_id]
        check = forge.checks[int(path.rpartition("/")[2])]
        check["output"]["annotations"] += said["output"]["annotations"]
        return 200, check

    def _listed(self, path: str, page: int, size: int) -> tuple[Any, ...]:
        forge = self.server
        size = min(size, forge.page_size)
        with forge.lock:
            shown, more = forge.comments[(page - 1) * size : page * size], len(forge.comments) > page * size
        here = f"{forge.url}{path}?per_page=100"
        links = [f'<{here}&page={page - 1}>; rel="prev"'] if page > 1 else []
        links += [f'<{here}&page={page + 1}>; rel="next"'] if more else []
        return 200, shown, {"Link": ", ".join(links)} if links else {}


@contextmanager
def running_forge() -> Iterator[Forge]:
    """Yield a forge that answers until it is left."""
    with Forge() as forge:
        thread = Thread(target=forge.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield forge
        finally:
            forge.shutdown()
            thread.join()
