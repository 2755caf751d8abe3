"""The processes of the web server: how they stop, what takes the place of one that dies, and what many clients cost."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Thread

import pytest

from scripts.dev.environment import ROOT
from tests.servers.process import free_port, wait_until

pytestmark = pytest.mark.servers
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: loc"
HALF_A_BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n" + b"1," * 1000
HEADS, BODIES = 600, 50


class Web:
    """A web server with a program of the tests."""

    def __init__(self, data: Path) -> None:
        self.port = free_port()
        words = ["-m", "gunicorn", "--config", "python:toolevals.serving.options", "--workers", "2"]
        environment = {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": str(data)}
        self.process = subprocess.Popen(
            [sys.executable, *words, "--bind", f"127.0.0.1:{self.port}", "tests.serving.slow_program:application"],
            cwd=ROOT,
            env=os.environ | environment,
            start_new_session=True,
        )
        assert wait_until(self.answers, while_alive=self.process, seconds=60)

    def get(self, path: str = "/") -> int:
        """Return the process that answers."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request("GET", path)
            return int(connection.getresponse().read())

    def answers(self) -> bool:
        try:
            return self.get() > 0
        except OSError:
            return False

    def connect(self, sent: bytes) -> socket.socket:
        """Return a connection on which something has been sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection.sendall(sent)
        return connection


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    """A web server that runs."""
    tmp_path.chmod(0o700)
    started = Web(tmp_path)
    yield started
    if started.process.poll() is None:
        os.killpg(started.process.pid, signal.SIGKILL)
        started.process.wait()


def test_half_requests_and_stalled_bodies_cost_connections_and_no_thread(web: Web) -> None:
    with ExitStack() as held:
        for sent in [HALF_A_BODY] * BODIES + [HALF_A_HEAD] * HEADS:
            held.enter_context(web.connect(sent))
        for _ in range(20):
            begun = time.monotonic()
            assert web.get()
            assert time.monotonic() - begun < 1


def test_a_request_in_hand_is_answered_before_the_end(web: Web) -> None:
    answered: list[int] = []
    asking = Thread(target=lambda: answered.append(web.get("/slow")))
    with web.connect(HALF_A_HEAD) as half:
        asking.start()
        time.sleep(0.5)
        web.process.terminate()
        asking.join()
        assert len(answered) == 1
        assert web.process.wait(timeout=30) == 0
        assert half.recv(10) == b""
    assert not web.answers()


def test_a_process_that_is_killed_is_replaced(web: Web) -> None:
    first = web.get()
    os.kill(first, signal.SIGKILL)
    assert wait_until(lambda: web.answers() and web.get() != first, while_alive=web.process, seconds=30)


def test_none_outlives_the_first(web: Web) -> None:
    child = web.get()
    web.process.kill()
    web.process.wait()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not web.answers()
