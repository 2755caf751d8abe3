"""Random changes to bytes, for machines without a fuzzing engine."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

# What parsers look for.
WORDS = (
    b" ",
    *b"\" ' ` ``` { } [ ] ( ) : , = \\ - . \n \0 null true NaN Infinity 1e999 -1 0x \\u0000 \\ud800 \xff".split(b" "),
    *b'"name": "arguments": "role": "tool" "content": "calls": "tool_calls": "type": "id": "parts":'.split(b" "),
    *b"f( (a= class= ** <tool_call> </tool_call> 99999999999999999999 \xe2\x80\xa8".split(b" "),
)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**70, float("nan"), "", "x", "\0", "\ud800", "{", '{"a": 1}', "f(a=1)", [], {},
    [[]], [{}], {"x": None}, {"text": "x"}, {"type": "text", "text": "x"}, {"name": "f"},
    {"name": "f", "arguments": "{}"},
)  # fmt: skip


def mutated(chance: random.Random, seeds: Sequence[bytes], longest: int = 20_000) -> bytes:
    """Return one of the seeds, changed in one to eight places, mostly as JSON where it is; at most `longest` bytes."""
    data = chance.choice(seeds)
    if chance.random() < 0.7:
        return _reshaped(chance, data, seeds)[:longest]
    for _ in range(chance.randint(1, 8)):
        data = chance.choice(_CHANGES)(chance, data, seeds)[:longest]
    return data


def _reshaped(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return JSON with a few of its values replaced, by odd ones or by parts of other seeds, or taken out."""
    try:
        return _with_other_values(chance, json.loads(data), json.loads(chance.choice(seeds)))
    except (ValueError, RecursionError):
        # No JSON, or too deep for Python's own reader.
        return _insert(chance, data, seeds)


def _with_other_values(chance: random.Random, value: Any, donor: Any) -> bytes:
    holder, other = [value], [donor]
    for _ in range(chance.randint(1, 4)):
        inside, key = chance.choice(_places(holder))
        if chance.random() < 0.3 and inside is not holder:
            del inside[key]
            continue
        giver, place = chance.choice(_places(other))
        inside[key] = copy.deepcopy(giver[place] if chance.random() < 0.5 else chance.choice(VALUES))
    return json.dumps(holder[0]).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a value that holds another, as container and key."""
    waiting, found = [value], []
    while waiting:
        item = waiting.pop()
        keys: Any = item if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ()
        found += [(item, key) for key in keys]
        waiting += [item[key] for key in keys]
    return found


def _two_places(chance: random.Random, data: bytes) -> tuple[int, int]:
    first, second = chance.randint(0, len(data)), chance.randint(0, len(data))
    return min(first, second), max(first, second)


def _flip(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]


def _insert(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    place = chance.randint(0, len(data))
    return data[:place] + chance.choice(WORDS) + data[place:]


def _remove(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    start, end = _two_places(chance, data)
    return data[:start] + data[end:] if end - start < 40 else data[:start] + data[start + 8 :]


def _repeat(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    start, end = _two_places(chance, data)
    return data[:end] + data[start:end] * chance.choice((1, 2, 40, 400)) + data[end:]


def _splice(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    start, end = _two_places(chance, other := chance.choice(seeds))
    place = chance.randint(0, len(data))
    return data[:place] + other[start:end] + data[place:]


_CHANGES: tuple[Callable[[random.Random, bytes, Sequence[bytes]], bytes], ...] = (
    _flip,
    _insert,
    _insert,
    _remove,
    _repeat,
    _splice,
)
