"""Turn an example's input document into the turns of a conversation, or into their text.

Nothing in it is trusted, not even its shape. What of a long conversation is not looked at is left out of its page: it
is drawn when it is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from labeling.conversation.lines import Line, lines, pretty, unpacked
from labeling.conversation.picks import Picks, Segment, segments
from toolevals.json_types import JsonMapping

ROLES = {"system": "System", "developer": "System", "user": "User", "assistant": "Agent", "tool": "Tool"}
# What the turn of an example's context is called; its role is "system".
CONTEXT = "Context"
LONG_TEXT = 1600
LONG_DATA = 40
OPEN_DATA = 16
# The system's words are open where they are few: they often say what day it is.
OPEN_WORDS = 40


# So many pieces of text are drawn with the page, counted from the end; a value to pick is one.
MOST_PIECES = 1000
# The rest of a long text or value is drawn with its beginning while it has no more than this.
MOST_IN_REST = 200
# The last turns are always drawn.
LAST = 2


@dataclass(frozen=True, slots=True)
class TextBlock:
    """The text of a message. The rest of a long text is folded."""

    parts: tuple[Segment, ...]
    rest: tuple[Segment, ...] = ()
    # Whether the rest is left out of the page, and drawn when it is opened.
    is_cut: bool = False
    kind: str = "text"

    @property
    def more(self) -> int:
        """Return how many words are folded."""
        return len("".join(segment.text for segment in self.rest).split())


@dataclass(frozen=True, slots=True)
class DataBlock:
    """A folded text or value under a title: the system's words, the context, a result without its call."""

    title: str
    note: str
    lines: tuple[Line, ...]
    is_open: bool = False
    # The value as JSON, indented; empty where it is only words.
    raw: str = ""
    # What a person opens or folds once for all: "context", "system"; "" for anything else.
    fold: str = ""
    # Whether the rest is left out of the page, and drawn when it is opened.
    is_cut: bool = False
    kind: str = "data"

    @property
    def shown(self) -> tuple[Line, ...]:
        return self.lines[:LONG_DATA]

    @property
    def rest(self) -> tuple[Line, ...]:
        return self.lines[LONG_DATA:]


@dataclass(slots=True)
class CallBlock:
    """A call with its arguments and, where it is known, its result."""

    name: str
    arguments: Any
    lines: tuple[Line, ...]
    call_id: str = ""
    result: DataBlock | None = None
    is_open: bool = False
    # The arguments as JSON, indented.
    raw: str = ""
    kind: str = "call"

    @property
    def first(self) -> tuple[str, str] | None:
        """The first argument, for the closed line."""
        if not isinstance(self.arguments, dict) or not self.arguments:
            return None
        key, value = next(iter(self.arguments.items()))
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        return str(key), shown if len(shown) <= 40 else shown[:39] + "…"

    @property
    def is_brief(self) -> bool:
        """Return whether the closed line says it all."""
        return self.first is not None and not self.others and not self.first[1].endswith("…") and len(self.lines) == 1

    @property
    def others(self) -> int:
        return max(len(self.arguments) - 1, 0) if isinstance(self.arguments, dict) else 0


Block = TextBlock | DataBlock | CallBlock


@dataclass(slots=True)
class Turn:
    """One message: who speaks, and what."""

    role: str
    words: str
    blocks: list[Block] = field(default_factory=list)
    # The user's last turn: what the agent must answer.
    is_now: bool = False
    # Where it stands, in words: "turn 2", which counts neither the context nor the system's words.
    place: str = ""
    # Whether it is left out of the page, and drawn when it is opened.
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """An example's input as people read it."""

    turns: tuple[Turn, ...]


