"""Asks models by the OpenAI chat-completions protocol, through the `openai` client: hosted, local, behind gateways.

Tools are offered natively, or, for models without native tools, described in the system prompt: calls are then read
from the text as `toolevals.grading.reading.parsing.calls_in_text` reads them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolevals.agents.chat_options import ChatOptions
from toolevals.agents.chats import Reply, UnreachableError
from toolevals.agents.clients import ClientChat, plain
from toolevals.agents.failures import is_transient
from toolevals.agents.network import AddressPolicy, guarded_client
from toolevals.agents.openai_messages import as_messages, as_tools, message_in, text_with_tools, with_ids
from toolevals.agents.wire_names import WireNames
from toolevals.grading.reading.parsing import Loss, calls_in_text
from toolevals.grading.values import Message, ToolSpec

# What a quota that is used up is called: waiting does not help.
EXHAUSTED = frozenset({"insufficient_quota", "billing_hard_limit_reached"})

# The parts of a streamed message that are put together by name.
_JOINED = frozenset({"role", "content", "refusal", "tool_calls"})


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
            answer = self._asked(messages, tools, names)
            milliseconds = (time.monotonic() - start) * 1000
            message, losses = message_in(_first_message(answer), place=len(messages))
            losses += _further(answer)
        if self._options.tools == "text" and tools and message.content:
            calls = with_ids(calls_in_text(message.content, tools), place=len(messages))
            message = Message("assistant", message.content, calls)
        model = str(answer.get("model") or "")
        return Reply(names.meant(message), _usage(answer.get("usage")), milliseconds, model, losses=losses)

    def _asked(self, messages: Sequence[Message], tools: Sequence[ToolSpec], names: WireNames) -> dict[str, Any]:
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
        if not options.stream:
            return plain(self._client.chat.completions.create(**request))
        chunks = self._client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True})
        return _joined(plain(chunk) for chunk in chunks)

    def refusal(self, error: Any) -> tuple[str, bool]:
        return error.message, is_transient(error.status_code) and error.code not in EXHAUSTED


def _first_message(answer: dict[str, Any]) -> dict[str, Any]:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        raise UnreachableError("The endpoint answered without a message.", again=True)
    return message


def _further(answer: dict[str, Any]) -> tuple[Loss, ...]:
    count = len(answer["choices"]) - 1
    return (Loss("further choice", "/choices/*", count, "/choices/1"),) if count else ()


def _joined(chunks: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Put the chunks of a streamed answer together: text and arguments come in pieces, each call by its index.

    What else a piece holds, such as reasoning, is joined likewise, so that what is not read is seen.

    Raises UnreachableError where no chunk says why the answer ended: the rest of it never came.
    """
    answer: dict[str, Any] = {}
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    rest: dict[str, Any] = {}
    begun = ended = False
    for chunk in chunks:
        answer = {**answer, **{key: chunk[key] for key in ("model", "usage") if chunk.get(key)}}
        for choice in (chunk.get("choices") or [])[:1]:
            begun = True
            ended = ended or bool(choice.get("finish_reason"))
            delta = choice.get("delta") or {}
            rest = {**rest, **{key: _grown(rest.get(key), delta[key]) for key in delta.keys() - _JOINED}}
            text.append(delta.get("content") or delta.get("refusal") or "")
            for piece in delta.get("tool_calls") or []:
                _add(calls.setdefault(piece.get("index") or 0, {"function": {"name": "", "arguments": ""}}), piece)
    if not begun:
        return answer
    if not ended:
        raise UnreachableError("The stream broke off: no finish_reason came.", again=True)
    made = [calls[index] for index in sorted(calls)]
    message = {**rest, "role": "assistant", "content": "".join(text) or None, "tool_calls": made}
    return {**answer, "choices": [{"message": message}]}


def _grown(before: Any, piece: Any) -> Any:
    """Return a value that comes in pieces, with one more of them."""
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    if isinstance(before, list) and isinstance(piece, list):
        return before + piece
    if isinstance(before, dict) and isinstance(piece, dict):
        return before | {key: _grown(before.get(key), value) for key, value in piece.items()}
    return before if piece is None else piece


def _add(call: dict[str, Any], piece: Mapping[str, Any]) -> None:
    if piece.get("id"):
        call["id"] = piece["id"]
    function = piece.get("function") or {}
    for key in ("name", "arguments"):
        call["function"][key] += function.get(key) or ""


def _usage(usage: Any) -> dict[str, float]:
    if not isinstance(usage, dict):
        return {}
    details = usage.get("prompt_tokens_details") or {}
    counts = {
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
        "cached_tokens": details.get("cached_tokens"),
    }
    return {name: count for name, count in counts.items() if isinstance(count, int | float) and count >= 0}
