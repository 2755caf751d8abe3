"""Asks models behind the Anthropic Messages protocol, through the `anthropic` client, with native tools.

Sources: https://docs.anthropic.com/en/api/messages and https://platform.claude.com/docs/en/build-with-claude/streaming.
A turn is a list of blocks; turns of the user and the assistant follow each other, and the results of all calls of a
turn stand in the one that follows it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from toolevals.agents.chats import Reply, UnreachableError, is_transient, safe
from toolevals.agents.clients import ClientChat
from toolevals.agents.network import AddressPolicy, guarded_client
from toolevals.agents.openai_messages import WireNames, losses_within, with_calls_said, with_ids
from toolevals.agents.options import AnthropicOptions
from toolevals.grading.json_schema.strict_tools import strict_names
from toolevals.grading.reading.parsing import Loss, is_count, read_transcript
from toolevals.grading.values import Call, MalformedCall, Message, ToolCall, ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

PATH = "/v1/messages"
# Stop reasons that leave the last block unfinished.
CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")
# Kinds of errors after which another try may succeed, whatever the status: within a stream it is 200.
PASSING = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})


def as_tools(tools: Sequence[ToolSpec], strict: Collection[str] = ()) -> list[JsonObject]:
    """Return the tools as `tools` of a request; those named by `strict` in strict mode."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        | ({"strict": True} if tool.name in strict else {})
        for tool in tools
    ]


def system_in(messages: Sequence[Message]) -> list[str]:
    """Return what is said as system before anyone speaks: the protocol has it outside the messages."""
    said = []
    for message in messages:
        if message.role != "system":
            break
        said.append(message.content or "")
    return [text for text in said if text.strip()]


