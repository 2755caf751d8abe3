"""Tell whether a provider's strict mode takes a tool's input schema, and why not.

In strict mode a provider holds the model to the schema while it writes, and takes only part of JSON Schema. The rules
are those that the providers publish; what they do not name as supported counts as not supported.

- `openai`: guide "Structured model outputs", sections "Supported schemas", "Objects have limitations on nesting depth
  and size" and the two after it, and guide "Function calling", "Strict mode".
- `anthropic`: guide "Structured outputs", sections "JSON Schema limitations" and "Schema complexity limits", whose
  counts are over all strict tools of a request: a schema that is over them alone is refused in any company.
- `gemini`: API reference, `GenerationConfig.responseJsonSchema`, whose subset `parametersJsonSchema` shares, and
  `FunctionDeclaration` for the names of parameters.

Finds the references between the parts of one schema that go round in a circle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

from toolevals.grading.json_schema.subschemas import direct_subschemas, remote_references, subschemas
from toolevals.grading.values.problems import Problem, parts_of, pointer_to
from toolevals.json_types import JsonObject

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A `$ref` inside a schema: the schema that holds it, and the place that it leads to.

    `optional` says that it stands within a property that may be left out, as seen from `inside`, the nearest schema
    around it that is itself referred to.
    """

    where: Place
    target: Place
    inside: Place = ()
    optional: bool = False

    @property
    def pointer(self) -> str:
        """The pointer to the `$ref` itself."""
        return pointer_to((*self.where, "$ref"))


@dataclass(frozen=True, slots=True)
class Circle:
    """A reference that leads back to a schema around it, and whether some property on the way may be left out."""

    reference: Reference
    optional: bool


def circles(schema: JsonObject) -> list[Circle]:
    """Return the references that close a circle, in the schema's order."""
    edges = _edges(schema)
    done: set[Place] = set()
    circles: list[Circle] = []
    for start in edges:
        if start not in done:
            _walk(start, edges, done, circles)
    return circles


@dataclass(slots=True)
class _Step:
    """A schema on the way, the reference that led to it, and its own references that are still to be followed."""

    place: Place
    reached_by: Reference | None
    rest: Iterator[Reference] = field(default_factory=lambda: iter(()))


def _walk(start: Place, edges: Mapping[Place, list[Reference]], done: set[Place], circles: list[Circle]) -> None:
    way = [_Step(start, None, iter(edges[start]))]
    on_way = {start: 0}
    while way:
        reference = next(way[-1].rest, None)
        if reference is None:
            step = way.pop()
            del on_way[step.place]
            done.add(step.place)
        elif reference.target in on_way:
            back = way[on_way[reference.target] + 1 :]
            steps = [reference, *(step.reached_by for step in back if step.reached_by)]
            circles.append(Circle(reference, any(each.optional for each in steps)))
        elif reference.target in edges and reference.target not in done:
            on_way[reference.target] = len(way)
            way.append(_Step(reference.target, reference, iter(edges[reference.target])))


def _edges(schema: JsonObject) -> dict[Place, list[Reference]]:
    """Return the references by each schema that is referred to, or is the root, and holds them at any depth."""
    places: dict[Place, JsonObject] = {}
    plain: list[Reference] = []
    for path, subschema in subschemas(schema):
        place = tuple(str(part) for part in path)
        places[place] = subschema
        reference = subschema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            plain.append(Reference(place, parts_of(unquote(reference[1:]))))
    edges: dict[Place, list[Reference]] = {(): []}
    edges |= {each.target: [] for each in plain}
    for each in plain:
        for length in range(len(each.where) + 1):
            holder = each.where[:length]
            if holder in edges and not _in_definitions(each.where[length:]):
                optional = _is_optional(places, each.where, length)
                edges[holder].append(Reference(each.where, each.target, holder, optional))
    return edges


def _in_definitions(rest: Place) -> bool:
    # What is only defined there is not yet used there.
    return bool(rest) and rest[0] in ("$defs", "definitions")


def _is_optional(places: Mapping[Place, JsonObject], where: Place, start: int) -> bool:
    for length in range(start, len(where) - 1):
        if where[length] == "properties" and (holder := places.get(where[:length])) is not None:
            required = holder.get("required")
            if not isinstance(required, list) or where[length + 1] not in required:
                return True
    return False


