"""Tell what the clients of both protocols have in common: they are opened, closed, and fail in the same ways."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx2

from toolevals.agents.answers import AnswerRefusedError
from toolevals.agents.chats import UnreachableError
from toolevals.agents.failures import retry_after, unreachable
from toolevals.agents.network import ForbiddenAddressError


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
    def refusal(self, error: Any) -> tuple[str, bool]:
        """Return what an error with a status says, and whether another try may succeed."""

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Raise whatever goes wrong meanwhile as UnreachableError, whose text never holds the key."""
        try:
            yield
        except self._library.APIStatusError as error:
            said, again = self.refusal(error)
            after, status = retry_after(error.response.headers), error.status_code
            raise unreachable(
                f"{status}: {said}", key=self._key, again=again, retry_after=after, status=status
            ) from None
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
        except ValueError as error:
            # JSON that is none, or blocks that are none, from a server that is none.
            raise self._worth_a_try(f"The answer could not be read: {error}") from None

    def _worth_a_try(self, reason: str) -> UnreachableError:
        return unreachable(reason, key=self._key, again=True)


def plain(answer: Any) -> dict[str, Any]:
    """Return an answer, or an event of one, as it came: what servers send besides the protocol is read further on."""
    found = answer.model_dump(warnings=False) if hasattr(answer, "model_dump") else answer
    return found if isinstance(found, dict) else {}
