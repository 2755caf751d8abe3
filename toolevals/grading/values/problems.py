"""Define what is wrong with a document, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