OPENAI_PROPERTIES = 5_000
OPENAI_LEVELS = 10
OPENAI_ENUM_VALUES = 1_000
OPENAI_CHARACTERS = 120_000
OPENAI_LONG_ENUM = 250
OPENAI_LONG_ENUM_CHARACTERS = 15_000
ANTHROPIC_OPTIONAL = 24
ANTHROPIC_UNIONS = 16
Provider = Literal["openai", "anthropic", "gemini"]
Check = Callable[[JsonObject], Iterator[Problem]]
# Words that say nothing about values; every provider takes them.
_REMARKS = frozenset({"$schema", "$comment", "title", "description", "examples", "deprecated", "readOnly", "writeOnly"})
_SHARED = frozenset(
    {"type", "enum", "anyOf", "properties", "required", "additionalProperties", "items", "$ref", "$defs"}
)
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
# Look-around, references to groups, and word boundaries.
_REFUSED_PATTERN = re.compile(r"\(\?[=!<]|\\[1-9bB]")
_GEMINI_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def openai_limits(schema: JsonObject) -> Iterator[Problem]:
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


def anthropic_limits(schema: JsonObject) -> Iterator[Problem]:
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


def _names(schema: JsonObject) -> list[str]:
    return list(_members(schema, "properties"))


def _members(schema: JsonObject, keyword: str) -> JsonObject:
    members = schema.get(keyword)
    return members if isinstance(members, dict) else {}


