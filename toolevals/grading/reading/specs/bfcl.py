"""Reads the Berkeley Function-Calling Leaderboard's functions: OpenAI's older form, types in the words of languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.json_schema.subschemas import Path, with_subschemas
from toolevals.grading.reading.specs.drafts import Draft, Losses, each_entry, not_carried, schema_in
from toolevals.grading.values.problems import Problem, pointer_to
from toolevals.json_types import JsonObject

# The leaderboard's types, in Python's, Java's and JavaScript's words. None admits every value: the leaderboard lets
# gold of any type stand for "any".
BFCL_TYPES: Mapping[str, str | None] = {
    "string": "string",
    "integer": "integer",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
    "number": "number",
    "null": "null",
    "dict": "object",
    "HashMap": "object",
    "Hashtable": "object",
    "float": "number",
    "double": "number",
    "tuple": "array",
    "list": "array",
    "Array": "array",
    "ArrayList": "array",
    "Queue": "array",
    "Stack": "array",
    "char": "string",
    "String": "string",
    "byte": "integer",
    "short": "integer",
    "long": "integer",
    "Bigint": "integer",
    "Boolean": "boolean",
    "any": None,
    "": "string",
}

_KNOWN = frozenset({"name", "description", "parameters"})


def _read(entry: JsonObject, where: str) -> Draft:
    losses: Losses = not_carried(entry, _KNOWN, where)
    parameters = schema_in(entry, "parameters", _KNOWN, where, required=False)
    schema = bfcl_schema(parameters, losses, f"{where}/parameters")
    native = {"name": entry.get("name"), "description": entry.get("description") or "", "input_schema": schema}
    return Draft(where, native, losses, {"/input_schema": f"{where}/parameters"})


read_bfcl = each_entry(_read)


def bfcl_schema(schema: object, losses: Losses, pointer: str = "") -> Any:
    """Return a leaderboard schema as JSON Schema, adding to `losses` what it cannot say."""
    if not isinstance(schema, dict):
        return schema
    known: JsonObject = {}
    for keyword, value in schema.items():
        if keyword == "type":
            _add_type(value, known, losses, f"{pointer}/type")
        elif keyword == "optional" or (keyword == "required" and not isinstance(value, list)):
            losses.append(Problem(f"{pointer}/{keyword}", "is not a keyword of JSON Schema"))
        else:
            known[keyword] = value

    def inside(subschema: object, path: Path) -> Any:
        return bfcl_schema(subschema, losses, pointer + pointer_to(path))

    return with_subschemas(known, inside)


def _add_type(value: object, known: JsonObject, losses: Losses, pointer: str) -> None:
    if not isinstance(value, str) or value not in BFCL_TYPES:
        losses.append(Problem(pointer, f"{value!r} is not a known type: every value is accepted"))
    elif (name := BFCL_TYPES[value]) is not None:
        known["type"] = name
