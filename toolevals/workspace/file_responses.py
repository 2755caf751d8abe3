"""Sends files: stored ones, those of jobs, and tables that are written as they are sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from uuid import UUID

from django.http import StreamingHttpResponse

from toolevals.presentation.csv import Cell, csv_stream
from toolevals.workspace.models import Job, Upload
from toolevals.workspace.requests import ProjectRequest


def job_asked(request: ProjectRequest, kind: str) -> Job | None:
    """Return the project's job of this kind that `?job=` names; None where there is none."""
    try:
        pk = UUID(request.GET.get("job", ""))
    except ValueError:
        return None
    return Job.objects.of_project(request.project).filter(kind=kind, pk=pk).with_progress().first()


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> StreamingHttpResponse:
    """Return the answer that streams a table as CSV. `name`, without its ending, is made of slugs and numbers."""
    return StreamingHttpResponse(
        csv_stream(columns, rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def stored_response(upload: Upload) -> StreamingHttpResponse:
    """Return a stored file; its name is made of slugs and numbers. Raises StorageError."""
    chunks = _chunks(upload)
    # Read now, so that a storage that is away is answered, and not an answer broken off.
    first = next(chunks, b"")
    return StreamingHttpResponse(
        chain([first], chunks),
        content_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{upload.name}"',
            "Content-Length": str(upload.size),
        },
    )


def _chunks(upload: Upload) -> Iterator[bytes]:
    with upload.file.open("rb") as file:
        yield from file.chunks()
