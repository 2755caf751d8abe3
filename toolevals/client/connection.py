"""Speaks to a server with a token over the REST interface.

Requests are sent again while a server is restarted, or answers that it cannot answer now.
"""

from __future__ import annotations

import email.utils
import math
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolevals.client.http import (
    Form,
    Http,
    Response,
    Transport,
    check,
    is_at_work,
    not_ours,
    value_of,
)
from toolevals.json_types import JsonObject
from toolevals.server_errors import BadAddressError, LateError, ServerError, ServerSettingsError, UnreachableError

# What a server, or whatever stands before it, answers while it cannot answer.
PASSING = frozenset({429, 502, 503, 504})
# How long a server may be away.
PATIENCE_SECONDS = 300.0
LONGEST_PAUSE = 30.0


def unsaid(line: str) -> None:
    """Say nothing of what happens meanwhile: a program that wants to know gives a function of its own."""


@dataclass
class RetryDeadline:
    """A limit on asking a server that was there again: with growing pauses, or with those that it asks for."""

    deadline: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    note: Callable[[str], None] = unsaid
    patience: float = PATIENCE_SECONDS
    _since: float | None = field(default=None, init=False)
    _pause: float = field(default=1.0, init=False)

    def answered(self) -> None:
        """Note that the server answers."""
        if self._since is not None:
            self.note("the server answers")
        self._since, self._pause = None, 1.0

    def wait(self, why: str, asked: float | None = None) -> bool:
        """Wait before the next attempt and return True; False where the time for it is over.

        `asked` is the pause that the server asks for, in seconds.
        """
        now = self.clock()
        since = now if self._since is None else self._since
        end = min(since + self.patience, self.deadline)
        pause = self._pause if asked is None else asked
        if now + pause > end:
            return False
        if self._since is None:
            self.note(f"{why}; retrying for up to {math.ceil(end - now)} seconds")
        self._since, self._pause = since, min(self._pause * 2, LONGEST_PAUSE)
        self.sleep(pause)
        return True


def retry_after(response: Response, now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that a server asks to wait, given as a number or as a date; None where it asks for nothing."""
    said = response.headers.get("Retry-After", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - now())
    except (ValueError, TypeError, OverflowError):
        return None


class Connection:
    """The addresses below one of the server's; every error of the server or the network is a ServerError.

    A server that has answered once and then goes away is asked again for a while: what only reads, and what carries a
    key by which the server knows it again.
    """

    def __init__(
        self,
        server: str,
        token: str,
        path: str = "",
        *,
        timeout: float = 3600,
        transport: Transport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        note: Callable[[str], None] = unsaid,
    ) -> None:
        self.server = server.rstrip("/")
        self.note = note
        self.timeout = timeout
        self.retry = RetryDeadline(math.inf, clock, sleep, note, min(PATIENCE_SECONDS, timeout))
        self.is_known = False
        if not (token.isascii() and token.isprintable()):
            raise ServerSettingsError("the token contains invalid characters: copy it again")
        with self._spoken():
            self.http = Http(f"{self.server}/api/v1/{path}", {"Authorization": f"Bearer {token}"}, transport)

    def request(self, method: str, path: str, **options: Any) -> Any:
        """Return the answer's JSON value. Raises ServerError with what the server said is wrong."""
        return self._answer(lambda: self.http.request(method, path, **options), again=method == "GET")

    def post_once(self, path: str, **options: Any) -> Any:
        """Send what the server does once, however often it arrives, and return the answer's JSON value."""
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        return self._answer(lambda: self.http.request("POST", path, headers=headers, **options), again=True)

    def download(self, path: str) -> Iterator[bytes]:
        """Yield the parts of a file as they arrive."""
        with self._spoken():
            response = self.http.request("GET", path)
            check(response)
            yield from response.parts()

    def _answer(self, send: Callable[[], Response], *, again: bool) -> Any:
        """Send, and where that is asked for send again, until there is an answer that stays; return its JSON value."""
        while True:
            with self._spoken():
                try:
                    response = send()
                    # All of it: it may break off as well.
                    response.content  # noqa: B018 - a property that reads
                except UnreachableError as error:
                    # Where nothing has answered yet, the address is wrong.
                    why = f"{self.server} does not answer ({error})"
                    if again and self.is_known and self.retry.wait(why):
                        continue
                    raise
            self.is_known = True
            passing = response.status in PASSING or is_at_work(response)
            why = f"{self.server} answers {response.status}"
            if not (passing and again and self.retry.wait(why, retry_after(response))):
                break
        self.retry.answered()
        check(response)
        return value_of(response)

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        try:
            yield
        except BadAddressError as error:
            raise BadAddressError(f"invalid server URL: {error}") from error
        except LateError as error:
            raise LateError(f"no answer in time from {self.server}") from error
        except UnreachableError as error:
            raise UnreachableError(f"cannot reach {self.server}: {error}") from error

    def pages(self, path: str, **parameters: str) -> Iterator[JsonObject]:
        """Yield every item of a paginated list."""
        address: str | None = path
        while address:
            page = self.request("GET", address, params=parameters)
            if not isinstance(page, dict) or not {"results", "next"} <= page.keys():
                raise not_ours(f"{self.server} answers with no list")
            yield from page["results"]
            address, parameters = page["next"], {}

    def upload(self, path: str, file: Path, fields: Mapping[str, str]) -> Any:
        """Send a file; a repeated send of the same request is answered, not done again."""
        headers = {"Idempotency-Key": uuid.uuid4().hex}

        def send() -> Response:
            with file.open("rb") as stream:
                return self.http.request("POST", path, form=Form(fields, file.name, stream), headers=headers)

        try:
            # A pipe can be read once only.
            return self._answer(send, again=file.is_file())
        except OSError as error:
            raise ServerError(f"cannot read {file}: {error.strerror}") from error
