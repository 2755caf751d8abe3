"""Choose which tools of a request go in strict mode, and change a schema so that strict mode takes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from toolevals.grading.json_schema.conformance import why_unused
from toolevals.grading.json_schema.strict_mode import Provider, anthropic_limits, strict_problems
from toolevals.grading.json_schema.subschemas import Path, with_subschemas
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import Problem
from toolevals.json_types import JsonObject

# Of one request, by the guide "Structured outputs", section "Schema complexity limits".
ANTHROPIC_TOOLS = 20
# Keywords that only narrow values: without one a schema takes more, and says it in its description.
_NARROWING = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}) | frozenset(
    {"minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties"}
    | {"maxProperties", "default", "contentEncoding", "contentMediaType"}
)


def tool_strict_problems(tool: ToolSpec, provider: Provider) -> list[Problem]:
    """Return why a provider's strict mode refuses a tool; a schema that cannot be used fits no strict mode."""
    if unused := why_unused(tool):
        return [Problem("", unused)]
    return strict_problems(tool.input_schema, provider)


def strict_names(tools: Sequence[ToolSpec], provider: Provider) -> frozenset[str]:
    """Return the names of the tools that one request sends in strict mode: those whose schemas fit as they are.

    Where a provider limits what all strict tools of a request hold together, the first tools that keep to it are taken.
    """
    taken: list[ToolSpec] = []
    for tool in tools:
        if not tool_strict_problems(tool, provider) and _fit_together([*taken, tool], provider):
            taken.append(tool)
    return frozenset(tool.name for tool in taken)


def _fit_together(tools: Sequence[ToolSpec], provider: Provider) -> bool:
    if provider != "anthropic":
        return True
    together: JsonObject = {"allOf": [tool.input_schema for tool in tools]}
    return len(tools) <= ANTHROPIC_TOOLS and not any(anthropic_limits(together))


def strict_schema(schema: JsonObject, provider: Provider) -> JsonObject:
    """Return a schema that is changed towards what a provider's strict mode takes; `strict_problems` says what is left.

    Objects are closed. What may be left out is required where the provider wants that, and may be null. Keywords that
    only narrow values go into the description. Definitions that nothing refers to are left out. What cannot be said
    otherwise stays as it is.
    """
    whole = schema if "type" in schema or "properties" not in schema else {"type": "object", **schema}
    whole = _without_unused(whole)
    changed: JsonObject = _Changed(provider).schema(whole)
    return changed


def _without_unused(schema: JsonObject) -> JsonObject:
    """Return a schema without the definitions that it does not refer to: servers give each tool those of all."""
    definitions = schema.get("$defs")
    if not isinstance(definitions, dict):
        return schema
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    used: set[str] = set()
    waiting: list[Any] = [rest]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            reference = value.get("$ref")
            if "$dynamicRef" in value or (isinstance(reference, str) and not reference.startswith("#/$defs/")):
                return schema
            name = reference[len("#/$defs/") :].split("/")[0] if isinstance(reference, str) else ""
            if name in definitions and name not in used:
                used.add(name)
                waiting.append(definitions[name])
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    kept = {name: each for name, each in definitions.items() if name in used}
    return {**rest, "$defs": kept} if kept else rest


class _Changed:
    """Changes a schema from its innermost parts outwards."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def schema(self, schema: Any, _place: Path = ()) -> Any:
        """Return a subschema with all below it, changed."""
        if not isinstance(schema, dict):
            return schema
        made = self._in_words(with_subschemas(schema, self.schema))
        if self._provider != "gemini":
            made = self._closed(made)
        return made

    def _in_words(self, schema: JsonObject) -> JsonObject:
        """Return a schema that says in its description what strict mode does not take."""
        narrowing = {keyword: value for keyword, value in schema.items() if keyword in _NARROWING}
        alone = {"type": "object", **narrowing}
        refused = {problem.pointer.removeprefix("/") for problem in strict_problems(alone, self._provider)}
        moved = {keyword: value for keyword, value in narrowing.items() if keyword in refused}
        if not moved:
            return schema
        words = "; ".join(f"{keyword}: {json.dumps(value, ensure_ascii=False)}" for keyword, value in moved.items())
        said = schema.get("description")
        kept = {keyword: value for keyword, value in schema.items() if keyword not in moved}
        return {**kept, "description": f"{said} ({words})" if isinstance(said, str) and said else words}

    def _closed(self, schema: JsonObject) -> JsonObject:
        """Return an object's schema that is closed; one that takes names which no one listed stays open."""
        properties = schema.get("properties")
        is_free = isinstance(schema.get("additionalProperties"), dict) or "patternProperties" in schema
        if not isinstance(properties, dict) or is_free:
            return schema
        made = {**schema, "additionalProperties": False}
        if self._provider == "openai":
            required = schema.get("required")
            listed = required if isinstance(required, list) else []
            made["properties"] = {name: each if name in listed else _or_null(each) for name, each in properties.items()}
            made["required"] = list(properties)
        return made


def _or_null(schema: Any) -> Any:
    """Return a schema that takes null as well."""
    if not isinstance(schema, dict):
        return schema
    kinds, enum = schema.get("type"), schema.get("enum")
    if not isinstance(kinds, str | list) or "const" in schema or "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    listed = [kinds] if isinstance(kinds, str) else kinds
    made = schema if "null" in listed else {**schema, "type": [*listed, "null"]}
    return {**made, "enum": [*enum, None]} if isinstance(enum, list) and None not in enum else made
