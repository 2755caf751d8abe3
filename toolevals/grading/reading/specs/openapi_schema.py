"""Reads schemas of an OpenAPI document as JSON Schema 2020-12 that stands alone.

References inside the document become `#/$defs/...`, each target converted once, so that cycles stay cycles. OpenAPI
3.0's own words are translated: `nullable`, a boolean `exclusiveMinimum`, `example`, and what is next to `$ref`
without effect. A property that is `readOnly` is no part of a request, one that is `writeOnly` no part of a response.
Sources: OpenAPI 3.0.4, "Schema Object"; OpenAPI 3.1.1, "Schema Object".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolevals.grading.json_schema.subschemas import Path, with_subschemas
from toolevals.grading.reading.specs.drafts import Losses, Names
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to, target_of
from toolevals.json_types import JsonObject, JsonValue

_COMPOSING = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if", "const"})
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated"})
Direction = Literal["request", "response"]
# One tool's schema may draw in this many of the document's schemas, and this many characters of them. In a document
# whose schemas all lead to each other, each of its tools would else hold them all.
MAX_DEFINITIONS = 300
MAX_CHARACTERS = 400_000
_LONGEST_NAME = 80
_HIDDEN: Mapping[Direction, str] = {"request": "readOnly", "response": "writeOnly"}
_DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://spec.openapis.org/oas/3.1/dialect/base",
)
_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def null_admitted(schema: JsonObject) -> JsonObject:
    """Return a schema that admits what this one admits, and null."""
    kind = schema.get("type")
    if kind is None or not _COMPOSING.isdisjoint(schema):
        annotations = {keyword: value for keyword, value in schema.items() if keyword in _ANNOTATIONS}
        rules = {keyword: value for keyword, value in schema.items() if keyword not in _ANNOTATIONS}
        return {**annotations, "anyOf": [rules, {"type": "null"}]} if rules else schema
    kinds = list(kind) if isinstance(kind, list) else [kind]
    widened = {**schema, "type": kinds if "null" in kinds else [*kinds, "null"]}
    values = schema.get("enum")
    if isinstance(values, list) and None not in values:
        widened["enum"] = [*values, None]
    return widened


@dataclass(slots=True)
class Converted:
    """A schema in JSON Schema, the pointers of those it refers to, what was lost, and its length as text."""

    schema: JsonValue
    references: set[str] = field(default_factory=set)
    losses: Losses = field(default_factory=list)
    length: int = 0


@dataclass(frozen=True, slots=True)
class SchemaReader:
    """The schemas of one document in one direction, each converted once."""

    document: JsonValue
    old: bool
    direction: Direction
    # By pointer.
    definitions: dict[str, Converted] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    taken: Names = field(default_factory=Names)

    def convert(self, schema: object, where: str) -> Converted:
        """Return a schema of the document, its references pointing into `$defs`. Raises InvalidDocument."""
        converted = Converted(None)
        converted.schema = self._converted(schema, where, converted)
        return converted

    def definitions_of(self, references: Iterable[str]) -> dict[str, Converted]:
        """Return everything that a schema with these references draws in, by pointer.

        Raises InvalidDocument, pointing at the one too many, where it is too much for one tool.
        """
        converted: dict[str, Converted] = {}
        length = 0
        waiting = sorted(references, reverse=True)
        while waiting:
            pointer = waiting.pop()
            if pointer in converted:
                continue
            converted[pointer] = self._definition(pointer)
            length += converted[pointer].length
            if len(converted) > MAX_DEFINITIONS or length > MAX_CHARACTERS:
                raise InvalidDocument.at(pointer, "references most of the document, so it was not imported")
            waiting.extend(sorted(converted[pointer].references, reverse=True))
        return converted

    def name_of(self, pointer: str) -> str:
        """Return the name under `$defs` of the schema at a pointer."""
        if pointer not in self.names:
            stem = _NO_NAME.sub("_", pointer.rpartition("/")[2])[:_LONGEST_NAME] or "document"
            self.names[pointer] = self.taken.take(stem)
        return self.names[pointer]

    def _definition(self, pointer: str) -> Converted:
        if pointer not in self.definitions:
            target, _ = target_of(self.document, f"#{pointer}", pointer)
            definition = self.definitions[pointer] = self.convert(target, pointer)
            definition.length = len(exact(definition.schema))
        return self.definitions[pointer]

    def _converted(self, schema: object, where: str, into: Converted) -> Any:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise InvalidDocument.at(where, "is not a schema")
        known = {keyword: value for keyword, value in schema.items() if keyword not in {"$schema", "$id"}}
        into.losses += _lost_identity(schema, where)
        nullable = self.old and known.pop("nullable", None) is True
        if self.old:
            known = _translated(known, where, into)
        if "example" in known:
            known["examples"] = [known.pop("example")]
        if "$ref" in known:
            known["$ref"] = self._reference(known["$ref"], f"{where}/$ref", into)
        _hide(known, _HIDDEN[self.direction])

        def inside(subschema: object, path: Path) -> Any:
            return self._converted(subschema, where + pointer_to(path), into)

        made = with_subschemas(known, inside)
        if not nullable:
            return made
        if "type" not in made:
            into.losses.append(Problem(f"{where}/nullable", "is read as allowing null, though it has no type"))
        return null_admitted(made)

    def _reference(self, reference: object, where: str, into: Converted) -> str:
        _, pointer = target_of(self.document, reference, where)
        into.references.add(pointer)
        return f"#/$defs/{self.name_of(pointer)}"


def _lost_identity(schema: JsonObject, where: str) -> Losses:
    losses = []
    if "$id" in schema:
        losses.append(Problem(f"{where}/$id", "is left out: references are followed inside the document"))
    if "$schema" in schema and schema["$schema"] not in _DIALECTS:
        losses.append(Problem(f"{where}/$schema", "is left out: the schema is read as JSON Schema 2020-12"))
    return losses


def _translated(known: JsonObject, where: str, into: Converted) -> JsonObject:
    """Return an OpenAPI 3.0 schema in the words of JSON Schema 2020-12, but for `nullable` and what is inside."""
    if "$ref" in known:
        kept = {"$ref", "description"}
        into.losses += [
            Problem(where + pointer_to([keyword]), "has no effect next to $ref and is left out")
            for keyword in known
            if keyword not in kept
        ]
        return {keyword: value for keyword, value in known.items() if keyword in kept}
    for bound in ("Minimum", "Maximum"):
        exclusive = known.get(f"exclusive{bound}")
        if not isinstance(exclusive, bool):
            continue
        del known[f"exclusive{bound}"]
        if exclusive and bound.lower() in known:
            known[f"exclusive{bound}"] = known.pop(bound.lower())
        elif exclusive:
            into.losses.append(Problem(f"{where}/exclusive{bound}", f"has no effect without {bound.lower()}"))
    return known


def _hide(known: JsonObject, marker: str) -> None:
    """Leave out the properties that are no part of this direction."""
    properties = known.get("properties")
    if not isinstance(properties, dict):
        return
    hidden = {name for name, value in properties.items() if isinstance(value, dict) and value.get(marker) is True}
    if not hidden:
        return
    known["properties"] = {name: value for name, value in properties.items() if name not in hidden}
    if isinstance(required := known.get("required"), list):
        known["required"] = [name for name in required if not isinstance(name, str) or name not in hidden]
