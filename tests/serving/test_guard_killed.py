"""Kills what the guard stands on while it checks: no one waits for it, and what was answered is counted once."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.fixtures.application import LiveApp
from tests.fixtures.event_loops import run_apart
from tests.runs.test_killed_processes import children_of
from tests.servers import PostgresServer, RedisServer
from toolevals.sdk.guard import Guard, State
from toolevals.serving.application import WEB

pytestmark = pytest.mark.servers
CHECK = "/api/v1/projects/shop/guard/check/"
# So many calls of the key `limited` may pass in a minute.
LIMIT = 40
DEADLINE_MS = 250
# Who would wait for a dead server waits for longer than this.
PATIENCE_SECONDS = 10
WAIT_SECONDS = 30
LOST = 4
THREADS, KILLS = 4, 2
Row = tuple[str, str, int, int]
Heard = Counter[tuple[str, str, str]]
RULES = {
    "keys": {
        "kind": "keys",
        "mode": "enforce",
        "keys": {
            "desk": {"allowed_tools": ["read_*", "list_*"], "requests_a_minute": 10**9},
            "limited": {"requests_a_minute": LIMIT},
        },
    },
}
PREPARE = f"""
import json
from tests.fixtures.people import person
from toolevals.registry.guard_checks.services import public_keys
from toolevals.registry.policies.services import policy_activate, policy_create
from toolevals.workspace.models import Role, TokenScope
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.tokens.services import token_create
owner = person("Mara", is_installation_owner=True)
project = project_create(actor=owner, slug="shop", name="Shop")
document = {{"rules": {RULES!r}, "deadline_ms": {DEADLINE_MS}}}
version = policy_create(project=project, actor=owner, slug="desk", name="Desk", document=document)
policy_activate(version=version, actor=owner)
made = dict(project=project, actor=owner, user=owner, role=Role.VIEWER, scope=TokenScope.GUARD)
tokens = {{name: token_create(name=name, **made)[1] for name in ("desk", "limited")}}
print(json.dumps(tokens | {{"public_key": public_keys()[0]}}))
"""
COUNTS = """
import json
from toolevals.registry.models import GuardCount
print(json.dumps(list(GuardCount.objects.values_list("key", "tool", "requests", "refused"))))
"""


class Site(NamedTuple):
    """A running application with a policy in force, its tokens, and the database's server where it is not a file."""

    app: LiveApp
    tokens: dict[str, str]
    postgres: PostgresServer | None = None
    redis: RedisServer | None = None

    def ask(self, key: str, tool: str) -> str:
        """Return what becomes of a question: the decision, or that none could be had."""
        body = json.dumps({"request": {"name": tool, "arguments": {}}})
        headers = {"Authorization": f"Bearer {self.tokens[key]}", "Content-Type": "application/json"}
        port = self.app.application.port
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)) as connection:
            try:
                connection.request("POST", CHECK, body, headers)
                answer = connection.getresponse()
                said = json.loads(answer.read())
            except TimeoutError:
                raise
            except (OSError, http.client.HTTPException, ValueError):
                return "lost"
        if answer.status == http.HTTPStatus.SERVICE_UNAVAILABLE:
            return "lost"
        assert answer.status == http.HTTPStatus.OK, said
        if said["unanswered"]:
            # The database went before it could count.
            assert not said["allowed"]
            return "lost"
        return "allowed" if said["allowed"] else "refused"

    def counts(self) -> list[Row]:
        """Return the key, tool, requests and refusals of each minute."""
        return [tuple(row) for row in json.loads(self.app.python(COUNTS))]


def site_of(app: LiveApp, *servers: Any) -> Site:
    return Site(app, json.loads(app.python(PREPARE)), *servers)


@pytest.fixture(scope="module")
def embedded(live_app_start: Callable[..., LiveApp]) -> Site:
    """SQLite and the in-memory broker."""
    return site_of(live_app_start(loaded=False, AGENT_NETWORKS="127.0.0.1/32"))


@pytest.fixture(scope="module")
def served(live_app_start: Callable[..., LiveApp], postgres_server: PostgresServer) -> Iterator[Site]:
    """PostgreSQL and Redis, which no other test uses."""
    # As an installation has it: what is committed is there after a crash of the server.
    with PostgresServer("synchronous_commit=on") as postgres, RedisServer() as redis:
        environment = {"DATABASE_URL": postgres.database_migrated("guarded"), "REDIS_URL": redis.url}
        yield site_of(live_app_start(loaded=False, **environment), postgres, redis)


@pytest.fixture(params=["embedded", "served"])
def site(request: pytest.FixtureRequest) -> Site:
    found: Site = request.getfixturevalue(request.param)
    return found


QUESTIONS = (("desk", "read_file"), ("desk", "delete_files"), ("limited", "read_file"))


class Asking:
    """Threads that ask one question after the other, and count what they hear."""

    def __init__(self, site: Site) -> None:
        self.heard: Heard = Counter()
        self._site, self._ended = site, threading.Event()
        self._errors: list[BaseException] = []
        self._threads = [threading.Thread(target=self._work) for _ in range(THREADS)]

    def __enter__(self) -> Asking:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for each in self._threads:
            each.join()

    def _work(self) -> None:
        try:
            while not self._ended.is_set():
                for key, tool in QUESTIONS:
                    said = self._site.ask(key, tool)
                    self.heard[key, tool, said] += 1
        except BaseException as error:  # noqa: BLE001 - it is the test's
            self._errors.append(error)

    def wait(self, what: str, number: int) -> None:
        """Return once so many more answers are of a kind."""
        wanted, deadline = self.of(what) + number, time.monotonic() + 120
        while self.of(what) < wanted:
            assert not self._errors, self._errors
            assert time.monotonic() < deadline, self.heard
            time.sleep(0.01)

    def of(self, what: str) -> int:
        return sum(number for (*_, said), number in list(self.heard.items()) if said == what)


