"""A site as it is served, at hard times: many wrong passwords at once, and a database that is away for a while."""

from __future__ import annotations

import http.client
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.fixtures.kept_python import KeptPython
from tests.servers import PostgresServer, RedisServer
from tests.servers.process import free_port
from toolevals.serving.application import Application

pytestmark = pytest.mark.servers
EMAIL, PASSWORD = "mara@example.org", "a long password of hers"
USER = f"""
from toolevals.workspace.accounts.services import user_create
user_create(actor=None, email={EMAIL!r}, name="Mara Lind", password={PASSWORD!r})
"""
CROWD, FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT = 24, 5
PATIENCE_SECONDS = 60
# The first line is said at once, and the next half a minute later.
AWAY_SECONDS = 8


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """A server that no other test uses."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def site(tmp_path: Path, postgres: PostgresServer, redis_server: RedisServer) -> Iterator[Application]:
    """A site with the settings of an installation: passwords are hashed as there."""
    environment = {
        "DJANGO_SETTINGS_MODULE": "toolevals.settings",
        "DATABASE_URL": postgres.database_migrated("served"),
        "REDIS_URL": redis_server.database_url(),
        "SWEEP_SECONDS": "0.5",
    }
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    with Application(python=sys.executable, data=data, port=free_port(), environment=environment) as application:
        application.prepare(sample=False)
        with said_in(tmp_path / "log"):
            application.start()
        yield application


@contextmanager
def said_in(log: Path) -> Iterator[None]:
    """Have the processes that are started meanwhile say in a file what they say."""
    before = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def asked(site: Application, method: str, path: str, body: str = "", **headers: str) -> http.client.HTTPResponse:
    """Return the answer to a request, read."""
    with closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE_SECONDS)) as connection:
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()  # type: ignore[attr-defined]
        return answer


def test_many_wrong_passwords_at_once_do_not_take_the_site(site: Application) -> None:
    with closing(KeptPython(site.environment)) as python:
        python.run(USER)
    page = asked(site, "GET", "/sign-in/")
    cookie = (page.getheader("Set-Cookie") or "").partition(";")[0]
    [token] = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[:1]  # type: ignore[attr-defined]
    said = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}

    def try_in(password: str) -> http.client.HTTPResponse:
        form = urlencode({"csrfmiddlewaretoken": token, "email": EMAIL, "password": password, "next": ""})
        return asked(site, "POST", "/sign-in/", form, **said)

    seconds: list[float] = []
    with ThreadPoolExecutor(CROWD) as crowd:
        tries = [crowd.submit(try_in, f"wrong {number}") for number in range(CROWD)]
        while not all(each.done() for each in tries) or len(seconds) < 3:
            began = time.monotonic()
            assert asked(site, "GET", "/healthz").status == 200
            seconds.append(time.monotonic() - began)
    assert max(seconds) < 1
    answers = [each.result() for each in tries]
    counts = Counter(answer.status for answer in answers)
    assert set(counts) == {200, 429}
    assert counts[200] <= FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT
    assert all(int(answer.getheader("Retry-After") or 0) > 0 for answer in answers if answer.status == 429)
    # What was refused for want of a place counts as no attempt: further ones come to the limit.
    while (last := try_in("wrong again")).status == 200:
        counts[200] += 1
    assert counts[200] == FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT
    assert last.getheader("Retry-After") == "900"


def test_a_database_that_is_away_is_a_line_in_the_log_of_each_process(
    site: Application, postgres: PostgresServer, tmp_path: Path
) -> None:
    assert asked(site, "GET", "/healthz").status == 200
    postgres.kill()
    until = time.monotonic() + AWAY_SECONDS
    try:
        while time.monotonic() < until:
            for path in ("/", "/sign-in/", "/api/v1/projects/", "/healthz"):
                assert asked(site, "GET", path, Cookie="sessionid=" + "x" * 32).status in (200, 503)
    finally:
        postgres.start()
    deadline, log = time.monotonic() + PATIENCE_SECONDS, ""
    while log.count("is reached again") < 2 and time.monotonic() < deadline:
        asked(site, "GET", "/", Cookie="sessionid=" + "x" * 32)
        time.sleep(0.2)
        log = (tmp_path / "log").read_text()
    assert asked(site, "GET", "/healthz").status == 200
    assert log.count("is reached again") >= 2, log
    assert "Traceback" not in log
    lines = [line for line in log.splitlines() if "cannot be reached since" in line]
    # Two web servers, a worker and the processes of its pool.
    assert 2 <= len(lines) <= 8, log
    assert len(log.splitlines()) < 30, log
