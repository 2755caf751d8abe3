"""Keeps one connection: what it may send before it is known, how long its head may take, how it is refused.

An answer tells whether the connection stays open behind it. Large bodies come only from people who are known, or a
stranger could fill the disk.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError, close_old_connections
from django.http.cookie import parse_cookie
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.task import WSGITask
from waitress.utilities import BadRequest, Error, RequestEntityTooLarge

from toolevals.workspace.outages import FULL, outage_of

# A stranger may send as much: more than any form has that needs no account.
LARGE = 1024 * 1024
CLOSE = "close"
# A request's head must be whole after so many seconds.
HEAD_SECONDS = 30
# A client that is refused before its body has arrived is listened to for so long, so that it can read why.
DISCARD_SECONDS = 5
# Of the size that stands before a chunk, or of what stands behind the last one.
LONGEST_LINE = 16 * 1024


class SignInFirst(Error):  # type: ignore[misc]  # noqa: N818 - an answer, no exception
    """The sender is not known."""

    code = 401
    reason = "Unauthorized"


class DatabaseAway(Error):  # type: ignore[misc]  # noqa: N818 - an answer, no exception
    """The sender cannot be looked up."""

    code = 503
    reason = "Service Unavailable"


class DiskFull(Error):  # type: ignore[misc]  # noqa: N818 - an answer, no exception
    """There is no room for what is sent."""

    code = FULL.status.value
    reason = FULL.status.phrase

    def __init__(self) -> None:
        super().__init__(f"{FULL.title} {FULL.sentence}")


def refusal(headers: Mapping[str, str]) -> Error | None:
    """Return why a body larger than LARGE may not come, or None. `headers` has names as "CONTENT_TYPE"."""
    try:
        if _has_token(headers.get("AUTHORIZATION", "")) or _has_session(headers.get("COOKIE", "")):
            return None
    except DatabaseError as error:
        if outage_of(error) is FULL:
            return DiskFull()
        return DatabaseAway("The database does not answer. Send it again later.")
    return SignInFirst(f"Only who is signed in, or sends a token, may send more than {LARGE:,} bytes.")


def _has_token(header: str) -> bool:
    from toolevals.workspace.tokens.services import UnknownToken, bearer_token, token_find

    try:
        token_find(bearer_token(header))
    except UnknownToken:
        return False
    return True


def _has_session(header: str) -> bool:
    key = parse_cookie(header).get(settings.SESSION_COOKIE_NAME)
    return bool(key) and SESSION_KEY in import_module(settings.SESSION_ENGINE).SessionStore(key)


class Answer(WSGITask):  # type: ignore[misc]
    """An answer of the application.

    waitress closes a connection behind each answer without a `Content-Length`. Those that have no body (204, 304) and
    those in chunks say themselves where they end, so another request may follow. One that breaks off is closed still.
    """

    version: str
    close_on_finish: bool
    _writes_head = False

    def build_response_header(self) -> bytes:
        """Return the status line and the headers."""
        self._writes_head = True
        try:
            return bytes(super().build_response_header())
        finally:
            self._writes_head = False

    def set_close_on_finish(self) -> None:
        """Close the connection behind this answer, unless it need not be."""
        if not (self._writes_head and self._says_its_end()):
            super().set_close_on_finish()

    def _says_its_end(self) -> bool:
        if self.version != "1.1" or self.request.headers.get("CONNECTION", "").lower() == CLOSE:
            return False
        # The end of the chunks would be taken for the next answer, as a HEAD has none.
        return self.request.command != "HEAD" or not self.chunked_response


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads one request; asks whether a large body may come before it is taken."""

    completed: bool
    expect_continue: bool

    def __init__(self, adj: Adjustments) -> None:
        super().__init__(adj)
        self.began = time.monotonic()
        self.admitted = False
        self.wants_continue = False

    def received(self, data: bytes) -> int:
        """Read some of a request; return how many bytes."""
        had_head = self.headers_finished
        consumed = self._read(data)
        if self.headers_finished and not had_head and self.expect_continue and self._is_large():
            # "Continue" is said when the body is admitted.
            self.expect_continue, self.wants_continue = False, True
        if not self.completed and self._line_held() > LONGEST_LINE:
            self.error = BadRequest("A chunk of the body begins or ends with a line that is too long.")
            self.completed = True
        if isinstance(self.error, RequestEntityTooLarge):
            self.error.body = f"The body is longer than {self.adj.max_request_body_size:,} bytes."
        return consumed

    def _read(self, data: bytes) -> int:
        """Read some of a request; a large body goes into a file, for which the disk may have no room."""
        try:
            return int(super().received(data))
        except OSError as error:
            if outage_of(error) is not FULL:
                raise
        self.error = DiskFull()
        self.completed = True
        return len(data)

    def must_be_admitted(self) -> bool:
        """Return whether the rest of the body may come only from someone who is known."""
        return not self.completed and not self.admitted and self._is_large()

    def _is_large(self) -> bool:
        return self.wants_continue or max(self.content_length, self.body_bytes_received) > LARGE

    def _line_held(self) -> int:
        return len(getattr(self.body_rcv, "control_line", b"")) + len(getattr(self.body_rcv, "trailer", b""))


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = Parser
    task_class = Answer
    close_when_flushed: bool
    # Whether a thread finds out who sends: meanwhile nothing more is read.
    asking = False
    # Since when an answered client is read without being listened to.
    discarding_since: float | None = None
    refused = False

    def received(self, data: bytes) -> bool:
        """Take some of a request."""
        if self.discarding_since is not None:
            return True
        taken = bool(super().received(data))
        request = self.request
        if request is not None and request.must_be_admitted() and not self.asking:
            self.asking = True
            self.server.task_dispatcher.add_task(Admission(self, request))
        return taken

    def readable(self) -> bool:
        """Return whether to read."""
        return self.discarding_since is not None or (not self.asking and bool(super().readable()))

    def service(self) -> None:
        """Answer one request, in a thread."""
        self.refused = self.requests[0].error is not None
        super().service()

    def handle_write(self) -> None:
        """Send what is due; close when all is sent, or let a refused client read first."""
        if not (self.refused and self.close_when_flushed):
            super().handle_write()
            return
        self._flush_exception(self._flush_some)
        if self.total_outbufs_len or self.will_close:
            super().handle_write()
            return
        self.close_when_flushed = False
        self.discarding_since = time.monotonic()
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.handle_close()

    def waits_for_client(self) -> bool:
        """Return whether the server has nothing to do for this connection."""
        return not (self.requests or self.total_outbufs_len or self.asking)

    def is_overdue(self, now: float) -> bool:
        """Return whether its client has had long enough. `now` is of the monotonic clock."""
        if self.discarding_since is not None:
            return now - self.discarding_since > DISCARD_SECONDS
        request = self.request
        return request is not None and not request.headers_finished and now - request.began > HEAD_SECONDS


class Admission:
    """A task: finds out whether a large body may come, and lets the connection go on."""

    def __init__(self, channel: Channel, request: Any) -> None:
        self._channel = channel
        self._request = request

    def service(self) -> None:
        """Decide, in a thread."""
        # As around each request: a connection that broke is not asked.
        close_old_connections()
        try:
            error = refusal(self._request.headers)
        finally:
            close_old_connections()
        channel, request = self._channel, self._request
        with channel.requests_lock:
            channel.asking = False
            request.admitted = True
            if not channel.connected:
                return
            if error is not None:
                self._refuse(error)
            elif request.wants_continue:
                channel.send_continue()
        channel.server.pull_trigger()

    def cancel(self) -> None:
        """Let it be: the server stops."""

    def _refuse(self, error: Error) -> None:
        channel, request = self._channel, self._request
        request.error, request.completed, channel.request = error, True, None
        channel.requests.append(request)
        channel.server.add_task(channel)