def sums(rows: list[Row], key: str, tool: str) -> tuple[int, int]:
    """Return how many calls of a tool were made and refused."""
    mine = [row for row in rows if row[:2] == (key, tool)]
    return sum(made for *_, made, _ in mine), sum(refused for *_, refused in mine)


def check_counts(site: Site, heard: Heard, before: list[Row], *, not_taken_back: int = 0) -> None:
    """Compare what was counted with what was answered: each answer is there once, and no more but what was lost.

    A refused call that the database could not take back is counted as made.
    """
    rows = site.counts()
    for key, tool in QUESTIONS:
        allowed, refused, lost = (heard[key, tool, said] for said in ("allowed", "refused", "lost"))
        (made, refusals), (made_before, refused_before) = sums(rows, key, tool), sums(before, key, tool)
        made, refusals = made - made_before, refusals - refused_before
        assert allowed + refused <= made + refusals <= allowed + refused + lost, (key, tool, heard, rows)
        assert allowed <= made
        assert refused - not_taken_back <= refusals <= refused + lost
    minutes = sum(row[:2] == ("limited", "") for row in rows)
    assert heard["limited", "read_file", "allowed"] <= LIMIT * minutes


def test_web_processes_are_killed_while_they_check(site: Site) -> None:
    before = site.counts()
    with Asking(site) as asking:
        while asking.of("lost") < LOST:
            asking.wait("allowed", 20)
            for child in children_of(site.app.application.processes[WEB].pid):
                os.kill(child, signal.SIGKILL)
        asking.wait("allowed", 20)
        asking.wait("refused", 20)
    check_counts(site, asking.heard, before)


def test_the_broker_is_killed_while_they_check(served: Site) -> None:
    assert served.redis is not None
    before = served.counts()
    with Asking(served) as asking:
        asking.wait("allowed", 20)
        served.redis.kill()
        try:
            asking.wait("allowed", 50)
        finally:
            served.redis.start()
    assert not asking.of("lost")
    check_counts(served, asking.heard, before)


def test_the_database_is_killed_while_they_check(served: Site) -> None:
    assert served.postgres is not None
    before = served.counts()
    with Asking(served) as asking:
        for _ in range(KILLS):
            asking.wait("allowed", 20)
            served.postgres.kill()
            try:
                asking.wait("lost", 20)
            finally:
                served.postgres.start()
        asking.wait("allowed", 20)
    check_counts(served, asking.heard, before, not_taken_back=THREADS * KILLS)


def desk(tmp_path: Path, site: Site) -> StdioServerParameters:
    """Return how the proxy is started before a server, with the policy of the site."""
    words = ["-m", "toolevals.cli.main", "guard-mcp", "--project", "shop", "--key", "desk", "--public-key"]
    words += [site.tokens["public_key"], "--", sys.executable, "-m", "tests.cli.guard_mcp.desk_server"]
    own = {"TOOLEVALS_URL": site.app.url, "TOOLEVALS_TOKEN": site.tokens["desk"], "XDG_CACHE_HOME": str(tmp_path)}
    path = os.pathsep.join(each for each in sys.path if each)
    return StdioServerParameters(command=sys.executable, args=words, env={**os.environ, **own, "PYTHONPATH": path})


async def listening(port: int) -> socket.socket:
    """Return a socket that listens where a killed server did: its processes may take a moment to end."""
    with anyio.fail_after(WAIT_SECONDS):
        while True:
            try:
                return socket.create_server(("127.0.0.1", port))
            except OSError:
                await anyio.sleep(0.05)


def test_the_sdk_and_the_proxy_wait_for_no_server(site: Site, tmp_path: Path) -> None:
    guard = Guard(
        site.app.url,
        site.tokens["desk"],
        project="shop",
        public_key=site.tokens["public_key"],
        key="desk",
        cache=tmp_path / "copy",
        refresh_seconds=0.05,
    )
    # The program states the counts, which it alone would have to know.
    known = State(requests_last_minute=0)

    def ask() -> list[bool]:
        return [guard.check(tool, state=known).allowed for tool in ("read_file", "delete_files")]

    async def use() -> None:
        with Path(os.devnull).open("w") as silent:
            async with Client(stdio_client(desk(tmp_path, site), errlog=silent)) as client:

                async def call() -> list[bool]:
                    return [not (await client.call_tool(tool, {})).is_error for tool in ("list_paid", "delete_files")]

                async def compare() -> None:
                    # A wait for the server at each call would take longer than this.
                    with anyio.fail_after(WAIT_SECONDS):
                        for _ in range(10):
                            assert ask() == await call() == [True, False]

                await compare()
                site.app.application.web_kill()
                await compare()
                # Something takes connections, and says nothing.
                with closing(await listening(site.app.application.port)):
                    assert guard.refresh() is False
                    await compare()

    try:
        run_apart(use)
    finally:
        guard.close()
        site.app.application.web_start()
