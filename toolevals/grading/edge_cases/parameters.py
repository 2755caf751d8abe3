"""Lists the parameters of a tool, nested ones too, and the edge cases that each admits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.edge_cases.kinds import EdgeCase
from toolevals.grading.edge_cases.words import is_identifier, is_money, is_time
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.json_pointers import target_of
from toolevals.grading.values.problems import pointer_to

MAX_PARAMETERS = 1_000
_DEEPEST = 8
_LONGEST_CHAIN = 10
_ANY_ITEM = "*"
_ALL_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its path (`*` for any item of a list), its schema with references followed, whether it is required.

    `types` are the JSON types that it admits, as far as `type`, `enum`, `const`, `anyOf` and `oneOf` say.
    """

    path: tuple[str, ...]
    schema: dict[str, Any]
    required: bool
    types: frozenset[str]

    @property
    def name(self) -> str:
        """The name that says what it is about: for an item, its list's."""
        return next((part for part in reversed(self.path) if part != _ANY_ITEM), "")


def applicable_kinds(tool: ToolSpec) -> dict[str, frozenset[EdgeCase]]:
    """Return the edge cases that each parameter of a tool admits, by its pointer, those without any left out.

    A pointer leads into the arguments; `*` stands for any item of a list. Of giant schemas the first MAX_PARAMETERS
    are looked at, of recursive ones the first 8 levels.
    """
    return {pointer_to(each.path): kinds for each in parameters_of(tool) if (kinds := _kinds(each))}


def parameters_of(tool: ToolSpec) -> list[Parameter]:
    """Return a tool's parameters, breadth first, at most MAX_PARAMETERS."""
    root = tool.input_schema
    waiting: list[tuple[tuple[str, ...], Any]] = [((), root)]
    parameters: list[Parameter] = []
    for path, schema in waiting:
        if len(path) >= _DEEPEST or len(parameters) >= MAX_PARAMETERS:
            break
        for name, inside, required in _inside(_followed(root, schema), root):
            if len(parameters) >= MAX_PARAMETERS:
                break
            followed = _followed(root, inside)
            parameters.append(Parameter((*path, name), followed, required, _types(followed, root, 0)))
            waiting.append(((*path, name), followed))
    return parameters


def _inside(schema: Mapping[str, Any], root: Any) -> Iterator[tuple[str, Any, bool]]:
    for branch in _branches(schema, root):
        properties, required = branch.get("properties"), branch.get("required")
        listed = required if isinstance(required, list) else []
        for name, inside in properties.items() if isinstance(properties, dict) else ():
            yield name, inside, name in listed
        if isinstance(items := branch.get("items"), dict):
            yield _ANY_ITEM, items, True


def _branches(schema: Mapping[str, Any], root: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and what it is composed of, one level deep."""
    yield schema
    for keyword in ("allOf", "anyOf", "oneOf"):
        members = schema.get(keyword)
        for member in members if isinstance(members, list) else ():
            yield _followed(root, member)


def _followed(root: Any, schema: Any) -> dict[str, Any]:
    """Return a schema with its reference followed; what cannot be followed says nothing."""
    found: dict[str, Any] = {}
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(schema, dict):
            return found
        found = {**schema, **found}
        found.pop("$ref", None)
        if "$ref" not in schema:
            return found
        try:
            schema = target_of(root, schema["$ref"], "")[0]
        except ValueError:
            return found
    return found


def _types(schema: Mapping[str, Any], root: Any, depth: int) -> frozenset[str]:
    said = schema.get("type")
    if isinstance(said, str):
        return frozenset({said})
    if isinstance(said, list):
        return frozenset(each for each in said if isinstance(each, str))
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        return frozenset(type_of(value) for value in values)
    for keyword in ("anyOf", "oneOf"):
        members = schema.get(keyword)
        if isinstance(members, list) and depth < _DEEPEST:
            return frozenset().union(*(_types(_followed(root, member), root, depth + 1) for member in members))
    return _ALL_TYPES


def type_of(value: Any) -> str:
    """Return a value's type in JSON Schema's words."""
    for kind, name in ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "object"


def _kinds(parameter: Parameter) -> frozenset[EdgeCase]:
    schema, types, name = parameter.schema, parameter.types, parameter.name
    free_text = "string" in types and "enum" not in schema and "const" not in schema
    numeric = bool(types & {"integer", "number"})
    checks = {
        EdgeCase.NULL_OPTIONAL: not parameter.required or ("null" in types and types != {"null"}),
        EdgeCase.EMPTY_ARRAY: "array" in types and not schema.get("minItems"),
        EdgeCase.UNICODE_IDENTIFIER: free_text and "pattern" not in schema and is_identifier(name, schema),
        EdgeCase.TIME_ZONE: free_text and is_time(name, schema),
        EdgeCase.CURRENCY: (numeric or free_text) and is_money(name, schema),
        EdgeCase.TYPE_COERCION: (numeric or "boolean" in types) and "string" not in types,
    }
    return frozenset(kind for kind, admits in checks.items() if admits)
