"""Reads Anthropic's tools: `{"name", "description", "input_schema"}`.

`strict` and `cache_control` are settings of the request, not of the tool, and no loss.
"""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.specs.drafts import Draft, each_entry, not_carried, schema_in
from toolevals.grading.values.problems import InvalidDocument

_KNOWN = frozenset({"type", "name", "description", "input_schema", "strict", "cache_control"})
# What only this provider's tools have: they tell them from native ones.
ANTHROPIC_KEYS = frozenset(
    {
        "type",
        "strict",
        "cache_control",
        "input_examples",
        "defer_loading",
        "allowed_callers",
        "eager_input_streaming",
    }
)


def _read(entry: dict[str, Any], where: str) -> Draft:
    kind = entry.get("type")
    if kind not in (None, "custom"):
        words = f"{kind!r} is no type of a tool that is known: leave it out, or write it with name and input_schema"
        raise InvalidDocument.at(f"{where}/type", words)
    native = {
        "name": entry.get("name"),
        "description": entry.get("description") or "",
        "input_schema": schema_in(entry, "input_schema", _KNOWN, where, required=True),
    }
    return Draft(where, native, not_carried(entry, _KNOWN, where))


read_anthropic = each_entry(_read)
