"""Read what a file was read as: its formats and why, the parts that were left out, and what is odd in which line.

A job's report keeps it under `read`, in one shape for examples and predictions of any format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from toolevals.grading.reading.parsing import Loss, Tally
from toolevals.grading.reading.predictions import Prediction
from toolevals.json_types import JsonMapping, JsonObject


@dataclass(frozen=True, slots=True)
class FoundFormat:
    """A format that was found: its name, why (of the first ones), and how many entries are in it, 0 if not counted."""

    name: str
    why: str
    count: int


# How reports said it before they had one shape: `read_as`, `warnings` and `warning_count` beside each other.
_SENTENCE = re.compile(r"Read as (?P<name>.+?): (?P<why>.*)\.", re.DOTALL)
_OLDER = ("read_as", "warnings", "warning_count")
# So many warnings are kept; all are counted.
MOST_WARNINGS = 100


@dataclass(slots=True)
class Readings:
    """Counts entries by format, and losses by kind and place.

    `warnings` are the first things that are odd in a line (`line`, `pointer`, `message`), `warning_count` all of them.
    """

    _formats: dict[str, FoundFormat] = field(default_factory=dict)
    _tally: Tally = field(default_factory=Tally)
    warnings: list[JsonObject] = field(default_factory=list)
    warning_count: int = 0

    def add(self, prediction: Prediction) -> None:
        """Count a prediction."""
        if prediction.format:
            self._add(FoundFormat(prediction.format, prediction.why, 1))
        self._tally.add(prediction.losses)

    def lose(self, losses: Iterable[Loss]) -> None:
        """Count what was left out."""
        self._tally.add(losses)

    def found(self, name: str, why: str, count: int = 0) -> None:
        """Note the format of a whole file."""
        self._formats[name] = FoundFormat(name, why, count)

    def warn(self, line: int, pointer: str, message: str) -> None:
        """Note something odd in a line."""
        self.warning_count += 1
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append({"line": line, "pointer": pointer, "message": message})

    def join(self, later: Readings) -> None:
        """Count what was read later."""
        for found in later._formats.values():
            self._add(found)
        self._tally.add(later.losses)
        self.warnings = [*self.warnings, *later.warnings][:MOST_WARNINGS]
        self.warning_count += later.warning_count

    def _add(self, found_format: FoundFormat) -> None:
        before = self._formats.get(found_format.name)
        self._formats[found_format.name] = (
            found_format if before is None else replace(before, count=before.count + found_format.count)
        )

    def __bool__(self) -> bool:
        return bool(self._formats or self._tally.losses or self.warning_count)

    @property
    def formats(self) -> tuple[FoundFormat, ...]:
        """The formats, the most frequent first."""
        return tuple(sorted(self._formats.values(), key=lambda found: (-found.count, found.name)))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Every kind of loss: unknown ones first."""
        return self._tally.losses

    def words(self) -> Iterator[str]:
        """Yield a line for each format and each kind of loss."""
        for found in self.formats:
            yield f"{f'{found.count:,} ' if found.count else ''}read as {found.name}: {found.why}"
        for loss in self.losses:
            yield f"left out: {loss} (first at {loss.first})"

    def to_document(self) -> JsonObject:
        """Return `{"formats": [...], "losses": [...], "warnings": [...], "warning_count": n}`."""
        return {
            "formats": [{"name": each.name, "why": each.why, "count": each.count} for each in self.formats],
            "losses": [loss.to_document() for loss in self.losses],
            "warnings": list(self.warnings),
            "warning_count": self.warning_count,
        }

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Return what `to_document` wrote."""
        made = cls({each["name"]: FoundFormat(**each) for each in document.get("formats", ())})
        made._tally.add(map(Loss.from_document, document.get("losses", ())))
        made.warnings = list(document.get("warnings", ()))
        made.warning_count = document.get("warning_count", 0)
        return made

    @classmethod
    def of_report(cls, report: JsonMapping) -> Self:
        """Return what a job's report says of the file that it read, also one from before there was one shape."""
        made = cls.from_document(report.get("read") or {})
        if not made._formats and (said := _SENTENCE.fullmatch(str(report.get("read_as") or ""))):
            made.found(said["name"], said["why"])
        if not made.warning_count:
            made.warnings = list(report.get("warnings") or ())
            made.warning_count = report.get("warning_count") or 0
        return made


def report_in_one_shape(report: JsonMapping) -> JsonObject:
    """Return a job's report with what was read in one shape, under `read`, where anything is known of it."""
    rest = {key: value for key, value in report.items() if key not in ("read", *_OLDER)}
    read = Readings.of_report(report)
    return rest | ({"read": read.to_document()} if read else {})
