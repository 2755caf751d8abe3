"""Reads API-Bank's dialogues: a file is one conversation, its rows are turns of User, AI and API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.conversations import decisions_in
from toolevals.grading.files.evaluation_files.entries import external_id
from toolevals.grading.files.evaluation_files.entry import Found, items_at
from toolevals.grading.reading.parsing import call_in
from toolevals.grading.values import Message
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.problems import InvalidDocument

_ROLES = {"User": "user", "AI": "assistant"}
_API = frozenset({"role", "api_name", "param_dict"})


def detect(document: object) -> str | None:
    """Return why a document is such a dialogue; None where it is none."""
    if not isinstance(document, list) or not document or not all(isinstance(each, Mapping) for each in document):
        return None
    is_dialogue = document[0].get("role") == "User" and "text" in document[0]
    has_call = any(each.get("role") == "API" and each.keys() >= _API for each in document)
    return "its rows are turns of User, AI and API" if is_dialogue and has_call else None


def read(document: object, decision: str = "first") -> Iterator[Found]:
    """Yield the decisions of the dialogue; where one turn cannot be read, the dialogue cannot."""
    messages: list[Message] = []
    for pointer, turn in items_at(document):
        try:
            messages += _messages(turn)
        except InvalidDocument as error:
            yield pointer, error
            return
    try:
        for entry in decisions_in(external_id(None, "api-bank", document), messages, decision, ""):
            yield "", entry
    except InvalidDocument as error:
        yield "", error


def _messages(turn: Any) -> Iterator[Message]:
    role = turn.get("role") if isinstance(turn, Mapping) else None
    if role == "API" and isinstance(turn.get("api_name"), str) and isinstance(turn.get("param_dict"), Mapping):
        yield Message("assistant", None, (call_in({"name": turn["api_name"], "arguments": turn["param_dict"]}),))
        result = turn.get("result")
        yield Message("tool", result if isinstance(result, str) else canonical(result))
    elif role in _ROLES and isinstance(turn.get("text"), str):
        yield Message(_ROLES[role], turn["text"])
    else:
        raise InvalidDocument.at(
            "", "is neither a turn of User or AI with text, nor of API with api_name and param_dict"
        )
