"""Anthropic messages: content blocks `text`, `tool_use`, `tool_result`.

Source: https://docs.anthropic.com/en/api/messages. Tools that Anthropic runs itself (`server_tool_use`, `mcp_tool_use`
and the blocks whose type ends in `tool_result`) are read alike. Thinking and images are left aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from toolevals.grading.parsing.content import result_text, text_in
from toolevals.grading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.parsing.measures import measures_in
from toolevals.grading.parsing.turns import Turn
from toolevals.grading.values import Call, Message


def recognises(item: dict[str, Any]) -> bool:
    """Tell whether an item can be nothing else."""
    content = item.get("content")
    return isinstance(content, list) and "role" in item and any(_is_of_tools(block) for block in content)


def accepts(item: dict[str, Any]) -> bool:
    """Tell whether an item can be read."""
    return isinstance(item.get("role"), str) and item["role"] != ""


def turns(items: Iterable[dict[str, Any]]) -> Iterator[Turn]:
    """Read messages. One that holds results becomes a tool's message for each, and others for what stands around."""
    for item in items:
        content = item.get("content")
        if isinstance(content, list):
            made = list(_blocks(item["role"], content))
            yield from _measured(made, item)
        else:
            yield Turn(Message(item["role"], text_in(content), measures=measures_in(item)))


def _measured(made: list[Turn], item: dict[str, Any]) -> Iterator[Turn]:
    """Yield the turns of an item; what it took belongs to a message only where it is one message."""
    measures = measures_in(item) if len(made) == 1 else None
    for turn in made:
        yield turn if measures is None else Turn(replace(turn.message, measures=measures), turn.tool)


def _blocks(role: str, content: list[Any]) -> Iterator[Turn]:
    around: list[Any] = []
    calls: list[Call] = []
    split = False
    for block in content:
        kind = _kind(block)
        if kind.endswith("tool_use"):
            calls.append(call_of(block.get("name"), block.get("input"), identifier_in(block, "id"), shown_as=block))
        elif kind.endswith("tool_result"):
            if around or calls:
                yield Turn(Message(role, text_in(around), tuple(calls)))
            around, calls, split = [], [], True
            yield _result(block)
        else:
            around.append(block)
    if around or calls or not split:
        yield Turn(Message(role, text_in(around), tuple(calls)))


def _result(block: dict[str, Any]) -> Turn:
    content = block.get("content")
    # The tools that Anthropic runs answer with one block of an error's type.
    refused = isinstance(content, dict) and str(content.get("type", "")).endswith("_error")
    failed = block.get("is_error") is True or refused
    return Turn(Message("tool", result_text(content), call_id=identifier_in(block, "tool_use_id"), is_error=failed))


def _is_of_tools(block: Any) -> bool:
    kind = _kind(block)
    return kind.endswith(("tool_use", "tool_result")) or kind in {"thinking", "redacted_thinking"}


def _kind(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""
