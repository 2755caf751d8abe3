"""Read uploaded predictions: all of the file, or none of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import IO, Any
from uuid import UUID

from uuid_utils.compat import uuid7

from labeling.models import VersionEntry
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.models import ToolList
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.aggregates.spending import SPENT_COLUMNS, spent, told_cost
from toolevals.runs.files.evaluation_files import EvaluationFileReader, PredictionReader, found_file
from toolevals.runs.models import Run, Transcript
from toolevals.runs.queries import tools_offered
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import rows_insert, tables_analyze
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import BatchRefused, Lease
from toolevals.workspace.models import Upload

COLUMNS = ("id", "run_id", "entry_id", "trial", "document", "ended", "reward", "cost", *SPENT_COLUMNS, "created_at")
# Rows in one transaction: a tenth of a second, so that labelling never waits.
CHUNK = 2000


def transcripts_ingest(lease: Lease) -> None:
    """Write a transcript for each (example, trial) of the run, from the uploaded file; empty where it has none.

    Rows appear a chunk at a time while the file is read, and grading begins only after all of them: if the file turns
    out wrong, they are taken back and the batch is refused with the errors by line. The refusal takes the run with it.
    An attempt that was cut short is completed by the next one.
    """
    run = Run.with_trash.select_related("dataset_version", "agent").filter(pk=lease.payload["run"]).first()
    if run is None:
        raise BatchRefused("The file was refused, and no run was created. Fix the file and upload it as a new run.")
    upload = Upload.objects.filter(pk=lease.payload["upload"]).first()
    if upload is None:
        raise _refused(run, "The file has expired. Upload it again as a new run.")
    writer = _Writer(run, lease)
    with upload.file.open("rb") as file:
        reader = _reader(file, writer, run)
        file.seek(0)
        rows = reader.rows(file)
        while chunk := list(islice(rows, CHUNK)):
            if not reader.errors:
                writer.write(chunk)
    if reader.errors:
        writer.take_back()
        more = ", and there are more" if reader.gave_up else ""
        words = f"The file is refused: {len(reader.errors)} of its lines are wrong{more}."
        raise _refused(run, f"{reader.read_as} {words}" if reader.read_as else words, reader.errors)
    missing = reader.missing()
    while chunk := list(islice(missing, CHUNK)):
        writer.write(chunk)
    # Batches of grading read a few transcripts each, and would each read all of them in a table that no one knows yet.
    tables_analyze(Transcript, keys_only=True)
    with lease.finish():
        missing_count = run.size * run.trials - reader.count
        read = {"read": reader.readings.to_document()} if reader.readings else {}
        lease.report({"predictions": reader.count, "missing": missing_count} | read)


def _refused(run: Run, words: str, errors: Sequence[JsonObject] = ()) -> BatchRefused:
    return BatchRefused(words, errors, undo=partial(run_refuse, run=run))


def run_refuse(*, run: Run) -> None:
    """Delete the run of a file that is refused: its number is free again. Its transcripts were taken back before."""
    audit_record(project=run.project, actor=run.actor, verb="run_refuse", target=run, detail={"number": run.number})
    run.delete()


def _reader(file: IO[bytes], writer: _Writer, run: Run) -> PredictionReader:
    """Return what reads a file: our own form line by line, or the file of another evaluation tool."""
    try:
        evaluation = found_file(file)
        if evaluation is None:
            return PredictionReader(writer.places, run.trials, writer.tools)
        evaluation.require_agent(run.agent.name)
    except InvalidDocument as error:
        problems = [{"line": 1, "pointer": each.pointer, "message": each.message} for each in error.problems]
        raise _refused(run, f"The file is refused: {error}.", problems) from None
    return EvaluationFileReader(
        writer.places, run.trials, writer.tools, found=evaluation, agent=run.agent.name, contents=writer.contents
    )


class _Writer:
    """Writes transcripts in chunks, each in a transaction that proves the lease; those already there are left alone."""

    def __init__(self, run: Run, lease: Lease) -> None:
        self._run = run
        self._lease = lease
        entries = VersionEntry.objects.filter(version=run.dataset_version_id).order_by("position")
        names = entries.values_list("revision__example__external_id", "pk", "revision__tools_id")
        self._entries: list[UUID] = []
        self.places: dict[str, int] = {}
        # The list of tools at each place: most are the same one.
        lists: dict[UUID, UUID] = {}
        self._lists: list[UUID] = []
        self._offers: dict[UUID, tuple[ToolSpec, ...]] = {}
        for place, (name, pk, tools) in enumerate(names.iterator(chunk_size=CHUNK)):
            self._entries.append(pk)
            self._lists.append(lists.setdefault(tools, tools))
            self.places[name] = place
        place_of = {pk: place for place, pk in enumerate(self._entries)}
        before = Transcript.objects.filter(run=run).values_list("entry_id", "trial")
        self._written = {(place_of[entry], trial) for entry, trial in before.iterator(chunk_size=CHUNK)}
        self._done = 0

    def tools(self, place: int) -> tuple[ToolSpec, ...]:
        """Return the tools that the agent was offered in the example at a place."""
        key = self._lists[place]
        if key not in self._offers:
            self._offers[key] = tools_offered(tools_in(ToolList.objects.get(pk=key)), self._run.agent)
        return self._offers[key]

    def contents(self) -> Iterator[tuple[str, JsonMapping]]:
        """Yield the id and the input of every example of the run's version."""
        entries = VersionEntry.objects.filter(version=self._run.dataset_version_id).order_by("position")
        rows = entries.values_list("revision__example__external_id", "revision__input")
        yield from rows.iterator(chunk_size=CHUNK)

    def write(self, chunk: list[tuple[int, int, JsonObject | None]]) -> None:
        """Insert the transcripts of (place, trial, document)."""
        self._done += len(chunk)
        with self._lease.transaction():
            self._lease.progress(self._done)
            rows_insert(Transcript, COLUMNS, self._rows(chunk))

    def _rows(self, chunk: list[tuple[int, int, JsonObject | None]]) -> Iterator[tuple[Any, ...]]:
        now = database_now()
        for place, trial, document in chunk:
            if (place, trial) not in self._written:
                said = document or {}
                reward = (said.get("recorded") or {}).get("reward")
                kept = document, said.get("ended") or "", reward, told_cost(document), *spent(document)
                yield uuid7(), self._run.pk, self._entries[place], trial, *kept, now

    def take_back(self) -> None:
        """Delete everything that was written for the run."""
        written = Transcript.objects.filter(run=self._run).order_by("pk").values_list("pk", flat=True)
        while ids := list(written[:CHUNK]):
            with self._lease.transaction():
                Transcript.objects.filter(pk__in=ids).delete()
