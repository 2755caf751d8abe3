"""Defines a format of evaluation files, and the format that a file was found to be of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolevals.grading.files.evaluation_files.entry import Found

# What is said of a row that others do not wait for.
ROW_LEFT = "the row is left out"

Gives = Literal["tools", "examples", "predictions"]


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format: its name, what people call it, and what it gives.

    `detect` returns in words why a document is of the format, None where it is not. `keys` are what it has, for those
    whose file nearly is one. `leaves` says what has no form here; an entry that holds it has a warning, except for what
    is marked with `silently`. `fixture` says how the files that the tests read came about. `tables` says that it
    is read from CSV too.

    `decides` reads whole conversations by the decision that becomes an example (`conversations.DECISIONS`), `read`
    by the format's own. `leaves_rows`: a row that cannot be read is left out and named, where others can be read.
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

    def reading(self, document: Any, decision: str = "") -> Iterator[Found]:
        """Yield the entries of a document, of conversations those of a decision."""
        return self.decides(document, decision) if self.decides is not None and decision else self.read(document)

    def __post_init__(self) -> None:
        if not self.gives:
            raise ValueError(f"{self.name} gives nothing")


@dataclass(frozen=True, slots=True)
class Detected:
    """The format of a file, and the reason in words."""

    format: FileFormat
    evidence: str

    @property
    def sentence(self) -> str:
        """Return what to tell the person whose file it is."""
        return f"Read as {self.format.title}: {self.evidence}."
