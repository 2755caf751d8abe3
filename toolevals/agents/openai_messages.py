"""Writes conversations and tools in the form of the OpenAI chat-completions protocol, reads it, and names tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from toolevals.grading.reading.parsing import Loss, read_transcript
from toolevals.grading.reading.parsing.text import calls_said
from toolevals.grading.values import Call, MalformedCall, Message, ToolCall, ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.tools import LONGEST, wire_name
from toolevals.json_types import JsonObject

TEXT_TOOLS = """You can call these tools:
{tools}

To call one or more of them, answer with nothing but a JSON list such as
[{{"name": "a_tool", "arguments": {{"a": 1}}}}]
What they return comes back to you. If no tool is needed, answer in plain words."""


def as_tools(tools: Sequence[ToolSpec], strict: Collection[str] = ()) -> list[JsonObject]:
    """Return the tools as `tools` of a request; those named by `strict` in strict mode."""
    return [
        {"type": "function", "function": _described(tool) | ({"strict": True} if tool.name in strict else {})}
        for tool in tools
    ]


def as_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Return a conversation as `messages` of a request."""
    return [_message(message) for message in messages]


def text_with_tools(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[Message]:
    """Return the conversation for a model without native tools: tools, calls and results as text."""
    described = "\n".join(json.dumps(_described(tool), ensure_ascii=False) for tool in tools)
    prompt = TEXT_TOOLS.format(tools=described)
    first = messages[0] if messages else None
    if first is not None and first.role == "system":
        return [Message("system", f"{first.content}\n\n{prompt}"), *(_as_text(each) for each in messages[1:])]
    return [Message("system", prompt), *(_as_text(each) for each in messages)]


def message_in(document: JsonObject, *, place: int) -> tuple[Message, tuple[Loss, ...]]:
    """Read an assistant's message, and what of it a transcript has no place for.

    A call without an id gets one that is unique in the conversation, by its place. Raises InvalidDocument where its
    content or its calls are of no shape that the protocol has: the agent has no part in that.
    """
    _require_shape(document)
    read = read_transcript([{**document, "role": "assistant"}])
    (message,) = read.transcript.messages
    said = Message("assistant", message.content, with_ids(message.calls, place=place), thought=message.thought)
    return said, losses_within(read.losses, "/choices/0/message")


def _require_shape(message: JsonObject) -> None:
    content, calls = message.get("content"), message.get("tool_calls")
    parts = content if isinstance(content, list) else []
    if not isinstance(content, str | list | None) or not all(isinstance(part, str | dict) for part in parts):
        raise InvalidDocument.at("/choices/0/message/content", "is neither text nor a list of parts")
    if not isinstance(calls, list | None) or not all(isinstance(call, dict) for call in calls or ()):
        raise InvalidDocument.at("/choices/0/message/tool_calls", "is not a list of objects")
    if not isinstance(message.get("function_call"), dict | None):
        raise InvalidDocument.at("/choices/0/message/function_call", "is not an object")


def losses_within(losses: Iterable[Loss], place: str) -> tuple[Loss, ...]:
    """Return the losses of a message that was read as the only one of a list, as seen from an answer with `place`."""
    bare = (replace(each, where=each.where.removeprefix("/*"), first=each.first.removeprefix("/0")) for each in losses)
    return tuple(each.below(place) for each in bare)


def with_calls_said(message: Message, tools: Sequence[ToolSpec], *, place: int) -> Message:
    """Return a reply with the calls that its text makes, where it has none: servers differ in whose forms they read."""
    calls = calls_said(message, tools) if tools else ()
    return replace(message, calls=with_ids(calls, place=place), from_text=True) if calls else message


def with_ids(calls: Sequence[Call], *, place: int) -> tuple[Call, ...]:
    """Return the calls of the turn at `place`, each with an id."""
    return tuple(call if call.id else _named(call, f"call_{place}_{number}") for number, call in enumerate(calls))


def _named(call: Call, identifier: str) -> Call:
    if isinstance(call, MalformedCall):
        return replace(call, id=identifier)
    return ToolCall(call.name, call.arguments, identifier)


def _described(tool: ToolSpec) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}


def _message(message: Message) -> JsonObject:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id or "", "content": message.content or ""}
    document: JsonObject = {"role": message.role, "content": message.content or ""}
    if message.calls:
        # The calls stand in the text already: the server writes them in the model's form again.
        document["content"] = None if message.from_text else message.content
        document["tool_calls"] = [_call(call, number) for number, call in enumerate(message.calls)]
    return document


def _call(call: Call, number: int) -> JsonObject:
    # What no one could read goes back as it was written.
    written = call.text if isinstance(call, MalformedCall) else json.dumps(call.arguments, ensure_ascii=False)
    function = {"name": call.name or "unknown", "arguments": written}
    return {"id": call.id or f"call_{number}", "type": "function", "function": function}


def _as_text(message: Message) -> Message:
    if message.role == "tool":
        return Message("user", f"Result of {message.call_id}:\n{message.content or ''}")
    if message.calls and not message.content:
        return Message(message.role, json.dumps([call.to_document() for call in message.calls], ensure_ascii=False))
    return Message(message.role, message.content)


class WireNames:
    """The names of the tools that are offered together, in both directions: letters, digits, `_` and `-`, at most 64.

    Datasets have names with dots and spaces, which providers refuse. A model is shown the nearest name that they take,
    and what it calls is named again as the dataset does.
    """

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._real: dict[str, str] = {}
        self._wire: dict[str, str] = {}
        # Names that are taken as they are come first: no other name may become one of them.
        for tool in sorted(tools, key=lambda each: wire_name(each.name) != each.name):
            name = self._free(wire_name(tool.name))
            self._real[name] = tool.name
            self._wire[tool.name] = name

    def shown_tools(self, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
        """Return the tools named as the model sees them."""
        return [replace(tool, name=self._shown(tool.name)) for tool in tools]

    def shown(self, messages: Sequence[Message]) -> list[Message]:
        """Return a conversation with the tools named as the model sees them."""
        return [_renamed(message, self._shown) for message in messages]

    def meant(self, message: Message) -> Message:
        """Return what the model said with the tools named as the dataset names them."""
        return _renamed(message, lambda name: self._real.get(name, name))

    def _shown(self, name: str) -> str:
        return self._wire.get(name) or wire_name(name)

    def _free(self, name: str) -> str:
        number, free = 2, name
        while free in self._real:
            free = f"{name[: LONGEST - 4]}_{number}"
            number += 1
        return free


def _renamed(message: Message, name: Callable[[str], str]) -> Message:
    return (
        replace(message, calls=tuple(_renamed_call(call, name) for call in message.calls)) if message.calls else message
    )


def _renamed_call(call: Call, name: Callable[[str], str]) -> Call:
    if isinstance(call, ToolCall):
        return ToolCall(name(call.name), call.arguments, call.id)
    return replace(call, name=name(call.name)) if call.name else call