def as_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Return a conversation without its leading system messages as `messages` of a request."""
    turns: list[JsonObject] = []
    begun = False
    for message in messages:
        begun = begun or message.role != "system"
        blocks = _blocks(message) if begun else []
        if not blocks:
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def message_in(content: list[Any], stop_reason: object, *, place: int) -> tuple[Message, tuple[Loss, ...]]:
    """Read the blocks of an answer, and what of them a transcript has no place for.

    A call that the longest answer has cut off is malformed: its arguments are only the beginning. A call without an id
    gets one that is unique in the conversation, by its place. Raises InvalidDocument where a block is none.
    """
    read = read_transcript([{"role": "assistant", "content": content}], "anthropic")
    said = read.transcript.messages
    if len(said) != 1 or said[0].role != "assistant":
        raise InvalidDocument.at("/content", "holds more than what the assistant says")
    (message,) = said
    calls = list(message.calls)
    last = content[-1] if content else None
    if calls and stop_reason in CUT_OFF and isinstance(last, dict) and last.get("type") == "tool_use":
        calls[-1] = _cut_off(calls[-1])
    made = Message("assistant", message.content, with_ids(calls, place=place), thought=message.thought)
    return made, losses_within(read.losses, "")


def _cut_off(call: Call) -> MalformedCall:
    text = call.text if isinstance(call, MalformedCall) else ""
    return MalformedCall("the answer ended within this call: it was too long", None, text, call.name, call.id)


def _blocks(message: Message) -> list[JsonObject]:
    if message.role == "tool":
        return [_result(message)]
    # Calls that stand in the text are not said twice.
    text = "" if message.from_text else (message.content or "").rstrip()
    blocks: list[JsonObject] = [{"type": "text", "text": text}] if text else []
    return blocks + [_call(call, number) for number, call in enumerate(message.calls)]


def _result(message: Message) -> JsonObject:
    block = {"type": "tool_result", "tool_use_id": _identifier(message.call_id or ""), "content": message.content or ""}
    return {**block, "is_error": True} if message.is_error else block


def _call(call: Call, number: int) -> JsonObject:
    # The protocol has no place for arguments that no one could read: they go back as the text that they are.
    given = call.arguments if isinstance(call, ToolCall) else {"unreadable": call.text}
    identifier = _identifier(call.id or f"call_{number}")
    return {"type": "tool_use", "id": identifier, "name": call.name or "unknown", "input": given}


def _identifier(identifier: str) -> str:
    return _NOT_IN_IDS.sub("_", identifier) or "call"


def joined(events: Iterable[JsonMapping]) -> JsonObject:
    """Return the message that events tell of: text and arguments come in pieces, each block by its index.

    Empty where no message was begun. Arguments stay the text that they came as, so that what no one can read is seen.
    Raises UnreachableError where a message was begun and no `message_stop` came: the rest of it is missing; and
    InvalidDocument for what is of no known shape.
    """
    answer: JsonObject = {}
    blocks: dict[int, JsonObject] = {}
    ended = False
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            answer = _part(event, "message")
        elif kind == "content_block_start":
            blocks[_index(event)] = _part(event, "content_block")
        elif kind == "content_block_delta":
            _add(blocks.setdefault(_index(event), {}), _part(event, "delta"))
        elif kind == "message_delta":
            _close(answer, event)
        elif kind == "message_stop":
            ended = True
            break
    if answer and not ended:
        raise UnreachableError("The stream ended early: no message_stop came.", again=True)
    return {**answer, "content": [blocks[index] for index in sorted(blocks)]} if answer else {}


def _part(event: JsonMapping, key: str) -> JsonObject:
    part = event.get(key)
    if not isinstance(part, dict | None):
        raise InvalidDocument.at(f"/{key}", "is not an object")
    return dict(part or {})


def _piece(delta: JsonMapping, key: str) -> str:
    piece = delta.get(key)
    if not isinstance(piece, str | None):
        raise InvalidDocument.at(f"/delta/{key}", "is not text")
    return piece or ""


def _index(event: JsonMapping) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _add(block: JsonObject, delta: JsonMapping) -> None:
    kind = delta.get("type")
    if kind == "text_delta":
        block["text"] = f"{_piece(block, 'text')}{_piece(delta, 'text')}"
    elif kind == "input_json_delta":
        # A block begins with an empty object; its text comes after. Arguments that are whole there stay.
        piece, before = _piece(delta, "partial_json"), block.get("input")
        if isinstance(before, str) or not before:
            block["input"] = f"{before or ''}{piece}"
        elif piece.strip():
            raise InvalidDocument.at("/content_block/input", "is an object, and pieces of text come after it")
    elif kind == "citations_delta":
        before = block.get("citations")
        block["citations"] = [*(before if isinstance(before, list) else []), delta.get("citation")]
    elif kind == "thinking_delta":
        block["thinking"] = f"{_piece(block, 'thinking')}{_piece(delta, 'thinking')}"
    elif kind is not None and kind != "signature_delta":
        # What no one knows is seen where the block is read.
        block[str(kind)] = {key: value for key, value in delta.items() if key != "type"}


def _close(answer: JsonObject, event: JsonMapping) -> None:
    answer["stop_reason"] = _part(event, "delta").get("stop_reason") or answer.get("stop_reason")
    # Counts are cumulative; what this event does not say was said at the beginning.
    later = {name: count for name, count in _part(event, "usage").items() if count is not None}
    before = answer.get("usage")
    answer["usage"] = {**(before if isinstance(before, dict) else {}), **later}


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
            answer = self._answer(names.shown(messages), names.shown_tools(tools))
            milliseconds = (time.monotonic() - start) * 1000
            content = answer.get("content")
            if not isinstance(content, list):
                raise self.without_message(answer)
            message, losses = message_in(content, answer.get("stop_reason"), place=len(messages))
        message = with_calls_said(message, names.shown_tools(tools), place=len(messages))
        model = safe(str(answer.get("model") or ""))
        return Reply(names.meant(message), _usage(answer.get("usage")), milliseconds, model, losses=losses)

    def _answer(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> JsonObject:
        options = self._options
        request: JsonObject = {
            "model": options.model,
            "max_tokens": options.max_tokens,
            "messages": as_messages(messages),
        }
        if system := [text for text in (options.system, *system_in(messages)) if text.strip()]:
            request["system"] = "\n\n".join(system)
        if tools:
            request["tools"] = as_tools(tools, strict_names(tools, "anthropic") if options.strict_tools else ())
        if options.temperature is not None:
            request["temperature"] = options.temperature
        request |= options.extra
        return joined(self.told(PATH, request)) if options.stream else self.asked(PATH, request)

    def may_pass(self, status: int, error: JsonMapping) -> bool:
        kind = error.get("type")
        return is_transient(status) or (isinstance(kind, str) and kind in PASSING)


def _usage(usage: object) -> dict[str, float]:
    """Return the tokens; the protocol counts those that it had in its cache, or keeps for later, besides the input."""
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


def _count(value: JsonValue) -> float:
    return value if is_count(value) else 0
