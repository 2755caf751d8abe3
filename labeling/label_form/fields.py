"""Turn a tool's JSON Schema into the fields of a form: follow references, merge compositions, name variants.

Fields are made as they are needed: a schema may refer to itself. What a form cannot hold well is a field for raw JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, islice
from typing import Any
from urllib.parse import unquote

from toolevals.grading.values.problems import value_at
from toolevals.json_types import JsonMapping, JsonObject

# Admits any value.
ANY: JsonMapping = {}
MAX_STEPS = 100
MAX_VARIANTS = 20
# Of alternatives beyond this number none is looked at.
MAX_BRANCHES = 200
# The fields that a form shows of one object; others are added by their names.
MAX_FIELDS = 300
MAX_REQUIRED = 1_000
_COMPOSED = ("anyOf", "oneOf")
# Plain characters at the start of a pattern, none of which may be absent or repeated.
_BEGINNING = re.compile(r"\^((?:[A-Za-z0-9_@/:# -](?![?*+{]))+)")


class Root:
    """The whole schema of a tool, into which references lead. Each of its parts is merged once, so nothing multiplies.

    `opens` says whether objects that are required are open at first: not where that is more than a page holds.
    """

    def __init__(self, schema: JsonMapping) -> None:
        self.schema = schema
        self.opens = True
        # By identity, with what was merged, so that no other gets its identity.
        self._merged: dict[int, tuple[Any, JsonMapping]] = {}

    def merged(self, schema: Any, depth: int = 0) -> JsonMapping:
        """Return a schema with its references followed and the parts of its `allOf` put into it.

        References that lead out of the schema or nowhere, and what leads back to itself, say nothing.
        """
        if not isinstance(schema, Mapping):
            return ANY
        target, listed = self._target(schema), schema.get("allOf")
        parts = [*([] if target is None else [target]), *(listed if isinstance(listed, list) else ())]
        if not parts or depth > MAX_STEPS:
            return schema
        if (known := self._merged.get(id(schema))) is None:
            self._merged[id(schema)] = schema, ANY
            whole = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
            for part in parts:
                add(whole, self.merged(part, depth + 1))
            known = self._merged[id(schema)] = schema, whole
        return known[1]

    def _target(self, schema: JsonMapping) -> Any:
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        found = value_at(self.schema, unquote(reference[1:]))
        return found if isinstance(found, Mapping) else None


def add(whole: JsonObject, part: JsonMapping) -> None:
    """Put into a schema what another says of the same value."""
    for key, value in part.items():
        mine = whole.get(key)
        if key in ("properties", "$defs") and isinstance(mine, Mapping) and isinstance(value, Mapping):
            whole[key] = dict(islice({**mine, **value}.items(), MAX_FIELDS + 1))
        elif key == "required" and isinstance(mine, list) and isinstance(value, list):
            names = dict.fromkeys(name for name in chain(mine, value) if isinstance(name, str))
            whole[key] = list(islice(names, MAX_REQUIRED))
        else:
            whole.setdefault(key, value)


def without_null(schema: JsonMapping, root: Root) -> tuple[JsonMapping, bool]:
    """Return the schema without the permission to be null, and whether it was permitted."""
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        rest: Any = [kind for kind in kinds if kind != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}, True
    for word in _COMPOSED:
        branches = schema.get(word)
        if not isinstance(branches, list) or len(branches) > MAX_BRANCHES:
            continue
        variants = [root.merged(branch) for branch in branches]
        left = [branch for branch in variants if branch.get("type") != "null"]
        beside = {key: value for key, value in schema.items() if key != word}
        if len(left) == 1:
            return {**left[0], **beside}, len(variants) > 1
        if len(left) < len(variants):
            return {**beside, word: left}, True
    return schema, False


def variants_of(schema: JsonMapping, root: Root) -> tuple[JsonMapping, ...]:
    """Return the schemas of which a value meets one, each with what is next to the choice; none where it has none.

    Where the choice only narrows what is said next to it (say, which properties are required), it is none.
    """
    kinds = schema.get("type")
    if isinstance(kinds, list) and 1 < len(kinds) <= MAX_VARIANTS:
        return tuple({**schema, "type": kind} for kind in kinds)
    for word in _COMPOSED:
        branches = schema.get(word)
        if not isinstance(branches, list) or not 1 < len(branches) <= MAX_VARIANTS:
            continue
        variants = [root.merged(branch) for branch in branches]
        if not all(_says_what(branch) for branch in variants):
            continue
        beside = {key: value for key, value in schema.items() if key not in (word, "description", "title", "default")}
        return tuple(_both(branch, beside) for branch in variants)
    return ()


def _both(left: JsonMapping, right: JsonMapping) -> JsonMapping:
    whole = dict(left)
    add(whole, right)
    return whole


def _says_what(schema: JsonMapping) -> bool:
    return any(word in schema for word in ("type", "enum", "const", "properties", "items", *_COMPOSED))


def plain_beginning(pattern: Any) -> str:
    """Return the characters with which every match of a pattern begins, as far as they are plain; "" where none are."""
    if not isinstance(pattern, str) or "|" in pattern:
        return ""
    beginning = _BEGINNING.match(pattern)
    return beginning[1] if beginning else ""


MAX_CHOICES = 200
# Objects in objects are opened as far as this, where all of them together have so many fields at most.
OPEN_DEPTH = 2
MAX_OPENED = 600


class Kind(StrEnum):
    """The kind of value that a field takes."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    LIST = "list"
    OBJECT = "object"
    VARIANT = "variant"
    JSON = "json"


