"""Labels on a running server: `python -m benchmarks._labelling_client WAY NUMBER SECONDS PORT`; prints JSON.

Speaks HTTP on one kept connection, as a browser or a program would, and times each request to its last byte.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import django

from benchmarks._labelling_load import CALL

BASE, PAGES = "/api/v1/projects/bench", "/p/bench/label/"
ENTERED = {"tool": "1", "c1.v/order_id": "A-1", "rationale": "It asks where the parcel is.", "scope": "support"}
# What someone looks at, of a dataset of any size. Page 1,000 is what comes before the example that stands there.
PAGE_SIZE, FAR, WARM = 100, 1_000, 8
PAGES_OF_MANY = {
    "list, first page": "datasets/support/",
    "list, page 1,000": "datasets/support/?before={far}",
    "list, by stratum": "datasets/support/?bucket=no_call&difficulty=hard",
    "list, with gold": "datasets/support/?status=resolved",
    # A tenth of all, none of them near the newest; and nothing at all.
    "list, by part of an id": "datasets/support/?q=ex-00",
    "list, by an absent part of an id": "datasets/support/?q=absent",
    "coverage": "datasets/support/coverage/",
    "batches": "datasets/support/queue/",
    "overview": "datasets/",
    "versions": "datasets/support/versions/",
    "agreement": "datasets/support/agreement/",
    "next": "label/?dataset=support",
}
Times = dict[str, list[float]]


class Labeller:
    """One person's connection. What the server refuses raises RuntimeError."""

    def __init__(self, number: int, port: int) -> None:
        from toolevals.workspace.models import Project, User

        self.user = User.objects.get(email=f"client{number}@example.org")
        self.project = Project.objects.get(slug="bench")
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers: dict[str, str] = {}

    def ask(self, method: str, path: str, body: str = "") -> tuple[http.client.HTTPResponse, bytes, float]:
        """Return the response, its body and the seconds that it took."""
        begun = time.perf_counter()
        self.connection.request(method, path, body or None, self.headers)
        response = self.connection.getresponse()
        content = response.read()
        taken = time.perf_counter() - begun
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {response.status} {content[:300]!r}")
        return response, content, taken

    def sign_in(self) -> None:
        """Ask as a signed-in browser from now on."""
        from django.middleware.csrf import _get_new_csrf_string
        from django.test import Client

        signed_in = Client()
        signed_in.force_login(self.user)
        token = _get_new_csrf_string()
        cookies = f"sessionid={signed_in.cookies['sessionid'].value}; csrftoken={token}"
        self.headers = {"Cookie": cookies, "HX-Request": "true", "X-CSRFToken": token}

    def pages(self, times: int) -> Times:
        """Ask for each of PAGES_OF_MANY so many times.

        After rounds that count for nothing: each of the server's processes loads what a page needs once, and a dataset
        is counted by a worker when someone first looks at it.
        """
        from labeling.models import Example

        self.sign_in()
        far = Example.objects.order_by("-pk").values_list("pk", flat=True)[PAGE_SIZE * (FAR - 1)]
        asked = {name: f"/p/bench/{path.format(far=far)}" for name, path in PAGES_OF_MANY.items()}
        for path in WARM * [*asked.values()]:
            self.ask("GET", path)
        return {name: [self.ask("GET", path)[2] for _ in range(times)] for name, path in asked.items()}

    def by_api(self, go_on: Callable[[], bool]) -> Times:
        """Claim and submit by REST."""
        from toolevals.workspace.models import Role
        from toolevals.workspace.services import token_create

        _, secret = token_create(project=self.project, actor=None, user=self.user, name="bench", role=Role.REVIEWER)
        self.headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        said = json.dumps({"expectation": CALL, "rationale": "It asks where the parcel is."})
        times: Times = {"next": [], "submit": []}
        while go_on():
            _, content, taken = self.ask("POST", f"{BASE}/claims/", json.dumps({"dataset": "support"}))
            times["next"].append(taken)
            times["submit"].append(self.ask("POST", f"{BASE}/claims/{json.loads(content)['id']}/label/", said)[2])
        return times

    def by_page(self, go_on: Callable[[], bool]) -> Times:
        """Submit on the page, which answers with the next example."""
        self.sign_in()
        self.headers["Content-Type"] = "application/x-www-form-urlencoded"
        response = self.ask("GET", f"{PAGES}?dataset=support")[0]
        times: Times = {"next": [], "submit": []}
        while go_on():
            slot = (response.headers["HX-Push-Url"] or "").partition("?")[0]
            response, _, taken = self.ask("POST", f"{slot}submit/", urlencode(ENTERED))
            times["submit"].append(taken)
        return times


def main() -> None:
    """Label, and print the seconds of each request."""
    django.setup()
    way, number, seconds, port = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    labeller = Labeller(number, port)
    until = time.monotonic() + seconds
    if way == "pages":
        print(json.dumps(labeller.pages(round(seconds))))
        return
    act = {"api": labeller.by_api, "page": labeller.by_page}[way]
    found: dict[str, Any] = act(lambda: time.monotonic() < until)
    print(json.dumps(found))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    main()
