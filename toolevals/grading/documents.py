"""JSON from outside: read with its faults named by position, checked against the project's schemas.

The schemas are in `schemas/`, one file a shape and version. `x-problem` in a schema gives a keyword's failure words
that a person can act on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, Literal, NoReturn

import jsonschema_rs

from toolevals.grading.canonical import MAX_DEPTH
from toolevals.grading.problems import InvalidDocument, Problem, pointer_to

SchemaName = Literal["example", "expectation", "prediction", "tool", "transcript", "verdict"]
SCHEMA_NAMES: tuple[SchemaName, ...] = ("example", "expectation", "prediction", "tool", "transcript", "verdict")

MAX_BYTES = 10_000_000
# Less than what has a canonical form: a value from outside comes to stand inside a document of ours.
MAX_READ_DEPTH = MAX_DEPTH - 54
_MESSAGE_LENGTH = 300


def load_json(text: str | bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_READ_DEPTH) -> Any:
    """Return the value of JSON text from outside.

    Refused, with line and column or JSON pointer: what is not JSON, NaN and infinities, numbers that a float can't
    hold, a key that appears twice in one object, NUL, lone surrogates, and text beyond the two limits.
    Raises InvalidDocument.
    """
    text = _decoded(text, max_bytes)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidDocument([Problem("", f"not JSON at {where}: {error.msg}")], error.pos) from None
    except _RefusedError as error:
        place = refused_at(text)
        where = "" if place is None else f" at line {text.count(chr(10), 0, place) + 1}, column {_column(text, place)}"
        raise InvalidDocument([Problem("", f"{error}{where}")], place) from None
    except ValueError:
        raise InvalidDocument.at("", "holds an integer of too many digits") from None
    except RecursionError:
        raise InvalidDocument.at("", f"nested deeper than {max_depth} levels") from None
    if text.count("[") + text.count("{") > max_depth or "\\u0000" in text or "\\ud" in text or "\\uD" in text:
        _check_inside(value, max_depth)
    return value


def schema(name: SchemaName) -> dict[str, Any]:
    """Return one of the project's JSON Schemas, newest version."""
    return _schemas()[name]


def problems_in(document: Any, schema_name: SchemaName) -> list[Problem]:
    """Return everything that the schema says is wrong with a document, in the document's order."""
    validator = _validator(schema_name)
    if validator.is_valid(document):
        return []
    return [_problem(error) for error in validator.iter_errors(document)]


def require_valid(document: Any, schema_name: SchemaName) -> None:
    """Raise InvalidDocument where `problems_in` finds any problem."""
    if problems := problems_in(document, schema_name):
        raise InvalidDocument(problems)


class _RefusedError(ValueError):
    """JSON that Python would take and we do not."""


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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _RefusedError(f"the key {json.dumps(twice)} appears twice in one object")
    return value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _RefusedError(f"{text[:40]} is beyond what a number can hold")
    return value


def _constant(name: str) -> NoReturn:
    raise _RefusedError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)


def refused_at(text: str) -> int | None:
    """Return where JSON text first has a key twice in one object, or a number that no float holds; None if nowhere."""
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        written = token.group()
        if written in "{[":
            keys.append(set())
        elif written in "}]":
            keys.pop()
        elif written[0] == '"':
            if token.group(1) is not None:
                key = json.loads(token.group(1))
                if key in keys[-1]:
                    return token.start()
                keys[-1].add(key)
        elif written[-1].isalnum() and not _is_plain(written):
            return token.start()
    return None


# A key, text, a bracket, or a number or name.
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s{}\[\]:,"]+')


def _is_plain(written: str) -> bool:
    return written in {"true", "false", "null"} or math.isfinite(float(written))


def _column(text: str, place: int) -> int:
    return place - text.rfind("\n", 0, place)


def _check_inside(value: Any, max_depth: int) -> None:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str):
            _check_text(path, item)
            continue
        if isinstance(item, dict | list) and len(path) >= max_depth:
            raise InvalidDocument.at("", f"nested deeper than {max_depth} levels")
        for key, child in _children(item):
            if isinstance(key, str):
                _check_text(path, key)
            waiting.append(((*path, key), child))


def _children(item: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(item, dict):
        yield from item.items()
    elif isinstance(item, list):
        yield from enumerate(item)


def _check_text(path: tuple[str | int, ...], text: str) -> None:
    if "\0" in text:
        raise InvalidDocument.at(pointer_to(path), "holds a NUL character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidDocument.at(pointer_to(path), "holds a lone surrogate") from None


@cache
def _schemas() -> dict[SchemaName, dict[str, Any]]:
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
        node: Any = root
        for part in schema_path[:-1]:
            node = node.get(part) if isinstance(node, dict) else None
        if isinstance(node, dict) and (words := node.get("x-problem", {}).get(schema_path[-1])):
            return str(words)
    return None
