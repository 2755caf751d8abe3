"""Puts the events of a streamed answer of the Anthropic Messages protocol together.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolevals.agents.chats import UnreachableError

# What belongs to a block of reasoning, which is left out whole.
_OF_THOUGHTS = frozenset({"thinking_delta", "signature_delta", None})


def joined(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the message that events tell of: text and arguments come in pieces, each block by its index.

    Empty where no message was begun. Arguments stay the text that they came as, so that what nobody can read is seen.
    Raises UnreachableError where a message was begun and no `message_stop` came: the rest of it is missing.
    """
    answer: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    ended = False
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            answer = dict(event.get("message") or {})
        elif kind == "content_block_start":
            blocks[_index(event)] = dict(event.get("content_block") or {})
        elif kind == "content_block_delta":
            _add(blocks.setdefault(_index(event), {}), event.get("delta") or {})
        elif kind == "message_delta":
            _close(answer, event)
        elif kind == "message_stop":
            ended = True
    if answer and not ended:
        raise UnreachableError("The stream broke off: no message_stop came.", again=True)
    return {**answer, "content": [blocks[index] for index in sorted(blocks)]} if answer else {}


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _add(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    if delta.get("type") == "text_delta":
        block["text"] = f"{block.get('text') or ''}{delta.get('text') or ''}"
    elif delta.get("type") == "input_json_delta":
        # A block begins with an empty object; its text comes after.
        before = block.get("input") if isinstance(block.get("input"), str) else ""
        block["input"] = f"{before}{delta.get('partial_json') or ''}"
    elif delta.get("type") == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
    elif delta.get("type") not in _OF_THOUGHTS:
        # What nobody knows is seen where the block is read.
        block[str(delta.get("type"))] = {key: value for key, value in delta.items() if key != "type"}


def _close(answer: dict[str, Any], event: Mapping[str, Any]) -> None:
    answer["stop_reason"] = (event.get("delta") or {}).get("stop_reason") or answer.get("stop_reason")
    # Counts are cumulative; what this event does not say was said at the beginning.
    later = {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
    answer["usage"] = {**(answer.get("usage") or {}), **later}