def read_conversation(document: Any) -> Conversation:
    """Return the conversation that an input document `{"messages": [...], "context": {...}}` holds."""
    document = document if isinstance(document, Mapping) else {}
    picks = Picks()
    turns: list[Turn] = []
    if document.get("context"):
        context_lines = lines(document["context"], picks)
        block = DataBlock(CONTEXT, "", context_lines, is_open=True, raw=pretty(document["context"]), fold="context")
        turns.append(Turn("system", CONTEXT, [block]))
    messages = document.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, Mapping):
            _read_message(message, turns, picks)
    users = [turn for turn in turns if turn.role == "user"]
    if users:
        users[-1].is_now = True
    turns = [turn for turn in turns if turn.blocks]
    _number(turns)
    return Conversation(tuple(turns))


def _number(turns: Iterable[Turn]) -> None:
    beside = {"Context": "the context", "System": "the system’s words"}
    number = 0
    for turn in turns:
        number += turn.words not in beside
        turn.place = beside.get(turn.words, f"turn {number}")


def _read_message(message: JsonMapping, turns: list[Turn], picks: Picks) -> None:
    role = str(message.get("role") or "")
    content = message.get("content")
    if role == "tool":
        _add_result(turns, str(message.get("tool_call_id") or message.get("call_id") or ""), content, message, picks)
        return
    turn = Turn(role, ROLES.get(role, role[:20] or "?"))
    if isinstance(thought := message.get("thought"), str) and thought:
        turn.blocks.append(DataBlock("Thought", _count(thought), (Line("", (Segment(thought),)),)))
    parts = content if isinstance(content, list) else [content] if content not in (None, "") else []
    for part in parts:
        _add_part(turn, turns, part, picks)
    calls = message.get("tool_calls") or message.get("calls") or []
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping):
            turn.blocks.append(_call(call, picks))
    turns.append(turn)


def _add_part(turn: Turn, turns: list[Turn], part: Any, picks: Picks) -> None:
    kind = part.get("type") if isinstance(part, Mapping) else ""
    if isinstance(part, str) or (isinstance(part, Mapping) and isinstance(part.get("text"), str)):
        text = part if isinstance(part, str) else str(part["text"])
        turn.blocks.append(_folded(text) if turn.words == "System" else _text(text, picks))
    elif kind == "tool_use":
        turn.blocks.append(_call(part, picks))
    elif kind == "tool_result":
        _add_result(turns, str(part.get("tool_use_id") or ""), part.get("content"), part, picks)
    else:
        turn.blocks.append(DataBlock(str(kind or "Data")[:40], "", lines(part, picks), raw=pretty(part)))


def _text(text: str, picks: Picks) -> TextBlock:
    if len(text) <= LONG_TEXT:
        return TextBlock(segments(text, picks))
    cut = text.rfind(" ", 0, LONG_TEXT - 400)
    cut = cut if cut > 0 else LONG_TEXT - 400
    return TextBlock(segments(text[:cut], picks), segments(text[cut:], picks))


def _count(text: str) -> str:
    words = len(text.split())
    return f"{words} word{'' if words == 1 else 's'}"


def _folded(text: str) -> DataBlock:
    words = len(text.split())
    first = text.strip().split("\n", 1)[0]
    title = first if len(first) <= 64 else first[:63] + "…"
    return DataBlock(title, _count(text), (Line("", (Segment(text),)),), is_open=words <= OPEN_WORDS, fold="system")


def _call(call: JsonMapping, picks: Picks) -> CallBlock:
    inner = call.get("function")
    source = inner if isinstance(inner, Mapping) else call
    arguments: Any = next((source[key] for key in ("arguments", "input", "args") if key in source), {})
    raw = pretty(arguments)
    arguments = unpacked(arguments)
    return CallBlock(
        name=str(source.get("name") or call.get("name") or "?"),
        arguments=arguments,
        lines=lines(arguments, picks) if arguments else (),
        call_id=str(call.get("id") or ""),
        raw=raw,
    )


