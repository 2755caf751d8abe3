"""Reads Pydantic AI's messages (`all_messages_json`, `ModelMessagesTypeAdapter`): requests and responses by part.

Source: pydantic_ai.messages. Instructions, which every request repeats, are a system message where they change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from toolevals.grading.reading.parsing.content import part_said, result_said
from toolevals.grading.reading.parsing.extras import MEASURE_KEYS, measures_in
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Placed, TranscriptFormat, kind_of
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Speech, Turn
from toolevals.grading.values import Message

_ABOUT = frozenset({
    "timestamp", "part_kind", "dynamic_ref", "context_id", "scope", "metadata", "tool_kind", "provider_name",
    "provider_details", "provider_response_id", "provider_url", "canonical_system", "run_id", "conversation_id",
    "state", "kind", "parts", "finish_reason", "model_name", "model_id", "vendor_details", "vendor_id", "workspace_ref",
    "history_digest", "otel_metadata", "retry", "content_file_digests", "return_schema",
})  # fmt: skip
_MESSAGE = _ABOUT | {"instructions", "failed_attempts", *MEASURE_KEYS}
_WORDS = _ABOUT | {"content", "id", "signature", "citations"}
_CALL = _ABOUT | {"tool_name", "args", "tool_call_id", "id"}
_RESULT = _ABOUT | {"tool_name", "content", "tool_call_id", "outcome"}
_SAID = {"system-prompt": "system", "user-prompt": "user", "text": "assistant", "retry-feedback": "user"}
_LOSSES = {
    "thinking": "reasoning", "compaction": "summary of earlier messages", "file": "file", "speech": "audio",
    "image-url": "image", "audio-url": "audio", "video-url": "video", "document-url": "file", "binary": "file",
    "uploaded-file": "file", "cache-point": "cache point",
    "instruction": "instructions next to it", "instruction-delta": "instructions next to it",
    "instruction-digest": "instructions next to it", "instruction-baseline": "instructions next to it",
    "tool-availability-delta": "list of tools", "capability-load-delta": "settings", "model-settings-delta": "settings",
}  # fmt: skip


def _sign(item: Item) -> str | None:
    parts = item.get("parts")
    if isinstance(parts, list) and any(isinstance(part, dict) and "part_kind" in part for part in parts):
        return "a part has a `part_kind`"
    return f"a message is of kind `{item['kind']}`" if _accepts(item) else None


def _accepts(item: Item) -> bool:
    return item.get("kind") in ("request", "response") and isinstance(item.get("parts"), list)


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    instructed: Any = None
    for pointer, item in items:
        account.rest(item, _MESSAGE, pointer)
        told = item.get("instructions")
        if isinstance(told, str) and told and told != instructed:
            instructed = told
            yield Turn(Message("system", told))
        made = list(_parts(item, pointer, account))
        if len(made) == 1 and item["kind"] == "response":
            message = made[0].message
            yield Turn(replace(message, measures=measures_in(item)))
        else:
            yield from made


def _parts(item: Item, pointer: str, account: Account) -> Iterator[Turn]:
    speech = Speech("assistant", account)
    for place, part in enumerate(item["parts"]):
        kind, here = kind_of(part, "part_kind"), f"{pointer}/parts/{place}"
        if account.provider_run(part, here):
            continue
        if kind == "tool-call":
            account.rest_of_call(part, _CALL, "args" in part, here)
            identifier = identifier_in(part, "tool_call_id")
            speech.call(call_of(part.get("tool_name"), part.get("args"), identifier, shown_as=part))
        elif kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name") is not None):
            account.rest(part, _RESULT, here)
            yield from speech.answered(_result(part, kind, here, account))
        elif kind in _SAID or kind == "retry-prompt":
            account.rest(part, _WORDS | {"tool_name", "tool_call_id"} if kind == "retry-prompt" else _WORDS, here)
            if part.get("citations"):
                account.lost(f"{here}/citations", "citation")
            words = _words(part.get("content"), f"{here}/content", account)
            if kind == "text":
                speech.text(words or "")
            else:
                yield from speech.answered(Turn(Message(_SAID.get(kind, "user"), words)))
        elif kind in _LOSSES:
            account.lost(here, _LOSSES[kind], part)
        else:
            account.unknown_part(here, part)
    if item["kind"] == "response":
        yield from speech.end()
    else:
        yield from speech.answered()


def _words(content: object, pointer: str, account: Account) -> str | None:
    """Return the text of a prompt: text, or a list of texts and files."""
    if not isinstance(content, list):
        return part_said(content, pointer, account)
    texts = []
    for place, part in enumerate(content):
        here, kind = f"{pointer}/{place}", kind_of(part, "kind")
        if kind == "text-content" and isinstance(part.get("content"), str):
            texts.append(part["content"])
        elif kind in _LOSSES:
            account.lost(here, _LOSSES[kind], part)
        elif (text := part_said(part, here, account)) is not None:
            texts.append(text)
    return "\n".join(texts) or None


def _result(part: Item, kind: str, pointer: str, account: Account) -> Turn:
    failed = kind == "retry-prompt" or part.get("outcome") not in (None, "success")
    name = part.get("tool_name")
    text = result_said(part.get("content"), f"{pointer}/content", account)
    message = Message("tool", text, call_id=identifier_in(part, "tool_call_id"), is_error=failed)
    return Turn(message, name if isinstance(name, str) else None)


PYDANTIC_AI = TranscriptFormat(
    name="pydantic_ai",
    label="Pydantic AI",
    sign=_sign,
    accepts=_accepts,
    item="a message of kind `request` or `response` with parts",
    turns=_turns,
    calls_at="parts whose `part_kind` is `tool-call`",
    keys=frozenset({"request", "response", "tool-call", "tool-return", *_SAID, "part_kind", "kind", "parts", *_CALL}),
    made_by="library: pydantic-ai-slim 2.68",
    losses=("reasoning", "image", "audio", "video", "file", "citation", "list of tools", "settings", PROVIDER_RUN),
)
