"""The guard that keeps requests from calling outside: it catches, and it lets through what is allowed."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
from django.test import Client

from tests.fixtures.outgoing import OutgoingCallError


def connects() -> None:
    with socket.socket() as sock:
        sock.connect(("127.0.0.1", 9))


def looks_up() -> None:
    socket.getaddrinfo("tools.example.org", 443)


def starts() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def hides() -> None:
    with contextlib.suppress(OutgoingCallError):
        looks_up()


@pytest.mark.parametrize("calls", [connects, looks_up, starts, hides])
def test_a_request_that_calls_outside_fails_its_test(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch, calls: Callable[[], None]
) -> None:
    monkeypatch.setattr("toolevals.workspace.errors.last_sweep", calls)
    with pytest.raises(OutgoingCallError, match="Make it a job"):
        client.get("/healthz")


def test_outside_a_request_everything_goes(db: None, client: Client) -> None:
    assert client.get("/healthz").status_code == 200
    starts()
