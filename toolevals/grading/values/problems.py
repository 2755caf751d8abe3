"""Define what is wrong with a document, and where.

Finds places in a document by JSON pointer (RFC 6901), and by references (`$ref`) to them in a URI fragment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: a JSON pointer into the document and a sentence for people."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message

    def below(self, prefix: str) -> Problem:
        """Return the same problem as seen from a document that holds this one at `prefix`."""
        return Problem(prefix + self.pointer, self.message)


class InvalidDocument(ValueError):  # noqa: N818 (the name that importers, API and pages share)
    """A document that cannot be read. `problems` says why; there is at least one.

    `position` counts characters into JSON text that is no JSON.
    """

    problems: tuple[Problem, ...]
    position: int | None

    def __init__(self, problems: Iterable[Problem], position: int | None = None) -> None:
        self.problems = tuple(problems)
        self.position = position
        super().__init__("; ".join(str(problem) for problem in self.problems))

    @classmethod
    def at(cls, pointer: str, message: str) -> InvalidDocument:
        """Return the error for one problem."""
        return cls([Problem(pointer, message)])

    def below(self, prefix: str) -> InvalidDocument:
        """Return the same error as seen from a document that holds this one at `prefix`."""
        return InvalidDocument(problem.below(prefix) for problem in self.problems)


def pointer_to(path: Iterable[str | int]) -> str:
    """Return the JSON pointer (RFC 6901) of a path of keys and positions."""
    return "".join([f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path])


# A reference to a reference to a reference: more than any document has.
_LONGEST_CHAIN = 20
# What stands at a place that a document does not have.
NOTHING = object()


def parts_of(pointer: str) -> tuple[str, ...]:
    """Return the keys and positions that a JSON pointer is made of."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def target_of(document: object, reference: object, where: str) -> tuple[Any, str]:
    """Return what a reference at `where` leads to, and its pointer.

    Raises InvalidDocument where it leads out of the document or nowhere.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise InvalidDocument.at(where, f"refers to {reference!r}: only references inside the document are followed")
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        raise InvalidDocument.at(where, f"refers to {reference!r}, which is not a pointer into the document")
    value = value_at(document, pointer)
    if value is NOTHING:
        raise InvalidDocument.at(where, f"refers to {reference!r}, which does not exist")
    return value, pointer


def value_at(document: object, pointer: str) -> Any:
    """Return what stands at a pointer that begins with `/` or is empty; NOTHING where nothing does."""
    value = document
    for part in parts_of(pointer):
        value = _member(value, part)
        if value is NOTHING:
            break
    return value


def resolved(document: object, value: object, where: str) -> tuple[Any, str]:
    """Return a value, or what it refers to where it is a reference, with its pointer. Raises InvalidDocument."""
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(value, dict) or "$ref" not in value:
            return value, where
        value, where = target_of(document, value["$ref"], f"{where}/$ref")
    raise InvalidDocument.at(where, "refers to itself")


def _member(value: object, part: str) -> Any:
    if isinstance(value, dict):
        return value.get(part, NOTHING)
    if isinstance(value, list) and part.isascii() and part.isdecimal() and len(part) < 9 and int(part) < len(value):
        return value[int(part)]
    return NOTHING
