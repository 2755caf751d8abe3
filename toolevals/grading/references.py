"""References (`$ref`) inside a document, by JSON pointer (RFC 6901) in a URI fragment."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from toolevals.grading.problems import InvalidDocument

# A reference to a reference to a reference: more than any document has.
_LONGEST_CHAIN = 20


def parts_of(pointer: str) -> tuple[str, ...]:
    """Return the keys and positions that a JSON pointer is made of."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def target_of(document: Any, reference: Any, where: str) -> tuple[Any, str]:
    """Return what a reference at `where` leads to, and its pointer.

    Raises InvalidDocument where it leads out of the document or nowhere.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise InvalidDocument.at(where, f"refers to {reference!r}: only references inside the document are followed")
    pointer = unquote(reference[1:])
    value = document
    if pointer and not pointer.startswith("/"):
        raise InvalidDocument.at(where, f"refers to {reference!r}, which is no pointer into the document")
    for part in parts_of(pointer):
        value = _member(value, part)
        if value is _NOTHING:
            raise InvalidDocument.at(where, f"refers to {reference!r}, which does not exist")
    return value, pointer


def resolved(document: Any, value: Any, where: str) -> tuple[Any, str]:
    """Return a value, or what it refers to where it is a reference, with its pointer. Raises InvalidDocument."""
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(value, dict) or "$ref" not in value:
            return value, where
        value, where = target_of(document, value["$ref"], f"{where}/$ref")
    raise InvalidDocument.at(where, "refers to itself")


_NOTHING = object()


def _member(value: Any, part: str) -> Any:
    if isinstance(value, dict):
        return value.get(part, _NOTHING)
    if isinstance(value, list) and part.isascii() and part.isdecimal() and len(part) < 9 and int(part) < len(value):
        return value[int(part)]
    return _NOTHING
