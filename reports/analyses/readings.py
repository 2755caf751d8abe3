"""Work out what a run's file was read as, row by row: its formats, what was left out, what is odd in a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolevals.grading.reading.reading_report import Readings


@dataclass(frozen=True, slots=True)
class ReadRow:
    """One format, one kind of loss, or one warning (`kind`).

    `where` is a pointer with `*` for every place in a list, `first` that of the first loss; `line` is a warning's.
    """

    kind: str
    name: str
    count: int
    where: str = ""
    first: str = ""
    line: int | None = None
    words: str = ""


def read_rows(readings: Readings | None) -> Iterator[ReadRow]:
    """Yield the formats, then the losses, then the warnings; nothing where no file was read."""
    if readings is None:
        return
    for found in readings.formats:
        yield ReadRow("format", found.name, found.count, words=found.why)
    for loss in readings.losses:
        words = "" if loss.known else "not of this format"
        yield ReadRow("left out", loss.what, loss.count, loss.where, loss.first, words=words)
    for each in readings.warnings:
        yield ReadRow("warning", "", 1, each["pointer"], line=each["line"], words=each["message"])
