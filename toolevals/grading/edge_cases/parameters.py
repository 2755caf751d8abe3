"""Lists the parameters of a tool, nested ones too, and the edge cases that each admits.

Names the kinds of edge cases and the buckets of failures, each in one sentence.

Tell what a parameter is about, by its name, format and description.

Finds the edge cases that a call's arguments exercise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from toolevals.grading.edge_cases.coercion import has_time, is_code, is_literal, read_amount
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import pointer_to, target_of
from toolevals.json_types import JsonMapping, JsonObject


class EdgeCase(StrEnum):
    """The property of an argument that is easily got wrong though the value is right."""

    NULL_OPTIONAL = "null_optional"
    EMPTY_ARRAY = "empty_array"
    UNICODE_IDENTIFIER = "unicode_identifier"
    TIME_ZONE = "time_zone"
    CURRENCY = "currency"
    TYPE_COERCION = "type_coercion"


class FailureBucket(StrEnum):
    """The sort of failure of an argument."""

    SCHEMA = "schema"
    EDGE_CASE = "edge_case"
    SEMANTIC = "semantic"


EDGE_CASE_SENTENCES: Mapping[EdgeCase, str] = {
    EdgeCase.NULL_OPTIONAL: "Null where an optional argument may as well be left out.",
    EdgeCase.EMPTY_ARRAY: "An empty list where an argument may as well be left out or null.",
    EdgeCase.UNICODE_IDENTIFIER: "An identifier with letters beyond ASCII, which may be spelled in several ways.",
    EdgeCase.TIME_ZONE: "A date and time that is another one in another time zone, or without one.",
    EdgeCase.CURRENCY: "An amount that is another one in another currency, unit or scale.",
    EdgeCase.TYPE_COERCION: 'A value that equals another one only after its type is changed, as "5" and 5.',
}
BUCKET_SENTENCES: Mapping[FailureBucket, str] = {
    FailureBucket.SCHEMA: "The call breaks the tool's schema.",
    FailureBucket.EDGE_CASE: "The argument is as expected but for an edge case.",
    FailureBucket.SEMANTIC: "The argument is another value than the expected one.",
}


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_IDENTIFIER_WORDS = """
    account city code contact customer email handle id identifier key login name nickname person place recipient ref
    reference sender sku slug street surname symbol tag user username
"""
_TIME_WORDS = """
    arrival at date datetime day deadline departure due end expires expiry since start time timestamp until when
"""
_MONEY_WORDS = """
    amount balance bill budget cents charge cost currency deposit discount eur expense fare fee gbp income invoice jpy
    money payment price refund rent revenue salary subtotal tax tip total usd wage
"""
_IDENTIFIERS = frozenset(_IDENTIFIER_WORDS.split())
_TIMES = frozenset(_TIME_WORDS.split())
_MONEY = frozenset(_MONEY_WORDS.split())
# Beside these a word of money counts something else: `total_pages`, `invoice_id`.
_COUNTS = frozenset({"count", "id", "items", "name", "nights", "number", "pages", "people", "quantity", "type"})
_MINOR = frozenset({"cents", "pence", "minor"})
_MONEY_TEXT = re.compile(r"\b(?:USD|EUR|GBP|JPY|CHF|dollars?|euros?|cents?|pounds sterling|currency)\b|[$€£¥]")
_TIME_TEXT = re.compile(r"\bISO[ -]?8601\b|\bRFC[ -]?3339\b|\btime ?zone\b|\bUTC\b", re.IGNORECASE)
_TIME_FORMATS = frozenset({"date-time", "date", "time"})
_NAME_FORMATS = frozenset({"email", "idn-email", "hostname", "idn-hostname", "uri", "iri"})
_LONGEST_DESCRIPTION = 2_000


@lru_cache(maxsize=1024)
def words_of(name: str) -> frozenset[str]:
    """Return the words of a name in snake, kebab or camel case, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(name))


def is_identifier(name: str, schema: JsonObject) -> bool:
    """Tell whether a parameter holds what something is called or known by."""
    return not _IDENTIFIERS.isdisjoint(words_of(name)) or schema.get("format") in _NAME_FORMATS


