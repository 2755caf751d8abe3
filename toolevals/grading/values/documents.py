"""Reads JSON from outside: names its faults by position, and checks it against the project's schemas.

The schemas are in `schemas/`, one file a shape and version. `x-problem` in a schema gives a keyword's failure words
that a person can act on.

Reads JSON text by the quick parser, where it provably gives what the careful one would give.

The quick parser takes a key that appears twice, NUL, and integers beyond 64 bits (as floats), and says nothing. Each
leaves a trace that is cheap to look for: a pair that is lost has its colon in the text and not in the value's own text,
NUL has its escape, and a large integer its many digits. Where there is a trace, or no value at all, the careful parser
has the say.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, Literal, NoReturn, get_args

import jsonschema_rs
import orjson

from toolevals.grading.values.canonical import INTEGER_LIMIT, MAX_DEPTH, MAX_DIGITS, exact, holds_long_number
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonObject, JsonValue

UNSURE = object()
"""Tells that the careful parser has to look."""

# What has to be looked at more closely.
_CLOSER = frozenset({float, dict, list})
# NUL, and what a quote or a colon may be written as in a string.
_ESCAPES = ("\\u0000", "\\u0022", "\\u003")


def read_quickly(text: str, max_depth: int) -> Any:
    """Return the value of JSON text, or UNSURE: where it is not JSON, has a fault, or may have one.

    A value is given where no key appears twice in one object, no integer was read as a float, and no text holds NUL or
    a lone surrogate; and where nothing is nested deeper than `max_depth`.
    """
    try:
        value = orjson.loads(text)
    except ValueError:
        return UNSURE
    if type(value) is not dict or ("\\" in text and any(each in text for each in _ESCAPES)):
        return UNSURE
    # Then there are no other pairs: each has its colon.
    is_flat = text.count(":") == len(value)
    if is_flat and _CLOSER.isdisjoint(map(type, value.values())):
        return value
    if holds_long_number(text) or (text.count("[") + text.count("{") > max_depth and _is_too_deep(value, max_depth)):
        return UNSURE
    return value if is_flat or _holds_every_pair(value, text) else UNSURE


def _is_too_deep(value: object, max_depth: int) -> bool:
    for _ in range(MAX_DEPTH - max_depth):
        value = [value]
    try:
        orjson.dumps(value)
    except TypeError:
        return True
    return False


def _holds_every_pair(value: object, text: str) -> bool:
    """Tell whether a value surely has every pair of its text: the colon of each follows the quote that closes its key.

    Strings may hold a quote and a colon too, and they are written at least as often in the text as in the value's own
    text. So a pair that was lost makes a difference.
    """
    if " :" in text or "\n:" in text or "\t:" in text or "\r:" in text:
        return False
    return text.count('":') == orjson.dumps(value).count(b'":')


SchemaName = Literal[
    "example",
    "expectation",
    "gate",
    "guard_question",
    "metric_group",
    "policy",
    "prediction",
    "rubric",
    "simulation",
    "tool",
    "transcript",
    "verdict",
]
SCHEMA_NAMES: tuple[SchemaName, ...] = get_args(SchemaName)

MAX_BYTES = 10_000_000
# Less than what has a canonical form: a value from outside comes to stand inside a document of ours.
MAX_READ_DEPTH = MAX_DEPTH - 54
_MESSAGE_LENGTH = 300


def load_json(text: str | bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_READ_DEPTH) -> Any:
    """Return the value of JSON text from outside.

    Refused, with line and column or JSON pointer: what is not JSON, NaN and infinities, numbers that a float can't
    hold, integers of more than 4,300 digits, a key that appears twice in one object, NUL, lone surrogates, and text
    beyond the two limits. Raises InvalidDocument.
    """
    if type(text) is str and len(text) <= max_bytes and (quick := read_quickly(text, max_depth)) is not UNSURE:
        return quick
    text = _decoded(text, max_bytes)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _invalid(text, f"not JSON at {_where(text, error.pos)}: {error.msg}", error.pos) from None
    except ValueError:
        # A key twice, or a number that we do not take. The decoder does not say where.
        place, pointer, reason = next(_refusals(text), (0, "", "holds what JSON does not"))
        raise _invalid(text, f"{reason} at {_where(text, place)}", place, pointer) from None
    except RecursionError:
        raise InvalidDocument.at("", f"nested deeper than {max_depth} levels") from None
    if text.count("[") + text.count("{") > max_depth or "\\u0000" in text or "\\ud" in text or "\\uD" in text:
        _check_inside(value, max_depth)
    return value


def require_json(value: object, *, max_depth: int = MAX_READ_DEPTH) -> None:
    """Raise InvalidDocument, with a pointer, where `load_json` could not have given this value.

    For values that come from other code: what passes can be kept, and stand inside a document of ours.
    """
    wrapped = value
    for _ in range(MAX_DEPTH - max_depth):
        wrapped = [wrapped]
    try:
        exact(wrapped)
    except ValueError as error:
        _check_inside(value, max_depth)
        raise InvalidDocument.at("", str(error)) from None


def schema(name: SchemaName) -> JsonObject:
    """Return one of the project's JSON Schemas, newest version."""
    return _schemas()[name]


def problems_in(document: object, schema_name: SchemaName) -> list[Problem]:
    """Return everything that the schema says is wrong with a document, in the document's order."""
    validator = _validator(schema_name)
    try:
        if validator.is_valid(document):
            return []
        return [_problem(error) for error in validator.iter_errors(document)]
    except ValueError:
        # The validator takes no value that JSON text could not give.
        return _problems_as_json(document)


