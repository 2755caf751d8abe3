"""Models behind the Anthropic Messages protocol, through the `anthropic` client, with native tools."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from toolevals.agents.anthropic_messages import as_messages, as_tools, message_in, system_in
from toolevals.agents.anthropic_options import AnthropicOptions
from toolevals.agents.anthropic_stream import joined
from toolevals.agents.chats import Reply, UnreachableError
from toolevals.agents.failures import is_transient, retry_after, unreachable
from toolevals.agents.network import AddressPolicy, ForbiddenAddressError, guarded_client
from toolevals.agents.wire_names import WireNames
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Message, ToolSpec

# Kinds of errors after which another try may succeed, whatever the status: within a stream it is 200.
PASSING = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})


class AnthropicChat:
    """One model behind one address. Used as a context; by one thread at a time, or by several: it keeps nothing."""

    def __init__(self, options: AnthropicOptions, *, key: str = "", policy: AddressPolicy | None = None) -> None:
        # Loading the client takes seconds, which a web process never needs.
        import anthropic

        self._anthropic = anthropic
        self._options = options
        self._key = key
        self._client = anthropic.Anthropic(
            base_url=options.base_url,
            # Always said: without, the client would send the server's own key to whatever address was entered.
            api_key=key or "none",
            max_retries=0,
            timeout=options.timeout,
            http_client=guarded_client(policy or AddressPolicy(), seconds=options.timeout),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Ask for the next turn. Raises UnreachableError, whose text never holds the key."""
        names = WireNames(tools)
        start = time.monotonic()
        with self._errors_named():
            answer = self._asked(names.shown(messages), names.shown_tools(tools))
            milliseconds = (time.monotonic() - start) * 1000
            content = answer.get("content")
            if not isinstance(content, list):
                raise UnreachableError("The endpoint answered without a message.", again=True)
            message = message_in(content, answer.get("stop_reason"), place=len(messages))
        model = str(answer.get("model") or "")
        return Reply(names.meant(message), _usage(answer.get("usage")), milliseconds, model)

    def _asked(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> dict[str, Any]:
        options = self._options
        request: dict[str, Any] = {
            "model": options.model,
            "max_tokens": options.max_tokens,
            "messages": as_messages(messages),
        }
        if system := [text for text in (options.system, *system_in(messages)) if text.strip()]:
            request["system"] = "\n\n".join(system)
        if tools:
            request["tools"] = as_tools(tools)
        # The client knows no `temperature` any more; older models and gateways do.
        beside = dict(options.extra)
        if options.temperature is not None:
            beside["temperature"] = options.temperature
        if options.stream:
            events: Iterable[Any] = self._client.messages.create(**request, extra_body=beside, stream=True)
            return joined(_plain(event) for event in events)
        return _plain(self._client.messages.create(**request, extra_body=beside))

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        anthropic = self._anthropic
        try:
            yield
        except anthropic.APIStatusError as error:
            again = is_transient(error.status_code) or error.type in PASSING
            said = f"{error.status_code}: {error.api_message or error.message}"
            after = retry_after(error.response.headers)
            raise self._unreachable(said, again, after, error.status_code) from None
        except ForbiddenAddressError as error:
            raise UnreachableError(str(error), again=False) from None
        except anthropic.APIConnectionError as error:
            if isinstance(error.__cause__, ForbiddenAddressError):
                raise UnreachableError(str(error.__cause__), again=False) from None
            said = f"{error} ({error.__cause__})" if error.__cause__ else str(error)
            raise self._unreachable(said, True) from None
        except anthropic.AnthropicError as error:
            raise self._unreachable(str(error), True) from None
        except (ValueError, InvalidDocument) as error:
            # JSON that is none, or blocks that are none, from a server that is none.
            raise self._unreachable(f"The answer could not be read: {error}", True) from None

    def _unreachable(
        self, reason: str, again: bool, after: float | None = None, status: int | None = None
    ) -> UnreachableError:
        return unreachable(reason, key=self._key, again=again, retry_after=after, status=status)


def _plain(answer: Any) -> dict[str, Any]:
    # What servers send beside the protocol is taken as it is: it is read with care further on.
    found = answer.model_dump(warnings=False) if hasattr(answer, "model_dump") else answer
    return found if isinstance(found, dict) else {}


def _usage(usage: Any) -> dict[str, float]:
    """Return the tokens; the protocol counts those that it had at hand, or keeps for later, beside the input."""
    if not isinstance(usage, Mapping):
        return {}
    parts = [
        _count(usage.get(name)) for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    if usage.get("input_tokens") is None:
        return {}
    return {
        "input_tokens": sum(parts),
        "output_tokens": _count(usage.get("output_tokens")),
        "cached_tokens": parts[1],
    }


def _count(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0
