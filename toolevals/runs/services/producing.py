"""Letting the baseline answer a part of a run's examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils import timezone
from uuid_utils.compat import uuid7

from labeling.models import VersionEntry
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.baseline import BaselineOptions, respond
from toolevals.runs.models import Run, Transcript
from toolevals.runs.offers import tools_offered
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.jobs import Lease

COLUMNS = ("id", "run_id", "entry_id", "trial", "document", "created_at")


def transcripts_produce(lease: Lease) -> None:
    """Write a transcript for each trial of the batch's examples. The baseline answers every trial alike."""
    run = Run.objects.select_related("subject__tools__tools").get(pk=lease.payload["run"])
    rows = list(_rows(run, lease.payload["start"], lease.payload["stop"]))
    with lease.finish():
        rows_insert(Transcript, COLUMNS, rows)


def _rows(run: Run, start: int, stop: int) -> Iterator[tuple[Any, ...]]:
    options = BaselineOptions.from_document(run.subject.options)
    now = timezone.now()
    entries = VersionEntry.objects.filter(version=run.dataset_version_id, position__gte=start, position__lt=stop)
    for entry in entries.select_related("revision__tools").order_by("position"):
        tools = tools_offered(tools_in(entry.revision.tools), run.subject)
        document = respond(entry.revision.input, tools, options).to_document()
        for trial in range(run.trials):
            yield uuid7(), run.pk, entry.pk, trial, document, now
