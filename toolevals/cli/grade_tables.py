"""Writes the text tables of a graded file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from toolevals.grading.metrics.clustered import ExampleSums, rate

STATUSES = ("passed", "failed", "unscored", "errored")
RATES = ("", *STATUSES, "rate", "95 %")


def rates(name: str, counts: Counter[str], sums: ExampleSums | None = None) -> tuple[str, ...]:
    """Return a line of the table of rates: counts by status, the rate passed, its interval.

    `sums` are those over examples, where these may have several trials.
    """
    found = rate(counts["passed"], counts["passed"] + counts["failed"], sums)
    shown = ("", "") if found.value is None else (f"{found.value:.3f}", f"{found.low:.3f} to {found.high:.3f}")
    return name, *(str(counts[status]) for status in STATUSES), *shown


def counted(head: tuple[str, str], counts: Counter[str]) -> str:
    """Return a table of counts, the largest first."""
    return table(head, ((name, str(count)) for name, count in counts.most_common()))


def table(head: tuple[str, ...], rows: Iterable[Sequence[str]]) -> str:
    """Return text columns, the first to the left and the others to the right; nothing where there are no rows."""
    lines = [head, *rows]
    if len(lines) == 1:
        return ""
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    shown = [
        "  ".join(cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in enumerate(each))
        for each in (zip(line, widths, strict=True) for line in lines)
    ]
    return "".join(f"{line.rstrip()}\n" for line in shown)


def stacked(tables: Iterable[str]) -> str:
    """Return tables with an empty line between, without those that are empty."""
    return "\n".join(filter(None, tables))
