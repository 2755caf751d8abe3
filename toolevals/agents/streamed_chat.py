"""Puts the chunks of a streamed chat completion together, each choice for itself.

Servers differ in what they send: Azure's first chunk has no choices, some send usage with each chunk, content in parts,
or calls as `CallPieces` says. What is of no known shape is refused, so that no one is graded by half of an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from toolevals.agents.chats import UnreachableError
from toolevals.grading.reading.parsing import CallPieces
from toolevals.grading.values.problems import InvalidDocument

# The parts of a streamed message that are put together by name.
_JOINED = frozenset({"role", "content", "refusal", "tool_calls", "function_call"})


@dataclass(slots=True)
class _Choice:
    """One choice, of which chunks came."""

    content: list[Any] = field(default_factory=list)
    calls: CallPieces = field(default_factory=CallPieces)
    older: CallPieces = field(default_factory=CallPieces)
    rest: dict[str, Any] = field(default_factory=dict)
    ended: bool = False

    def add(self, choice: dict[str, Any]) -> None:
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

    def _say(self, content: Any) -> None:
        if isinstance(content, list):
            for part in content:
                self._say_part(part)
        elif content is not None:
            _require(content, str, "the content of a delta")
            self._say_part({"type": "text", "text": content})

    def _say_part(self, part: Any) -> None:
        _require(part, dict, "a part of the content of a delta")
        last = self.content[-1] if self.content else None
        if last is not None and _is_text(last) and _is_text(part):
            self.content[-1] = {**last, "text": last["text"] + part["text"]}
        elif part.get("text") != "":
            self.content.append(part)

    def to_document(self, index: int) -> dict[str, Any]:
        is_plain = len(self.content) <= 1 and all(map(_is_text, self.content))
        content = (self.content[0]["text"] if self.content else None) if is_plain else self.content
        message = {**self.rest, "role": "assistant", "content": content, "tool_calls": self.calls.made}
        if older := self.older.made:
            message["function_call"] = older[0]
        return {"index": index, "message": message}


def joined(chunks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer that chunks tell of; without `choices` where none had any.

    What else a chunk holds, such as reasoning, is joined likewise, so that what is not read is seen. Raises
    InvalidDocument for what is of no known shape, and UnreachableError where no chunk says why the answer ended: the
    rest of it never came. Once it has ended, a connection that breaks or falls silent takes nothing away.
    """
    answer: dict[str, Any] = {}
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
        raise UnreachableError("The stream broke off: no finish_reason came.", again=True)
    return {**answer, "choices": [choices[index].to_document(index) for index in sorted(choices)]}


def _has_ended(choices: dict[int, _Choice]) -> bool:
    return bool(choices) and choices[min(choices)].ended


def _listed(choices: Any) -> list[dict[str, Any]]:
    if choices is None:
        return []
    _require(choices, list, "`choices`")
    for choice in choices:
        _require(choice, dict, "a choice")
    return list(choices)


def _index(choice: dict[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _is_text(part: dict[str, Any]) -> bool:
    return part.keys() == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str)


def _grown(before: Any, piece: Any) -> Any:
    """Return a value that comes in pieces, with one more of them."""
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    if isinstance(before, list) and isinstance(piece, list):
        return before + piece
    if isinstance(before, dict) and isinstance(piece, dict):
        return before | {key: _grown(before.get(key), value) for key, value in piece.items()}
    return before if piece is None else piece


def _require(value: Any, kind: type[dict[str, Any]] | type[list[Any]] | type[str], what: str) -> None:
    if not isinstance(value, kind):
        names: dict[type, str] = {dict: "an object", list: "a list", str: "text"}
        raise InvalidDocument.at("", f"{what} is not {names[kind]}")
