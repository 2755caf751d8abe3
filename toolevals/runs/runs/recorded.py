"""Take in a whole benchmark result file: tasks into a dataset, a frozen version, and its trials as a run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace

import orjson
from django.db import transaction

from labeling.imports.readers.recorded_tasks import domain_of
from labeling.imports.services import examples_import
from labeling.models import Dataset, Example
from labeling.versions.services import version_freeze
from toolevals.grading.engine.grading import CutOff
from toolevals.grading.reading.reading_report import Readings
from toolevals.json_types import JsonMapping
from toolevals.runs.files.recorded_files import (
    AS_PUBLISHED,
    joined,
    predictions,
    readings_of,
    recorded_runs,
    result_document,
    task_rows,
)
from toolevals.runs.models import Run
from toolevals.runs.runs.requesting import RunRequest, run_request_upload
from toolevals.workspace.models import User

# A page reads the file while it is asked for.
MOST_BYTES = 100_000_000
_CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """The use of a result file: its dataset, the experiment, and the agent that was recorded."""

    dataset: Dataset
    experiment: str
    name: str
    model: str = ""
    order: str = "unordered"
    # What decides a task: what the benchmark rewards, or what the dataset says.
    decided_by: str = "benchmark"
    cut_off: CutOff = "failed"


@dataclass(frozen=True, slots=True)
class RecordedImport:
    """The run, how many tasks there are and how many of them are new, and what was left out of the conversations."""

    run: Run
    tasks: int
    new: int
    readings: Readings


def recorded_import(*, actor: User | None, request: RecordedRequest, content: bytes, file_name: str) -> RecordedImport:
    """Import the tasks that the dataset does not hold yet, freeze a version, and start the run of the recorded trials.

    All of it or nothing; the run's job reads and grades the trials. Raises InvalidDocument.
    """
    document = result_document(content, MOST_BYTES)
    dataset = request.dataset
    offered = dataset.default_tools_id is not None
    rows = task_rows(document, request.order, offered=offered, decided_by=request.decided_by)
    runs = recorded_runs(document)
    with transaction.atomic():
        names = joined(rows, _known(dataset))
        new = [
            replace(row, external_id=names[row.external_id].id) for row in rows if not names[row.external_id].is_known
        ]
        lines = b"".join(orjson.dumps(each) + b"\n" for each in predictions(runs, names, domain_of(document)))
        if new:
            examples_import(dataset=dataset, actor=actor, rows=new)
        version = version_freeze(
            dataset=dataset,
            actor=actor,
            note=f"Recorded runs of {request.name}",
            misfits_reason=AS_PUBLISHED,
        )
        asked = RunRequest(
            experiment=request.experiment,
            dataset_version=version,
            trials=max((run.trial for run in runs), default=0) + 1,
            name=request.name,
            model=request.model,
            cut_off=request.cut_off,
        )
        run = run_request_upload(
            project=dataset.project, actor=actor, request=asked, file=io.BytesIO(lines), file_name=f"{file_name}.jsonl"
        )
    return RecordedImport(run, len(rows), len(new), readings_of(runs))


def _known(dataset: Dataset) -> Iterator[JsonMapping]:
    """Yield the id and the input of every example of a dataset."""
    rows = Example.objects.filter(dataset=dataset, current__isnull=False).order_by("pk")
    for name, content in rows.values_list("external_id", "current__input").iterator(chunk_size=_CHUNK):
        yield {"id": name, "input": content}
