"""Reads session files of Claude Code: JSON Lines, as it keeps them for each project, one session or several.

A line is a message of Anthropic's with ids around it. A model's answer stands in a line for each of its blocks, under
one `message.id`; results of tools are lines of the user. Lines of subagents, of the program itself and of summaries
stand between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from toolevals.grading.files.evaluation_files.entry import Entry, Found, counted, items_at, object_in
from toolevals.grading.files.evaluation_files.sessions import MOST_LOOKED_AT, Line, Session, session_entry
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_SPOKEN: Final = ("user", "assistant")
# What the program writes for the person, in the user's place.
_PROGRAM: Final = ("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<bash-stdout>")
_AGENT: Final = "claude-code"


def detect(document: object) -> str | None:
    """Return why a document is such a session; None where it is none."""
    if not isinstance(document, list | Mapping):
        return None
    if any(_is_spoken(item) for _, item in [*items_at(document)][:MOST_LOOKED_AT]):
        return "its lines have sessionId, uuid, parentUuid and message, as Claude Code keeps a session"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield an entry for each session: what was asked before the agent's first turn, and what was done then."""
    sessions: dict[str, list[Line]] = {}
    for pointer, item in items_at(document):
        if isinstance(item, Mapping) and item.get("type") in _SPOKEN:
            if not isinstance(item.get("message"), Mapping):
                yield pointer, InvalidDocument.at("/message", "is not a message")
                continue
            sessions.setdefault(str(item.get("sessionId") or ""), []).append((pointer, item))
    for identifier, lines in sessions.items():
        yield lines[0][0], _session(identifier, lines)


def _is_spoken(item: object) -> bool:
    keys = ("sessionId", "uuid", "parentUuid")
    return (
        isinstance(item, Mapping)
        and item.get("type") in _SPOKEN
        and isinstance(item.get("message"), Mapping)
        and all(key in item for key in keys)
    )


def _session(identifier: str, lines: list[Line]) -> Entry | InvalidDocument:
    losses: list[Problem] = []
    own = [line for line in lines if not line[1].get("isSidechain")]
    # A subagent's own file has no other lines: then it is the agent.
    kept = own or lines
    _lose(losses, len(lines) - len(kept), "of subagents: what they did is not the agent's")
    kept = _without_rewound(_once(kept), losses)
    spoken = [line for line in kept if not (line[1].get("isMeta") or _is_program(line[1]))]
    said = [line for line in spoken if not line[1].get("isCompactSummary")]
    _lose(losses, len(spoken) - len(said), "with a summary in place of earlier messages")
    answered = [line for line in said if not line[1].get("isApiErrorMessage")]
    _lose(losses, len(said) - len(answered), "in which the program tells of an error of its provider")
    messages, usage = _messages(answered)
    return session_entry(Session(_AGENT, identifier, messages, usage, losses))


def _lose(losses: list[Problem], count: int, what: str) -> None:
    if count:
        losses.append(Problem("", f"{count:,} line{'' if count == 1 else 's'} {what}: left out"))


def _once(lines: Iterable[Line]) -> list[Line]:
    """Return each line once: a session that was resumed may repeat those before."""
    kept: dict[Any, Line] = {}
    for pointer, item in lines:
        kept.setdefault(item.get("uuid") or pointer, (pointer, item))
    return list(kept.values())


def _without_rewound(lines: list[Line], losses: list[Problem]) -> list[Line]:
    """Return the lines without those that the user went back behind: of two prompts at one place the later counts."""
    last = {item["parentUuid"]: item.get("uuid") for _, item in lines if item.get("parentUuid") and _is_prompt(item)}
    gone: set[Any] = set()
    for _, item in lines:
        parent = item.get("parentUuid")
        if parent in gone or (_is_prompt(item) and parent in last and last[parent] != item.get("uuid")):
            gone.add(item.get("uuid"))
    _lose(losses, len(gone), "that the user went back behind")
    return [line for line in lines if line[1].get("uuid") not in gone]


def _is_prompt(item: JsonMapping) -> bool:
    content = object_in(item, "message").get("content")
    blocks = content if isinstance(content, list) else []
    is_result = any(isinstance(block, Mapping) and block.get("type") == "tool_result" for block in blocks)
    return item.get("type") == "user" and not item.get("isMeta") and not is_result


def _is_program(item: JsonMapping) -> bool:
    content = object_in(item, "message").get("content")
    return item.get("type") == "user" and isinstance(content, str) and content.lstrip().startswith(_PROGRAM)


def _messages(lines: Iterable[Line]) -> tuple[list[Line], dict[str, float]]:
    """Return Anthropic's messages, each answer and the results that follow it as one, and the tokens that they took.

    An answer's calls may be answered before its last block is written.
    """
    messages: list[tuple[str, JsonObject]] = []
    answers: dict[Any, JsonObject] = {}
    usage: dict[Any, dict[str, float]] = {}
    for pointer, item in lines:
        message = item["message"]
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if isinstance(blocks, list):
            blocks = [each for each in blocks if not _is_hidden(each)]
        identifier = message.get("id")
        if item["type"] == "assistant" and identifier is not None:
            tokens = object_in(message, "usage")
            usage[identifier] = counted(
                input_tokens=tokens.get("input_tokens"), output_tokens=tokens.get("output_tokens")
            )
            if (before := answers.get(identifier)) is not None and isinstance(blocks, list):
                before["content"] += blocks
                continue
        made = {"role": item["type"], "content": blocks}
        if item["type"] == "assistant" and isinstance(blocks, list):
            answers[identifier if identifier is not None else pointer] = made
        messages.append((pointer, made))
    sums: dict[str, float] = {}
    for each in usage.values():
        for name, count in each.items():
            sums[name] = sums.get(name, 0) + count
    return [(pointer, message) for pointer, message in messages if _says(message["content"])], sums


def _is_hidden(block: Any) -> bool:
    """Tell whether a block is a thought that its provider encrypted."""
    kind = block.get("type") if isinstance(block, Mapping) else None
    return kind == "redacted_thinking" or (kind == "thinking" and not block.get("thinking"))


def _says(content: object) -> bool:
    """Tell whether a message holds more than thoughts."""
    return not isinstance(content, list) or any(
        not (isinstance(each, Mapping) and each.get("type") == "thinking") for each in content
    )