def _characters(values: list[Any]) -> int:
    return sum(len(value) for value in values if _is_text(value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of a provider: keywords, formats (None is any), and whether objects are closed and all is required."""

    name: str
    keywords: frozenset[str]
    formats: frozenset[str] | None
    closed: bool
    all_required: bool
    checks: tuple[Check, ...]


def strict_problems(schema: object, provider: Provider) -> list[Problem]:
    """Return why strict mode refuses an input schema, by pointer; an empty list says that nothing is known against it.

    The schema is taken to be valid JSON Schema (`conformance.schema_problems`).
    """
    if not isinstance(schema, dict):
        return [Problem("", "is not an object")]
    rules = _RULES[provider]
    problems = list(_root_problems(schema, rules))
    for path, subschema in subschemas(schema):
        where = pointer_to(path)
        problems += [problem.below(where) for problem in _problems_of(subschema, rules)]
    problems += remote_references(schema)
    for check in rules.checks:
        problems += check(schema)
    return problems


def _root_problems(schema: JsonObject, rules: _Rules) -> Iterator[Problem]:
    if schema.get("type") != "object":
        yield Problem("", f'must say "type": "object": {rules.name} takes an object of arguments')
    for keyword in ("anyOf", "oneOf", "allOf", "$ref"):
        if rules.all_required and keyword in schema:
            yield Problem(f"/{keyword}", "is not allowed at the root: move the alternatives into a property")


def _problems_of(schema: JsonObject, rules: _Rules) -> Iterator[Problem]:
    for keyword in schema:
        if keyword not in rules.keywords and not keyword.startswith("x-"):
            words = f"is not supported by strict mode of {rules.name}: drop it, or say it in the description"
            yield Problem(pointer_to([keyword]), words)
    shape = schema.get("format")
    if rules.formats is not None and isinstance(shape, str) and shape not in rules.formats:
        yield Problem("/format", f"{shape!r} is not one of the formats that {rules.name} takes")
    if rules.closed or rules.all_required:
        yield from _object_problems(schema, rules)


def _object_problems(schema: JsonObject, rules: _Rules) -> Iterator[Problem]:
    kinds = schema.get("type")
    is_object = kinds == "object" or (isinstance(kinds, list) and "object" in kinds) or "properties" in schema
    if not is_object:
        return
    if schema.get("additionalProperties") is not False:
        yield Problem("", "must be closed: set additionalProperties to false")
    if not rules.all_required:
        return
    properties, required = schema.get("properties"), schema.get("required")
    listed = required if isinstance(required, list) else []
    for name in properties if isinstance(properties, dict) else ():
        if name not in listed:
            words = "must be required: list it, and allow null where it may be left out"
            yield Problem(f"/properties{pointer_to([name])}", words)


def _untyped(schema: JsonObject) -> Iterator[Problem]:
    for path, subschema in subschemas(schema):
        if path and _TYPING.isdisjoint(subschema):
            yield Problem(pointer_to(path), "must say its type")
        kinds = subschema.get("type")
        if "items" not in subschema and (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)):
            yield Problem(pointer_to(path), "must say what its items are")
        for place, inside in direct_subschemas(subschema):
            if inside is True:
                yield Problem(pointer_to((*path, *place)), "must say its type")


def _anthropic_values(schema: JsonObject) -> Iterator[Problem]:
    for path, subschema in subschemas(schema):
        where = pointer_to(path)
        enum = subschema.get("enum")
        if isinstance(enum, list) and any(isinstance(value, dict | list) for value in enum):
            yield Problem(f"{where}/enum", "holds an object or a list: only text, numbers, booleans and null are taken")
        least = subschema.get("minItems", 0)
        if least not in (0, 1):
            yield Problem(f"{where}/minItems", f"is {least}: only 0 and 1 are taken")
        pattern = subschema.get("pattern")
        if isinstance(pattern, str) and _REFUSED_PATTERN.search(pattern):
            yield Problem(f"{where}/pattern", "uses look-around, a back-reference or a word boundary")
        for place, member in enumerate(subschema["allOf"] if isinstance(subschema.get("allOf"), list) else ()):
            if isinstance(member, dict) and "$ref" in member:
                yield Problem(f"{where}/allOf/{place}/$ref", "is not allowed inside allOf")


def _no_circles(schema: JsonObject) -> Iterator[Problem]:
    for circle in circles(schema):
        yield Problem(circle.reference.pointer, "makes the schema recursive, which strict mode refuses")


def _gemini_references(schema: JsonObject) -> Iterator[Problem]:
    for circle in circles(schema):
        if not circle.optional:
            yield Problem(circle.reference.pointer, "leads back to itself only through properties that are required")
    for path, subschema in subschemas(schema):
        if "$ref" in subschema:
            yield from (
                Problem(pointer_to((*path, keyword)), "is not allowed next to $ref")
                for keyword in subschema
                if not keyword.startswith("$")
            )


def _gemini_values(schema: JsonObject) -> Iterator[Problem]:
    for path, subschema in subschemas(schema):
        enum = subschema.get("enum")
        if isinstance(enum, list) and not all(_is_text_or_number(value) for value in enum):
            yield Problem(pointer_to((*path, "enum")), "holds what is neither text nor a number")
    properties = schema.get("properties")
    for name in properties if isinstance(properties, dict) else ():
        if not _GEMINI_NAME.fullmatch(name):
            words = "must be called by letters, digits and underscores, at most 64, and not start with a digit"
            yield Problem(f"/properties{pointer_to([name])}", words)


def _is_text_or_number(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


_TYPING = frozenset({"type", "enum", "const", "anyOf", "$ref", "oneOf", "allOf"})
_RULES: Mapping[Provider, _Rules] = {
    "openai": _Rules(
        name="OpenAI",
        keywords=_REMARKS | _SHARED | _NUMBERS | {"const", "definitions", "pattern", "format", "minItems", "maxItems"},
        formats=_FORMATS,
        closed=True,
        all_required=True,
        checks=(_untyped, openai_limits),
    ),
    "anthropic": _Rules(
        name="Anthropic",
        keywords=_REMARKS | _SHARED | {"const", "allOf", "definitions", "default", "format", "pattern", "minItems"},
        formats=_FORMATS | {"uri"},
        closed=True,
        all_required=False,
        checks=(_anthropic_values, _no_circles, anthropic_limits),
    ),
    "gemini": _Rules(
        name="Gemini",
        keywords=_REMARKS
        | _SHARED
        | {"oneOf", "$id", "$anchor", "format", "prefixItems", "minItems", "maxItems", "minimum", "maximum"}
        | {"propertyOrdering"},
        formats=None,
        closed=False,
        all_required=False,
        checks=(_gemini_references, _gemini_values),
    ),
}
PROVIDERS: tuple[Provider, ...] = tuple(_RULES)