SCALARS = {"string": Kind.TEXT, "integer": Kind.INTEGER, "number": Kind.NUMBER, "boolean": Kind.BOOLEAN}
# What the entries of a list are, where they are typed one by one into one field.
IN_LINE = frozenset({Kind.TEXT, Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN, Kind.CHOICE})


@dataclass(frozen=True, slots=True)
class Choice:
    """One allowed value: as JSON text, which is what the form sends, and as people read it."""

    literal: str
    shown: str
    # What the schema calls it, where that is another word.
    title: str = ""

    @property
    def words(self) -> str:
        """The value as people read it, with its title."""
        return f"{self.shown} ({self.title})" if self.title else self.shown


@dataclass(frozen=True, slots=True)
class ArgumentField:
    """One argument, one property of an object argument, or one item of a list."""

    # Where it lies below the call's arguments: "/pickup/date". The steps are safe in names of form fields.
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
    # What the schema leaves a choice of, in few words each.
    variants: tuple[str, ...] = ()
    # Whether it is one item of a list, or an argument that the schema does not name.
    is_item: bool = False
    is_extra: bool = False
    schema: JsonMapping = field(default_factory=dict)
    root: Root = field(default_factory=lambda: Root(ANY))

    @property
    def opens(self) -> bool:
        """Return whether it is an object whose fields are shown at first."""
        return self.kind is Kind.OBJECT and (self.is_item or (self.required and self.depth < OPEN_DEPTH))

    @property
    def fewest_items(self) -> int:
        """Return how many items its schema wants of a list at least; 0 where it says nothing."""
        fewest = self.schema.get("minItems")
        return int(fewest) if isinstance(fewest, int | float) else 0

    @property
    def depth(self) -> int:
        """Return how many fields it lies in."""
        return self.path.count("/") - 1


def argument_fields(schema: JsonMapping) -> tuple[ArgumentField, ...]:
    """Return the fields of a tool's input schema, in its order; none where it takes no named arguments.

    Of an object with more than MAX_FIELDS properties the first ones are fields; `takes_extras` says so, too.
    """
    root = Root(schema)
    fields = _properties(root.merged(schema), root, parent="")
    root.opens = _opened(fields, 0) <= MAX_OPENED
    return fields


def _opened(fields: tuple[ArgumentField, ...], count: int) -> int:
    """Return how many fields a form has that opens each required object; it is not counted on beyond MAX_OPENED."""
    count += len(fields)
    for one in fields:
        if count > MAX_OPENED:
            break
        if one.opens:
            count = _opened(children_of(one), count)
    return count


def children_of(parent: ArgumentField) -> tuple[ArgumentField, ...]:
    """Return the fields of an object argument, in its schema's order."""
    return _properties(parent.schema, parent.root, parent=parent.path)


def item_of(parent: ArgumentField, key: str) -> ArgumentField:
    """Return the field of one item of a list; `key` tells it from the others, whatever its place."""
    items = parent.schema.get("items")
    schema = items if isinstance(items, Mapping) else ANY
    made = make_field("", schema, parent.root, path=f"{parent.path}/{key}", required=True)
    return replace(made, is_item=True)


def variant_of(parent: ArgumentField, number: int) -> ArgumentField:
    """Return a field as the chosen one of its variants says it."""
    parts = variants_of(parent.schema, parent.root)
    schema = parts[number] if number < len(parts) else ANY
    made = make_field(parent.name, schema, parent.root, path=parent.path, required=parent.required)
    if made.kind is Kind.VARIANT:
        # A choice within a choice is raw JSON.
        made = replace(made, kind=Kind.JSON, hint="JSON")
    return replace(
        made,
        nullable=made.nullable or parent.nullable,
        description=made.description or parent.description,
        default=made.default or parent.default,
        is_item=parent.is_item,
        is_extra=parent.is_extra,
    )


def extra_field(schema: JsonMapping, root: Root, parent: str, name: str) -> ArgumentField:
    """Return the field of a property that an object's schema does not name."""
    additional = schema.get("additionalProperties")
    part = additional if isinstance(additional, Mapping) else ANY
    made = make_field(name, part, root, path=f"{parent}/{step(name)}", required=False)
    return replace(made, is_extra=True)


def takes_extras(schema: JsonMapping) -> bool:
    """Return whether an object may have properties that its schema does not name, as far as is said."""
    additional = schema.get("additionalProperties")
    known = schema["properties"] if isinstance(schema.get("properties"), Mapping) else {}
    if isinstance(additional, Mapping) or additional is True or len(known) > MAX_FIELDS:
        return True
    return additional is None and not known


