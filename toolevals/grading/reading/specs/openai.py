"""Reads OpenAI's tools, as the chat and the responses API take them, and the older `functions`.

A tool of type `custom` takes free text. `strict` is a setting of the request, not of the tool, and no loss.
"""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.specs.drafts import Draft, each_entry, not_carried, schema_in
from toolevals.grading.values.problems import InvalidDocument

_KNOWN = frozenset({"type", "function", "name", "description", "parameters", "strict"})

_OUTER = frozenset({"type", "function", "strict"})
# A tool that takes free text. Its calls are read with the text as the argument `input`.
_CUSTOM = frozenset({"type", "name", "description", "custom"})
_FREE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def _read(entry: dict[str, Any], where: str) -> Draft:
    if entry.get("type") == "custom":
        return _custom(entry, where)
    if entry.get("type", "function") != "function":
        words = "is no type of a tool that is known: leave it out, or write it as a function"
        raise InvalidDocument.at(f"{where}/type", f"{str(entry['type'])[:60]!r} {words}")
    inner, root = (entry["function"], f"{where}/function") if "function" in entry else (entry, where)
    if not isinstance(inner, dict):
        raise InvalidDocument.at(root, "is not an object")
    losses = not_carried(inner, _KNOWN, root)
    if inner is not entry:
        if "parameters" in entry:
            raise InvalidDocument.at(f"{where}/parameters", "must be inside function: move it there")
        losses += not_carried(entry, _OUTER, where)
    native = {
        "name": inner.get("name"),
        "description": inner.get("description") or "",
        "input_schema": schema_in(inner, "parameters", _KNOWN, root, required=False),
    }
    origins = {"/name": f"{root}/name", "/description": f"{root}/description", "/input_schema": f"{root}/parameters"}
    return Draft(where, native, losses, origins)


def _custom(entry: dict[str, Any], where: str) -> Draft:
    inner, root = (entry["custom"], f"{where}/custom") if isinstance(entry.get("custom"), dict) else (entry, where)
    native = {
        "name": inner.get("name"),
        "description": inner.get("description") or "",
        "input_schema": dict(_FREE_TEXT),
    }
    origins = {"/name": f"{root}/name", "/description": f"{root}/description"}
    return Draft(where, native, not_carried(inner, _CUSTOM, root), origins)


read_openai = each_entry(_read)
