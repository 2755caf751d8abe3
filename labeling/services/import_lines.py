"""Tell what became of each line of an import, and write the file that says so, kept for some days."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate
from operator import itemgetter

from django.core.files import File
from django.db.models import Exists, OuterRef

from labeling.imports.findings import Findings
from labeling.models import Example, ImportPart, StagedExample
from toolevals.presentation.csv import csv_stream
from toolevals.workspace.models import Job, Upload
from toolevals.workspace.uploads.services import upload_store

COLUMNS = ("line", "id", "fate", "pointer", "message")
# The fates of a line; several where an example changed in several ways.
ADDED, UNCHANGED, REFUSED, NOT_IMPORTED = "added", "unchanged", "refused", "not imported"
CHUNK = 2000

Told = tuple[int, str, str, str, str]


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
            lines.upload.file.delete(save=False)
        raise


def import_lines_file(job: Job) -> Upload | None:
    """Return the file of an import's lines; None where there is none, or its days are over."""
    pk = job.report.get("lines")
    return Upload.objects.filter(project=job.project_id, pk=pk).first() if pk else None
