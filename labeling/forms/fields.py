"""From a tool's JSON Schema to the fields of a form. What a form cannot hold well becomes a field for raw JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_DEPTH = 4
MAX_CHOICES = 200


class Kind(StrEnum):
    """What a field takes."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    LIST = "list"
    OBJECT = "object"
    JSON = "json"


SCALARS = {"string": Kind.TEXT, "integer": Kind.INTEGER, "number": Kind.NUMBER}


@dataclass(frozen=True, slots=True)
class Choice:
    """One allowed value: as JSON text, which is what the form sends, and as people read it."""

    literal: str
    shown: str


@dataclass(frozen=True, slots=True)
class ArgumentField:
    """One argument, or one property of an object argument."""

    # JSON Pointer below the call's arguments: "/pickup/date".
    path: str
    name: str
    kind: Kind
    required: bool = False
    nullable: bool = False
    description: str = ""
    # What else the schema says in few words: a format, a range.
    hint: str = ""
    # The default as JSON text; empty where the schema names none.
    default: str = ""
    choices: tuple[Choice, ...] = ()
    # Of a list: what its entries are.
    entries: Kind = Kind.TEXT
    children: tuple[ArgumentField, ...] = ()


def argument_fields(schema: Mapping[str, Any]) -> tuple[ArgumentField, ...]:
    """Return the fields of a tool's input schema, in its order; none where it takes no named arguments."""
    return _fields(_resolved(schema, schema), schema, parent="", depth=0)


def _fields(
    schema: Mapping[str, Any], root: Mapping[str, Any], *, parent: str, depth: int
) -> tuple[ArgumentField, ...]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = schema.get("required")
    names = set(required) if isinstance(required, list) else set()
    return tuple(
        _field(name, _resolved(part, root), root, required=name in names, parent=parent, depth=depth)
        for name, part in properties.items()
    )


def _field(
    name: str, schema: Mapping[str, Any], root: Mapping[str, Any], *, required: bool, parent: str, depth: int
) -> ArgumentField:
    path = f"{parent}/{escaped(name)}"
    plain, nullable = _without_null(schema, root)
    kind, choices = _kind(plain)
    children = _fields(plain, root, parent=path, depth=depth + 1) if kind is Kind.OBJECT and depth < MAX_DEPTH else ()
    if kind is Kind.OBJECT and not children:
        kind = Kind.JSON
    entries = Kind.TEXT
    if kind is Kind.LIST:
        kind, entries, choices = _list(plain, root)
    description = plain.get("description") or schema.get("description") or ""
    return ArgumentField(
        path=path,
        name=name,
        kind=kind,
        required=required,
        nullable=nullable,
        description=description if isinstance(description, str) else "",
        hint=_hint(plain, kind),
        default=json.dumps(plain["default"], ensure_ascii=False) if "default" in plain else "",
        choices=choices,
        entries=entries,
        children=children,
    )


def escaped(name: str) -> str:
    """Return a name as one step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a local `$ref` names, with what stands beside it; other references are left as JSON."""
    for _ in range(8):
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        target: Any = root
        for step in reference[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping):
            break
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema if isinstance(schema, Mapping) else {}


def _without_null(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return the schema without the permission to be null, and whether it was permitted."""
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds and len(kinds) == 2:
        rest = next(kind for kind in kinds if kind != "null")
        return {**schema, "type": rest}, True
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if not isinstance(branches, list):
            continue
        resolved = [_resolved(branch, root) for branch in branches]
        rest_branches = [branch for branch in resolved if branch.get("type") != "null"]
        if len(rest_branches) == 1:
            beside = {key: value for key, value in schema.items() if key != word}
            return {**rest_branches[0], **beside}, len(resolved) > 1
    return schema, False


def _kind(schema: Mapping[str, Any]) -> tuple[Kind, tuple[Choice, ...]]:
    if any(word in schema for word in ("anyOf", "oneOf", "allOf", "not", "if")):
        return Kind.JSON, ()
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(allowed, list) and allowed:
        simple = len(allowed) <= MAX_CHOICES and not any(isinstance(value, dict | list) for value in allowed)
        return (Kind.CHOICE, tuple(map(_choice, allowed))) if simple else (Kind.JSON, ())
    kind = schema.get("type")
    if kind == "array":
        return Kind.LIST, ()
    if kind == "object":
        return Kind.OBJECT, ()
    if kind == "boolean":
        return Kind.BOOLEAN, (_choice(True), _choice(False))
    return (SCALARS[kind], ()) if isinstance(kind, str) and kind in SCALARS else (Kind.JSON, ())


def _choice(value: Any) -> Choice:
    literal = json.dumps(value, ensure_ascii=False)
    return Choice(literal, value if isinstance(value, str) and value else literal)


def _list(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[Kind, Kind, tuple[Choice, ...]]:
    """Return the kind of a list's field, of its entries, and their choices. Lists of lists and objects are JSON."""
    items = schema.get("items")
    entries, choices = _kind(_resolved(items, root)) if isinstance(items, Mapping) else (Kind.JSON, ())
    if entries in (Kind.TEXT, Kind.INTEGER, Kind.NUMBER, Kind.CHOICE):
        return Kind.LIST, entries, choices
    return Kind.JSON, Kind.JSON, ()


def _hint(schema: Mapping[str, Any], kind: Kind) -> str:
    if kind is Kind.JSON:
        return f"JSON, {schema['type']}" if isinstance(schema.get("type"), str) else "JSON"
    parts = []
    if kind in (Kind.INTEGER, Kind.NUMBER):
        parts.append("whole number" if kind is Kind.INTEGER else "number")
    for low, high, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters")):
        bounds = [schema.get(word) for word in (low, high)]
        if any(isinstance(bound, int | float) for bound in bounds):
            parts.append(_span(*bounds) + unit)
    parts += [str(schema["format"])] if isinstance(schema.get("format"), str) else []
    return ", ".join(parts)


def _span(low: Any, high: Any) -> str:
    if high is None:
        return f"at least {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"
