"""Files for import tests, read by a job."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from labeling.imports.services import import_start
from labeling.models import Dataset, Example, Revision
from toolevals.workspace.models import Job, User
from toolevals.workspace.uploads.services import upload_store

Load = Callable[..., Job]


@pytest.fixture
def load(dataset: Dataset, adjudicator: User, run_jobs: Callable[[], None]) -> Load:
    """Return a function that imports a file (bytes, or documents, one a line) and returns the job when it is over."""

    def do(content: bytes | Iterable[Any], source: str, options: dict[str, Any] | None = None) -> Job:
        text = content if isinstance(content, bytes) else b"".join(json.dumps(r).encode() + b"\n" for r in content)
        upload = upload_store(project=dataset.project, actor=adjudicator, file=io.BytesIO(text), name="rows.gz")
        job = import_start(dataset=dataset, actor=adjudicator, upload=upload, source=source, options=options)
        run_jobs()
        job.refresh_from_db()
        return job

    return do


def shown(name: str) -> Revision:
    """Return the revision that an example shows."""
    current = Example.objects.select_related("current__gold").get(external_id=name).current
    assert current is not None
    return current


def problems(job: Job) -> list[tuple[int | None, str]]:
    """Return line and pointer of each error."""
    return [(each["line"], each["pointer"]) for each in job.report["errors"]]
