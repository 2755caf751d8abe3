"""Asks models behind the Anthropic Messages protocol, through the `anthropic` client, with native tools."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolevals.agents.anthropic_messages import as_messages, as_tools, message_in, system_in
from toolevals.agents.anthropic_options import AnthropicOptions
from toolevals.agents.anthropic_stream import joined
from toolevals.agents.chats import Reply, UnreachableError
from toolevals.agents.clients import ClientChat, plain
from toolevals.agents.failures import is_transient
from toolevals.agents.network import AddressPolicy, guarded_client
from toolevals.agents.wire_names import WireNames
from toolevals.grading.values import Message, ToolSpec

# Kinds of errors after which another try may succeed, whatever the status: within a stream it is 200.
PASSING = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})


class AnthropicChat(ClientChat):
    """One model behind one address, as `ClientChat` is."""

    def __init__(self, options: AnthropicOptions, *, key: str = "", policy: AddressPolicy | None = None) -> None:
        # Loading the client takes seconds, which a web process never needs.
        import anthropic

        self._options = options
        client = anthropic.Anthropic(
            base_url=options.base_url,
            # Always said: without, the client would send the server's own key to whatever address was entered.
            api_key=key or "none",
            max_retries=0,
            timeout=options.timeout,
            http_client=guarded_client(policy or AddressPolicy(), seconds=options.timeout),
        )
        super().__init__(anthropic, anthropic.AnthropicError, client, key=key)

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Ask for the next turn. Raises UnreachableError, whose text never holds the key."""
        names = WireNames(tools)
        start = time.monotonic()
        with self.errors_named():
            answer = self._asked(names.shown(messages), names.shown_tools(tools))
            milliseconds = (time.monotonic() - start) * 1000
            content = answer.get("content")
            if not isinstance(content, list):
                raise UnreachableError("The endpoint answered without a message.", again=True)
            message, losses = message_in(content, answer.get("stop_reason"), place=len(messages))
        model = str(answer.get("model") or "")
        return Reply(names.meant(message), _usage(answer.get("usage")), milliseconds, model, losses=losses)

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
            return joined(plain(event) for event in events)
        return plain(self._client.messages.create(**request, extra_body=beside))

    def refusal(self, error: Any) -> tuple[str, bool]:
        return error.api_message or error.message, is_transient(error.status_code) or error.type in PASSING


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
