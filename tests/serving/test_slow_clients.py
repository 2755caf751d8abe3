"""Clients that are slow, stalled or silent hold no thread, and go when their time is up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.serving.conftest import CONNECTIONS, Served, read_all
from toolevals.serving import channels, servers

HALF_A_HEAD = b"GET /half HTTP/1.1\r\nHost: loc"
HALF_A_BODY = b"POST /stalled HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n" + b"1," * 1000


def test_stalled_bodies_and_half_open_heads_leave_the_only_thread_free(served: Served) -> None:
    with ExitStack() as held:
        for sent in [HALF_A_BODY, HALF_A_HEAD] * 50:
            held.enter_context(served.connect(sent))
        assert served.answers()
    assert served.handed == [("/other", b"")]


def test_a_body_that_comes_slowly_is_handed_over_whole(served: Served) -> None:
    with served.connect(b"POST /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6\r\n\r\n") as slow:
        for part in (b"ab", b"cd"):
            slow.sendall(part)
            assert served.answers()
        slow.sendall(b"ef")
        assert read_all(slow).endswith(b"fine")
    assert served.handed[-1] == ("/slow", b"abcdef")


def test_an_answer_that_is_not_read_holds_no_thread(served: Served) -> None:
    part = b"x" * 1_000_000

    def much() -> Iterator[bytes]:
        for _ in range(30):
            yield part

    served.answer = much
    with served.connect(b"GET /much HTTP/1.0\r\nHost: x\r\n\r\n") as unread:
        assert unread.recv(12) == b"HTTP/1.0 200"
        served.answer = lambda: [b"fine"]
        assert served.answers()
        assert len(read_all(unread)) > 30 * len(part)


def test_a_head_that_takes_too_long_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "HEAD_SECONDS", 0)
    assert served.ask(HALF_A_HEAD) == b""


def test_silence_is_given_up(served: Served) -> None:
    served.server.adj.channel_timeout = 0
    assert served.ask(HALF_A_BODY) == b""
    assert served.handed == []


def test_a_full_server_closes_those_that_keep_it_waiting_for_longest(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "CLOSED_WHEN_FULL", 0.02)
    with ExitStack() as held:
        waiting = [held.enter_context(served.connect(HALF_A_HEAD)) for _ in range(CONNECTIONS + 5)]
        assert served.answers()
        assert read_all(waiting[0]) == b""
        # The newest is heard to its end.
        waiting[-1].sendall(b"alhost\r\nConnection: close\r\n\r\n")
        assert read_all(waiting[-1]).endswith(b"fine")


def test_a_server_that_stops_hangs_up_on_who_waits_and_takes_no_more(served: Served) -> None:
    with served.connect(HALF_A_HEAD) as half:
        assert served.answers()
        served.server.listening_end()
        assert not served.server.at_work()
        half.settimeout(10)
        assert half.recv(10) == b""
        assert not served.server.readable()


def test_a_server_that_stops_has_work_until_an_answer_is_sent(served: Served) -> None:
    may_end, begun = threading.Event(), threading.Event()

    def waits() -> Iterator[bytes]:
        begun.set()
        may_end.wait()
        yield b"late"

    served.answer = waits
    with served.connect(b"GET /late HTTP/1.0\r\nHost: x\r\n\r\n") as late:
        begun.wait()
        served.server.listening_end()
        assert served.server.at_work()
        may_end.set()
        assert read_all(late).endswith(b"late")


def test_large_bodies_wait_in_files_without_names(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    body = b"x" * (3 * 1024 * 1024)
    head = f"POST /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    assert served.ask(head.encode() + body).endswith(b"fine")
    assert served.handed == [("/large", body)]
    assert list(tmp_path.iterdir()) == []
