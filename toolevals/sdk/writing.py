"""Write arguments, results and messages as the text of attributes: JSON, whatever the values are, of bounded length."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from enum import Enum
from functools import partial
from typing import Any

import orjson

from toolevals.json_types import JsonMapping, JsonObject, JsonValue

LONGEST = 20_000
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS


def json_text(value: object) -> str:
    """Return a value as JSON text; what JSON cannot hold is written as its own words."""
    try:
        return orjson.dumps(value, default=_plain, option=_OPTIONS).decode()
    except (TypeError, ValueError, RecursionError):
        # Integers beyond 64 bits, lone surrogates, what holds itself.
        try:
            return json.dumps(value, default=_plain)
        except (TypeError, ValueError, RecursionError):
            return json.dumps(repr(value)[:LONGEST])


def json_value(value: object) -> JsonValue:
    """Return a value as JSON has it, and whole; what JSON cannot hold becomes its own words."""
    if value is None or isinstance(value, str | bool):
        return value
    try:
        return orjson.loads(orjson.dumps(value, default=_whole, option=_OPTIONS))
    except (TypeError, ValueError, RecursionError):
        try:
            return json.loads(json.dumps(value, default=_whole))
        except (TypeError, ValueError, RecursionError):
            return repr(value)


def result_text(value: object, longest: int = LONGEST) -> str:
    """Return a result: text as it is, other values as JSON; cut where it is too long."""
    return cut(value if isinstance(value, str) else json_text(value), longest)


def arguments_text(arguments: JsonMapping, longest: int = LONGEST) -> str:
    """Return arguments as an object of JSON; where it is too long, its long values are cut and become text."""
    text = json_text(arguments)
    if len(text) <= longest:
        return text
    share = max(longest // max(len(arguments), 1), 100)
    texts = {name: value if isinstance(value, str) else json_text(value) for name, value in arguments.items()}
    return json_text({
        name: value if len(texts[name]) <= share else cut(texts[name], share) for name, value in arguments.items()
    })  # fmt: skip


def cut(text: str, longest: int = LONGEST) -> str:
    """Return text of bounded length that says how much of it is gone."""
    return text if len(text) <= longest else f"{text[:longest]}… (cut: {len(text):,} characters)"


def messages_text(messages: Iterable[object], longest: int = LONGEST) -> str:
    """Return messages in the form of OpenTelemetry, whose parts hold texts, calls and answers of tools."""
    return json_text([_message(each, longest) for each in messages])


def _plain(value: object, longest: int = LONGEST) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if callable(dump := getattr(value, "model_dump", None)):
        return dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    # Subclasses.
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    return list(value) if isinstance(value, list) else repr(value)[:longest]


_whole = partial(_plain, longest=sys.maxsize)


def _message(message: JsonValue, longest: int) -> JsonObject:
    if callable(dump := getattr(message, "model_dump", None)):
        message = dump(exclude_none=True)
    if isinstance(message, str):
        message = {"role": "assistant", "content": message}
    if "parts" in message:
        return dict(message)
    role, content = message.get("role", "assistant"), message.get("content")
    if role in ("tool", "function"):
        # The answer's place is the text; parts of text are joined.
        said = cut(content if isinstance(content, str) else _joined(content), longest)
        return {
            "role": "tool",
            "parts": [_without_none(type="tool_call_response", id=message.get("tool_call_id"), response=said)],
        }
    parts = [_part(part, longest) for part in ([content] if isinstance(content, str) else content or ())]
    for call in message.get("tool_calls") or ():
        inner = call.get("function") or call
        parts.append(_call(call.get("id"), inner.get("name"), inner.get("arguments")))
    made = {"role": role, "parts": parts}
    return made | ({"finish_reason": message["finish_reason"]} if message.get("finish_reason") else {})


def _part(part: JsonValue, longest: int) -> JsonObject:
    if isinstance(part, str):
        return {"type": "text", "content": cut(part, longest)}
    reader = _PARTS.get(str(part.get("type")))
    return reader(part, longest) if reader else dict(part)


def _call(identifier: object, name: object, arguments: object) -> JsonObject:
    if isinstance(arguments, str):
        # What a model wrote that is no JSON is kept as it wrote it.
        with suppress(ValueError):
            arguments = orjson.loads(arguments or "{}")
    return _without_none(type="tool_call", id=identifier, name=name, arguments=arguments)


def _joined(content: object) -> str:
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str)) if parts and all(texts) else json_text(content)


def _without_none(**fields: object) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def _text_part(part: JsonMapping, longest: int) -> JsonObject:
    return {"type": "text", "content": cut(str(part.get("text", part.get("content", ""))), longest)}


def _tool_use(part: JsonMapping, _: int) -> JsonObject:
    return _call(part.get("id"), part.get("name"), part.get("input"))


def _tool_result(part: JsonMapping, longest: int) -> JsonObject:
    content = part.get("content")
    said = cut(content if isinstance(content, str) else _joined(content), longest)
    return _without_none(type="tool_call_response", id=part.get("tool_use_id"), response=said)


# Parts of OpenAI's two interfaces and of Anthropic's.
_PARTS: Mapping[str, Callable[[JsonMapping, int], JsonObject]] = {
    "text": _text_part,
    "input_text": _text_part,
    "output_text": _text_part,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}
