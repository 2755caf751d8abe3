"""Reads OpenAI's tools, as the chat and the responses API take them, and the older `functions`.

`strict` is a setting of the request, not of the tool, and no loss.
"""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.specs.drafts import Draft, each_entry, not_carried, schema_in
from toolevals.grading.values.problems import InvalidDocument

_KNOWN = frozenset({"type", "function", "name", "description", "parameters", "strict"})

_OUTER = frozenset({"type", "function", "strict"})


def _read(entry: dict[str, Any], where: str) -> Draft:
    if entry.get("type", "function") != "function":
        raise InvalidDocument.at(
            f"{where}/type", f"{entry['type']!r} is no function: hosted tools have no schema to check"
        )
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


read_openai = each_entry(_read)
