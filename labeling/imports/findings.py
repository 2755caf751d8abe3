"""Tell what is wrong with a file, line by line, and what became of each line; write the file that says so."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate
from operator import itemgetter

from django.core.files import File
from django.db.models import Count, Exists, OuterRef

from labeling.models import Example, ImportPart, StagedExample
from toolevals.json_types import JsonObject
from toolevals.presentation.csv import csv_stream
from toolevals.workspace.models import Job, Upload
from toolevals.workspace.uploads.services import file_delete, upload_store

# So many are told on the page; the file of lines tells all that were kept.
LISTED = 100


COLUMNS = ("line", "id", "fate", "pointer", "message")
# The fates of a line; several where an example changed in several ways.
ADDED, UNCHANGED, REFUSED, NOT_IMPORTED = "added", "unchanged", "refused", "not imported"
CHUNK = 2000
Told = tuple[int, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Findings:
    """Errors and warnings of a file (`line` from 1, `pointer`, `message`) by line, and how many there are of each."""

    every_error: list[JsonObject]
    error_count: int
    every_warning: list[JsonObject]
    warning_count: int

    @property
    def errors(self) -> list[JsonObject]:
        """The first errors."""
        return self.every_error[:LISTED]

    @property
    def warnings(self) -> list[JsonObject]:
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


def _in_file(before: Sequence[int], listed: Sequence[list[JsonObject]]) -> list[JsonObject]:
    return [each | {"line": each["line"] + lines} for lines, some in zip(before, listed, strict=False) for each in some]


def _repeated_ids(parts: Sequence[ImportPart], before: Sequence[int], unit: str) -> list[JsonObject]:
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
            message = f"the id {name} is already used in {unit} {before_here}"
            found.append({"line": here, "pointer": "/id", "message": message})
    return found


def fates(parts: Sequence[ImportPart], findings: Findings, *, is_published: bool) -> Iterator[Told]:
    """Yield line (from 1), id, fate, pointer and message, in the order of the file; a line with several for each.

    `is_published`: whether the file was imported, and not refused. Costs constant memory besides the findings.
    """
    outcomes = findings.every_warning if is_published else findings.every_error
    fate = "" if is_published else REFUSED
    if not outcomes:
        yield from _rows(parts, is_published=is_published)
        return
    marked = ((outcome["line"], "", fate, outcome["pointer"], outcome["message"]) for outcome in outcomes)
    yield from _joined(merge(_rows(parts, is_published=is_published), marked, key=itemgetter(0)))


def _rows(parts: Sequence[ImportPart], *, is_published: bool) -> Iterator[Told]:
    before = accumulate((part.lines for part in parts), initial=0)
    is_new = Exists(Example.objects.filter(pk=OuterRef("example_id")))
    for part, lines in zip(parts, before, strict=False):
        rows = StagedExample.objects.filter(part=part).order_by("line")
        if not is_published:
            for line, name in rows.values_list("line", "external_id").iterator(chunk_size=CHUNK):
                yield line + lines, name, NOT_IMPORTED, "", ""
            continue
        told = rows.annotate(is_new=is_new).values_list("line", "external_id", "fate", "is_new")
        for line, name, fate, added in told.iterator(chunk_size=CHUNK):
            yield line + lines, name, fate or (ADDED if added else UNCHANGED), "", ""


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


@dataclass
class Lines:
    """The lines of one import, and the file once it is kept."""

    job: Job
    parts: Sequence[ImportPart]
    findings: Findings
    upload: Upload | None = None

    def keep(self, *, is_published: bool) -> str:
        """Write the file and return its name for the job's report."""
        with tempfile.TemporaryFile() as file:
            for some in csv_stream(COLUMNS, fates(self.parts, self.findings, is_published=is_published)):
                file.write(some)
            file.seek(0)
            name = f"import-{self.job.pk}-lines.csv"
            self.upload = upload_store(project=self.job.project, actor=self.job.actor, file=File(file), name=name)
        return str(self.upload.pk)


@contextmanager
def lines_stored(job: Job, parts: Sequence[ImportPart], findings: Findings) -> Iterator[Lines]:
    """Give the lines of an import to `keep` in its transaction; if that fails, the file goes with it."""
    lines = Lines(job, parts, findings)
    try:
        yield lines
    except BaseException:
        if lines.upload is not None:
            file_delete(lines.upload)
        raise


def import_lines_file(job: Job) -> Upload | None:
    """Return the file of an import's lines; None where there is none, or its days are over."""
    pk = job.report.get("lines")
    return Upload.objects.filter(project=job.project_id, pk=pk).first() if pk else None
