"""Reads the text of messages and of tool results, whatever a provider wraps it in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.reading.parsing.extras import REASONING
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.values.canonical import exact
from toolevals.json_types import JsonValue

# Parts that formats share and that hold neither words to the user nor calls.
PART_LOSSES: Mapping[str, str] = {
    "thinking": "reasoning", "redacted_thinking": "reasoning", "reasoning": "reasoning", "reasoning_text": "reasoning",
    "thought": "reasoning", "summary_text": "reasoning", "encrypted_reasoning": "reasoning",
    "image": "image", "image_url": "image", "input_image": "image", "computer_screenshot": "image",
    "audio": "audio", "input_audio": "audio", "output_audio": "audio", "audio_url": "audio",
    "video": "video", "video_url": "video", "input_video": "video",
    "file": "file", "input_file": "file", "document": "file", "container_upload": "file", "media": "file",
    "resource": "file", "resource_link": "file", "cache_point": "cache point", "cachePoint": "cache point",
    "citation": "citation", "citations": "citation", "search_result": "search result",
    "source-url": "citation", "source-document": "citation", "tool_reference": "tool reference",
}  # fmt: skip
# The kinds of parts that hold what the agent wrote for itself.
REASONED = tuple(kind for kind, what in PART_LOSSES.items() if what == REASONING)
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal", "plain_text"})
# What stands beside the text of a part and says nothing that a transcript holds.
_BESIDE_TEXT = frozenset({
    "type", "text", "refusal", "id", "index", "cache_control", "cacheControl", "signature", "thoughtSignature",
    "thought_signature", "thought", "logprobs", "annotations", "citations", "extras", "meta", "_meta", "state",
    "providerMetadata", "providerOptions", "provider_details", "additional_kwargs", "phase", "parsed",
})  # fmt: skip


def text_in(content: object) -> str | None:
    """Return the text of a message's content: text itself, or blocks with text, one a line; None where there is none.

    Reasoning, images and other blocks without text are left aside. A refusal is what was said.
    """
    if isinstance(content, str):
        return content
    return _joined(_block_text(part) for part in _parts(content))


def said(content: object, pointer: str, account: Account) -> str | None:
    """Return the text of a message's content as `text_in` does, and account for everything else in it."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, dict | list):
        account.unknown_part(pointer, content)
        return None
    placed = [(pointer, content)] if isinstance(content, dict) else _placed(content, pointer)
    return _joined(part_said(part, place, account) for place, part in placed)


def part_said(part: object, pointer: str, account: Account) -> str | None:
    """Return the text of one part, None where it has none, and account for everything else in it."""
    if isinstance(part, str):
        return part
    if (text := _block_text(part)) is not None:
        _account_beside(part, pointer, account)
        return text
    if part is None or part == {}:
        return None
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict) and part.get("thought") is True:
        account.lost(pointer, REASONING, part)
    elif isinstance(kind, str) and kind in PART_LOSSES:
        account.lost(pointer, PART_LOSSES[kind], part)
    else:
        account.unknown_part(pointer, part)
    return None


def result_text(value: object) -> str:
    """Return what a tool gave back: its text, or JSON text of any other value; nothing is the empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if are_blocks(value):
        return text_in(value) or ""
    return exact(value)


def result_said(value: JsonValue, pointer: str, account: Account) -> str:
    """Return what a tool gave back as `result_text` does, and account for blocks of it that are no text."""
    if are_blocks(value):
        texts = (_result_part(part, place, account) for place, part in _placed(value, pointer))
        return _joined(texts) or ""
    return result_text(value)


def are_blocks(value: object) -> bool:
    """Tell whether a value is a list of blocks as providers have them; a tool's own objects with a type are none."""
    return isinstance(value, list) and bool(value) and all(_is_block(item) for item in value)


def _result_part(part: JsonValue, pointer: str, account: Account) -> str | None:
    if (text := _block_text(part)) is None:
        account.lost(pointer, PART_LOSSES[part["type"]])
    return text


def _account_beside(part: JsonValue, pointer: str, account: Account) -> None:
    for key in ("annotations", "citations"):
        if part.get(key):
            account.lost(f"{pointer}/{key}", "citation")
    account.rest(part, _BESIDE_TEXT, pointer)


def _parts(content: object) -> list[Any]:
    return [content] if isinstance(content, dict) else content if isinstance(content, list) else []


def _placed(parts: list[Any], pointer: str) -> Iterator[tuple[str, Any]]:
    for place, part in enumerate(parts):
        yield f"{pointer}/{place}", part


def _joined(texts: Any) -> str | None:
    return "\n".join(text for text in texts if text is not None) or None


def _is_block(item: object) -> bool:
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and (kind in PART_LOSSES or (kind in _TEXTS and isinstance(_block_text(item), str)))


def _block_text(block: object) -> str | None:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict) or block.get("thought") is True or block.get("type") in REASONED:
        return None
    text = block.get("refusal") if block.get("type") == "refusal" else block.get("text")
    return text if isinstance(text, str) else None
