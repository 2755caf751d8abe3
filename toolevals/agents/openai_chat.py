"""Asks models by the OpenAI chat-completions protocol, through the `openai` client: hosted, local, behind gateways.

Tools are offered natively, or, for models without native tools, described in the system prompt: calls are then read
from the text as `toolevals.grading.reading.parsing.calls_in_text` reads them. So they are where a server offers tools
natively and leaves the calls of its model in the text.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from toolevals.agents.chat_options import ChatOptions
from toolevals.agents.chats import Reply
from toolevals.agents.clients import OK, ClientChat
from toolevals.agents.failures import is_transient, safe
from toolevals.agents.network import AddressPolicy, guarded_client
from toolevals.agents.openai_messages import (
    as_messages,
    as_tools,
    message_in,
    text_with_tools,
    with_calls_said,
    with_ids,
)
from toolevals.agents.streamed_chat import joined
from toolevals.agents.wire_names import WireNames
from toolevals.grading.reading.parsing import Loss, calls_in_text, first_choice, is_count
from toolevals.grading.reading.parsing.text import UNHEEDED, goes_on_alone
from toolevals.grading.values import Message, ToolSpec

# What a quota that is used up is called: waiting does not help.
EXHAUSTED = frozenset({"insufficient_quota", "billing_hard_limit_reached"})

PATH = "/chat/completions"


class OpenAIChat(ClientChat):
    """One model behind one address, as `ClientChat` is."""

    def __init__(self, options: ChatOptions, *, key: str = "", policy: AddressPolicy | None = None) -> None:
        # Loading the client takes seconds, which a web process never needs.
        import openai

        self._options = options
        http = guarded_client(policy or AddressPolicy(), seconds=options.timeout)
        client = openai.OpenAI(
            base_url=options.base_url,
            api_key=key or "none",
            max_retries=0,
            # Said here too: where it is five seconds, openai takes it for no one's wish, and waits ten minutes.
            timeout=http.timeout,
            http_client=http,
        )
        super().__init__(openai, openai.OpenAIError, client, key=key)

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Ask for the next turn. Raises UnreachableError, whose text never holds the key."""
        # Described in the prompt, tools have the names that they have.
        names = WireNames(tools if self._options.tools == "native" else ())
        start = time.monotonic()
        with self.errors_named():
            answer = self._answer(messages, tools, names)
            milliseconds = (time.monotonic() - start) * 1000
            first, *further = self._choices(answer)
            message, losses = message_in(first["message"], place=len(messages))
        if further:
            losses += (Loss("further choice", "/choices/*", len(further), "/choices/1"),)
        if self._options.tools == "text" and tools and message.content:
            calls = with_ids(calls_in_text(message.content, tools), place=len(messages))
            message = Message("assistant", message.content, calls, thought=message.thought)
        elif self._options.tools == "native":
            message = with_calls_said(message, names.shown_tools(tools), place=len(messages))
        model = safe(str(answer.get("model") or ""))
        if message.calls and message.content and goes_on_alone(message.content, names.shown_tools(tools)):
            losses += (Loss(UNHEEDED, "/choices/0/message/content", 1, "/choices/0/message/content"),)
        return Reply(names.meant(message), _usage(answer.get("usage")), milliseconds, model, losses=losses)

    def _answer(self, messages: Sequence[Message], tools: Sequence[ToolSpec], names: WireNames) -> dict[str, Any]:
        options = self._options
        native = options.tools == "native"
        shown = list(messages)
        if options.system:
            shown.insert(0, Message("system", options.system))
        if tools and not native:
            shown = text_with_tools(shown, tools)
        request: dict[str, Any] = {"model": options.model, "messages": as_messages(names.shown(shown)), **options.extra}
        if tools and native:
            request["tools"] = as_tools(names.shown_tools(tools))
        for name in ("temperature", "seed", "max_tokens"):
            if (value := getattr(options, name)) is not None:
                request[name] = value
        if options.stream:
            return joined(self.told(PATH, {**request, "stream_options": {"include_usage": True}}))
        return self.asked(PATH, request)

    def may_pass(self, status: int, error: Mapping[str, Any]) -> bool:
        # Some gateways give the status of who is behind them as the code of an answer that has come well.
        code = error.get("code")
        if isinstance(code, int) and status == OK:
            status = code
        return (is_transient(status) or status == OK) and str(code) not in EXHAUSTED

    def _choices(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the choices of an answer, the first by its index first. Raises UnreachableError."""
        choices = answer.get("choices")
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices) or not choices:
            raise self.without_message(answer)
        place = first_choice(choices)
        first = choices[place]
        if first.get("error"):
            self.fail(first)
        if not isinstance(first.get("message"), dict):
            raise self.without_message(answer)
        return [first, *choices[:place], *choices[place + 1 :]]


def _usage(usage: Any) -> dict[str, float]:
    if not isinstance(usage, dict):
        return {}
    details = usage.get("prompt_tokens_details")
    counts: dict[str, Any] = {
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
        "cached_tokens": details.get("cached_tokens") if isinstance(details, dict) else None,
    }
    return {name: count for name, count in counts.items() if is_count(count)}
