"""Write the file with the outcome of each line of an import, kept for some days."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.files import File

from labeling.imports.findings import Findings
from labeling.imports.line_outcomes import COLUMNS, fates
from labeling.models import ImportPart
from toolevals.presentation.csv import csv_stream
from toolevals.workspace.models import Job, Upload
from toolevals.workspace.services import upload_store


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
