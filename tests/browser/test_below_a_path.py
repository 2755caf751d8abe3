"""The application below a path, behind a proxy that takes the path off and behind one that leaves it on.

Each proxy speaks HTTP and serves nothing else: what leads out of the prefix is noted, and is an error.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from html import unescape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from opentelemetry.sdk.trace import TracerProvider
from playwright.sync_api import Page, expect

from tests.browser.conftest import WAIT
from tests.browser.keyboard import submit
from tests.browser.labelling_shop import say_none
from tests.cli.served import EXAMPLES, TOOLS, lines
from tests.cli.test_send import recorded
from tests.fixtures.application import LiveApp
from toolevals.cli import main as command
from toolevals.cli.output import Exit
from toolevals.sdk.instrumenting import instrument

pytestmark = [pytest.mark.browser, pytest.mark.servers]

PREFIX = "/evals"
PAGES = "from tests.browser.sample_pages import pages_print; pages_print()"
FEWEST_PAGES, FEWEST_FOLLOWED = 40, 200
TOKEN = """
from toolevals.workspace.models import Project, User, Role, Membership
from toolevals.workspace.tokens.services import token_create
project = Project.objects.get(slug="shop-support")
user = Membership.objects.get(project=project, role=Role.OWNER).user
print(token_create(project=project, actor=user, user=user, name="cli", role=Role.OWNER)[1])
"""
LEADING = re.compile(r'\s(?:href|src|action|formaction|hx-(?:get|post|push-url)|data-(?:[\w-]+-)?url)="([^"]*)"')
# What a browser gets by itself, or with a click.
FOLLOWED = re.compile(r'<(?:a|link|script|img)\s[^>]*?\s?(?:href|src)="([^"]*)"|\shx-get="([^"]*)"')
IN_STYLES = re.compile(r"""url\(["']?(?!data:)([^"')]+)""")
IN_SCRIPTS = re.compile(r"""^import\b[^"'\n]*["']([./][^"'\s]+)["']""", re.MULTILINE)
# Pages of two things are one.
THING = re.compile(r"[0-9a-f-]{36}|(?<=/)\d+(?=/)")


class PrefixProxy(ThreadingHTTPServer):
    """Serves what is below the prefix, and notes what else is asked for."""

    daemon_threads = True

    def __init__(self, port: int, *, strips: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind, self.strips = port, strips
        self.outside: list[str] = []
        self.host = f"http://127.0.0.1:{self.server_port}"
        self.url = f"{self.host}{PREFIX}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PrefixProxy
    own: ClassVar = {"connection", "transfer-encoding", "keep-alive", "content-length"}

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, is_below = self.path, urlsplit(self.path).path.startswith(f"{PREFIX}/")
        if not is_below:
            self.server.outside.append(f"{self.command} {path}")
        elif self.server.strips:
            path = path.removeprefix(PREFIX)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in self.own}
        try:
            # What is not served has an address that the application has not either.
            connection.request(self.command, path if is_below else "/none", body or None, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in self.own:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815 - the library's names

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    return live_app_start(sample=True, TOOLEVALS_PATH_PREFIX=PREFIX, TRACES_QUIET_SECONDS="0")


@pytest.fixture(scope="module")
def pages(app: LiveApp) -> list[str]:
    """The paths of the sample's pages, before a test adds anything."""
    return [path for _, path in json.loads(app.python(PAGES))]


@pytest.fixture(params=["strips", "keeps"])
def proxy(request: pytest.FixtureRequest, app: LiveApp, pages: list[str]) -> Iterator[PrefixProxy]:
    """Each kind of proxy; nothing that is asked of it leads out of the prefix."""
    served = PrefixProxy(app.application.port, strips=request.param == "strips")
    Thread(target=served.serve_forever, daemon=True).start()
    yield served
    served.shutdown()
    served.server_close()
    assert served.outside == []


@pytest.fixture
def owner(page: Page, app: LiveApp, proxy: PrefixProxy) -> Iterator[Page]:
    """The sample's owner, who came by the start page and has signed in."""
    login = app.login("owner")
    expect.set_options(timeout=WAIT)
    page.goto(f"{proxy.url}/")
    expect(page).to_have_url(f"{proxy.url}/sign-in/?next={PREFIX}/")
    page.get_by_label("E-mail").fill(login["email"])
    page.get_by_label("Password").fill(login["password"])
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"{proxy.url}/(p/shop-support/)?$"))
    yield page
    expect.set_options(timeout=5_000)


def test_the_sample_is_walked_by_people_and_programs(
    owner: Page, app: LiveApp, proxy: PrefixProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert {(each["name"], each["path"]) for each in owner.context.cookies()} >= {
        ("sessionid~evals", PREFIX),
        ("csrftoken~evals", PREFIX),
    }
    _label(owner, proxy)
    _matrix(owner, proxy)
    _programs(owner, app, proxy, tmp_path, monkeypatch)
    owner.goto(f"{proxy.url}/p/shop-support/")
    owner.locator("form[data-sign-out]").first.evaluate("form => form.requestSubmit()")
    expect(owner).to_have_url(f"{proxy.url}/sign-in/")
    assert all(each["path"] == PREFIX for each in owner.context.cookies())


def _label(owner: Page, proxy: PrefixProxy) -> None:
    owner.goto(f"{proxy.url}/p/shop-support/label/")
    expect(owner.locator(".tool-row").first).to_be_visible()
    say_none(owner)
    expect(owner.locator("[data-saved]")).to_contain_text("saved")
    submit(owner)
    assert owner.url.startswith(f"{proxy.url}/p/shop-support/label/")


def _matrix(owner: Page, proxy: PrefixProxy) -> None:
    owner.goto(f"{proxy.url}/p/shop-support/runs/1/matrix/?show=table")
    owner.locator("[data-cell] a, a[data-cell], [data-cell]").first.click()
    case = owner.locator("#cell a[href*='/cases/'], [data-case] a[href*='/cases/'], a[data-case]").first
    case.click()
    expect(owner).to_have_url(re.compile(rf"{proxy.url}/p/shop-support/runs/1/cases/"))
    owner.goto(f"{proxy.url}/p/shop-support/runs/1/matrix/")
    link = owner.locator("a[href*='.csv']").first.get_attribute("href") or ""
    answer = owner.request.get(urljoin(owner.url, link))
    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "text/csv")


def _programs(owner: Page, app: LiveApp, proxy: PrefixProxy, tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    token = app.python(TOKEN).strip()
    for name, value in {"URL": f"{proxy.url}/", "PROJECT": "shop-support", "TOKEN": token}.items():
        patch.setenv(f"TOOLEVALS_{name}", value)
    dataset = f"from-cli-{proxy.server_port}"
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    assert command.main(["import", "tools", str(tmp_path / "tools.json"), "--registry", "cli"]) == Exit.OK
    examples = lines(tmp_path / "examples.jsonl", EXAMPLES)
    assert command.main(["import", "jsonl", examples, "--dataset", dataset, "--tools", "cli"]) == Exit.OK
    owner.goto(f"{proxy.url}/p/shop-support/datasets/{dataset}/")
    expect(owner.get_by_text("ex-1", exact=True)).to_be_visible()
    assert command.main(["jobs"]) == Exit.OK
    (tmp_path / "runs.json").write_bytes(recorded())
    assert command.main(["send", str(tmp_path / "runs.json"), "--agent", dataset]) == Exit.OK
    provider = TracerProvider()
    tracing = instrument(proxy.url, token, provider=provider)
    with provider.get_tracer("shop").start_as_current_span("invoke_agent shop"):
        pass
    assert tracing.flush(30)
    assert (tracing.sent, tracing.dropped) == (1, 0)
    tracing.stop()
    owner.goto(f"{proxy.url}/p/shop-support/traces/?agent={dataset}")
    deadline = time.monotonic() + WAIT / 1000
    while owner.get_by_text("No traces match these filters.").is_visible():
        assert time.monotonic() < deadline
        owner.wait_for_timeout(500)
        owner.reload()
    owner.locator("main tbody a").first.click()
    expect(owner).to_have_url(re.compile(rf"{proxy.url}/p/shop-support/traces/[0-9a-f-]+/"))


@pytest.mark.parametrize("proxy", ["keeps"], indirect=True)
def test_every_page_of_the_sample_stays_below_the_prefix(owner: Page, pages: list[str], proxy: PrefixProxy):
    cookie = "; ".join(f"{each['name']}={each['value']}" for each in owner.context.cookies())
    assert len(pages) > FEWEST_PAGES
    with closing(http.client.HTTPConnection("127.0.0.1", proxy.server_port, timeout=60)) as connection:
        walk = _Walk(proxy, connection, cookie)
        for path in pages:
            walk.visit(f"{proxy.host}{path}")
        while walk.found:
            walk.visit(walk.found.pop())
    assert walk.wrong == []
    assert len(walk.visited) > FEWEST_PAGES + FEWEST_FOLLOWED


class _Walk:
    """Asks for pages and for what they lead to, once each; addresses that differ in an id or their query are one."""

    def __init__(self, proxy: PrefixProxy, connection: http.client.HTTPConnection, cookie: str) -> None:
        self._proxy, self._connection, self._cookie = proxy, connection, cookie
        self.visited: set[str] = set()
        self.found: set[str] = set()
        self.wrong: list[str] = []

    def visit(self, address: str) -> None:
        parts = urlsplit(address)
        if (page := THING.sub("*", parts.path)) in self.visited:
            return
        self.visited.add(page)
        self._connection.request("GET", parts._replace(scheme="", netloc="").geturl(), headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        body = answer.read()
        self._note(address, [answer.getheader("Location") or ""])
        if answer.status in {HTTPStatus.NOT_FOUND, HTTPStatus.INTERNAL_SERVER_ERROR}:
            self.wrong.append(f"{address}: {answer.status}")
        kind = (answer.getheader("Content-Type") or "").partition(";")[0]
        text = body.decode(errors="replace") if kind.startswith("text/") else ""
        if kind == "text/html":
            self._note(address, LEADING.findall(text))
            self._note(address, map("".join, FOLLOWED.findall(text)), follow=True)
        elif kind == "text/css":
            self._note(address, IN_STYLES.findall(text), follow=True)
        elif kind == "text/javascript" and "/vendor/" not in address:
            self._note(address, IN_SCRIPTS.findall(text), follow=True)

    def _note(self, at: str, named: Any, *, follow: bool = False) -> None:
        for each in filter(None, map(unescape, named)):
            address = urldefrag(urljoin(at, each)).url
            if address.startswith(self._proxy.host) and not f"{address}/".startswith(f"{self._proxy.url}/"):
                self.wrong.append(f"{at} leads to {each}")
            elif follow and address.startswith(f"{self._proxy.url}/"):
                self.found.add(address)


def test_addresses_for_programs_are_below_the_prefix(app: LiveApp, proxy: PrefixProxy):
    def ask(path: str, **headers: str) -> tuple[int, Any]:
        with closing(http.client.HTTPConnection("127.0.0.1", proxy.server_port, timeout=60)) as connection:
            connection.request("GET", f"{PREFIX}{path}", headers=headers)
            answer = connection.getresponse()
            content = answer.read()
        return answer.status, json.loads(content) if "json" in (answer.getheader("Content-Type") or "") else content

    assert ask("/healthz")[0] == HTTPStatus.OK
    status, document = ask("/api/v1/openapi.json")
    assert (status, document["servers"]) == (HTTPStatus.OK, [{"url": PREFIX}])
    token = {"Authorization": f"Bearer {app.python(TOKEN).strip()}"}
    status, page = ask("/api/v1/projects/shop-support/audit/?limit=1", **token)
    assert status == HTTPStatus.OK
    assert page["next"].startswith(f"{proxy.url}/api/v1/projects/shop-support/audit/?")
    assert ask("/v1/traces", **token)[0] == HTTPStatus.METHOD_NOT_ALLOWED