def require_valid(document: object, schema_name: SchemaName) -> None:
    """Raise InvalidDocument where `problems_in` finds any problem."""
    if problems := problems_in(document, schema_name):
        raise InvalidDocument(problems)


def _problems_as_json(document: object) -> list[Problem]:
    try:
        require_json(document)
    except InvalidDocument as error:
        return list(error.problems)
    return [Problem("", "cannot be checked")]


def _invalid(text: str, message: str, place: int, pointer: str = "") -> InvalidDocument:
    return InvalidDocument([Problem(pointer, message)], min(place, len(text)))


def _decoded(text: str | bytes, max_bytes: int) -> str:
    if len(text) > max_bytes:
        raise InvalidDocument.at("", f"longer than {max_bytes:,} bytes")
    try:
        if isinstance(text, bytes):
            return text.decode()
        text.encode()
    except UnicodeDecodeError as error:
        raise InvalidDocument.at("", f"not UTF-8 at byte {error.start}") from None
    except UnicodeEncodeError as error:
        raise InvalidDocument.at("", f"lone surrogate at character {error.start}") from None
    return text


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key twice")
    return value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("beyond what a float can hold")
    return value


def _constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)

# A key, text, a bracket, a comma, or, as the decoder sees it, a number.
_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*+")\s*+:|"(?:[^"\\]|\\.)*+"|[{}\[\],]'
    r"|(?P<number>NaN|-?Infinity|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
)


def _refusals(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield place, pointer and reason of every key that comes twice in its object and every number that we do not take.

    Good up to the first; what follows may be no JSON.
    """
    keys: list[set[str]] = [set()]
    path: list[str | int] = []
    for token in _TOKEN.finditer(text):
        written = token.group()
        if written in "{[":
            keys.append(set())
            path.append("" if written == "{" else 0)
        elif written in "}]":
            keys.pop()
            path.pop()
        elif written == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else path[-1]
        elif (quoted := token["key"]) is not None:
            path[-1] = key = json.loads(quoted, strict=False)
            if key in keys[-1]:
                yield token.start(), pointer_to(path), f"the key {json.dumps(key)} appears twice in one object"
            keys[-1].add(key)
        elif token["number"] and (reason := _number_problem(written)):
            yield token.start(), pointer_to(path), reason


def _number_problem(written: str) -> str | None:
    if written.endswith(("y", "N")):
        return f"{written} is not a JSON value"
    if (digits := written.removeprefix("-")).isdecimal():
        return f"an integer has more than {MAX_DIGITS:,} digits" if len(digits) > MAX_DIGITS else None
    return None if math.isfinite(float(written)) else f"{written[:40]} is beyond what a number can hold"


def _where(text: str, place: int) -> str:
    return f"line {text.count(chr(10), 0, place) + 1}, column {place - text.rfind(chr(10), 0, place)}"


def _check_inside(value: object, max_depth: int) -> None:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, dict | list | tuple) and len(path) >= max_depth:
            raise InvalidDocument.at("", f"nested deeper than {max_depth} levels")
        if problem := _scalar_problem(item):
            raise InvalidDocument.at(pointer_to(path), problem)
        for key, child in _children(item):
            if isinstance(item, dict) and (problem := _key_problem(key)):
                raise InvalidDocument.at(pointer_to(path), problem)
            waiting.append(((*path, key), child))


def _key_problem(key: object) -> str | None:
    return text_problem(key) if isinstance(key, str) else "has a key that is not text"


def _children(item: object) -> Iterator[tuple[Any, Any]]:
    if isinstance(item, dict):
        yield from item.items()
    elif isinstance(item, list | tuple):
        yield from enumerate(item)


def _scalar_problem(item: object) -> str | None:
    if isinstance(item, str):
        return text_problem(item)
    if isinstance(item, int):
        return None if -INTEGER_LIMIT < item < INTEGER_LIMIT else f"is an integer of more than {MAX_DIGITS:,} digits"
    if isinstance(item, float):
        return None if math.isfinite(item) else f"is {item}, which is not a JSON value"
    return None if item is None or isinstance(item, dict | list | tuple) else f"is a {type(item).__name__}, not JSON"


def text_problem(text: str) -> str | None:
    """Return why a text cannot be kept: it holds a NUL character or a lone surrogate; None where it can."""
    if "\0" in text:
        return "holds a NUL character"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "holds a lone surrogate"
    return None


@cache
def _schemas() -> dict[SchemaName, JsonObject]:
    folder = resources.files("toolevals.grading") / "schemas"
    return {name: json.loads((folder / f"{name}.v1.json").read_text("utf-8")) for name in SCHEMA_NAMES}


@cache
def _validator(name: SchemaName) -> jsonschema_rs.Validator:
    registry = jsonschema_rs.Registry([(document["$id"], document) for document in _schemas().values()])
    return jsonschema_rs.validator_for(schema(name), registry=registry, offline=True)


def _problem(error: jsonschema_rs.ValidationError) -> Problem:
    message = _own_words(error.schema_path) or error.message
    if len(message) > _MESSAGE_LENGTH:
        message = f"{message[:_MESSAGE_LENGTH]}…"
    return Problem(pointer_to(error.instance_path), message)


def _own_words(schema_path: list[str | int]) -> str | None:
    # The path begins at the root of whichever schema a reference led to.
    for root in _schemas().values():
        node: JsonValue = root
        for part in schema_path[:-1]:
            node = node.get(part) if isinstance(node, dict) else None
        if isinstance(node, dict) and (words := node.get("x-problem", {}).get(schema_path[-1])):
            return str(words)
    return None
