"""Hold what one part of a file has: its examples, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.problems import Problem

# So many problems of a part are kept; all are counted.
KEPT = 1000


@dataclass(slots=True)
class Part:
    """The content of one part of a file: good rows with line (from 1) and byte offset, and problems of the others."""

    rows: list[tuple[int, int, ExampleRow]] = field(default_factory=list)
    lines: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[dict[str, Any]] = field(default_factory=list)
    errors: int = 0
    warnings: int = 0
    # Where an entry stands in a document of many, by its number; empty for files of lines.
    places: dict[int, str] = field(default_factory=dict)

    def refuse(self, line: int, problems: Iterable[Problem]) -> None:
        """Note what is wrong with a line: the file will not be published."""
        for problem in problems:
            self.errors += 1
            _list(self.problems, line, problem.below(self.places.get(line, "")))

    def remark(self, line: int, problems: Iterable[Problem]) -> None:
        """Note what is odd about a line but does not stand in its way."""
        for problem in problems:
            self.warnings += 1
            _list(self.remarks, line, problem.below(self.places.get(line, "")))


def _list(listed: list[dict[str, Any]], line: int, problem: Problem) -> None:
    if len(listed) < KEPT:
        listed.append({"line": line, "pointer": problem.pointer, "message": problem.message})
