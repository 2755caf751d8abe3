"""Write examples as OpenAI's chat format for fine-tuning: the input, and the assistant's message that is expected.

Source: https://platform.openai.com/docs/guides/fine-tuning. Only one answer can be written; an example whose answer is
not known as values is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labeling.exports.plain_calls import one_step
from labeling.exports.selection import Inexpressible, Outcome, Row, Selection, ToolLists
from toolevals.grading.reading.parsing.messages import transcript_in
from toolevals.grading.values import Expectation, MalformedCall, Message, ToolSpec
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.tools import LONGEST, wire_name
from toolevals.json_types import JsonMapping, JsonObject

RENAMED = "tools' names were written with _ for characters that OpenAI does not take"
CONTEXT_SAID = "the agent's further knowledge was written as a system message"
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def openai_chat_lines(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Yield a line for every example that has one answer."""
    tools = ToolLists()
    for row in selection.rows():
        try:
            document, lost = _conversation(row, tools[row.tools])
        except Inexpressible as error:
            outcome.skip(row.external_id, str(error))
            continue
        outcome.written += 1
        for reason in sorted(lost):
            outcome.note(reason)
        yield f"{exact(document)}\n".encode()


def _conversation(row: Row, tools: Sequence[ToolSpec]) -> tuple[JsonObject, set[str]]:
    gold = row.gold
    if gold is None:
        raise Inexpressible("there is no gold yet")
    names = _names(tools)
    answer, lost = _answer(gold, names)
    if any(names[name] != name for name in names):
        lost.add(RENAMED)
    content = row.content
    document: JsonObject = {"messages": [*_messages(content, names), answer]}
    if context := content.get("context"):
        lost.add(CONTEXT_SAID)
        document["messages"].insert(0, {"role": "system", "content": f"Context: {exact(context)}"})
    if tools:
        document["tools"] = [_tool(tool, names[tool.name]) for tool in tools]
    return document, lost


def _answer(gold: Expectation, names: Mapping[str, str]) -> tuple[JsonObject, set[str]]:
    if gold.kind == "some_call":
        raise Inexpressible("any call will do: which one to write is not known")
    if gold.kind == "no_call":
        words = (gold.answer or {}).get("exact")
        if not words:
            raise Inexpressible("no call is right, and the words to say instead are not known")
        return {"role": "assistant", "content": words}, set()
    calls, lost = one_step(gold)
    made = [
        _call(f"call_{number}", names.get(call.tool, call.tool), call.arguments) for number, call in enumerate(calls, 1)
    ]
    return {"role": "assistant", "tool_calls": made}, lost


def _names(tools: Sequence[ToolSpec]) -> dict[str, str]:
    """Return what tools are called there, by their names. Raises Inexpressible where two would be called alike."""
    names = {tool.name: wire_name(tool.name) for tool in tools}
    if len(set(names.values())) < len(names) or any(len(name) > LONGEST for name in names):
        raise Inexpressible("tools' names are too long, or equal once written as OpenAI takes them")
    return names


def _tool(tool: ToolSpec, name: str) -> JsonObject:
    function = {"name": name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _call(identifier: str, name: str, arguments: JsonMapping) -> JsonObject:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": exact(arguments)}}


def _messages(content: JsonMapping, names: Mapping[str, str]) -> list[JsonObject]:
    given = content.get("messages")
    try:
        messages = transcript_in(given).messages
    except InvalidDocument:
        raise Inexpressible("the messages are of no format that can be read") from None
    return [_message(message, place, names) for place, message in enumerate(messages)]


def _message(message: Message, place: int, names: Mapping[str, str]) -> JsonObject:
    if message.role not in _ROLES:
        raise Inexpressible(f"a message's role is {message.role[:20]}")
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id or "call", "content": message.content or ""}
    written: JsonObject = {"role": message.role, "content": message.content}
    if message.calls:
        written["tool_calls"] = [
            _made_call(call, f"call_{place}_{number}", names) for number, call in enumerate(message.calls)
        ]
    elif message.content is None:
        raise Inexpressible("a message holds more than text and calls")
    return written


def _made_call(call: Any, identifier: str, names: Mapping[str, str]) -> JsonObject:
    if isinstance(call, MalformedCall):
        raise Inexpressible("the conversation holds a call that cannot be read")
    return _call(call.id or identifier, names.get(call.name, call.name), call.arguments)
