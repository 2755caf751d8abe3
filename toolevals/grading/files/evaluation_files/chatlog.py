"""Reads plain logs of conversations: a row for each message, by the conversation's id; or text, by `chat_text`.

A conversation is an example and a trial. The example is what stands before the assistant's first turn after a user has
spoken, the trial is the rest. A message that cannot be read refuses its whole conversation: without it, it would say
something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.chat_text import NUMBER, ROLES
from toolevals.grading.files.evaluation_files.content import example_of, messages_of, transcript_of
from toolevals.grading.files.evaluation_files.entry import Entry, Found, Trial, items_at
from toolevals.grading.files.evaluation_files.spans import transcript_messages
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

CONVERSATION = (
    "conversation_id", "conversationId", "conversation", "session_id", "sessionId", "thread_id", "threadId", "chat_id",
    "chatId", "dialogue_id", "dialog_id", NUMBER,
)  # fmt: skip
_ROLE = ("role", "sender", "speaker", "author")
_CONTENT = ("content", "text", "message", "body")
_FIRST = re.compile(r"/(\d+)(.*)", re.DOTALL)


def detect(item: object) -> str | None:
    """Return why an item is a message of a log; None where it is none."""
    if not isinstance(item, Mapping) or "messages" in item:
        return None
    identifier, role = _key(item, CONVERSATION), _key(item, _ROLE)
    content = _key(item, (*_CONTENT, "tool_calls"))
    if not (identifier and role and content) or _role(item[role]) is None:
        return None
    if NUMBER in item:
        return "its lines begin with speakers"
    return f"entries are messages: they have {identifier}, {role} and {content}"


def read(document: object) -> Iterator[Found]:
    """Yield an entry for each conversation, in the order in which they begin; what is wrong stands at its message."""
    conversations: dict[str, list[tuple[str, JsonObject]]] = {}
    broken: set[str] = set()
    for pointer, item in items_at(document):
        try:
            identifier = _conversation(item)
        except InvalidDocument as error:
            yield pointer, error
            continue
        members = conversations.setdefault(identifier, [])
        try:
            members.append((pointer, _message(item)))
        except InvalidDocument as error:
            broken.add(identifier)
            yield pointer, error
    for identifier, members in conversations.items():
        if identifier not in broken:
            yield from _read(identifier, members)


def _read(identifier: str, members: list[tuple[str, JsonObject]]) -> Iterator[Found]:
    first = members[0][0]
    try:
        yield first, _entry(identifier.partition(":")[2], [message for _, message in members])
    except InvalidDocument as error:
        for problem in error.problems:
            found = _FIRST.fullmatch(problem.pointer)
            pointer = members[int(found[1])][0] if found else first
            yield pointer, InvalidDocument.at(found[2] if found else "", problem.message)


def _conversation(item: JsonValue) -> str:
    """Return what tells a conversation from others: its id behind a colon, which nothing follows where it has none."""
    key = _key(item, CONVERSATION) if isinstance(item, Mapping) else None
    if key is None:
        raise InvalidDocument.at("", f"has no id of its conversation under one of {', '.join(CONVERSATION[:-1])}")
    value = item[key]
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise InvalidDocument.at(f"/{key}", "is not an id: text or a number")
    return f"{value}:" if key == NUMBER else f":{value}"


def _message(item: JsonMapping) -> JsonObject:
    """Return a row as a message of the common form, its other keys as they are. Raises InvalidDocument."""
    key = _key(item, _ROLE)
    role = _role(item[key]) if key else None
    if role is None:
        known = ", ".join(dict.fromkeys(ROLES))
        raise InvalidDocument.at(f"/{key or 'role'}", f"is not a known speaker: there are {known}")
    content = _key(item, _CONTENT)
    if content is None and not item.get("tool_calls"):
        raise InvalidDocument.at("", f"has neither words under one of {', '.join(_CONTENT)} nor tool_calls")
    used = {key, content, _key(item, CONVERSATION), NUMBER}
    rest = {name: value for name, value in item.items() if name not in used}
    return {"role": role, "content": item[content] if content else None, **rest}


def _entry(identifier: str, messages: list[JsonObject]) -> Entry:
    asked = next((place for place, each in enumerate(messages) if each["role"] == "user"), None)
    if asked is None:
        raise InvalidDocument.at("", "is a conversation in which no user speaks")
    losses: list[Problem] = []
    said = [each.to_document() for each in messages_of(messages, "", losses)]
    asked = next(place for place, each in enumerate(said) if each["role"] == "user")
    end = next((place for place, each in enumerate(said) if place > asked and each["role"] == "assistant"), len(said))
    content = {"messages": said[:end]}
    example = example_of(identifier or None, "chat", content, losses=tuple(losses))
    if end == len(said):
        return Entry(example, losses=tuple(losses))
    done = transcript_messages(said[end:])
    return Entry(example, Trial(example.external_id, transcript_of(done), content), tuple(losses))


def _key(item: JsonMapping, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if item.get(name) is not None), None)


def _role(value: object) -> str | None:
    return ROLES.get(value.lower()) if isinstance(value, str) else None
