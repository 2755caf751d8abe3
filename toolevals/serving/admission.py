"""Refuses requests before their bodies have come: large ones of strangers, or a stranger could fill the disk."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from importlib import import_module

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError, connections
from django.http.cookie import parse_cookie
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.utilities import BadRequest, Error, RequestEntityTooLarge

from toolevals.workspace.outages import FULL, outage_of

# A stranger may send as much: more than any form has that needs no account.
LARGE = 1024 * 1024
# A client that is refused before its body has arrived is listened to for so long, so that it can read why.
DISCARD_SECONDS = 5
# Of the size that stands before a chunk, or of what stands behind the last one: waitress has no limit.
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


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads one request, and refuses it in words where the rest of its body may not come or cannot be kept."""

    error: Error | None
    admitted = False

    def received(self, data: bytes) -> int:
        """Read some of a request; return how many bytes."""
        try:
            consumed = int(super().received(data))
        except OSError as error:
            # A large body goes into a file.
            if outage_of(error) is not FULL:
                raise
            self.error, consumed = DiskFull(), len(data)
        self.error = self.error or self._refusal()
        if isinstance(self.error, RequestEntityTooLarge):
            self.error.body = f"The body is longer than {self.adj.max_request_body_size:,} bytes."
        if self.error is not None:
            # "Continue" is not said to whom is refused.
            self.completed, self.expect_continue = True, False
        return consumed

    def _refusal(self) -> Error | None:
        """Ask once, in the loop that reads for all: large bodies are few, and one lookup takes a millisecond."""
        if not self.completed and self._line_held() > LONGEST_LINE:
            return BadRequest("A chunk of the body begins or ends with a line that is too long.")
        if self.admitted or max(self.content_length, self.body_bytes_received) <= LARGE:
            return None
        self.admitted = True
        try:
            return refusal(self.headers)
        finally:
            connections.close_all()

    def _line_held(self) -> int:
        return len(getattr(self.body_rcv, "control_line", b"")) + len(getattr(self.body_rcv, "trailer", b""))


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection. Who is refused in the middle of a body is read on for a while, or could not read why."""

    parser_class = Parser
    refused = False
    discards_until: float | None = None

    def service(self) -> None:
        """Answer one request, in a thread."""
        self.refused = self.requests[0].error is not None
        super().service()

    def handle_close(self) -> None:
        """Close; of a refused client only our half at first."""
        if self.refused and self.connected and self.discards_until is None:
            self.discards_until = time.monotonic() + DISCARD_SECONDS
            self.will_close = False
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                super().handle_close()
        else:
            super().handle_close()

    def readable(self) -> bool:
        """Return whether to read."""
        return self.discards_until is not None or bool(super().readable())

    def received(self, data: bytes) -> bool:
        """Take some of a request."""
        if self.discards_until is None:
            return bool(super().received(data))
        if time.monotonic() > self.discards_until:
            super().handle_close()
        return True
