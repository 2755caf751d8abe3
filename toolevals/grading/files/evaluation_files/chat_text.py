"""Reads plain text of conversations: lines that begin with a speaker become rows of messages.

    Conversation: 17
    [2026-01-05 12:00] User: Where is A-1?
    Assistant: I will look.
    Tool get_order(id="A-1") -> {"state": "sent"}
    Assistant: It was sent.
      It should arrive tomorrow.

An indented line goes on with the message before it. A line `Conversation: ID`, or one of dashes, begins the next
conversation. A result that begins with `Error:` is one of a call that failed. Every other line is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.reading.parsing.python_calls import brackets
from toolevals.grading.values import ToolCall
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonObject

# Under this key rows have the number of their conversation, which counts where it has no name.
NUMBER = "#"
ROLES: Mapping[str, str] = {
    "user": "user", "human": "user", "customer": "user", "client": "user", "caller": "user", "visitor": "user",
    "assistant": "assistant", "agent": "assistant", "ai": "assistant", "bot": "assistant", "chatbot": "assistant",
    "model": "assistant", "system": "system", "developer": "system", "tool": "tool", "function": "tool",
}  # fmt: skip
_TIME = r"(?:\[?(?P<time>(?:\d{4}-\d\d-\d\d[T ])?\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)\]?\s*[-|]?\s*)?"
_SPEAKER = re.compile(_TIME + r"\**(?P<who>[A-Za-z]{2,10})(?:\s\([^)]{1,80}\))?:\**(?:\s(?P<text>.*))?", re.ASCII)
_CALL = re.compile(_TIME + r"(?:tool|function)(?:\s+call)?:?\s+(?P<text>[\w./-]{1,200}\(.*)", re.ASCII | re.IGNORECASE)
_RESULT = re.compile(_TIME + r"(?:(?:tool|function)\s+)?(?:result|output):(?P<text>.*)", re.ASCII | re.IGNORECASE)
_HEAD = re.compile(
    r"#{0,6}\s*(?:conversation|session|dialogue|chat|thread)(?:\s+id)?\s*[:#]\s*(?P<name>\S.{0,190})", re.IGNORECASE
)
_RULE = re.compile(r"([-=*_])\1{2,}")
_ARROW = re.compile(r"\s*(?:->|→|=>)\s?")
_ERROR = re.compile(r"\s*error\s*[:!]\s*", re.IGNORECASE)
_MOST_PROBLEMS = 50
# So many lines are looked at to tell a log from other text.
_LOOKED_AT = 60


@dataclass(slots=True)
class _Item:
    """One message as it stands: the number of its line, and its text with the lines that go on with it."""

    line: int
    kind: str
    text: list[str] = field(default_factory=list)
    time: str = ""


def is_chat(content: bytes) -> bool:
    """Tell whether text is a log of a conversation: it begins as one, and both a user and an assistant speak."""
    lines = [line.decode("utf-8", "replace") for line in content[:20_000].splitlines()[:_LOOKED_AT] if line.strip()]
    found = [item.kind for line in lines if (item := _item(line.rstrip(), 0)) is not None]
    if not lines or _item(lines[0].rstrip(), 0) is None:
        return False
    return "user" in found and not {"assistant", "call"}.isdisjoint(found)


def chat_rows(content: bytes) -> tuple[list[JsonObject], tuple[int, ...]]:
    """Return the messages of a log as rows, and the number of the line of each.

    Raises InvalidDocument that names each line that cannot be read.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidDocument.at("", f"is not UTF-8 at byte {error.start}") from None
    problems: list[Problem] = []
    rows = _Rows()
    for item in _items(text.splitlines(), problems):
        try:
            rows.add(item)
        except InvalidDocument as error:
            problems += (Problem("", f"line {item.line}: {each.message}") for each in error.problems)
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        said = [Problem("", f"and {more:,} more lines cannot be read")] if more > 0 else []
        raise InvalidDocument([*problems[:_MOST_PROBLEMS], *said])
    return rows.rows, tuple(rows.lines)


def _items(lines: list[str], problems: list[Problem]) -> Iterator[_Item]:
    last: _Item | None = None
    blank = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            blank += 1
            continue
        if line[0].isspace() and last is not None and last.kind not in ("head", "rule"):
            last.text += [*[""] * blank, line.strip()]
        elif (found := _item(line.rstrip(), number)) is not None:
            if last is not None:
                yield last
            last = found
        else:
            known = "User:, Assistant:, System:, Tool name(...) -> ..."
            words = (
                f"line {number}: starts with no known speaker ({known}). Indent a line that continues the previous one"
            )
            problems.append(Problem("", words))
        blank = 0
    if last is not None:
        yield last


