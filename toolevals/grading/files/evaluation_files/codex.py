"""Reads session files ("rollouts") of the Codex CLI: JSON Lines, each with a type and a payload.

Lines of type `response_item` hold the items of OpenAI's Responses that the model was given and made. Other lines tell
the same for the screen (`event_msg`), or of the session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from toolevals.grading.files.evaluation_files.entry import Entry, Found, counted, items_at, object_in
from toolevals.grading.files.evaluation_files.sessions import MOST_LOOKED_AT, Line, Session, session_entry
from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
# What the program puts before the user's words, in the user's place.
_PROGRAM: Final = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted|skill)\b"
    r"|# AGENTS\.md instructions)"
)
_EXIT: Final = re.compile(r"(?:Exit code:|Process exited with code) (-?\d+)")
# The first characters of a result, where its head is.
_HEAD: Final = 300
_SILENT: Final = ("compaction", "context_compaction", "ghost_snapshot")
_AGENT: Final = "codex"


def detect(document: object) -> str | None:
    """Return why a document is such a session; None where it is none."""
    if not isinstance(document, list | Mapping):
        return None
    if any(_is_line(item, "session_meta", "response_item") for _, item in [*items_at(document)][:MOST_LOOKED_AT]):
        return "its lines have timestamp, type and payload, as the Codex CLI keeps a session"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield the entry of the session: what was asked before the agent's first turn, and what was done then."""
    lines = [(pointer, item) for pointer, item in items_at(document) if isinstance(item, Mapping)]
    first = lines[0][0] if lines else ""
    yield first, _session(lines)


def _is_line(item: object, *kinds: str) -> bool:
    return (
        isinstance(item, Mapping)
        and item.get("type") in kinds
        and isinstance(item.get("payload"), Mapping)
        and "timestamp" in item
    )


def _session(lines: list[Line]) -> Entry | InvalidDocument:
    losses: list[Problem] = []
    meta = next((object_in(item, "payload") for _, item in lines if item.get("type") == "session_meta"), {})
    items: list[tuple[str, JsonObject]] = []
    failed: set[str] = set()
    usage: dict[str, float] = {}
    for pointer, line in lines:
        payload = object_in(line, "payload")
        if line.get("type") == "response_item":
            items += _item(pointer, payload, failed)
        elif line.get("type") == "compacted":
            losses.append(Problem("", "a summary in place of earlier messages: left out"))
        elif payload.get("type") == "thread_rolled_back":
            items = _rolled_back(items, payload.get("num_turns"), losses)
        elif payload.get("type") == "token_count":
            total = object_in(object_in(payload, "info"), "total_token_usage")
            usage = counted(input_tokens=total.get("input_tokens"), output_tokens=total.get("output_tokens")) or usage
    identifier = str(meta.get("id") or "")
    return session_entry(Session(_AGENT, identifier, [*_instructions(meta), *items], usage, losses, failed))


def _instructions(meta: JsonMapping) -> list[tuple[str, JsonObject]]:
    given = meta.get("base_instructions") or meta.get("instructions")
    text = given.get("text") if isinstance(given, Mapping) else given
    return [("", _message("developer", text))] if isinstance(text, str) and text.strip() else []


def _message(role: str, text: str) -> JsonObject:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def _item(pointer: str, item: JsonMapping, failed: set[str]) -> Iterator[tuple[str, JsonObject]]:
    kind = item.get("type")
    if kind in _SILENT:
        return
    if kind in _OUTPUTS:
        content, is_error = _result(item.get("output"))
        if is_error and isinstance(item.get("call_id"), str):
            failed.add(item["call_id"])
        yield pointer, {"type": "function_call_output", "call_id": item.get("call_id"), "output": content}
    elif kind == "local_shell_call":
        arguments = item.get("action")
        identifier = item.get("call_id") or item.get("id")
        yield pointer, {"type": "function_call", "name": "local_shell", "arguments": arguments, "call_id": identifier}
    elif kind == "message" and item.get("role") == "user" and _PROGRAM.match(_text(item)):
        yield pointer, {**item, "role": "developer"}
    else:
        yield pointer, dict(item)


def _text(item: JsonMapping) -> str:
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts[:1] if isinstance(part, Mapping))


def _result(output: object) -> tuple[str, bool]:
    """Return a result's words and whether it is an error: some versions put both into JSON, others into a head."""
    value = output
    if isinstance(output, str) and output.lstrip().startswith("{"):
        try:
            value = load_json(output)
        except InvalidDocument:
            value = output
    if isinstance(value, Mapping) and ("metadata" in value or "success" in value):
        code = object_in(value, "metadata").get("exit_code")
        words = value.get("output", value.get("content"))
        return result_text(words) or "", code not in (None, 0) or value.get("success") is False
    words = result_text(output) or ""
    found = _EXIT.search(words[:_HEAD])
    return words, found is not None and found[1] != "0"


def _rolled_back(
    items: list[tuple[str, JsonObject]], turns: object, losses: list[Problem]
) -> list[tuple[str, JsonObject]]:
    """Return the items without the last turns of the user, which they took back."""
    prompts = [at for at, (_, item) in enumerate(items) if item.get("role") == "user"]
    if not isinstance(turns, int) or isinstance(turns, bool) or turns < 1 or not prompts:
        return items
    losses.append(Problem("", f"{turns:,} turn{'' if turns == 1 else 's'} that the user took back: left out"))
    return items[: prompts[-turns] if turns <= len(prompts) else prompts[0]]
