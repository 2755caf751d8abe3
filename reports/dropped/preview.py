"""Preview a dropped file: it is kept, but stored nowhere yet. A job previews a large one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import IO, Any, Final

from django.core.files import File
from django.db import transaction
from django.urls import reverse

from labeling.imports.reading import file_looked_at
from toolevals.grading.files.file_preview import FileLook, Progress
from toolevals.grading.reading.specs import document_in
from toolevals.json_types import JsonObject
from toolevals.registry.previews import Preview, preview_of
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.files import job_file, job_file_write
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Project, Upload, User
from toolevals.workspace.uploads.services import stored_together, upload_store

KIND: Final = "file_look"
# A file of more bytes is looked at by a job.
LARGE: Final = 200_000
_MOST_UNPACKED: Final = 1_000_000_000
_FIRST_ROWS: Final = 5


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file; for tools also the preview to choose from."""

    look: FileLook
    tools: Preview | None = None

    def to_document(self) -> JsonObject:
        """Return it as JSON."""
        return {"look": self.look.to_document(), "tools": self.tools.to_document() if self.tools else None}


def file_drop(*, project: Project, actor: User | None, file: File[Any], name: str) -> tuple[Upload, Job | None]:
    """Keep a file to be looked at; return it, with the job that looks at a large one. Raises as `upload_store`.

    Raises InvalidDocument, and keeps nothing, where a small file is of no known format.
    """
    if file.size <= LARGE:
        looked_at(file.read())
        file.seek(0)
    with stored_together(), transaction.atomic():
        upload = upload_store(project=project, actor=actor, file=file, name=name)
        if upload.size <= LARGE:
            return upload, None
        job = job_create(
            project=project,
            actor=actor,
            kind=KIND,
            title=f"Look at {upload.name}"[:200],
            batches=[BatchPlan("reports.file_look", {"upload": str(upload.pk)}, size=_entries(upload))],
            result_path=reverse("reports:dropped", args=[project.slug, upload.pk]),
        )
        detail = {"job": str(job.pk), "file": upload.name}
        audit_record(project=project, actor=actor, verb="file_drop", target=upload, detail=detail)
    return upload, job


def file_look_work(lease: Lease) -> None:
    """Look at a file and keep what it holds: what the job's batch does. Raises InvalidDocument."""
    upload = Upload.objects.get(pk=lease.payload["upload"])
    with upload.file.open("rb") as file:
        looked = looked_at(file.read(), progress=lease.progress)
    text = json.dumps(looked.to_document(), ensure_ascii=False).encode()

    def write(file: IO[bytes]) -> None:
        file.write(text)

    job_file_write(lease, write, name="look.json")


def looked_at(content: bytes, *, progress: Progress = lambda _: None) -> FileContent:
    """Return what a file holds. Raises InvalidDocument where it is of no known format."""
    look = file_looked_at(content, progress=progress)
    return FileContent(look, preview_of(document_in(content)) if look.kind.kind == "tools" else None)


def looked_by(job: Job) -> FileContent | None:
    """Return what a job has seen; None before, and when its day is over."""
    kept = job_file(job)
    if kept is None:
        return None
    with kept.file.open("rb") as file:
        said = json.load(file)
    return FileContent(
        FileLook.from_document(said["look"]), Preview.from_document(said["tools"]) if said["tools"] else None
    )


def _entries(upload: Upload) -> int:
    """Return about how many entries a file has, for the progress: operations of an API, else lines."""
    with upload.file.open("rb") as file:
        content: bytes = file.read()
    return max(content.count(b"operationId") or content.count(b"\n"), 1)
