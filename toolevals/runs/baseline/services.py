"""Let the baseline, or a baseline agent, answer a part of a run's examples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

from uuid_utils.compat import uuid7

from labeling.models import VersionEntry
from toolevals.grading.values import ToolSpec
from toolevals.json_types import JsonObject
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.baseline import BaselineOptions, respond
from toolevals.runs.baseline.baseline_agents import baseline_agent_transcript
from toolevals.runs.models import Run, Transcript
from toolevals.runs.queries import entries_between, tools_offered
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease

COLUMNS = ("id", "run_id", "entry_id", "trial", "document", "created_at")


def transcripts_produce(lease: Lease) -> None:
    """Write a transcript for each trial of the batch's examples."""
    run = Run.objects.select_related("agent__tools__tools").get(pk=lease.payload["run"])
    rows = list(_rows(run, lease.payload["start"], lease.payload["stop"]))
    with lease.finish():
        rows_insert(Transcript, COLUMNS, rows)


def _rows(run: Run, start: int, stop: int) -> Iterator[tuple[Any, ...]]:
    documents = _baseline_agent_documents if run.baseline_agent else _baseline_documents
    now = database_now()
    for entry in entries_between(run, start, stop).select_related("revision__tools", "revision__example"):
        tools = tools_offered(tools_in(entry.revision.tools), run.agent)
        for trial, document in enumerate(documents(run, entry, tools)):
            yield uuid7(), run.pk, entry.pk, trial, document, now


def _baseline_documents(run: Run, entry: VersionEntry, tools: tuple[ToolSpec, ...]) -> Iterator[JsonObject]:
    """The baseline answers every trial alike."""
    document = respond(entry.revision.input, tools, BaselineOptions.from_document(run.agent.options)).to_document()
    return repeat(document, run.trials)


def _baseline_agent_documents(run: Run, entry: VersionEntry, tools: tuple[ToolSpec, ...]) -> Iterator[JsonObject]:
    frequent = run.settings.get("frequent", ())
    for trial in range(run.trials):
        example = entry.revision.example.external_id
        yield baseline_agent_transcript(run.baseline_agent, example, trial, tools, frequent).to_document()