def is_time(name: str, schema: JsonObject) -> bool:
    """Tell whether a parameter holds a date or a time."""
    if isinstance(schema.get("format"), str):
        return schema["format"] in _TIME_FORMATS
    return not _TIMES.isdisjoint(words_of(name)) or bool(_TIME_TEXT.search(_description(schema)))


def is_money(name: str, schema: JsonObject) -> bool:
    """Tell whether a parameter holds an amount of money or its currency."""
    words = words_of(name)
    if not _COUNTS.isdisjoint(words):
        return False
    return not _MONEY.isdisjoint(words) or bool(_MONEY_TEXT.search(_description(schema)))


def is_currency(name: str) -> bool:
    """Tell whether a parameter says in which currency or unit the amounts are."""
    return "currency" in words_of(name)


def is_minor(name: str) -> bool:
    """Tell whether a parameter holds an amount in the currency's hundredths."""
    return not _MINOR.isdisjoint(words_of(name))


def _description(schema: JsonObject) -> str:
    text = schema.get("description")
    return text[:_LONGEST_DESCRIPTION] if isinstance(text, str) else ""


MAX_PARAMETERS = 1_000
MAX_FOLLOWED = 20_000
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
    schema: JsonObject
    required: bool
    types: frozenset[str]

    @property
    def name(self) -> str:
        """The name that says what it is about: for an item, its list's."""
        return next((part for part in reversed(self.path) if part != _ANY_ITEM), "")


def applicable_kinds(tool: ToolSpec) -> dict[str, frozenset[EdgeCase]]:
    """Return the edge cases that each parameter of a tool admits, by its pointer, those without any left out.

    A pointer leads into the arguments; `*` stands for any item of a list. Of giant schemas the first MAX_PARAMETERS
    are looked at, of recursive ones the first 8 levels, and of any MAX_FOLLOWED schemas at most.
    """
    return {pointer_to(each.path): kinds for each in parameters_of(tool) if (kinds := _kinds(each))}


def parameters_of(tool: ToolSpec) -> list[Parameter]:
    """Return a tool's parameters, breadth first, at most MAX_PARAMETERS."""
    schemas = _Schemas(tool.input_schema)
    waiting: list[tuple[tuple[str, ...], Any]] = [((), tool.input_schema)]
    parameters: list[Parameter] = []
    for path, schema in waiting:
        if len(path) >= _DEEPEST or len(parameters) >= MAX_PARAMETERS:
            break
        for name, inside, required in schemas.inside(schemas.followed(schema)):
            if len(parameters) >= MAX_PARAMETERS:
                break
            followed = schemas.followed(inside)
            parameters.append(Parameter((*path, name), followed, required, schemas.types(followed)))
            waiting.append(((*path, name), followed))
    return parameters


