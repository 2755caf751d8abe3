"""Tell how large a schema may be for strict mode.

Sources: OpenAI, guide "Structured model outputs", "Objects have limitations on nesting depth and size" and the two
sections after it; Anthropic, guide "Structured outputs", "Schema complexity limits", whose counts are over all strict
tools of a request: a schema that is over them alone is refused in any company.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolevals.grading.json_schema.subschemas import subschemas
from toolevals.grading.values.problems import Problem, pointer_to

OPENAI_PROPERTIES = 5_000
OPENAI_LEVELS = 10
OPENAI_ENUM_VALUES = 1_000
OPENAI_CHARACTERS = 120_000
OPENAI_LONG_ENUM = 250
OPENAI_LONG_ENUM_CHARACTERS = 15_000
ANTHROPIC_OPTIONAL = 24
ANTHROPIC_UNIONS = 16


def openai_limits(schema: dict[str, Any]) -> Iterator[Problem]:
    """Yield where a schema is too large for OpenAI's strict mode; levels are those of objects, as they are written."""
    names: list[str] = []
    values = characters = 0
    for path, subschema in subschemas(schema):
        where = pointer_to(path)
        names += _names(subschema)
        enum = subschema.get("enum")
        if isinstance(enum, list):
            values += len(enum)
            length = _characters(enum)
            characters += length
            if len(enum) > OPENAI_LONG_ENUM and length > OPENAI_LONG_ENUM_CHARACTERS:
                words = f"an enum of more than {OPENAI_LONG_ENUM} values may have {OPENAI_LONG_ENUM_CHARACTERS:,}"
                yield Problem(f"{where}/enum", f"has {length:,} characters: {words}")
        characters += _characters([subschema.get("const")])
        characters += sum(len(name) for name in _members(subschema, "$defs"))
        if "properties" in subschema and path.count("properties") == OPENAI_LEVELS:
            yield Problem(where, f"is nested deeper than {OPENAI_LEVELS} levels of objects")
    characters += sum(len(name) for name in names)
    for count, most, what in (
        (len(names), OPENAI_PROPERTIES, "properties"),
        (values, OPENAI_ENUM_VALUES, "enum values"),
        (characters, OPENAI_CHARACTERS, "characters in names, enums and constants"),
    ):
        if count > most:
            yield Problem("", f"has {count:,} {what}: at most {most:,} are taken")


def anthropic_limits(schema: dict[str, Any]) -> Iterator[Problem]:
    """Yield where a schema alone exceeds what all strict tools of a request to Anthropic may have together."""
    optional = unions = 0
    for _, subschema in subschemas(schema):
        required = subschema.get("required")
        listed = set(filter(_is_text, required)) if isinstance(required, list) else set()
        optional += len(set(_names(subschema)) - listed)
        unions += isinstance(subschema.get("type"), list) or "anyOf" in subschema
    for count, most, what in (
        (optional, ANTHROPIC_OPTIONAL, "optional parameters"),
        (unions, ANTHROPIC_UNIONS, "parameters of more than one type"),
    ):
        if count > most:
            yield Problem("", f"has {count} {what}: all strict tools of a request may have {most}")


def _names(schema: dict[str, Any]) -> list[str]:
    return list(_members(schema, "properties"))


def _members(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    members = schema.get(keyword)
    return members if isinstance(members, dict) else {}


def _characters(values: list[Any]) -> int:
    return sum(len(value) for value in values if _is_text(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
