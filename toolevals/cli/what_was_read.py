"""Tell which formats a server found in a file, and what of the file it left out, as the report of a job says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.cli.output import note
from toolevals.grading.reading.reading_report import Readings

# So many kinds of losses, and so many warnings, are printed.
_MOST = 20


def say_what_was_read(report: Mapping[str, Any]) -> None:
    """Say on standard error what a job's report says of the file that it read."""
    say_readings(Readings.of_report(report))


def say_readings(readings: Readings) -> None:
    """Say on standard error the formats with their reasons, what was left out, and the warnings: the first by line."""
    lines = list(readings.words())
    for line in lines[:_MOST]:
        note(f"toolevals: {line}")
    if len(lines) > _MOST:
        note(f"toolevals: {len(lines) - _MOST:,} more kinds")
    for each in readings.warnings[:_MOST]:
        where = f" {each['pointer']}" if each["pointer"] else ""
        note(f"toolevals: line {each['line']}{where}: {each['message']}")
    if (rest := readings.warning_count - _MOST) > 0:
        note(f"toolevals: {rest:,} more warnings")
