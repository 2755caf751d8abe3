"""Speaks HTTP by the standard library, so that only the server needs a package for it.

A connection for each request, no redirect followed. Proxies and certificates are those of the environment
(`HTTPS_PROXY`, `SSL_CERT_FILE`) and of the system.
"""

from __future__ import annotations

import io
import json
import os
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from functools import cached_property
from http import HTTPStatus
from http.client import HTTPException, InvalidURL
from stat import S_ISREG
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urljoin, urlsplit

from toolevals.json_types import JsonMapping, JsonObject
from toolevals.server_errors import BadAddressError, LateError, ServerError, ServerSettingsError, UnreachableError

SECONDS = 60
CHUNK = 1 << 16
SCHEMES = ("http://", "https://")
# What an address may hold as it is: its parts are divided by these, or quoted already.
NOT_QUOTED = "%/:?=&#[]@!$'()*+,;~"


@dataclass(frozen=True, slots=True)
class Request:
    """A request. A body that is not in memory is given in parts."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | Iterable[bytes] | None = None


@dataclass
class Response:
    """A response; the body is read from `stream` when it is asked for."""

    request: Request
    status: int
    headers: Mapping[str, str] = field(default_factory=Message)  # type: ignore[arg-type]  # letter case does not count
    stream: IO[bytes] = field(default_factory=io.BytesIO)

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @cached_property
    def content(self) -> bytes:
        """The whole body. Raises UnreachableError where it breaks off."""
        return b"".join(self.parts())

    def json(self) -> Any:
        """Return the body's value. Raises ValueError where it is no JSON."""
        return json.loads(self.content)

    def parts(self) -> Iterator[bytes]:
        """Yield the body as it arrives. Raises UnreachableError where it breaks off."""
        missing = int(self.headers.get("Content-Length") or 0)
        with self.stream as stream, network():
            while part := stream.read(CHUNK):
                missing -= len(part)
                yield part
        if missing > 0:
            raise UnreachableError(f"the answer broke off, {missing:,} bytes before its end")


Transport = Callable[[Request], Response]


