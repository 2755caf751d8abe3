"""Tell what is wrong with a file, line by line, once all of its parts have been read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from django.db.models import Count

from labeling.models import ImportPart, StagedExample

# So many are told on the page; the file of lines tells all that were kept.
LISTED = 100


@dataclass(frozen=True, slots=True)
class Findings:
    """Errors and warnings of a file (`line` from 1, `pointer`, `message`) by line, and how many there are of each."""

    every_error: list[dict[str, Any]]
    error_count: int
    every_warning: list[dict[str, Any]]
    warning_count: int

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The first errors."""
        return self.every_error[:LISTED]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """The first warnings."""
        return self.every_warning[:LISTED]

    @property
    def sentence(self) -> str:
        """Return what to tell the person whose file was refused."""
        noun = "error" if self.error_count == 1 else "errors"
        return f"Nothing was imported: {self.error_count:,} {noun} in the file."


def findings_of(parts: Sequence[ImportPart], *, unit: str = "line") -> Findings:
    """Return what was found in all parts of a file, which come in order; an id used twice is an error of the second.

    `unit` is what is counted: a file's lines, or the entries of a document.
    """
    before = [0, *accumulate(part.lines for part in parts)]
    errors = _in_file(before, [part.problems for part in parts])
    repeated = _repeated_ids(parts, before, unit)
    return Findings(
        every_error=sorted(errors + repeated, key=lambda each: int(each["line"])),
        error_count=sum(part.errors for part in parts) + len(repeated),
        every_warning=sorted(_in_file(before, [part.remarks for part in parts]), key=lambda each: int(each["line"])),
        warning_count=sum(part.warnings for part in parts),
    )


def _in_file(before: Sequence[int], listed: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [each | {"line": each["line"] + lines} for lines, some in zip(before, listed, strict=False) for each in some]


def _repeated_ids(parts: Sequence[ImportPart], before: Sequence[int], unit: str) -> list[dict[str, Any]]:
    lines_before = {part.pk: lines for part, lines in zip(parts, before, strict=False)}
    rows = StagedExample.objects.filter(part__in=parts)
    repeated = rows.order_by().values("external_id").annotate(n=Count("pk")).filter(n__gt=1).values("external_id")
    first: dict[str, int] = {}
    found = []
    for name, part, line in (
        rows.filter(external_id__in=repeated).order_by("pk").values_list("external_id", "part_id", "line")
    ):
        here = line + lines_before[part]
        before_here = first.setdefault(name, here)
        if before_here != here:
            message = f"the id {name} is used in {unit} {before_here} already"
            found.append({"line": here, "pointer": "/id", "message": message})
    return found