class _Schemas:
    """The schemas of one tool as they are followed, MAX_FOLLOWED at most: those after them say nothing."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = MAX_FOLLOWED

    def inside(self, schema: JsonMapping) -> Iterator[tuple[str, Any, bool]]:
        """Yield the properties and the items of a schema, and whether each is required."""
        for branch in self._branches(schema):
            properties, required = branch.get("properties"), branch.get("required")
            listed = set(filter(_is_text, required)) if isinstance(required, list) else frozenset[str]()
            for name, inside in properties.items() if isinstance(properties, dict) else ():
                yield name, inside, name in listed
            if isinstance(items := branch.get("items"), dict):
                yield _ANY_ITEM, items, True

    def followed(self, schema: object) -> JsonObject:
        """Return a schema with its reference followed; what cannot be followed says nothing."""
        found: JsonObject = {}
        for _ in range(_LONGEST_CHAIN):
            self._left -= 1
            if not isinstance(schema, dict) or self._left < 0:
                return found
            if "$ref" not in schema:
                return {**schema, **found} if found else schema
            found = {**schema, **found}
            found.pop("$ref")
            try:
                schema = target_of(self._root, schema["$ref"], "")[0]
            except ValueError:
                return found
        return found

    def types(self, schema: JsonMapping) -> frozenset[str]:
        """Return the types that a schema admits; of alternatives those of each."""
        found: set[str] = set()
        waiting = [(schema, 0)]
        while waiting:
            schema, depth = waiting.pop()
            members = next((schema[each] for each in ("anyOf", "oneOf") if isinstance(schema.get(each), list)), None)
            if (said := _types_said(schema)) is not None:
                found |= said
            elif members is None or depth == _DEEPEST or self._left < 0:
                return _ALL_TYPES
            else:
                waiting += [(self.followed(member), depth + 1) for member in members]
        return frozenset(found)

    def _branches(self, schema: JsonMapping) -> Iterator[JsonMapping]:
        """Yield a schema and what it is composed of, one level deep."""
        yield schema
        for keyword in ("allOf", "anyOf", "oneOf"):
            members = schema.get(keyword)
            for member in members if isinstance(members, list) else ():
                if self._left < 0:
                    return
                yield self.followed(member)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _types_said(schema: JsonMapping) -> frozenset[str] | None:
    """Return the types that a schema names itself, or those of the values that it lists; None where it does neither."""
    said = schema.get("type")
    if isinstance(said, str):
        return frozenset({said})
    if isinstance(said, list):
        return frozenset(each for each in said if isinstance(each, str))
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    return frozenset(type_of(value) for value in values) if isinstance(values, list) else None


def type_of(value: object) -> str:
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


_DEEPEST_ARGUMENTS = 50
Path = tuple[str, ...]
# The same few tools are asked about call after call.
_admitted = lru_cache(maxsize=1024)(applicable_kinds)


def edge_case_kinds(tool: ToolSpec | None, arguments: JsonMapping) -> frozenset[EdgeCase]:
    """Return the edge cases that a call's arguments exercise, gold or actual ones.

    Without a tool, only null, empty lists, times with a zone, amounts with a currency and literals in text are seen.
    """
    kinds = _admitted(tool) if tool is not None else {}
    names = [path[-1] for path, _ in _values(arguments)]
    knows_currency = any(is_currency(name) for name in names)
    edge_cases: set[EdgeCase] = set()
    for path, value in _values(arguments):
        edge_cases |= set(
            _kinds_of(path, value, kinds.get(pointer_to(path), frozenset()), knows_currency=knows_currency)
        )
    return frozenset(edge_cases)


def _values(arguments: JsonMapping) -> Iterator[tuple[Path, Any]]:
    waiting: list[tuple[Path, Any]] = [((name,), value) for name, value in arguments.items()]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if len(path) < _DEEPEST_ARGUMENTS and isinstance(value, dict):
            waiting.extend(((*path, name), inside) for name, inside in value.items())
        elif len(path) < _DEEPEST_ARGUMENTS and isinstance(value, list):
            waiting.extend(((*path, "*"), inside) for inside in value)


def _kinds_of(path: Path, value: object, admitted: frozenset[EdgeCase], *, knows_currency: bool) -> Iterator[EdgeCase]:
    if value is None:
        yield EdgeCase.NULL_OPTIONAL
    elif value == [] and isinstance(value, list):
        yield EdgeCase.EMPTY_ARRAY
    if not path[-1].isascii():
        yield EdgeCase.UNICODE_IDENTIFIER
    if _is_money(path, value, admitted, knows_currency=knows_currency):
        yield EdgeCase.CURRENCY
    if isinstance(value, str):
        yield from _kinds_of_text(value, admitted)


def _kinds_of_text(text: str, admitted: frozenset[EdgeCase]) -> Iterator[EdgeCase]:
    if not text.isascii() and EdgeCase.UNICODE_IDENTIFIER in admitted:
        yield EdgeCase.UNICODE_IDENTIFIER
    if has_time(text) or (EdgeCase.TIME_ZONE in admitted and _ZONE_NAME.fullmatch(text)):
        yield EdgeCase.TIME_ZONE
    if is_literal(text):
        yield EdgeCase.TYPE_COERCION


_ZONE_NAME = re.compile(r"[A-Z][A-Za-z_]{1,30}/[A-Z][A-Za-z_/+-]{1,40}")


def _is_money(path: Path, value: object, admitted: frozenset[EdgeCase], *, knows_currency: bool) -> bool:
    amount = read_amount(value)
    if amount is None:
        return isinstance(value, str) and is_currency(path[-1]) and is_code(value)
    if isinstance(value, str) and amount.is_marked:
        return True
    return EdgeCase.CURRENCY in admitted and (knows_currency or is_minor(path[-1]))