def _item(line: str, number: int) -> _Item | None:
    if _RULE.fullmatch(line):
        return _Item(number, "rule")
    if head := _HEAD.fullmatch(line):
        return _Item(number, "head", [head["name"].strip()])
    for pattern, kind in ((_CALL, "call"), (_RESULT, "result")):
        if found := pattern.fullmatch(line):
            return _Item(number, kind, [found["text"].strip()], found["time"] or "")
    spoken = _SPEAKER.fullmatch(line)
    role = ROLES.get(spoken["who"].lower()) if spoken else None
    if spoken is None or role in (None, "tool"):
        return None
    return _Item(number, str(role), [(spoken["text"] or "").strip()], spoken["time"] or "")


class _Rows:
    """The rows so far, and the calls of the conversation that nothing has answered."""

    def __init__(self) -> None:
        self.rows: list[JsonObject] = []
        self.lines: list[int] = []
        self._number = 1
        self._name = ""
        self._begin = 0
        self._calls = 0
        self._open: list[str] = []

    def add(self, item: _Item) -> None:
        text = "\n".join(item.text)
        if item.kind in ("head", "rule"):
            if len(self.rows) > self._begin or item.kind == "head":
                self._number += 1
                self._name = text
                self._begin, self._calls, self._open = len(self.rows), 0, []
        elif item.kind == "call":
            self._call(item, text)
        elif item.kind == "result":
            if not self._open:
                raise InvalidDocument.at("", "is a result, and no call before it waits for one")
            self._result(item, text, self._open.pop(0))
        else:
            self._row(item, {"role": item.kind, "content": text})

    def _call(self, item: _Item, text: str) -> None:
        name, arguments, result = _read_call(text)
        self._calls += 1
        identifier = f"call-{self._calls}"
        call = {"id": identifier, "type": "function", "function": {"name": name, "arguments": exact(arguments)}}
        before = self.rows[-1] if len(self.rows) > self._begin else {}
        if before.get("role") == "assistant" and "tool_calls" not in before:
            before["tool_calls"] = [call]
        else:
            self._row(item, {"role": "assistant", "content": None, "tool_calls": [call]})
        if result is None:
            self._open.append(identifier)
        else:
            self._result(item, result, identifier)

    def _result(self, item: _Item, text: str, identifier: str) -> None:
        failed = _ERROR.match(text)
        row = {"role": "tool", "content": text[failed.end() :] if failed else text.strip(), "tool_call_id": identifier}
        self._row(item, row | ({"is_error": True} if failed else {}))

    def _row(self, item: _Item, row: JsonObject) -> None:
        named = {"conversation_id": self._name} if self._name else {}
        self.rows.append({NUMBER: self._number} | named | row | ({"timestamp": item.time} if item.time else {}))
        self.lines.append(item.line)


def _read_call(text: str) -> tuple[str, JsonObject, str | None]:
    """Return a call's name, its arguments, and its result where one stands behind an arrow. Raises InvalidDocument."""
    end = _closing(text)
    name, _, inner = text[: end - 1].partition("(")
    rest = text[end:]
    arrow = _ARROW.match(rest)
    if rest.strip() and arrow is None:
        raise InvalidDocument.at("", f"has {rest.strip()[:40]!r} behind the call, where -> and a result may stand")
    result = rest[arrow.end() :] if arrow else None
    if inner.lstrip().startswith("{"):
        arguments = load_json(inner.strip())
        if isinstance(arguments, dict):
            return name, arguments, result
    read = calls_in_text(text[:end])
    call = read[0] if len(read) == 1 else None
    if not isinstance(call, ToolCall):
        reason = call.reason if call is not None else "it is not a call"
        raise InvalidDocument.at("", f"its arguments are neither an object of JSON nor name=value: {reason}")
    return name, dict(call.arguments), result


def _closing(text: str) -> int:
    """Return the place behind the bracket that closes a call's first one. Raises InvalidDocument where none does."""
    depth = 0
    for place, bracket in brackets(text):
        depth += 1 if bracket in "([{" else -1
        if depth == 0:
            return place + 1
    raise InvalidDocument.at("", "its bracket is never closed")
