"""Which format a document of tool specs is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.problems import InvalidDocument
from toolevals.grading.specs.anthropic import ANTHROPIC_KEYS
from toolevals.grading.specs.drafts import entries_of
from toolevals.grading.specs.gemini import LISTS as GEMINI_LISTS

_GEMINI_KEYS = frozenset({*GEMINI_LISTS, "parametersJsonSchema", "parameters_json_schema"})


def detected_format(document: Any) -> str:
    """Return the name of the document's format: told by its own keys, else by those of its tools.

    Raises InvalidDocument where there is no list of tools.
    """
    if isinstance(document, dict):
        if isinstance(document.get("swagger"), str):
            raise InvalidDocument.at("/swagger", "Swagger 2.0 is not read: convert the document to OpenAPI 3")
        if "openapi" in document:
            return "openapi"
        if isinstance(document.get("result"), dict) and "tools" in document["result"]:
            return "mcp"
        if any(key in document for key in GEMINI_LISTS):
            return "gemini"
    entries = [entry for _, entry in entries_of(document)]
    return _format_of_entries(entries)


def _format_of_entries(entries: list[Any]) -> str:
    first = entries[0] if entries else None
    if not isinstance(first, dict):
        return "native"
    if "input_schema" in first:
        return "anthropic" if any(_is_anthropic(entry) for entry in entries) else "native"
    if "inputSchema" in first:
        return "mcp"
    if any(isinstance(entry, dict) and not _GEMINI_KEYS.isdisjoint(entry) for entry in entries):
        return "gemini"
    if "function" in first or "type" in first:
        return "openai"
    return _format_by_types(first.get("parameters"))


def _is_anthropic(entry: Any) -> bool:
    return isinstance(entry, dict) and not ANTHROPIC_KEYS.isdisjoint(entry)


def _format_by_types(parameters: Any) -> str:
    kind = parameters.get("type") if isinstance(parameters, Mapping) else None
    if kind == "dict":
        return "bfcl"
    return "gemini" if kind == "OBJECT" else "openai"
