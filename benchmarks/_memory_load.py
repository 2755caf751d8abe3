"""Gives a running server with the sample project work: `python -m benchmarks._memory_load STEP WORDS`.

`settle` waits until no work is left, `pages PORT TIMES` walks the pages of the sample as its owner, and `imports PORT
TIMES EXAMPLES` sends files of examples of about a kilobyte each by REST.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import Any
from urllib.parse import urljoin, urlsplit

import django

PEOPLE, LINKS = 4, 400
OWNER = "otto@shop.example"
HREF = re.compile(rb'<a[^>]+href="([^"#]+)')
WORDS = "My parcel was due on Monday and has not come; can you tell me where it is? "
SETTLE_SECONDS = 600
TOOL = {"name": "track_parcel", "description": "Says where a parcel is.", "input_schema": {"type": "object"}}


class Browser:
    """One connection of somebody who is signed in."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = headers

    def ask(self, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> tuple[str, bytes]:
        """Return the type and the content of an answer. Raises RuntimeError where the server failed."""
        self._connection.request(method, path, body or None, self._headers | headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= http.HTTPStatus.INTERNAL_SERVER_ERROR or (body and response.status >= 300):
            raise RuntimeError(f"{method} {path}: {response.status} {content[:300]!r}")
        return response.headers.get_content_type(), content


def settle() -> None:
    """Wait until every batch is done. Raises RuntimeError after ten minutes."""
    from toolevals.workspace.models import Job, JobState

    deadline = time.monotonic() + SETTLE_SECONDS
    while Job.objects.filter(state=JobState.RUNNING).exists():
        if time.monotonic() > deadline:
            raise RuntimeError("jobs are still at work after ten minutes")
        time.sleep(0.5)


def pages(port: str, times: str) -> None:
    """Ask for pages so many times, four people at once."""
    headers = _signed_in()
    found = list(islice(_links(Browser(int(port), headers), f"/p/{_project().slug}/"), LINKS))
    shares: list[list[str]] = [[] for _ in range(PEOPLE)]
    for number, path in enumerate(islice(cycle(found), int(times))):
        shares[number % PEOPLE].append(path)

    def walk(share: Sequence[str]) -> None:
        browser = Browser(int(port), headers)
        for path in share:
            browser.ask(path)

    with ThreadPoolExecutor(PEOPLE) as people:
        list(people.map(walk, shares))
    sys.stderr.write(f"{times} pages, {len(found)} addresses\n")


def imports(port: str, times: str, examples: str) -> None:
    """Import so many files of so many examples, one after the other."""
    from labeling.services import dataset_create
    from toolevals.workspace.models import Role, User
    from toolevals.workspace.services import token_create

    owner, project = User.objects.get(email=OWNER), _project()
    dataset = dataset_create(project=project, actor=owner, slug="bench", name="Bench")
    _, secret = token_create(project=project, actor=owner, user=owner, name="bench", role=Role.OWNER)
    browser = Browser(int(port), {"Authorization": f"Bearer {secret}"})
    for number in range(int(times)):
        content = b"".join(_rows(number, int(examples)))
        path = f"/api/v1/projects/{project.slug}/datasets/bench/imports/?source=jsonl"
        browser.ask(path, "POST", content, **{"Content-Type": "application/jsonl"})
        settle()
    if dataset.examples.count() != int(times) * int(examples):
        raise RuntimeError("not every example was imported")


def _links(browser: Browser, first: str) -> Iterator[str]:
    """Yield the addresses of pages, from the first page on, nearest first."""
    waiting, seen = [first], {first}
    while waiting:
        path = waiting.pop(0)
        kind, content = browser.ask(path)
        if kind != "text/html":
            continue
        yield path
        for link in HREF.findall(content):
            address = urlsplit(urljoin(path, link.decode().replace("&amp;", "&")))
            target = f"{address.path}?{address.query}" if address.query else address.path
            if not address.netloc and target not in seen and not address.path.startswith("/static/"):
                seen.add(target)
                waiting.append(target)


def _project() -> Any:
    from toolevals.workspace.models import Project

    return Project.objects.get(memberships__user__email=OWNER)


def _signed_in() -> dict[str, str]:
    from django.test import Client

    from toolevals.workspace.models import User

    client = Client()
    client.force_login(User.objects.get(email=OWNER))
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


def _rows(file: int, examples: int) -> Iterator[bytes]:
    for number in range(examples):
        message: dict[str, Any] = {"role": "user", "content": f"{WORDS * 11}{number}"}
        row = {"id": f"ex-{file}-{number:05}", "input": {"messages": [message]}, "tools": [TOOL]}
        yield json.dumps(row).encode() + b"\n"


STEPS: dict[str, Callable[..., None]] = {"settle": settle, "pages": pages, "imports": imports}

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    django.setup()
    STEPS[sys.argv[1]](*sys.argv[2:])
