"""Tell what the clients of both protocols have in common: they are opened, closed, and fail in the same ways.

What comes is read here as it was sent: the clients' own models take what is not of the protocol in silence, or break.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx2

from toolevals.agents.chats import UnreachableError, retry_after, unreachable, words_in
from toolevals.agents.network import ANSWER_BYTES, AnswerRefusedError, ForbiddenAddressError
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

OK = 200
_BOM = b"\xef\xbb\xbf"
_BEGINNING = 120


class ClientChat(ABC):
    """One model behind one address. Used as a context; by one thread at a time, or by several: it keeps nothing.

    `library` is the module `openai` or `anthropic`, whose errors have the same names; `every_error` is their root.
    """

    def __init__(self, library: Any, every_error: type[Exception], client: Any, *, key: str) -> None:
        self._library = library
        self._every_error = every_error
        self._client = client
        self._key = key

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @abstractmethod
    def may_pass(self, status: int, error: JsonMapping) -> bool:
        """Tell whether another try may succeed after an error, which the endpoint described so."""

    def asked(self, path: str, request: JsonMapping) -> JsonObject:
        """Return the object that a request is answered with. Raises UnreachableError."""
        with self.errors_named():
            response = self._client.post(path, body=dict(request), cast_to=httpx2.Response)
            return self._read(response.content.removeprefix(_BOM), response.status_code)

    def told(self, path: str, request: JsonMapping) -> Iterator[JsonObject]:
        """Yield the events that a request is answered with. Raises UnreachableError."""
        with self.errors_named():
            stream = self._client.post(
                path,
                body={**request, "stream": True},
                cast_to=object,
                stream=True,
                stream_cls=self._library.Stream[Any],
            )
            try:
                for name, data in events_in(stream.response.iter_bytes()):
                    if data.startswith("[DONE]"):
                        return
                    yield self._read(data, OK, is_error=name == "error")
            finally:
                stream.close()

    def _read(self, text: str | bytes, status: int, *, is_error: bool = False) -> JsonObject:
        try:
            answer = load_json(text, max_bytes=ANSWER_BYTES)
        except InvalidDocument as error:
            begins = text[:_BEGINNING]
            shown = begins.decode(errors="replace") if isinstance(begins, bytes) else begins
            raise self._failed(f"The answer could not be read: {error}. It begins: {shown}", status) from None
        if not isinstance(answer, dict):
            raise self._failed(f"The endpoint answered without a message: {words_in(answer)}", status)
        if is_error or answer.get("error"):
            self.fail(answer, status)
        return answer

    def fail(self, answer: JsonObject, status: int = OK) -> None:
        """Raise the error that an answer tells of, whatever its status says."""
        raise self._failed(words_in(answer), status, again=self.may_pass(status, _error_in(answer)))

    def without_message(self, answer: JsonObject) -> UnreachableError:
        """Return the error for an answer in which nothing is said."""
        return self._failed(f"The endpoint answered without a message: {words_in(answer)}", OK)

    def _failed(self, said: str, status: int, *, again: bool = True, after: float | None = None) -> UnreachableError:
        return unreachable(f"{status}: {said}", key=self._key, again=again, retry_after=after, status=status)

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Raise whatever goes wrong meanwhile as UnreachableError, whose text never holds the key."""
        try:
            yield
        except self._library.APIStatusError as error:
            after, status = retry_after(error.response.headers), error.status_code
            said = words_in(error.body) if error.body else str(error)
            again = self.may_pass(status, _error_in(error.body))
            raise self._failed(said, status, again=again, after=after) from None
        except (ForbiddenAddressError, AnswerRefusedError) as error:
            raise UnreachableError(str(error), again=False) from None
        except self._library.APIConnectionError as error:
            if isinstance(error.__cause__, ForbiddenAddressError | AnswerRefusedError):
                raise UnreachableError(str(error.__cause__), again=False) from None
            raise self._worth_a_try(f"{error} ({error.__cause__})" if error.__cause__ else str(error)) from None
        except self._every_error as error:
            raise self._worth_a_try(str(error)) from None
        except httpx2.HTTPError as error:
            # While a stream comes, the clients leave the network's errors as they are.
            raise self._worth_a_try(f"{type(error).__name__}: {error}") from None
        except (ValueError, RecursionError) as error:
            # What is not of the protocol, from a server that does not keep to it.
            raise self._worth_a_try(f"The answer could not be read: {error}") from None

    def _worth_a_try(self, reason: str) -> UnreachableError:
        return unreachable(reason, key=self._key, again=True)


def events_in(chunks: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the events of a stream (HTML, "Server-sent events") as their names and data, those without data left out.

    What no empty line ends is no event. Raises UnicodeDecodeError.
    """
    name, data = "", list[str]()
    for number, line in enumerate(_lines_in(chunks)):
        field, _, value = (line if number else line.removeprefix(_BOM)).decode().partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif not line:
            if any(data):
                yield name, "\n".join(data)
            name, data = "", []


def _lines_in(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines that are ended; a line that ends with a carriage return waits for what may follow it."""
    begun: list[bytes] = []
    for chunk in chunks:
        begun.append(chunk)
        if b"\n" in chunk or b"\r" in chunk:
            lines = b"".join(begun).splitlines(keepends=True)
            begun = [] if lines[-1].endswith(b"\n") else [lines.pop()]
            yield from (line.rstrip(b"\r\n") for line in lines)
    yield from (line.rstrip(b"\r\n") for line in b"".join(begun).splitlines(keepends=True) if line[-1:] in b"\r\n")


def _error_in(body: object) -> JsonMapping:
    """Return the description of an error, alone or under `error`."""
    inner = body.get("error") if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else body if isinstance(body, dict) else {}
