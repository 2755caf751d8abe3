"""Tell what changed between two versions of a registry: tools, the words of their descriptions, their arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from toolevals.grading.values import ToolSpec
from toolevals.json_types import JsonMapping

MAX_DEPTH = 6
MAX_LISTED = 12
LIMITS = (
    ("minimum", "≥ {}"),
    ("maximum", "≤ {}"),
    ("exclusiveMinimum", "> {}"),
    ("exclusiveMaximum", "< {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} entries"),
    ("maxItems", "at most {} entries"),
    ("pattern", "matches {}"),
    ("format", "{}"),
)


@dataclass(frozen=True, slots=True)
class SchemaRow:
    """One argument: "pickup.date", its type in words, whether it is required, what else holds, what it means."""

    path: str
    kind: str
    required: bool
    limits: str
    description: str


def schema_rows(schema: JsonMapping) -> list[SchemaRow]:
    """Return the rows of an input schema, in its order."""
    return list(_rows(schema, "", 0))


def _rows(schema: JsonMapping, parent: str, depth: int) -> Iterator[SchemaRow]:
    properties = schema.get("properties")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, part in (properties if isinstance(properties, Mapping) else {}).items():
        inner = part if isinstance(part, Mapping) else {}
        path = f"{parent}{name}"
        description = inner.get("description")
        yield SchemaRow(
            path=path,
            kind=kind_words(inner),
            required=name in names,
            limits=_limits(inner),
            description=description if isinstance(description, str) else "",
        )
        if depth < MAX_DEPTH:
            items = inner.get("items")
            yield from _rows(inner, f"{path}.", depth + 1)
            if isinstance(items, Mapping):
                yield from _rows(items, f"{path}[].", depth + 1)


def kind_words(schema: JsonMapping) -> str:
    """Return a schema's type in words."""
    if "const" in schema:
        return _value(schema["const"])
    allowed = schema.get("enum")
    if isinstance(allowed, list):
        listed = " | ".join(_value(value) for value in allowed[:MAX_LISTED])
        return f"{listed} | …" if len(allowed) > MAX_LISTED else listed
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if isinstance(branches, list):
            return " or ".join(kind_words(branch) for branch in branches if isinstance(branch, Mapping))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(map(str, kind))
    items = schema.get("items")
    if kind == "array" and isinstance(items, Mapping):
        return f"list of {kind_words(items)}"
    return str(kind)


def _limits(schema: JsonMapping) -> str:
    parts = [words.format(schema[key]) for key, words in LIMITS if key in schema]
    if "default" in schema:
        parts.append(f"default {_value(schema['default'])}")
    return ", ".join(parts)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


ChangeKind = Literal["same", "added", "removed", "changed"]
WORDS = re.compile(r"\s+|[^\s\w]|\w+")
# Beyond this many words a description is shown as replaced: comparing takes quadratic time.
MAX_WORDS = 3000
# With a smaller part of the shorter text kept, one is not the other reworded: it is shown as replaced.
FEWEST_KEPT = 1 / 3


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words: kept ("same"), new ("added") or gone ("removed")."""

    text: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """An argument that is new, gone or different, in words."""

    path: str
    kind: ChangeKind
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that is new, gone or different."""

    name: str
    kind: ChangeKind
    description: tuple[Piece, ...]
    arguments: tuple[ArgumentChange, ...] = ()
    # What else differs, such as "read only: yes, before: not set".
    beside: tuple[str, ...] = ()


def version_changes(before: Sequence[ToolSpec], after: Sequence[ToolSpec]) -> list[ToolChange]:
    """Return the tools that differ, those of the newer version first, in its order."""
    old = {tool.name: tool for tool in before}
    new = {tool.name: tool for tool in after}
    changes = [_change(old.get(tool.name), tool) for tool in new.values() if old.get(tool.name) != tool]
    gone = [ToolChange(name, "removed", _words(tool.description, "")) for name, tool in old.items() if name not in new]
    return changes + gone


def word_pieces(before: str, after: str) -> tuple[Piece, ...]:
    """Return two texts as one, word by word: what was kept, what went and what came."""
    old, new = WORDS.findall(before), WORDS.findall(after)
    if max(len(old), len(new)) > MAX_WORDS:
        return _words(before, after)
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    kept = sum(1 for tag, a, b, *_ in opcodes if tag == "equal" for word in old[a:b] if word.strip())
    if kept < FEWEST_KEPT * min(len(before.split()), len(after.split())):
        return _words(before, after)
    pieces: list[Piece] = []
    for tag, a, b, c, d in opcodes:
        if tag == "equal":
            pieces.append(Piece("".join(old[a:b]), "same"))
            continue
        pieces += _words("".join(old[a:b]), "".join(new[c:d]))
    return tuple(pieces)


def _words(before: str, after: str) -> tuple[Piece, ...]:
    return tuple(Piece(text, kind) for text, kind in ((before, "removed"), (after, "added")) if text)  # type: ignore[arg-type]


def _change(old: ToolSpec | None, new: ToolSpec) -> ToolChange:
    if old is None:
        return ToolChange(new.name, "added", _words("", new.description))
    return ToolChange(
        new.name,
        "changed",
        word_pieces(old.description, new.description),
        tuple(_arguments(schema_rows(old.input_schema), schema_rows(new.input_schema))),
        tuple(_beside(old, new)),
    )


def _arguments(before: Sequence[SchemaRow], after: Sequence[SchemaRow]) -> list[ArgumentChange]:
    old = {row.path: row for row in before}
    new = {row.path: row for row in after}
    changes = []
    for path in [*new, *(path for path in old if path not in new)]:
        one, other = old.get(path), new.get(path)
        if one == other:
            continue
        kind: ChangeKind = "added" if one is None else "removed" if other is None else "changed"
        changes.append(ArgumentChange(path, kind, _row_words(one), _row_words(other)))
    return changes


def _row_words(row: SchemaRow | None) -> str:
    if row is None:
        return ""
    parts = [row.kind, "required" if row.required else "optional", row.limits, row.description]
    return ", ".join(part for part in parts if part)


def _beside(old: ToolSpec, new: ToolSpec) -> list[str]:
    found = []
    for name in ("read_only", "destructive", "idempotent"):
        before, after = getattr(old.annotations, name), getattr(new.annotations, name)
        if before != after:
            found.append(f"{name.replace('_', ' ')}: {_said(after)}, before: {_said(before)}")
    if old.cost != new.cost:
        found.append(f"cost: {_said(new.cost)}, before: {_said(old.cost)}")
    if old.title != new.title:
        found.append(f"title: {new.title or 'none'}, before: {old.title or 'none'}")
    if old.assert_formats != new.assert_formats:
        found.append(f"formats asserted: {_said(new.assert_formats)}, before: {_said(old.assert_formats)}")
    if old.output_schema != new.output_schema:
        found.append("another output schema")
    if old.sensitive_output != new.sensitive_output:
        found.append("other sensitive fields in the output")
    if (
        not found
        and schema_rows(old.input_schema) == schema_rows(new.input_schema)
        and old.description == new.description
    ):
        found.append("another input schema, in parts that are not shown as arguments")
    return found


def _said(value: object) -> str:
    if value is None:
        return "not set"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
