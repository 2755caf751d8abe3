"""Reads Glaive function calling v2: `{"system", "chat"}`, both as text with speakers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.conversations import calls_said, conversations_read, decisions_in
from toolevals.grading.files.evaluation_files.dataset_tools import dataset_tools, objects_in
from toolevals.grading.files.evaluation_files.entries import external_id
from toolevals.grading.files.evaluation_files.entry import Entry, Found, keys, unknown_keys
from toolevals.grading.reading.parsing.json_calls import call_in
from toolevals.grading.values import Message, ToolSpec
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping

_KNOWN = keys("id system chat")
_SPEAKER = re.compile(r"^(USER|ASSISTANT|FUNCTION RESPONSE):[ \t]?", re.MULTILINE)
_ROLES = {"USER": "user", "ASSISTANT": "assistant", "FUNCTION RESPONSE": "tool"}
_END = "<|endoftext|>"
# The arguments are JSON inside single quotes, which no JSON has.
_CALL = re.compile(r'<functioncall>\s*\{\s*"name"\s*:\s*"([^"]+)"\s*,\s*"arguments"\s*:\s*\'(.*)\'\s*\}', re.DOTALL)


def detect(item: object) -> str | None:
    """Return why an item is such a row; None where it is none."""
    if not isinstance(item, Mapping) or not isinstance(item.get("system"), str):
        return None
    chat = item.get("chat")
    return "entries have system, and chat with speakers" if isinstance(chat, str) and _SPEAKER.search(chat) else None


def read(document: object, decision: str = "first") -> Iterator[Found]:
    """Yield the decisions of each conversation."""
    yield from conversations_read(document, decision, _row)


def _row(item: JsonMapping, decision: str) -> Iterator[Entry]:
    system, chat = item.get("system"), item.get("chat")
    if not isinstance(system, str) or not isinstance(chat, str):
        raise InvalidDocument.at("/chat" if isinstance(system, str) else "/system", "is not text")
    listed = list(objects_in(system))
    # A prompt without functions offers none: nothing is asked of the dataset's own tools.
    tools, losses = dataset_tools(listed, "/system")
    words = (system[: system.find("{")] if listed else system).removeprefix("SYSTEM:").strip()
    messages = [Message("system", words)] if words else []
    messages += _messages(chat, tools)
    name = external_id(item.get("id"), "glaive", [system, chat])
    found = (*losses, *unknown_keys(item, _KNOWN))
    yield from decisions_in(name, messages, decision, "/chat", tools=tools, losses=found)


def _messages(chat: str, tools: list[ToolSpec]) -> Iterator[Message]:
    found = list(_SPEAKER.finditer(chat))
    if not found or chat[: found[0].start()].strip():
        raise InvalidDocument.at("/chat", "does not start with USER: or ASSISTANT:")
    for place, start in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(chat)
        text = chat[start.end() : end].strip().removesuffix(_END).strip()
        role = _ROLES[start[1]]
        yield _said(text, tools) if role == "assistant" else Message(role, text)


def _said(text: str, tools: list[ToolSpec]) -> Message:
    if (found := _CALL.search(text)) is not None:
        try:
            arguments = load_json(found[2].replace("\\'", "'"))
        except InvalidDocument as error:
            raise InvalidDocument.at("/chat", f"a call of {found[1]} cannot be read: {error}") from None
        return Message("assistant", None, (call_in({"name": found[1], "arguments": arguments}),))
    calls = calls_said(text, tools, "/chat")
    return Message("assistant", None if calls else text, calls)