def escaped(name: str) -> str:
    """Return a name as one step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def step(name: str) -> str:
    """Return a name as one step of a field's path: a form would change line ends and control characters."""
    return re.sub(r"[%\x00-\x1f\x7f\u2028\u2029]", lambda found: f"%{ord(found[0]):02X}", escaped(name))


def make_field(name: str, schema: JsonMapping, root: Root, *, path: str, required: bool) -> ArgumentField:
    """Return the field of one schema."""
    plain, nullable = without_null(root.merged(schema), root)
    kind, choices = _kind(plain, root)
    entries = Kind.JSON
    if kind is Kind.LIST:
        items = plain.get("items")
        part = root.merged(items) if isinstance(items, Mapping) else ANY
        entries, choices = _kind(without_null(part, root)[0], root)
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
        variants=_titles(plain, root) if kind is Kind.VARIANT else (),
        schema=plain,
        root=root,
    )


def _properties(schema: JsonMapping, root: Root, *, parent: str) -> tuple[ArgumentField, ...]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = schema.get("required")
    names = set(required) if isinstance(required, list) and all(isinstance(one, str) for one in required) else set()
    return tuple(
        make_field(
            name,
            part if isinstance(part, Mapping) else ANY,
            root,
            path=f"{parent}/{step(name)}",
            required=name in names,
        )
        for name, part in islice(properties.items(), MAX_FIELDS)
    )


def _kind(schema: JsonMapping, root: Root) -> tuple[Kind, tuple[Choice, ...]]:
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(allowed, list) and allowed:
        simple = len(allowed) <= MAX_CHOICES and not any(isinstance(value, dict | list) for value in allowed)
        return (Kind.CHOICE, tuple(map(_choice, allowed))) if simple else (Kind.JSON, ())
    if titled := _titled(schema, root):
        return Kind.CHOICE, titled
    if variants_of(schema, root):
        return Kind.VARIANT, ()
    kind = schema.get("type")
    if kind == "array":
        return (Kind.JSON if "prefixItems" in schema else Kind.LIST), ()
    if kind == "object" or (kind is None and isinstance(schema.get("properties"), Mapping)):
        has_fields = bool(schema.get("properties")) or isinstance(schema.get("additionalProperties"), Mapping)
        return (Kind.OBJECT if has_fields else Kind.JSON), ()
    if kind == "boolean":
        return Kind.BOOLEAN, (_choice(True), _choice(False))
    return (SCALARS[kind], ()) if isinstance(kind, str) and kind in SCALARS else (Kind.JSON, ())


def _choice(value: Any, title: object = "") -> Choice:
    literal = json.dumps(value, ensure_ascii=False)
    shown = value if isinstance(value, str) and value else literal
    return Choice(literal, shown, title if isinstance(title, str) and title != shown else "")


def _titled(schema: JsonMapping, root: Root) -> tuple[Choice, ...]:
    """Return the choices of a schema that lists each allowed value with a title: `oneOf` or `anyOf` of constants."""
    parts = variants_of(schema, root)
    if not parts or not all("const" in part and not isinstance(part["const"], dict | list) for part in parts):
        return ()
    return tuple(_choice(part["const"], part.get("title", "")) for part in parts)


def _titles(schema: JsonMapping, root: Root) -> tuple[str, ...]:
    titles = [_title(part) for part in variants_of(schema, root)]
    return tuple(
        title if title and titles.count(title) == 1 else f"{title or 'variant'} {number + 1}"
        for number, title in enumerate(titles)
    )


def _title(part: JsonMapping) -> str:
    """Return what a variant is called: its title, the value that tells it, its type."""
    if isinstance(part.get("title"), str):
        return str(part["title"])[:60]
    properties = part.get("properties")
    for inner in properties.values() if isinstance(properties, Mapping) else ():
        if isinstance(inner, Mapping) and isinstance(inner.get("const"), str):
            return str(inner["const"])[:60]
    if "const" in part:
        return json.dumps(part["const"], ensure_ascii=False)[:60]
    words = {"string": "text", "integer": "whole number", "array": "list", "boolean": "true or false"}
    kind = part.get("type")
    return words.get(kind, kind) if isinstance(kind, str) else ""


def _hint(schema: JsonMapping, kind: Kind) -> str:
    if kind is Kind.JSON:
        return f"JSON, {schema['type']}" if isinstance(schema.get("type"), str) else "JSON"
    parts = []
    if kind in (Kind.INTEGER, Kind.NUMBER):
        parts.append("whole number" if kind is Kind.INTEGER else "number")
    spans = (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " items"))
    for low, high, unit in spans:
        bounds = [schema.get(word) for word in (low, high)]
        if any(isinstance(bound, int | float) for bound in bounds):
            parts.append(_span(*bounds) + unit)
    parts += [str(schema["format"])] if isinstance(schema.get("format"), str) else []
    return ", ".join(parts)


def _span(low: Any, high: Any) -> str:
    if high is None:
        return f"at least {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"
