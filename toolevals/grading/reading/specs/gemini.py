"""Reads Gemini's function declarations, in REST's and in the Python SDK's spelling.

`parameters` and `response` hold the subset of OpenAPI 3.0 that the API's `Schema` is: types in capitals, `nullable`,
64-bit numbers as text. `parametersJsonSchema` and `responseJsonSchema` hold JSON Schema and are taken as they are.
Source: the API reference, `FunctionDeclaration` and `Schema`.
"""

from __future__ import annotations

import re
from typing import Any

from toolevals.grading.json_schema.subschemas import Path, with_subschemas
from toolevals.grading.reading.parsing.provider_run import provider_run_tool, provider_run_tools_beside
from toolevals.grading.reading.specs.drafts import Draft, Drafts, Losses, draft_of, left_out, schema_in
from toolevals.grading.reading.specs.openapi_schema import null_admitted
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonObject

LISTS = ("functionDeclarations", "function_declarations")
_TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_UNDERSCORED = re.compile(r"_([a-z])")
_KNOWN = frozenset(
    {"name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema"},
)
_SDK_NAMES = {"defs": "$defs", "ref": "$ref"}


def read_gemini(document: object) -> Drafts:
    """Read the declarations of a request, a list of its tools, one such tool, or a list of declarations."""
    return _drafts(document, "")


def _drafts(document: object, root: str) -> Drafts:
    if isinstance(document, list):
        for place, member in enumerate(document):
            yield from _drafts(member, f"{root}/{place}")
        return
    if isinstance(document, dict) and "name" not in document:
        lists = [key for key in ("tools", *LISTS) if isinstance(document.get(key), list)]
        beside = list(provider_run_tools_beside(document))
        for key in lists[:1]:
            yield from _drafts(document[key], f"{root}/{key}")
        if not lists[:1] or lists[0] != "tools":
            yield from (left_out(root + pointer_to([key]), key) for key in beside)
        if lists or beside:
            return
        if document and provider_run_tool(document) is None:
            name = str(next(iter(document)))[:60]
            words = f"{name!r} is neither a list of functions nor a known tool: leave it out, or write functions"
            yield InvalidDocument.at(root + pointer_to([name]), words)
            return
    yield draft_of(document, root, _read)


def _read(entry: JsonObject, where: str) -> Draft:
    named = {_camel(key): (key, value) for key, value in entry.items()}
    losses = [
        Problem(where + pointer_to([key]), "is not carried over")
        for name, (key, _) in named.items()
        if name not in _KNOWN
    ]
    native: JsonObject = {"name": entry.get("name"), "description": entry.get("description") or ""}
    origins = {}
    for ours, theirs in (("input_schema", "parameters"), ("output_schema", "response")):
        for name in (theirs, f"{theirs}JsonSchema"):
            key, value = named.get(name, (name, None))
            if value is None:
                continue
            at = where + pointer_to([key])
            native[ours] = gemini_schema(value, losses, at) if name == theirs else value
            origins[f"/{ours}"] = at
    if "input_schema" not in native:
        known = frozenset(key for name, (key, _) in named.items() if name in _KNOWN)
        native["input_schema"] = schema_in(entry, "parameters", known, where, required=False)
    return Draft(where, native, losses, origins)


def gemini_schema(schema: object, losses: Losses, pointer: str = "") -> Any:
    """Return a `Schema` of the API as JSON Schema, adding to `losses` what it cannot say."""
    if not isinstance(schema, dict):
        return schema
    known = {_SDK_NAMES.get(key, _camel(key)): value for key, value in schema.items() if value is not None}
    nullable = known.pop("nullable", False)
    _set_type(known, losses, pointer)
    _set_numbers(known, losses, pointer)
    if "example" in known:
        known["examples"] = [known.pop("example")]

    def inside(subschema: object, path: Path) -> Any:
        return gemini_schema(subschema, losses, pointer + pointer_to(path))

    made = with_subschemas(known, inside)
    return null_admitted(made) if nullable is True else made


def _set_type(known: JsonObject, losses: Losses, pointer: str) -> None:
    kind = known.get("type")
    if isinstance(kind, str):
        if kind.upper() in _TYPES:
            known["type"] = kind.lower()
        else:
            del known["type"]
            losses.append(Problem(f"{pointer}/type", f"{kind!r} is not a known type: every value is accepted"))


def _set_numbers(known: JsonObject, losses: Losses, pointer: str) -> None:
    for keyword in _COUNTS:
        if isinstance(text := known.get(keyword), str) and text.isdecimal() and len(text) < 20:
            known[keyword] = int(text)
    values = known.get("enum")
    if known.get("type") in ("integer", "number") and isinstance(values, list):
        numbers = [_number(value) for value in values]
        if None in numbers:
            losses.append(Problem(f"{pointer}/enum", "holds what is not a number: every number is accepted"))
            del known["enum"]
        else:
            known["enum"] = numbers


def _number(value: object) -> int | float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if not isinstance(value, str) or len(value) > 40 or not value.isascii():
        return None
    try:
        return int(value)
    except ValueError:
        pass
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _camel(key: str) -> str:
    return _UNDERSCORED.sub(lambda found: found.group(1).upper(), key)
