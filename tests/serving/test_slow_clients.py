"""Clients that are slow, stalled or silent hold no thread, and go when their time is up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.serving.conftest import Served, read_all

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


def test_silence_is_given_up(served: Served) -> None:
    served.server.adj.channel_timeout = 0
    assert served.ask(HALF_A_BODY) == b""
    assert served.handed == []


def test_large_bodies_wait_in_files_without_names(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    body = b"x" * (3 * 1024 * 1024)
    head = f"POST /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    assert served.ask(head.encode() + body).endswith(b"fine")
    assert served.handed == [("/large", body)]
    assert list(tmp_path.iterdir()) == []
