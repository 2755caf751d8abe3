"""Hostile schemas come in by every way while the application is served, and it answers others within a second."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.fixtures.application import LiveApp
from tests.fixtures.hostile_schemas import REFUSED
from tests.runs.test_tryouts import OWN
from tests.traces.sending import conversation, export

pytestmark = pytest.mark.servers

LONGEST_SECONDS = 1.0
# What was stored before schemas had a limit, and forms that are drawn of them.
STORED = ("allOf", "tenfold", "unevaluatedProperties", "all required in all", "20,000 properties", "two by level")
FORGED = "a" * 32
SETUP = """
import json
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from tests.fixtures.hostile_schemas import every_hostile_schema
from tests.labeling.rows import row
from toolevals.grading.reading.specs.reading import ReadTools
from toolevals.grading.values import ToolSpec
from toolevals.registry.services import registry_create, tools_publish
from toolevals.workspace.models import Role, TokenScope
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.tokens.services import token_create
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.accounts.session_storage import SessionStore
owner = user_create(actor=None, email="o@example.org", name="O")
project = project_create(actor=owner, slug="shop", name="Shop")
def token(scope, role):
    return token_create(project=project, actor=owner, user=owner, name=scope, role=role, scope=scope)[1]
registry = registry_create(project=project, actor=owner, slug="tools", name="Tools")
schemas = every_hostile_schema()
tools = [ToolSpec(f"tool_{place}", "Asks for much.", schemas[name]) for place, name in enumerate(NAMES)]
version = tools_publish(registry=registry, actor=owner, read=ReadTools(tools, [], "native"))
dataset = dataset_create(project=project, actor=owner, slug="orders", name="Orders", default_tools=version)
examples_import(dataset=dataset, actor=owner, rows=[row(f"e{place}") for place in range(len(NAMES))])
session = SessionStore()
session[SESSION_KEY], session[HASH_SESSION_KEY] = str(owner.pk), owner.get_session_auth_hash()
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session.save()
print(json.dumps({
    "sends": token(TokenScope.TRACES, Role.VIEWER), "token": token(TokenScope.PROJECT, Role.OWNER),
    "session": session.session_key,
}))
"""


class Visitor:
    """Somebody who sends and looks, by a token or by a session."""

    def __init__(self, url: str, keys: dict[str, str]) -> None:
        self.url, self.keys = url, keys

    def ask(self, path: str, document: Any = None, *, method: str = "", key: str = "token") -> tuple[int, str]:
        """Return the status and the text of an answer."""
        body = document if isinstance(document, bytes | None) else json.dumps(document).encode()
        kind = "application/octet-stream" if isinstance(document, bytes) else "application/json"
        headers = {"Content-Type": kind, "Authorization": f"Bearer {self.keys[key]}"}
        if key == "session":
            form = {"Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": FORGED}
            headers = {"Cookie": f"sessionid={self.keys[key]}; csrftoken={FORGED}", **form}
        request = urllib.request.Request(f"{self.url}{path}", body, headers, method=method or None)
        try:
            answer: HTTPResponse = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        with answer:
            return answer.status, answer.read().decode()

    def document(self, path: str, document: Any = None, **more: Any) -> Any:
        """Return what an answer holds; it must be no refusal."""
        status, text = self.ask(path, document, **more)
        assert status < 300, (path, status, text[:300])
        return json.loads(text) if text else None


class Watch:
    """Asks `/healthz` again and again, and keeps the longest time that one answer took."""

    def __init__(self, url: str) -> None:
        self._url, self._end = url, Event()
        self._thread = Thread(target=self._watch)
        self.asked, self.longest = 0, 0.0

    def _watch(self) -> None:
        while not self._end.is_set():
            began = time.monotonic()
            with urllib.request.urlopen(f"{self._url}/healthz", timeout=60) as answer:
                assert answer.status == 200
            self.longest = max(self.longest, time.monotonic() - began)
            self.asked += 1
            time.sleep(0.02)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


@pytest.fixture(scope="module")
def visitor(live_app_start: Callable[..., LiveApp]) -> Visitor:
    app = live_app_start(TRACES_QUIET_SECONDS="0")
    return Visitor(app.url, json.loads(app.python(f"NAMES = {STORED!r}\n{SETUP}")))


@pytest.fixture(autouse=True)
def watch(visitor: Visitor) -> Iterator[Watch]:
    """Watch the application during each test."""
    with Watch(visitor.url) as watch:
        yield watch
    assert watch.asked
    assert watch.longest < LONGEST_SECONDS


def native(schema: dict[str, Any], name: str = "get_order") -> dict[str, Any]:
    return {"name": name, "description": "Asks for much.", "input_schema": schema}


def until(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + 60
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def test_versions_and_rubrics_are_refused_by_pointer(visitor: Visitor) -> None:
    for schema, words in REFUSED.values():
        status, text = visitor.ask("/api/v1/projects/shop/registries/tools/versions/", {"document": [native(schema)]})
        assert (status, words in text, "/0/input_schema" in text) == (422, True, True)
        rubric = {**OWN, "answer_schema": {**schema, "required": ["score"]}}
        status, text = visitor.ask("/api/v1/projects/shop/rubrics/", {"document": rubric})
        assert (status, words in text, "/answer_schema" in text) == (422, True, True)


def test_tools_of_uploaded_rows_are_refused_by_line_and_pointer(visitor: Visitor) -> None:
    message = {"role": "user", "content": "Where is it?"}
    rows = [
        {"id": name, "input": {"messages": [message]}, "tools": [native(schema)]}
        for name, (schema, _) in REFUSED.items()
    ]
    content = b"\n".join(json.dumps(row).encode() for row in rows)
    job = visitor.document("/api/v1/projects/shop/datasets/orders/imports/?source=jsonl", content)
    done = until(
        lambda: (found := visitor.document(f"/api/v1/projects/shop/jobs/{job['id']}/"))["state"] == "failed" and found
    )
    said = json.dumps(done["report"])
    assert "/tools/0/input_schema" in said
    assert "its references multiply" in said


def test_traces_keep_the_schema_and_say_that_it_is_not_used(visitor: Visitor) -> None:
    for number, (schema, _) in enumerate(REFUSED.values(), 1):
        spans = conversation(f"{number:032x}")
        tool = {"type": "function", "name": "get_order", "description": "Reads an order.", "parameters": schema}
        for span in spans:
            for said in span["attributes"]:
                if said["key"] == "gen_ai.tool.definitions":
                    said["value"] = {"stringValue": json.dumps([tool])}
        visitor.document("/v1/traces", export(*spans), key="sends")
    listed = until(
        lambda: (
            (found := visitor.document("/api/v1/projects/shop/traces/"))["results"]
            and all(each["name"] for each in found["results"])
            and len(found["results"]) == len(REFUSED)
            and found["results"]
        )
    )
    for each in listed:
        shown = visitor.document(f"/api/v1/projects/shop/traces/{each['id']}/")
        (kept,) = shown["tools"]
        assert kept["input_schema"]
        (said,) = shown["unused_schemas"]
        assert said.startswith("The schema of get_order is not used: it ")
        assert said.endswith("Its calls are unscored by the schema gate.")
        assert {(use["arguments_fit"], use["problem"][:32]) for use in shown["used"]} == {(None, said[:32])}
        status, page = visitor.ask(f"/p/shop/traces/{each['id']}/", key="session")
        assert (status, "The schema of get_order is not used" in page, "do not fit" in page) == (200, True, False)


def test_what_was_stored_before_is_marked_and_labels_that_name_it_are_taken(visitor: Visitor) -> None:
    version = visitor.document("/api/v1/projects/shop/registries/tools/versions/1/")
    assert [said.split()[3] for said in version["unused_schemas"]] == ["tool_0", "tool_1", "tool_2"]
    status, page = visitor.ask("/p/shop/registries/tools/1/", key="session")
    assert (status, page.count("is not used: it applies more than")) == (200, 3)
    for place in range(len(STORED)):
        claim = visitor.document("/api/v1/projects/shop/claims/", {"dataset": "orders"})
        page = f"/p/shop/label/{claim['id']}/"
        assert visitor.ask(page, key="session")[0] == 200
        call = {"tool": f"tool_{place}", "arguments": {"a": {"exact": "x"}, "p1": {"fields": {"p1": {"exact": 1}}}}}
        expectation = {"kind": "calls", "alternatives": [{"ordered": [call]}]}
        entered = {"mode": "json", "json": json.dumps(expectation), "to": "form"}
        status, shown = visitor.ask(f"{page}panel/", urlencode(entered).encode(), key="session")
        assert (status, f"tool_{place}" in shown) == (200, True)
        status, text = visitor.ask(f"{page}draft/", urlencode(entered).encode(), key="session")
        assert status == 200, text
        label = {"expectation": expectation, "rationale": "It says so."}
        status, text = visitor.ask(f"/api/v1/projects/shop/claims/{claim['id']}/label/", label)
        assert status in (201, 422), text
        if status == 422:
            assert json.loads(text)["problems"][0]["pointer"].startswith("/alternatives/0/ordered/0/arguments/")
            visitor.document(f"/api/v1/projects/shop/claims/{claim['id']}/skip/", {"reason": "unclear"})
