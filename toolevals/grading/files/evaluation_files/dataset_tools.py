"""Reads the tools of public datasets: schemas with Python's types, parameters without a schema, lists as JSON text.

Finds JSON objects that stand one after another in a text, such as tools in a prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.tables import cell_value
from toolevals.grading.json_schema.subschemas import Path, with_subschemas
from toolevals.grading.reading.parsing.provider_run import provider_run_tool
from toolevals.grading.reading.specs import BFCL_TYPES, left_out, read_tools
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

# Types in the words of Python, of RapidAPI and of the leaderboard, and what JSON Schema calls them; None is any.
TYPES: Mapping[str, str | None] = {
    **{name.lower(): kind for name, kind in BFCL_TYPES.items()},
    "str": "string", "text": "string", "date": "string", "datetime": "string", "time": "string", "enum": "string",
    "date (yyyy-mm-dd)": "string", "int": "integer", "bool": "boolean", "set": "array", "map": "object",
    "json": "object", "none": "null", "union": None, "optional": None, "callable": None,
}  # fmt: skip
_GENERIC = re.compile(r"([A-Za-z]+)\s*[\[(](.*)[\])]", re.DOTALL)
_PARAMETERS = ("parameters", "arguments", "input_parameters", "input_schema", "inputSchema")
_NAMES = ("name", "api_name")
_DESCRIPTIONS = ("description", "api_description")


def dataset_tools(given: object, pointer: str) -> tuple[list[ToolSpec], tuple[Problem, ...]]:
    """Return the tools of a list, which may be text of JSON or of Python, and what was lost. Raises InvalidDocument.

    `pointer` is where the list stands in its row.
    """
    entries = cell_value(given)
    if not isinstance(entries, list):
        entries = [entries]
    losses: list[Problem] = []
    natives: list[JsonObject] = []
    for place, entry in enumerate(entries):
        if isinstance(entry, Mapping) and (tool := provider_run_tool(entry)) is not None:
            losses.append(left_out(f"{pointer}/{place}", tool))
        else:
            natives.append(_native(entry, f"{pointer}/{place}", losses))
    unlike = {native["name"]: native for native in natives}
    try:
        read = read_tools(list(unlike.values()), format="native")
    except InvalidDocument as error:
        raise error.below(pointer) from None
    return read.tools, (*losses, *(loss.below(pointer) for loss in read.losses))


def _native(entry: object, pointer: str, losses: list[Problem]) -> JsonObject:
    if isinstance(entry, Mapping) and isinstance(entry.get("function"), Mapping):
        entry, pointer = entry["function"], f"{pointer}/function"
    if not isinstance(entry, Mapping):
        raise InvalidDocument.at(pointer, "is not a tool: an object with name and parameters")
    name = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), None)
    if name is None:
        raise InvalidDocument.at(pointer, f"is a tool without a name: it has {', '.join(map(str, list(entry)[:8]))}")
    key = next((key for key in _PARAMETERS if isinstance(entry.get(key), Mapping)), "parameters")
    said = entry.get(key) or {}
    schema = lenient_schema(schema_of(said, entry.get("required")), losses, f"{pointer}/{key}")
    description = next((entry[key] for key in _DESCRIPTIONS if isinstance(entry.get(key), str)), "")
    return {"name": name, "description": description, "input_schema": schema}


def schema_of(parameters: JsonMapping, required: object = None) -> JsonObject:
    """Return the schema of parameters, which some datasets write without one: each by its name."""
    if isinstance(parameters.get("properties"), Mapping) or parameters.get("type") in ("object", "dict"):
        schema = dict(parameters)
        if isinstance(required, list) and "required" not in schema:
            schema["required"] = required
        return schema if isinstance(schema.get("required"), list) else _without(schema, "required")
    needed = [name for name, each in parameters.items() if isinstance(each, Mapping) and each.get("required") is True]
    properties = {name: _without_flag(each) for name, each in parameters.items()}
    wanted = [name for name in required if name in properties] if isinstance(required, list) else needed
    return {"type": "object", "properties": properties} | ({"required": wanted} if wanted else {})


def _without_flag(parameter: Any) -> Any:
    """Return a parameter without a `required` of its own, which no schema has."""
    has_flag = isinstance(parameter, Mapping) and isinstance(parameter.get("required"), bool)
    return _without(parameter, "required") if has_flag else parameter


def lenient_schema(schema: object, losses: list[Problem], pointer: str) -> Any:
    """Return a schema whose types are JSON Schema's: those of Python are turned, unknown ones left out and named."""
    if isinstance(schema, str):
        schema = {"type": schema}
    if not isinstance(schema, Mapping):
        return schema
    known = dict(schema)
    if isinstance(kind := known.get("type"), str):
        known = _without(known, "type") | _typed(kind, losses, f"{pointer}/type")
    if "required" in known and not isinstance(known["required"], list):
        known = _without(known, "required")
    known = {key: value for key, value in known.items() if key not in ("optional", "properties") or value}

    def inside(subschema: object, path: Path) -> Any:
        return lenient_schema(subschema, losses, pointer + pointer_to(path))

    return with_subschemas(known, inside)


def _typed(kind: str, losses: list[Problem], pointer: str) -> JsonObject:
    """Return the keywords that say a type of Python, such as `List[int], optional`."""
    plain = kind.strip().removesuffix(", optional").removesuffix(",optional").strip()
    if plain.lower() in TYPES:
        name = TYPES[plain.lower()]
        return {} if name is None else {"type": name}
    generic = _GENERIC.fullmatch(plain)
    outer = generic[1].lower() if generic else ""
    if generic and outer == "optional":
        return _typed(generic[2], losses, pointer)
    if generic and outer == "list":
        items = _typed(generic[2], losses, pointer)
        return {"type": "array"} | ({"items": items} if items else {})
    if generic and outer in TYPES:
        name = TYPES[outer]
        return {} if name is None else {"type": name}
    losses.append(Problem(pointer, f"{kind[:60]!r} is not a known type: every value is accepted"))
    return {}


def _without(mapping: JsonMapping, key: str) -> JsonObject:
    return {name: value for name, value in mapping.items() if name != key}


_DECODER = json.JSONDecoder()
_MOST = 500


def objects_in(text: str) -> Iterator[JsonObject]:
    """Yield the objects of JSON in a text, in order, those inside of others with them."""
    place = text.find("{")
    for _ in range(_MOST):
        if place < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict):
                yield value
        place = text.find("{", end)
