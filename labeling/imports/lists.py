"""Read a list of JSON, or the rows of Parquet, as lines of JSON: what a format of lines takes too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO

import orjson

from labeling.imports.lines import BOM
from labeling.imports.packing import unpacked
from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES, decoded
from toolevals.grading.files.evaluation_files.tables import MAGIC

_HEAD = 1_000
# Objects in a list, or an empty one.
_LIST = re.compile(rb"\s*\[\s*[{\]]")


def is_list(file: IO[bytes]) -> bool:
    """Tell whether a file, packed or not, begins as a list of JSON or as Parquet does."""
    with unpacked(file) as plain:
        head = plain.read(_HEAD).removeprefix(BOM)
    return head.startswith(MAGIC) or _LIST.match(head) is not None


def lines_of_list(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the entries of the list, each a line. Raises InvalidDocument where it cannot be read."""
    with unpacked(file) as plain:
        content = plain.read(MAX_DOCUMENT_BYTES + 1)
    for entry in decoded(content).value:
        try:
            yield orjson.dumps(entry) + b"\n"
        except TypeError:
            # Integers beyond 64 bits.
            yield json.dumps(entry).encode() + b"\n"
