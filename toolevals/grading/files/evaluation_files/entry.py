"""Defines one entry of an evaluation file: an example, what an agent did on it, or both.

Defines a format of evaluation files, and the format that a file was found to be of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing.extras import is_count
from toolevals.grading.values import Transcript
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonValue


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial of an agent. `external_id` names the example; `content` is the input that it was given.

    `number` counts trials from 0, None where the file does not count them. `agent` is the name under which the file
    keeps it, empty where the file holds one agent.
    """

    external_id: str
    transcript: Transcript
    content: JsonMapping
    number: int | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """The content of one entry. `losses` name the parts that are not carried over, by pointers from the entry."""

    example: ExampleRow | None = None
    trial: Trial | None = None
    losses: tuple[Problem, ...] = ()


_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")

# The pointer of an entry in its document, and the entry or what is wrong with it.
Found: TypeAlias = tuple[str, Entry | InvalidDocument]


def items_at(document: object, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield pointer and value of the items of a list, or of the list under `key`; an object alone is one item.

    Raises InvalidDocument where the key holds no list.
    """
    if isinstance(document, list):
        yield from ((f"/{place}", item) for place, item in enumerate(document))
    elif key:
        if not isinstance(document, Mapping) or not isinstance(items := document.get(key), list):
            raise InvalidDocument.at(f"/{key}", "is not a list")
        yield from ((f"/{key}/{place}", item) for place, item in enumerate(items))
    else:
        yield "", document


def entries_read(items: Iterable[tuple[str, Any]], read: Callable[[JsonMapping], Entry]) -> Iterator[Found]:
    """Yield each item's pointer with what `read` makes of the object, or with its error."""
    for pointer, item in items:
        try:
            yield pointer, read(object_at(item))
        except InvalidDocument as error:
            yield pointer, error


def object_at(value: object, pointer: str = "") -> JsonMapping:
    """Return a value that must be an object. Raises InvalidDocument."""
    if not isinstance(value, Mapping):
        raise InvalidDocument.at(pointer, "is not an object")
    return value


def object_in(item: JsonMapping, key: str) -> JsonMapping:
    """Return the object under a key; an empty one where there is none."""
    value = item.get(key)
    return value if isinstance(value, Mapping) else {}


def milliseconds(seconds: Any) -> float | None:
    """Return seconds as milliseconds; None for what is no time."""
    return float(seconds) * 1000 if is_count(seconds) else None


def counted(**counts: Any) -> dict[str, float]:
    """Return those of the counts of tokens that are counts."""
    return {name: count for name, count in counts.items() if is_count(count)}


def keys(names: str) -> frozenset[str]:
    """Return keys that are written one after another."""
    return frozenset(names.split())


def unknown_keys(item: JsonMapping, known: frozenset[str], pointer: str = "") -> tuple[Problem, ...]:
    """Return a loss for each key that the reader does not know and that holds something."""
    return tuple(
        Problem(pointer + pointer_to([key]), "is not known in this format: left out")
        for key, value in item.items()
        if key not in known and value
    )


def snake_name(key: object) -> str:
    """Return a key in snake case: some libraries dump their fields in camel case."""
    return _CAMEL.sub(lambda found: f"_{found[1].lower()}", str(key))


# What is said of a row that others do not wait for.
ROW_LEFT = "the row is left out"

Gives = Literal["tools", "examples", "predictions"]
BOTH: tuple[Gives, ...] = ("examples", "predictions")
ALL: tuple[Gives, ...] = ("tools", "examples", "predictions")
EXAMPLES: tuple[Gives, ...] = ("tools", "examples")
# A page of an API: data, and at most what it is and how to go on.
_PAGE_KEYS = 5


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format: its name, what people call it, and what it gives.

    `detect` returns in words why a document is of the format, None where it is not. `keys` are what it has, for those
    whose file nearly is one. `leaves` says what has no form here; an entry that holds it has a warning, except for what
    is marked with `silently`. `fixture` says how the files that the tests read came about. `tables` says that it
    is read from CSV too.

    `decides` reads whole conversations by the decision that becomes an example (`conversations.DECISIONS`), `read`
    by the format's own. `leaves_rows`: a row that cannot be read is left out and named, where others can be read.
    `judged`: its entries may hold what people said of them.
    """

    name: str
    title: str
    gives: tuple[Gives, ...]
    entry: str
    detect: Callable[[Any], str | None]
    read: Callable[[Any], Iterator[Found]]
    keys: tuple[str, ...]
    leaves: str
    fixture: str
    tables: bool = False
    decides: Callable[[Any, str], Iterator[Found]] | None = None
    leaves_rows: bool = False
    judged: bool = False

    def reading(self, document: object, decision: str = "") -> Iterator[Found]:
        """Yield the entries of a document, of conversations those of a decision."""
        return self.decides(document, decision) if self.decides is not None and decision else self.read(document)

    def __post_init__(self) -> None:
        if not self.gives:
            raise ValueError(f"{self.name} gives nothing")


def of_first(detect: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    """Return the test of a document by its first entry."""

    def detected_in(document: JsonValue) -> str | None:
        inner = document.get("data") if isinstance(document, Mapping) else None
        items = inner if isinstance(inner, list) and len(document) <= _PAGE_KEYS else document
        return detect(items[0] if isinstance(items, list) and items else items)

    return detected_in


@dataclass(frozen=True, slots=True)
class Detected:
    """The format of a file, and the reason in words."""

    format: FileFormat
    evidence: str

    @property
    def sentence(self) -> str:
        """Return what to tell the person whose file it is."""
        return f"Read as {self.format.title}: {self.evidence}."
