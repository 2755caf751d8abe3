"""Asks models by the OpenAI chat-completions protocol, through the `openai` client: hosted, local, behind gateways.

Tools are offered natively, or, for models without native tools, described in the system prompt: calls are then read
from the text as `toolevals.grading.reading.parsing.calls_in_text` reads them. So they are where a server offers tools
natively and leaves the calls of its model in the text.

Streamed chunks are put together, each choice for itself. Servers differ in what they send: Azure's first chunk has no
choices, some send usage with each chunk, content in parts, or calls as `CallPieces` says. What is of no known shape is
refused, so that no one is graded by half of an answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolevals.agents.chats import Reply, UnreachableError, is_transient, safe
from toolevals.agents.clients import OK, ClientChat
from toolevals.agents.network import AddressPolicy, guarded_client
from toolevals.agents.openai_messages import (
    WireNames,
    as_messages,
    as_tools,
    message_in,
    text_with_tools,
    with_calls_said,
    with_ids,
)
from toolevals.agents.options import ChatOptions
from toolevals.grading.json_schema.strict_tools import strict_names
from toolevals.grading.reading.parsing import CallPieces, Loss, calls_in_text, first_choice, is_count
from toolevals.grading.reading.parsing.text import UNHEEDED, goes_on_alone
from toolevals.grading.values import Message, ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

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

    def _answer(self, messages: Sequence[Message], tools: Sequence[ToolSpec], names: WireNames) -> JsonObject:
        options = self._options
        native = options.tools == "native"
        shown = list(messages)
        if options.system:
            shown.insert(0, Message("system", options.system))
        if tools and not native:
            shown = text_with_tools(shown, tools)
        request: JsonObject = {"model": options.model, "messages": as_messages(names.shown(shown)), **options.extra}
        if tools and native:
            offered = names.shown_tools(tools)
            request["tools"] = as_tools(offered, strict_names(offered, "openai") if options.strict_tools else ())
        for name in ("temperature", "seed", "max_tokens"):
            if (value := getattr(options, name)) is not None:
                request[name] = value
        if options.stream:
            return joined(self.told(PATH, {**request, "stream_options": {"include_usage": True}}))
        return self.asked(PATH, request)

    def may_pass(self, status: int, error: JsonMapping) -> bool:
        # Some gateways give the status of who is behind them as the code of an answer that has come well.
        code = error.get("code")
        if isinstance(code, int) and status == OK:
            status = code
        return (is_transient(status) or status == OK) and str(code) not in EXHAUSTED

    def _choices(self, answer: JsonObject) -> list[JsonObject]:
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


def _usage(usage: object) -> dict[str, float]:
    if not isinstance(usage, dict):
        return {}
    details = usage.get("prompt_tokens_details")
    counts: JsonObject = {
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
        "cached_tokens": details.get("cached_tokens") if isinstance(details, dict) else None,
    }
    return {name: count for name, count in counts.items() if is_count(count)}


# The parts of a streamed message that are put together by name.
_JOINED = frozenset({"role", "content", "refusal", "tool_calls", "function_call"})


@dataclass(slots=True)
class _Choice:
    """One choice, of which chunks came."""

    content: list[Any] = field(default_factory=list)
    calls: CallPieces = field(default_factory=CallPieces)
    older: CallPieces = field(default_factory=CallPieces)
    rest: JsonObject = field(default_factory=dict)
    ended: bool = False

    def add(self, choice: JsonObject) -> None:
        self.ended = self.ended or bool(choice.get("finish_reason"))
        delta = choice.get("delta")
        if delta is None:
            return
        _require(delta, dict, "a delta")
        self._say(delta.get("content"))
        self._say(delta.get("refusal"))
        if delta.get("tool_calls") is not None:
            self.calls.add(delta["tool_calls"])
        if delta.get("function_call"):
            self.older.add([{"index": 0, "function": delta["function_call"]}])
        self.rest |= {key: _grown(self.rest.get(key), delta[key]) for key in delta.keys() - _JOINED}

    def _say(self, content: object) -> None:
        if isinstance(content, list):
            for part in content:
                self._say_part(part)
        elif content is not None:
            _require(content, str, "the content of a delta")
            self._say_part({"type": "text", "text": content})

    def _say_part(self, part: JsonValue) -> None:
        _require(part, dict, "a part of the content of a delta")
        last = self.content[-1] if self.content else None
        if last is not None and _is_text(last) and _is_text(part):
            self.content[-1] = {**last, "text": last["text"] + part["text"]}
        elif part.get("text") != "":
            self.content.append(part)

    def to_document(self, index: int) -> JsonObject:
        is_plain = len(self.content) <= 1 and all(map(_is_text, self.content))
        content = (self.content[0]["text"] if self.content else None) if is_plain else self.content
        message = {**self.rest, "role": "assistant", "content": content, "tool_calls": self.calls.made}
        if older := self.older.made:
            message["function_call"] = older[0]
        return {"index": index, "message": message}


def joined(chunks: Iterable[JsonObject]) -> JsonObject:
    """Return the answer that chunks tell of; without `choices` where none had any.

    What else a chunk holds, such as reasoning, is joined likewise, so that what is not read is seen. Raises
    InvalidDocument for what is of no known shape, and UnreachableError where no chunk says why the answer ended: the
    rest of it never came. Once it has ended, a connection that breaks or falls silent takes nothing away.
    """
    answer: JsonObject = {}
    choices: dict[int, _Choice] = {}
    try:
        for chunk in chunks:
            answer |= {key: chunk[key] for key in ("model", "usage") if chunk.get(key)}
            for choice in _listed(chunk.get("choices")):
                choices.setdefault(_index(choice), _Choice()).add(choice)
    except UnreachableError as error:
        if error.status is not None or not _has_ended(choices):
            raise
    if not choices:
        return answer
    if not _has_ended(choices):
        raise UnreachableError("The stream ended early: no finish_reason came.", again=True)
    return {**answer, "choices": [choices[index].to_document(index) for index in sorted(choices)]}


def _has_ended(choices: dict[int, _Choice]) -> bool:
    return bool(choices) and choices[min(choices)].ended


def _listed(choices: Any) -> list[JsonObject]:
    if choices is None:
        return []
    _require(choices, list, "`choices`")
    for choice in choices:
        _require(choice, dict, "a choice")
    return list(choices)


def _index(choice: JsonObject) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _is_text(part: JsonObject) -> bool:
    return part.keys() == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str)


def _grown(before: object, piece: object) -> Any:
    """Return a value that comes in pieces, with one more of them."""
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    if isinstance(before, list) and isinstance(piece, list):
        return before + piece
    if isinstance(before, dict) and isinstance(piece, dict):
        return before | {key: _grown(before.get(key), value) for key, value in piece.items()}
    return before if piece is None else piece


def _require(value: object, kind: type[JsonObject] | type[list[Any]] | type[str], what: str) -> None:
    if not isinstance(value, kind):
        names: dict[type, str] = {dict: "an object", list: "a list", str: "text"}
        raise InvalidDocument.at("", f"{what} is not {names[kind]}")
