"""Reads OpenTelemetry's generative AI messages (`gen_ai.input.messages`, `gen_ai.output.messages`), parts by type.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-input-messages.json. Attributes of a span may hold the
messages as lists or as JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.reading.parsing.content import PART_LOSSES, result_said
from toolevals.grading.reading.parsing.formats.transcript_format import (
    Item,
    Opened,
    Placed,
    TranscriptFormat,
    kind_of,
    listed,
)
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Speech, Turn
from toolevals.grading.values import Message
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

_KEYS = frozenset({"role", "parts", "finish_reason", "name"})
_CALL = frozenset({"type", "id", "name", "arguments", "builtin", "code_arg_name", "code_arg_language"})
_RESULT = frozenset({"type", "id", "name", "response", "result", "builtin"})
_TEXT = frozenset({"type", "content", "visible"})
_LOSSES = {
    "uri": "file", "blob": "file", "binary": "file", "image-url": "image", "audio-url": "audio", "video-url": "video",
    "document-url": "file", **PART_LOSSES,
}  # fmt: skip
_INPUT, _OUTPUT, _SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"


def _sign(item: Item) -> str | None:
    parts = item.get("parts")
    if "role" not in item or not isinstance(parts, list):
        return None
    for part in parts:
        kind = kind_of(part)
        if kind in ("tool_call", "tool_call_response") or (kind == "text" and "content" in part):
            return f"a message has a part of type `{kind}`, as OpenTelemetry has it"
    return None


def _accepts(item: Item) -> bool:
    return isinstance(item.get("role"), str) and isinstance(item.get("parts"), list)


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    for pointer, item in items:
        account.rest(item, _KEYS, pointer)
        speech = Speech(account.role(item["role"], pointer), account)
        for place, part in enumerate(item["parts"]):
            kind, here = kind_of(part), f"{pointer}/parts/{place}"
            if account.provider_run(part, here):
                continue
            if kind == "text" and isinstance(part.get("content"), str):
                account.rest(part, _TEXT, here)
                speech.text(part["content"])
            elif kind == "tool_call":
                account.rest_of_call(part, _CALL, "arguments" in part, here)
                given = part.get("arguments")
                speech.call(call_of(part.get("name"), given, identifier_in(part, "id"), shown_as=part))
            elif kind == "tool_call_response":
                account.rest(part, _RESULT, here)
                yield from speech.answered(_result(part, here, account))
            elif kind in _LOSSES:
                account.lost(here, _LOSSES[kind], part)
            else:
                account.unknown_part(here, part)
        yield from speech.end()


def _result(part: Item, pointer: str, account: Account) -> Turn:
    key = "response" if "response" in part else "result"
    text, name = result_said(part.get(key), f"{pointer}/{key}", account), part.get("name")
    message = Message("tool", text, call_id=identifier_in(part, "id"))
    return Turn(message, name if isinstance(name, str) else None)


def _opens(document: Item) -> Opened | None:
    """Find the messages among the attributes of a span or an event."""
    under = document.get("attributes")
    holder, at = (
        (under, "/attributes") if isinstance(under, dict) and (_INPUT in under or _OUTPUT in under) else (document, "")
    )
    if _INPUT not in holder and _OUTPUT not in holder:
        return None
    items: list[Placed] = []
    for key in (_INPUT, _OUTPUT):
        if key in holder:
            items += listed(_list(holder[key], f"{at}/{key}"), f"{at}/{key}")
    system = _system(holder.get(_SYSTEM))
    read = frozenset(document) if at else frozenset(key for key in document if key.startswith(("gen_ai.", "server.")))
    why = f"the document has `{_INPUT if _INPUT in holder else _OUTPUT}`"
    return Opened(items, at, why, system=None if system is None else (f"{at}/{_SYSTEM}", system), read=read)


def _list(value: object, pointer: str) -> list[Any]:
    if isinstance(value, str):
        try:
            value = load_json(value)
        except InvalidDocument as error:
            raise InvalidDocument.at(pointer, f"is text that is not a list of messages: {error}") from None
    if not isinstance(value, list):
        raise InvalidDocument.at(pointer, "is not a list of messages")
    return value


def _system(value: object) -> Any:
    """Return the system instructions as parts with `text`, which is what they say as `content`."""
    parts = load_json(value) if isinstance(value, str) and value.lstrip().startswith("[") else value
    if not isinstance(parts, list):
        return parts
    texts = [part.get("content") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


OTEL_GENAI = TranscriptFormat(
    name="otel_genai",
    label="OpenTelemetry GenAI",
    sign=_sign,
    accepts=_accepts,
    item="a message with a role and parts",
    turns=_turns,
    calls_at="parts of type `tool_call`",
    keys=frozenset({"role", "parts", "content", "tool_call", "tool_call_response", "arguments", "response",
                    _INPUT, _OUTPUT}),
    made_by="library: pydantic-ai-slim 2.68",
    losses=("reasoning", "image", "audio", "video", "file", PROVIDER_RUN),
    opens=_opens,
)  # fmt: skip
