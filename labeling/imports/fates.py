"""What became of each line of a file, told line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import accumulate
from operator import itemgetter
from uuid import UUID

from django.db.models import Exists, OuterRef

from labeling.imports.findings import Findings
from labeling.models import Example, ImportPart, StagedExample

COLUMNS = ("line", "id", "fate", "pointer", "message")
# The fates of a line; several where an example changed in several ways.
ADDED, UNCHANGED, REFUSED, NOT_IMPORTED = "added", "unchanged", "refused", "not imported"
CHUNK = 2000

Told = tuple[int, str, str, str, str]


def fates(
    parts: Sequence[ImportPart], findings: Findings, changes: Mapping[UUID, Sequence[str]] | None
) -> Iterator[Told]:
    """Yield line (from 1), id, fate, pointer and message, in the order of the file; a line with several for each.

    `changes`: what the publication said of staged rows; None where the file was refused, and nothing imported. Costs
    constant memory besides the findings.
    """
    found = findings.every_error if changes is None else findings.every_warning
    fate = REFUSED if changes is None else ""
    if not found:
        yield from _rows(parts, changes)
        return
    marked = ((each["line"], "", fate, each["pointer"], each["message"]) for each in found)
    yield from _joined(merge(_rows(parts, changes), marked, key=itemgetter(0)))


def _rows(parts: Sequence[ImportPart], changes: Mapping[UUID, Sequence[str]] | None) -> Iterator[Told]:
    before = accumulate((part.lines for part in parts), initial=0)
    is_new = Exists(Example.objects.filter(pk=OuterRef("example_id"))) if changes is not None else None
    for part, lines in zip(parts, before, strict=False):
        rows = StagedExample.objects.filter(part=part).order_by("line")
        values = rows.annotate(is_new=is_new) if is_new is not None else rows
        names = ("pk", "line", "external_id", *(["is_new"] if is_new is not None else []))
        for pk, line, name, *added in values.values_list(*names).iterator(chunk_size=CHUNK):
            yield line + lines, name, _fate(pk, changes, is_new=added == [True]), "", ""


def _fate(row: UUID, changes: Mapping[UUID, Sequence[str]] | None, *, is_new: bool) -> str:
    if changes is None:
        return NOT_IMPORTED
    changed = ", ".join(name.replace("_", " ") for name in changes.get(row, ()))
    return changed or (ADDED if is_new else UNCHANGED)


def _joined(told: Iterator[Told]) -> Iterator[Told]:
    """Yield what is told, each finding together with the id and the fate of its line."""
    some: list[Told] = []
    for each in told:
        if some and some[0][0] != each[0]:
            yield from _line(some)
            some = []
        some.append(each)
    yield from _line(some)


def _line(some: Sequence[Told]) -> Iterator[Told]:
    name = next((each[1] for each in some if each[1]), "")
    fate = REFUSED if any(each[2] == REFUSED for each in some) else next((each[2] for each in some if each[2]), "")
    findings = [each for each in some if each[4]] or some[:1]
    for line, _, _, pointer, message in findings:
        yield line, name, fate, pointer, message
