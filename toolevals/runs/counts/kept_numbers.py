"""Keep columns of numbers, and what they stand for, as bytes: each number as small as the largest of its column."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final

from toolevals.runs.counts.packed_cases import in_little_order

# Types of numbers, the smallest first, and how many numbers each can tell apart.
_TYPES: Final = {"B": 1 << 8, "H": 1 << 16, "I": 1 << 32, "Q": 1 << 64}


def type_for(most: int) -> str:
    """Return the smallest type of an array that holds whole numbers from 0 to below `most`."""
    return next(kind for kind, held in _TYPES.items() if most <= held)


def small_array(numbers: Sequence[int]) -> array[int]:
    """Return whole numbers, none below 0, in an array that is as small as can be."""
    return array(type_for(max(numbers, default=0) + 1), numbers)


def numbers_to_bytes(said: Any, columns: Iterable[Sequence[int]]) -> bytes:
    """Return columns of whole numbers, none below 0, and `said`, which is JSON."""
    held = [small_array(column) for column in columns]
    head = json.dumps([said, [[column.typecode, len(column)] for column in held]]).encode()
    parts = [len(head).to_bytes(4, "little"), head, *(in_little_order(column).tobytes() for column in held)]
    return zlib.compress(b"".join(parts), 1)


def numbers_from_bytes(kept: bytes) -> tuple[Any, list[array[int]]]:
    """Return what was said, and the columns."""
    held = memoryview(zlib.decompress(kept))
    start = 4 + int.from_bytes(held[:4], "little")
    said, sizes = json.loads(bytes(held[4:start]))
    columns = []
    for kind, size in sizes:
        column = array(kind)
        end = start + size * column.itemsize
        column.frombytes(held[start:end])
        columns.append(in_little_order(column))
        start = end
    return said, columns