def _add_result(turns: list[Turn], call_id: str, content: Any, message: JsonMapping, picks: Picks) -> None:
    """Put a result under its call: the one with its id, else the oldest that has none yet."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "\n".join(map(str, texts)) if texts and None not in texts else content
    failed = bool(message.get("is_error"))
    result_lines = lines(content, picks)
    block = DataBlock(
        str(message.get("name") or "Result")[:80],
        "error" if failed else "",
        result_lines,
        is_open=len(result_lines) <= OPEN_DATA,
        raw=pretty(content),
    )
    waiting = [call for call in _calls(turns) if call.result is None]
    named = [call for call in waiting if call_id and call.call_id == call_id]
    call = next(iter(named or (waiting if not call_id else [])), None)
    if call is None:
        turns.append(Turn("tool", "Tool", [block]))
        return
    call.result = block
    call.is_open = block.is_open


def _calls(turns: Iterable[Turn]) -> Iterable[CallBlock]:
    return (block for turn in turns for block in turn.blocks if isinstance(block, CallBlock))


def folded(conversation: Conversation) -> Conversation:
    """Return a conversation whose earlier turns, and long rests, are marked as left out where it is a long one."""
    for turn in conversation.turns:
        turn.blocks = [_cut(block) for block in turn.blocks]
    drawn = 0
    for number, turn in enumerate(reversed(conversation.turns)):
        drawn += sum(map(_pieces, turn.blocks))
        is_beside = any(isinstance(block, DataBlock) and block.fold for block in turn.blocks)
        turn.is_folded = drawn > MOST_PIECES and number >= LAST and not turn.is_now and not is_beside
    return conversation


def gist(turn: Turn) -> str:
    """Return what a turn says or does, for one line."""
    words = (_words(block) for block in turn.blocks)
    return " · ".join(said for said in words if said)


def _words(block: Block) -> str:
    if isinstance(block, TextBlock):
        return " ".join("".join(part.text for part in block.parts[:40])[:200].split())
    if isinstance(block, CallBlock):
        return f"{block.name} {block.first[0]} {block.first[1]}" if block.first else block.name
    return block.title


def _cut(block: Block) -> Block:
    if isinstance(block, CallBlock):
        if block.result is not None and _of_lines(block.result.rest) > MOST_IN_REST:
            block.result = replace(block.result, is_cut=True)
        return block
    long = len(block.rest) if isinstance(block, TextBlock) else _of_lines(block.rest)
    return replace(block, is_cut=True) if long > MOST_IN_REST else block


def _pieces(block: Block) -> int:
    if isinstance(block, TextBlock):
        return len(block.parts) + (0 if block.is_cut else len(block.rest))
    if isinstance(block, CallBlock):
        return _of_lines(block.lines) + (_pieces(block.result) if block.result is not None else 0)
    return _of_lines(block.shown if block.is_cut else block.lines)


def _of_lines(some: Iterable[Line]) -> int:
    return sum(1 + len(line.parts) for line in some)


def rest_of(turn: Turn, block: int) -> tuple[tuple[Segment, ...], tuple[Line, ...]] | None:
    """Return the rest of a block of a turn, as parts of a text or as lines of a value; None where there is none."""
    found = turn.blocks[block] if block < len(turn.blocks) else None
    if isinstance(found, CallBlock):
        found = found.result
    if found is None or not found.rest:
        return None
    return (found.rest, ()) if isinstance(found, TextBlock) else ((), found.rest)


LONGEST_SNIPPET = 140


def content_text(content: Any) -> str:
    """Return the text of a message's content: its words, or those of its parts with a space between."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def last_request(document: Any) -> str:
    """Return what the user said last in an example's input, on one line; "" where no one did."""
    messages = document.get("messages") if isinstance(document, Mapping) else None
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, Mapping) and message.get("role") == "user":
            return " ".join(content_text(message.get("content")).split())
    return ""


def snippet(document: Any, most: int = LONGEST_SNIPPET) -> str:
    """Return `last_request`, cut where it is longer than `most` characters."""
    text = last_request(document)
    return text if len(text) <= most else f"{text[: most - 1]}…"
