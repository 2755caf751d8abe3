"""A request that is not whole never reaches the application; one that may not come is refused in words."""

from __future__ import annotations

import errno
import socket
from unittest.mock import Mock

import pytest
from waitress.buffers import TempfileBasedBuffer

from tests.serving.conftest import UPLOAD_BYTES, Served, read_all
from toolevals.serving import admission
from toolevals.serving.admission import LARGE, SignInFirst

POST = b"POST /body HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Content-Length: 100\r\n\r\n" + b"x" * 99,
        POST + b"Transfer-Encoding: chunked\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
        POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
        b"POST /body HTTP/1.1\r\nHost: x\r\n",
    ],
    ids=["short", "no chunk", "half a chunk", "no last chunk", "no end", "half a head"],
)
@pytest.mark.parametrize("ends_by", ["closing", "ending its half"])
def test_what_does_not_arrive_whole_never_reaches_the_application(served: Served, sent: bytes, ends_by: str) -> None:
    with served.connect(sent) as connection:
        if ends_by == "ending its half":
            connection.shutdown(socket.SHUT_WR)
            assert read_all(connection) == b""
    assert served.answers()
    assert served.handed == [("/other", b"")]


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        (POST + b"Transfer-Encoding: chunked\r\n\r\nfive\r\n", 400, b"chunk size"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n", 400, b"terminated"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"0" * 40_000, 400, b"line that is too long"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 8_000, 400, b"line that is too long"),
        (POST + b"Transfer-Encoding: gzip\r\n\r\n", 501, b"not supported"),
        (POST + b"Content-Length: ten\r\n\r\n", 400, b"Content-Length"),
        (POST + b"A: " + b"a" * 100_000, 431, b"exceeds"),
        (POST + b"Content-Length: %d\r\n\r\n" % (UPLOAD_BYTES * 10), 413, b"longer than"),
    ],
    ids=["size", "chunk", "endless size", "endless trailer", "coding", "length", "head", "large"],
)
def test_what_cannot_be_read_is_refused_in_words(served: Served, sent: bytes, status: int, words: bytes) -> None:
    answer = served.ask(sent)
    assert answer.startswith((b"HTTP/1.1 %d " % status, b"HTTP/1.0 %d " % status))
    assert words in answer
    assert served.handed == []


def test_a_chunked_body_is_handed_over_with_its_length(served: Served) -> None:
    assert served.ask(POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").endswith(b"fine")
    assert served.handed == [("/body", b"abcde")]


def test_who_sends_on_after_a_refusal_can_read_it(served: Served) -> None:
    size = UPLOAD_BYTES * 10
    with served.connect(POST + b"Content-Length: %d\r\n\r\n" % size) as connection:
        for _ in range(8):
            connection.sendall(b"x" * 1_000_000)
        assert connection.recv(12).endswith(b"413")


@pytest.mark.parametrize("full", ["__init__", "append"])
def test_a_body_for_which_the_disk_has_no_room_is_refused_in_words(
    served: Served, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    head = POST + b"Content-Length: %d\r\n\r\n" % LARGE
    with monkeypatch.context() as disk:
        disk.setattr(TempfileBasedBuffer, full, Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
        answer = served.ask(head + b"x" * (LARGE // 2))
    assert answer.startswith((b"HTTP/1.1 507 ", b"HTTP/1.0 507 "))
    assert "disk is full" in answer.decode()
    assert served.handed == []
    assert served.ask(head + b"x" * LARGE).endswith(b"fine")


class TestLargeBodies:
    HEAD = POST + b"Content-Length: %d\r\n" % (LARGE + 1)

    @pytest.fixture
    def strangers(self, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            admission, "refusal", lambda headers: None if "COOKIE" in headers else SignInFirst("Sign in first.")
        )

    @pytest.mark.usefixtures("strangers")
    def test_a_stranger_is_refused_before_the_body_has_come(self, served: Served) -> None:
        answer = served.ask(self.HEAD + b"\r\n" + b"x")
        assert answer.startswith(b"HTTP/1.1 401 ")
        assert b"Sign in first." in answer
        assert served.handed == []

    @pytest.mark.usefixtures("strangers")
    def test_chunks_are_no_way_around_it(self, served: Served) -> None:
        sent = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (2 * LARGE) + b"x" * (LARGE + 1)
        assert served.ask(POST + sent).startswith(b"HTTP/1.1 401 ")
        assert served.handed == []

    @pytest.mark.usefixtures("strangers")
    def test_who_asks_whether_to_send_is_told(self, served: Served) -> None:
        asking = self.HEAD + b"Expect: 100-continue\r\n"
        assert served.ask(asking + b"\r\n").startswith(b"HTTP/1.1 401 ")
        with served.connect(asking + b"Cookie: me\r\n\r\n") as connection:
            assert connection.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(b"x" * (LARGE + 1))
            assert read_all(connection).endswith(b"fine")
        assert served.handed == [("/body", b"x" * (LARGE + 1))]