class Http:
    """Asks below one address, with the same headers each time."""

    def __init__(self, base: str, headers: Mapping[str, str], transport: Transport | None = None) -> None:
        self.base, self.headers = base, headers
        self.transport = transport or over_the_network
        try:
            host, port = urlsplit(base).hostname, urlsplit(base).port
        except ValueError as error:
            raise BadAddressError(str(error)) from error
        if not host or port == 0 or not host.isprintable() or " " in host:
            raise BadAddressError("it names no host")

    def request(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        params: Mapping[str, str] | None = None,
        form: Form | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Return the answer, whatever its status. Raises UnreachableError."""
        url = quote(urljoin(self.base, path), safe=NOT_QUOTED)
        if params:
            url = f"{url}?{urlencode(params)}"
        # What the server names as its next page is an address of the network, too.
        if not url.startswith(SCHEMES):
            raise BadAddressError("it does not start with http:// or https://")
        said = {**self.headers, **(headers or {})}
        body: bytes | Iterable[bytes] | None = None
        if form is not None:
            body, said["Content-Type"] = form, form.content_type
            if form.length is not None:
                said["Content-Length"] = str(form.length)
        elif json is not None:
            body, said["Content-Type"] = json_bytes(json), "application/json"
        return self.transport(Request(method, url, said, body))


class Form:
    """A form with fields and one file, sent in parts as it is read."""

    def __init__(self, fields: Mapping[str, str], name: str, file: IO[bytes]) -> None:
        self.fields, self.name, self.file = fields, name, file
        self.boundary = uuid.uuid4().hex
        self.content_type = f"multipart/form-data; boundary={self.boundary}"

    @property
    def length(self) -> int | None:
        """In bytes; None of a pipe, whose length no one knows."""
        known = os.fstat(self.file.fileno())
        return len(self._before) + known.st_size + len(self._after) if S_ISREG(known.st_mode) else None

    def __iter__(self) -> Iterator[bytes]:
        yield self._before
        while part := self.file.read(CHUNK):
            yield part
        yield self._after

    @property
    def _before(self) -> bytes:
        name = self.name.translate({ord('"'): "%22", ord("\r"): "%0D", ord("\n"): "%0A"})
        parts = [(f'name="{field}"', value) for field, value in self.fields.items()]
        parts.append((f'name="file"; filename="{name}"', ""))
        written = [
            f"--{self.boundary}\r\nContent-Disposition: form-data; {said}\r\n\r\n{value}" for said, value in parts
        ]
        return "\r\n".join(written).encode()

    @property
    def _after(self) -> bytes:
        return f"\r\n--{self.boundary}--\r\n".encode()


@contextmanager
def network() -> Iterator[None]:
    """Turn what breaks while the network is used into this module's errors."""
    try:
        yield
    except InvalidURL as error:
        raise BadAddressError(str(error)) from error
    except TimeoutError as error:
        raise LateError("timed out") from error
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise UnreachableError(str(reason) or type(reason).__name__) from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def over_the_network(request: Request) -> Response:
    """Send, and return the answer as soon as it begins. Raises UnreachableError."""
    headers = dict(request.headers)
    asked = urllib.request.Request(request.url, request.body, headers, method=request.method)  # noqa: S310 - see SCHEMES
    with network():
        try:
            found: Any = urllib.request.build_opener(_NoRedirect).open(asked, timeout=SECONDS)
        except HTTPError as error:
            found = error
    return Response(request, found.status, found.headers, found)


def json_bytes(value: object) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def check(response: Response) -> None:
    """Raise ServerError where the answer is no success, with what the server said is wrong."""
    if not response.is_success:
        raise _error_for(response.status)(_what_is_wrong(response))


def value_of(response: Response) -> Any:
    """Return the answer's JSON value, None where it is empty. Raises ServerSettingsError where it is something else."""
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError as error:
        asked = urlsplit(response.request.url)
        raise not_ours(f"{asked.scheme}://{asked.netloc} answers with no JSON") from error


def not_ours(words: str) -> ServerSettingsError:
    """Return the error of an answer that this application does not give."""
    return ServerSettingsError(f"{words}: is this the address of a toolevals server?")


def is_at_work(response: Response) -> bool:
    """Return whether an earlier sending of the same request is not done yet, which was cut off on the way back."""
    if response.status != HTTPStatus.CONFLICT or "Idempotency-Key" not in response.request.headers:
        return False
    return "still at work" in str(_problem(response).get("detail"))


def job_errors(state: JsonMapping) -> list[str]:
    """Return why a job failed and what is wrong with its input, a line each, and how many more its page tells."""
    report = state.get("report") or {}
    errors = report.get("errors") or []
    lines = [
        "  " + ", ".join(str(error[key]) for key in ("line", "pointer", "message") if error.get(key) not in (None, ""))
        for error in errors
    ]
    more = (report.get("error_count") or 0) - len(errors)
    reason = [f"  {state['reason']}"] if state.get("reason") else []
    return [*reason, *lines, *([f"  {more:,} more: see the job's page"] if more > 0 else [])]


def _error_for(status: int) -> type[ServerError]:
    if status in (401, 403, 404) or status < 400:
        return ServerSettingsError
    return UnreachableError if status >= 500 or status == HTTPStatus.TOO_MANY_REQUESTS else ServerError


def _what_is_wrong(response: Response) -> str:
    problem = _problem(response)
    missing = _missing(response) if response.status == HTTPStatus.NOT_FOUND else ""
    elsewhere = f"it is at {response.headers['Location']}" if "Location" in response.headers else ""
    said = (str(response.status), problem.get("detail") or problem.get("title"), missing, elsewhere)
    lines = ["the server answered " + ": ".join(str(part) for part in said if part)]
    places = ((item.get("pointer"), item.get("message")) for item in problem.get("problems", []))
    lines += ["  " + ": ".join(filter(None, place)) for place in places]
    return "\n".join(lines)


def _missing(response: Response) -> str:
    """Return what is not there; where something else answers, as it does where a path is left out, all of the address.

    What this application has not is not named by where programs find it.
    """
    if _problem(response):
        return urlsplit(response.request.url).path.partition("/api/v1/")[2]
    return f"{response.request.url}: is this the address of a toolevals server, with its path?"


def _problem(response: Response) -> JsonObject:
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}
